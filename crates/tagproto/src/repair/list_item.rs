//! The Markdown list item that a line belongs to.

/// The least number of columns by which a line is indented further than the mark of its item. Models use two to four, whatever
/// the length of the mark.
const LEAST_INDENT: usize = 2;

/// The columns of a tab.
const TAB: usize = 4;

/// The latest list item, as long as lines belong to it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ListItem {
    /// The columns in front of its mark; `None` outside of a list.
    indent: Option<usize>,
}

impl ListItem {
    /// Passes a line of prose. Blank lines and indented lines do not end the item.
    pub(crate) fn pass(&mut self, line: &str) {
        let content = line.trim_start();
        let indent = &line[..line.len() - content.len()];
        if is_item(content) {
            self.indent = Some(columns(indent));
        } else if !content.is_empty() && !self.holds(indent) {
            self.indent = None;
        }
    }

    /// Checks whether a line with this indentation belongs to the item.
    pub(crate) fn holds(self, indent: &str) -> bool {
        self.indent.is_some_and(|mark| columns(indent) >= mark + LEAST_INDENT)
    }
}

/// Checks for a mark (`-`, `*`, `+`, `1.`, `1)`) that whitespace and text follow.
fn is_item(content: &str) -> bool {
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => content.strip_prefix(['-', '*', '+']),
        1..=9 => content[digits..].strip_prefix(['.', ')']),
        _ => None,
    };
    rest.is_some_and(|rest| rest.starts_with([' ', '\t']) && !rest.trim().is_empty())
}

fn columns(indent: &str) -> usize {
    indent.chars().map(|c| if c == '\t' { TAB } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::{ListItem, is_item};

    fn holds(lines: &[&str], indent: &str) -> bool {
        let mut item = ListItem::default();
        lines.iter().for_each(|line| item.pass(line));
        item.holds(indent)
    }

    #[test]
    fn an_item_begins_with_a_mark_whitespace_and_text() {
        for item in ["- a", "* a", "+\ta", "1. a", "12) a"] {
            assert!(is_item(item), "{item}");
        }
        for other in ["-a", "--- a", "- ", "1.a", "1. ", "1.5 m", "a. b", "**a** b", "1234567890. a", ""] {
            assert!(!is_item(other), "{other}");
        }
    }

    #[test]
    fn an_item_holds_what_is_indented_until_a_line_is_not() {
        assert!(holds(&["1. First:", ""], "   "));
        assert!(holds(&["  - First:", "    more", ""], "    "));
        assert!(holds(&["- First:"], "\t"));
        assert!(!holds(&["1. First:"], " "));
        assert!(!holds(&["  - First:"], "   "));
        assert!(!holds(&["1. First:", "", "Then:"], "   "));
        assert!(!holds(&["First:"], "   "));
    }
}
