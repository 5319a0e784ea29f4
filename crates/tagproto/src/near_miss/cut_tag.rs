//! A tag in which the reply ends.

use crate::{
    BlockKind, Item, LineRange, ParseError, ParseErrorKind, Span, near_miss::quoted,
    parse::scan::count_lines, repair::without_chat_ending,
};

/// Returns the error for a last line that begins a tag and does not end it; `None` if the last line is anything else.
pub(super) fn error(text: &str, items: &[Item<'_>]) -> Option<ParseError> {
    let end = without_chat_ending(text).len();
    let line_start = text[..end].rfind('\n').map_or(0, |lf| lf + 1);
    if items.last().is_some_and(|last| last.span().end > line_start) {
        return None;
    }
    let line = text[line_start..end].trim_start_matches('\u{feff}').trim_start();
    let command = begun(line)?;
    let line_number = count_lines(&text[..line_start]) + 1;
    let kind = ParseErrorKind::CutTag { written: quoted(line) };
    let span = Span { start: end - line.len(), end };
    Some(ParseError { command, kind, span, lines: LineRange::of(line_number, line_number) })
}

/// Returns the block whose opening or closing tag a trimmed line begins without ending it.
fn begun(line: &str) -> Option<BlockKind> {
    let inner = line.strip_prefix('[')?;
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    let name_end = inner.find(|c: char| !(c.is_ascii_uppercase() || c == '_')).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(name_end);
    let mut kinds = BlockKind::ALL.into_iter().chain([BlockKind::StopProcess]);
    if rest.is_empty() {
        return kinds.find(|kind| !name.is_empty() && kind.name().starts_with(name));
    }
    let is_open = rest.starts_with(char::is_whitespace) && !has_bracket_outside_of_quotes(rest);
    kinds.find(|kind| is_open && kind.name() == name)
}

fn has_bracket_outside_of_quotes(rest: &str) -> bool {
    rest.split('"').step_by(2).any(|outside| outside.contains(']'))
}

#[cfg(test)]
mod tests {
    use super::begun;
    use crate::BlockKind::{self, CreateFile, EditFile, ReadFile, RunCommand, StopProcess};

    #[test]
    fn a_tag_that_does_not_end_is_begun() {
        let cases: [(&str, BlockKind); 8] = [
            ("[EDIT_FILE path=\"src/ma", EditFile),
            ("[EDIT_FILE", EditFile),
            ("[E", EditFile),
            ("[RUN_COMM", RunCommand),
            ("[CREATE_FILE path=\"a.py\"", CreateFile),
            ("[READ_FILE path=\"a[1].py\" star", ReadFile),
            ("[/RUN_COMM", RunCommand),
            ("[STOP_PROCESS name=", StopProcess),
        ];
        for (line, kind) in cases {
            assert_eq!(begun(line), Some(kind), "{line}");
        }
    }

    #[test]
    fn other_lines_begin_no_tag() {
        for line in [
            "[",
            "[/",
            "[x",
            "[edit",
            "[Edit",
            "[READ_FILES",
            "[READ_FILE]: see",
            "[READ_FILE path=\"a\"] please",
            "[DONE-ish",
            "",
        ] {
            assert_eq!(begun(line), None, "{line}");
        }
    }
}
