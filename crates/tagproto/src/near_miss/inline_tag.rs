//! A tag without a body, or a whole block, with other text on its line, which the grammar reads as prose.

use super::glued_tag::is_label;
use super::tag_like::{TagLike, Weight};
use crate::BlockKind;
use crate::parse::tag::{Attribute, OpeningTag};

/// The maximum number of brackets of a line that are tried as the beginning or end of a tag.
const BRACKETS: usize = 16;

/// Reads a trimmed line with a tag without a body that text follows, or with such a tag or a whole block after a label. A tag in
/// back-ticks is only mentioned.
pub(super) fn read(line: &str) -> Option<TagLike> {
    let core = line.trim_start_matches(is_mark);
    let at_start =
        || tag_of_one_line(core).filter(|(_, rest)| !rest.trim_matches(is_space_or_bold).is_empty());
    let after_label = || {
        let mut brackets = line.match_indices('[').take(BRACKETS);
        brackets.find_map(|(at, _)| {
            let rest = &line[at..];
            let kind = tag_of_one_line(rest).map(|(kind, _)| kind).or_else(|| whole_block(rest))?;
            is_label(line[..at].trim_end()).then_some(kind)
        })
    };
    let kind = at_start().map(|(kind, _)| kind).or_else(after_label)?;
    Some(TagLike { kind, is_closing: false, is_whole_block: true, weight: Weight::Alone })
}

/// Checks for the characters that Markdown puts around a tag, except back-ticks.
fn is_mark(c: char) -> bool {
    "*_->#+•.)".contains(c) || c.is_whitespace() || c.is_ascii_digit()
}

fn is_space_or_bold(c: char) -> bool {
    c.is_whitespace() || "*_".contains(c)
}

/// Reads a complete tag without a body at the start of a text; returns its kind and the text after it.
fn tag_of_one_line(text: &str) -> Option<(BlockKind, &str)> {
    let name = text.strip_prefix('[')?;
    let kinds = [BlockKind::DeleteFile, BlockKind::ReadFile, BlockKind::StopProcess];
    let kind = kinds.into_iter().find(|kind| name.starts_with(kind.name()))?;
    let is_usable = |tag: OpeningTag<'_>| match kind {
        BlockKind::StopProcess => matches!(&tag.name, Attribute::Once(name) if !name.is_empty()),
        _ => tag.usable_path().is_some(),
    };
    let mut ends = text.match_indices(']').take(BRACKETS).map(|(at, _)| at + 1);
    // A bracket in the path does not end the tag.
    let end = ends.find(|end| {
        let tag = &text[..*end];
        OpeningTag::read(tag).or_else(|| OpeningTag::read_stop(tag)).is_some_and(is_usable)
    })?;
    Some((kind, &text[end..]))
}

/// Returns the kind of a text that is a whole block, apart from punctuation at its end.
fn whole_block(text: &str) -> Option<BlockKind> {
    let block = text.trim_end_matches(|c| "*_.,;!".contains(c));
    TagLike::read(block).filter(|tag| tag.is_whole_block).map(|tag| tag.kind)
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::BlockKind::{DeleteFile, ReadFile, RunCommand, StopProcess};

    #[test]
    fn a_tag_with_text_on_its_line_is_read() {
        for (line, kind) in [
            ("[DELETE_FILE path=\"old.py\"] (no longer used)", DeleteFile),
            ("[DELETE_FILE path=\"old.py\"].", DeleteFile),
            ("- **[DELETE_FILE path=\"old.py\"]** is not used", DeleteFile),
            ("[DELETE_FILE path=\"a\"] [DELETE_FILE path=\"b\"]", DeleteFile),
            ("[READ_FILE path=\"[id].ts\"] first", ReadFile),
            ("[STOP_PROCESS name=\"web\"], please", StopProcess),
            ("Step 1: [DELETE_FILE path=\"old.py\"]", DeleteFile),
            ("**Step 1:** [READ_FILE path=\"a\"] and then", ReadFile),
            ("Run: [RUN_COMMAND]touch Q[/RUN_COMMAND]", RunCommand),
            ("1. Run: [RUN_COMMAND]touch Q[/RUN_COMMAND].", RunCommand),
        ] {
            assert_eq!(read(line).map(|tag| tag.kind), Some(kind), "{line}");
        }
    }

    #[test]
    fn a_tag_that_is_mentioned_is_prose() {
        for line in [
            "[DELETE_FILE path=\"old.py\"]",
            "**[DELETE_FILE path=\"old.py\"]**",
            "`[DELETE_FILE path=\"old.py\"]` removes it",
            "Next: `[DELETE_FILE path=\"old.py\"]`",
            "I used [DELETE_FILE path=\"old.py\"] for it",
            "[DELETE_FILE] needs a path",
            "[DELETE_FILE path=\"\"] has none",
            "Tags: [RUN_COMMAND], [/RUN_COMMAND] and [READ_FILE]",
            "[RUN_COMMAND] and [/RUN_COMMAND] enclose a command",
            "[READ_FILE](docs/read.md): a link",
            "",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
