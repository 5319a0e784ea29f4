//! Texts of a model, shown whole: cut into lines as wide as the terminal, and unable to control it.

use std::borrow::Cow;
use std::io::{stderr, stdout};

use review_view::marked_text;
use terminal_size::{Width, terminal_size_of};
use wap_core::visible_text;

/// The narrowest column that a text is still put into, in cells. A text next to a longer label would be a tower of single words.
const NARROWEST_COLUMN: usize = 24;

/// The indentation of the further lines of a text if its label leaves too little room.
const SMALL_INDENT: &str = "    ";

/// The width of a line in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineWidth {
    /// It is not a terminal, so lines stay as the text has them.
    Unbounded,
    /// A terminal of this many cells.
    Cells(usize),
}

impl LineWidth {
    /// Returns the width of standard output.
    pub(crate) fn of_results() -> LineWidth {
        LineWidth::of(terminal_size_of(stdout()))
    }

    /// Returns the width of standard error.
    pub(crate) fn of_progress() -> LineWidth {
        LineWidth::of(terminal_size_of(stderr()))
    }

    fn of(size: Option<(Width, terminal_size::Height)>) -> LineWidth {
        match size {
            Some((Width(cells), _)) if cells > 0 => LineWidth::Cells(usize::from(cells)),
            _ => LineWidth::Unbounded,
        }
    }
}

/// Returns a text without anything that controls a terminal, and with marks for what cannot be seen.
///
/// Colours are left out, which outputs of programs are full of. Where they would count, [`marked_text`] shows them, too.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    match visible_text(text) {
        Cow::Borrowed(text) => marked_text(text),
        Cow::Owned(text) => Cow::Owned(marked_text(&text).into_owned()),
    }
}

/// Returns the lines of a text after a label, none of it left out. The first line begins with the label; the others are
/// aligned with the text where there is room for that.
///
/// Blank lines within the text stay; white space at its ends does not.
pub(crate) fn labelled(label: &str, text: &str, width: LineWidth) -> Vec<String> {
    // A carriage return alone would go back to the start of the line.
    let text = visible(&text.replace("\r\n", "\n").replace('\r', "\n")).replace('\t', "    ");
    let label_cells = textwrap::core::display_width(label);
    let is_narrow =
        matches!(width, LineWidth::Cells(cells) if label_cells > 0 && cells < label_cells + NARROWEST_COLUMN);
    let mut lines = Vec::new();
    let (label, indent) = if is_narrow {
        lines.push(label.to_owned());
        (SMALL_INDENT, SMALL_INDENT.to_owned())
    } else {
        (label, " ".repeat(label_cells))
    };
    for (index, line) in text.trim().split('\n').enumerate() {
        let before = if index == 0 { label } else { &indent };
        // A list or code in a message keeps its own indentation in the lines that are cut off it.
        let own = &line[..line.len() - line.trim_start().len()];
        let first = format!("{before}{own}");
        match width {
            LineWidth::Unbounded => lines.push(format!("{first}{}", line.trim())),
            LineWidth::Cells(cells) => {
                let further = format!("{indent}{own}");
                let options =
                    textwrap::Options::new(cells).initial_indent(&first).subsequent_indent(&further);
                lines.extend(textwrap::wrap(line.trim(), options).into_iter().map(Cow::into_owned));
            }
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_wrapped_below_itself_and_nothing_is_left_out() {
        let text =
            "Which of the two databases should the tests use?\n\n  - sqlite, as they do now\n  - postgres";
        let lines = labelled("  ok  MESSAGE  ", text, LineWidth::Cells(40));
        let expected = [
            "  ok  MESSAGE  Which of the two",
            "               databases should the",
            "               tests use?",
            "",
            "                 - sqlite, as they do",
            "                 now",
            "                 - postgres",
        ];
        assert_eq!(lines, expected);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&lines.join("\n"))[2..], words(text));
    }

    #[test]
    fn without_a_terminal_lines_are_those_of_the_text() {
        let long = "word ".repeat(100);
        let lines = labelled("done: ", &format!("{long}\nsecond"), LineWidth::Unbounded);
        assert_eq!(lines, [format!("done: {}", long.trim_end()), "      second".to_owned()]);
        assert_eq!(labelled("done: ", "", LineWidth::Unbounded), ["done:"]);
    }

    #[test]
    fn a_narrow_terminal_keeps_a_small_indentation() {
        let lines = labelled("  ok      MESSAGE      ", "one two three four five six", LineWidth::Cells(30));
        assert_eq!(lines, ["  ok      MESSAGE", "    one two three four five", "    six"]);
    }

    #[test]
    fn a_text_cannot_control_the_terminal() {
        let lines = labelled("", "a\u{1b}[2Jb\rc\u{7}\u{202e}d\te\u{200b}", LineWidth::Cells(80));
        assert_eq!(lines, ["ab", "c\u{fffd}\u{fffd}d    e⟨200B⟩"]);
    }

    #[test]
    fn a_word_longer_than_a_line_is_cut_and_wide_characters_count_twice() {
        let lines = labelled("> ", &"界".repeat(10), LineWidth::Cells(12));
        assert!(lines.iter().all(|line| textwrap::core::display_width(line) <= 12), "{lines:?}");
        assert_eq!(lines.iter().map(|line| line.matches('界').count()).sum::<usize>(), 10);
    }
}
