//! A block that is unclosed because its closing tag is misspelt, not because the reply was cut off.

use super::quoted;
use super::tag_like::TagLike;
use crate::{BlockKind, ParseError, ParseErrorKind, repair::without_chat_ending};

/// The number of last lines of a reply that are searched for a misspelt closing tag.
const LINES: usize = 12;

/// Turns the error of an unclosed block into an error about its closing tag, if the last lines contain a misspelt closing tag.
pub(super) fn report(text: &str, error: &mut ParseError) {
    if !matches!(error.kind, ParseErrorKind::Unclosed { later_tags: 0, .. }) {
        return;
    }
    let block = without_chat_ending(&text[error.span.start..]);
    let Some((_, body)) = block.split_once('\n') else { return };
    let mut last = body.rsplit('\n').take(LINES).map(str::trim).enumerate();
    let misspelt = last.find(|(index, line)| {
        is_other_name(line, error.command) || *index == 0 && holds_more(line, error.command)
    });
    if let Some((_, line)) = misspelt {
        error.kind = ParseErrorKind::NearMiss { written: quoted(line), not_run: 0 };
    }
}

/// Checks whether a trimmed line was meant as the closing tag of a kind, but is not.
pub(super) fn is_misspelt(line: &str, kind: BlockKind) -> bool {
    is_other_name(line, kind) || holds_more(line, kind) || has_other_brackets(line, kind)
}

/// Checks whether a line has the name of the kind with other brackets, such as `[ /RUN_COMMAND ]`, `[\RUN_COMMAND]`,
/// `[/RUN_COMMAND`.
fn has_other_brackets(line: &str, kind: BlockKind) -> bool {
    let inner = line.strip_prefix('[').map(str::trim_start).and_then(|line| line.strip_prefix(['/', '\\']));
    inner.is_some_and(|inner| {
        inner.trim_matches(|c: char| c.is_whitespace() || "/]})>".contains(c)) == kind.name()
    })
}

/// Checks whether a line has the closing tag and something else: attributes, or text before or after it.
fn holds_more(line: &str, kind: BlockKind) -> bool {
    let tag = kind.closing_tag();
    let name = tag.trim_end_matches(']');
    let has_attributes = line.strip_prefix(name).is_some_and(|rest| rest.starts_with(char::is_whitespace));
    has_attributes && line.ends_with(']')
        || line.starts_with(tag)
        || line.strip_suffix(tag).is_some_and(|before| !before.ends_with(['`', '"', '\'']))
}

/// Checks whether a line closes the kind under another name, such as `[/COMMAND]`, `[END_FILE]`, `</RUN_COMMAND>`.
fn is_other_name(line: &str, kind: BlockKind) -> bool {
    if TagLike::read(line).is_some_and(|tag| tag.is_closing && tag.kind == kind) {
        return true;
    }
    let Some(inner) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) else { return false };
    if ["END", "/END"].contains(&inner) {
        return true;
    }
    let after_end = || Some(inner.strip_prefix("END")?.trim_start_matches(['_', ' ', '-', ':', '/']));
    let Some(name) = inner.strip_prefix('/').or_else(after_end) else { return false };
    name == kind.name() || kind.name().split('_').any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::{has_other_brackets, holds_more, is_other_name};
    use crate::BlockKind::{CreateFile, RunCommand};

    #[test]
    fn misspelt_closing_tags_are_recognised() {
        for line in [
            "[/COMMAND]",
            "[/RUN]",
            "[END]",
            "[/END]",
            "[END_COMMAND]",
            "[END RUN_COMMAND]",
            "[/run_command]",
            "</RUN_COMMAND>",
        ] {
            assert!(is_other_name(line, RunCommand), "{line}");
        }
        for line in [
            "[/FILE]",
            "[b]",
            "[/b]",
            "[/etc/x]",
            "[]",
            "[/]",
            "[ENDING]",
            "[/READ_FILE]",
            "</command>",
            "x[END]",
        ] {
            assert!(!is_other_name(line, RunCommand), "{line}");
        }
        for line in ["[/CREATE_FILE path=\"a\"]", "[/CREATE_FILE] <- makes it", "x = 1 [/CREATE_FILE]"] {
            assert!(holds_more(line, CreateFile), "{line}");
        }
        for line in [
            "`[/CREATE_FILE]` ends it",
            "as `[/CREATE_FILE]",
            "[/CREATE_FI",
            "[/CREATE_FILES]",
            "[/RUN_COMMAND]",
        ] {
            assert!(!holds_more(line, CreateFile), "{line}");
        }
        for line in
            ["[ /RUN_COMMAND ]", "[\\RUN_COMMAND]", "[/RUN_COMMAND", "[/RUN_COMMAND)", "[/RUN_COMMAND/]"]
        {
            assert!(has_other_brackets(line, RunCommand), "{line}");
        }
        for line in ["[RUN_COMMAND]", "[/RUN_COMMANDS]", "/RUN_COMMAND", "[/run_command]", ""] {
            assert!(!has_other_brackets(line, RunCommand), "{line}");
        }
    }
}
