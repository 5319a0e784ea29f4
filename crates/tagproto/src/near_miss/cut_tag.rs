//! A tag that the end of the reply cuts off.

use std::borrow::Cow;

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
    // A bracket alone counts only after a block: prose may end in one.
    if items.is_empty() && !line.contains(char::is_alphabetic) {
        return None;
    }
    let line_number = count_lines(&text[..line_start]) + 1;
    let kind = ParseErrorKind::CutTag { written: quoted(line) };
    let span = Span { start: end - line.len(), end };
    Some(ParseError { command, kind, span, lines: LineRange::of(line_number, line_number) })
}

/// Returns the block whose opening or closing tag a trimmed line begins without ending it, decorated or not.
///
/// A letter after a bracket counts, although prose may have it (`[D`): the reply is held for one round, and nothing is lost. A
/// bracket alone may begin any tag; it counts as the tag of a command.
fn begun(line: &str) -> Option<BlockKind> {
    let is_decoration = |c: char| "*_`>#-+•.)".contains(c) || c.is_whitespace() || c.is_ascii_digit();
    let line = line.trim_start_matches(is_decoration);
    let line = if line.starts_with('\\') { Cow::Owned(line.replace('\\', "")) } else { Cow::Borrowed(line) };
    let (inner, is_xml) = match line.strip_prefix('[') {
        Some(inner) => (inner, false),
        None => (line.strip_prefix('<')?, true),
    };
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    if inner.is_empty() && !is_xml {
        return Some(BlockKind::RunCommand);
    }
    let name_end = inner.find(|c: char| !(c.is_ascii_alphabetic() || c == '_')).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(name_end);
    let mut kinds = BlockKind::ALL.into_iter().chain([BlockKind::StopProcess]);
    if rest.is_empty() {
        let is_begun = |kind: &BlockKind| !name.is_empty() && kind.name().starts_with(name);
        return kinds.find(|kind| !is_xml && is_begun(kind));
    }
    let is_open = rest.starts_with(char::is_whitespace) && !is_closed(rest, is_xml);
    // A name in another case may be a word, unless a path follows.
    let is_named = |kind: &BlockKind| {
        kind.name() == name && !is_xml || kind.name().eq_ignore_ascii_case(name) && has_path(rest)
    };
    kinds.find(|kind| is_open && is_named(kind))
}

/// Checks whether the rest of a tag begins its path.
fn has_path(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.split_once('=').is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case("path"))
}

/// Checks whether the rest of a tag has the bracket that ends it. An unclosed value contains everything up to the end.
fn is_closed(rest: &str, is_xml: bool) -> bool {
    rest.split('"').step_by(2).any(|outside| outside.contains(if is_xml { '>' } else { ']' }))
}

#[cfg(test)]
mod tests {
    use super::begun;
    use crate::BlockKind::{self, CreateFile, EditFile, ReadFile, RunCommand, StopProcess};

    #[test]
    fn a_tag_that_does_not_end_is_begun() {
        let cases: [(&str, BlockKind); 20] = [
            ("[EDIT_FILE path=\"src/ma", EditFile),
            ("[EDIT_FILE", EditFile),
            ("[E", EditFile),
            ("[RUN_COMM", RunCommand),
            ("[CREATE_FILE path=\"a.py\"", CreateFile),
            ("[READ_FILE path=\"a[1].py\" star", ReadFile),
            ("[/RUN_COMM", RunCommand),
            ("[STOP_PROCESS name=", StopProcess),
            ("[", RunCommand),
            ("[/", RunCommand),
            ("`[RUN_COMM", RunCommand),
            ("> [RUN_COMMAND", RunCommand),
            ("**[RUN_COMM", RunCommand),
            ("- [READ_FI", ReadFile),
            ("1. [READ_FI", ReadFile),
            ("### [RUN", RunCommand),
            ("\\[RUN\\_COMM", RunCommand),
            ("[read_file path=\"a", ReadFile),
            ("<edit_file path=\"x", EditFile),
            ("[EDIT_FILE path=\"app/[slug]", EditFile),
        ];
        for (line, kind) in cases {
            assert_eq!(begun(line), Some(kind), "{line}");
        }
    }

    #[test]
    fn other_lines_begin_no_tag() {
        for line in [
            "<",
            "</",
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
