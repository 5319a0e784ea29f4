//! An opening tag behind other text on its line, which is prose.

use super::tag_like::{TagLike, Weight};
use crate::BlockKind;
use crate::parse::tag::OpeningTag;
use crate::repair::ends_with_closing_mark;

/// Reads the opening tag with which a trimmed line ends. Prose may end so as well, but not behind a mark of thinking or of a chat.
pub(super) fn read(line: &str) -> Option<TagLike> {
    let (kind, at) = line.match_indices('[').skip_while(|(at, _)| *at == 0).find_map(|(at, _)| {
        let name = line[at + 1..].split(|c: char| !c.is_ascii_uppercase() && c != '_').next()?;
        Some((name.parse::<BlockKind>().ok()?, at))
    })?;
    let tag = OpeningTag::read(&line[at..])?;
    let before = line[..at].trim_end();
    let is_behind_mark = ends_with_closing_mark(before) || before.contains("<|") && before.ends_with("|>");
    let weight = match is_behind_mark && tag.usable_path().is_some() {
        true => Weight::Alone,
        false => Weight::WithClosingTag,
    };
    Some(TagLike { kind, is_closing: false, is_whole_block: false, weight })
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::BlockKind::{CreateFile, Done, EditFile, ReadFile, RunCommand};
    use crate::near_miss::tag_like::Weight::{Alone, WithClosingTag};

    #[test]
    fn a_tag_behind_text_is_read_with_its_weight() {
        for (line, kind, weight) in [
            ("</think>[EDIT_FILE path=\"a\" start_line=\"1\" end_line=\"1\"]", EditFile, Alone),
            ("so.</reasoning> [READ_FILE path=\"a\"]", ReadFile, Alone),
            ("<|end|><|channel|>final<|message|>[CREATE_FILE path=\"a\"]", CreateFile, Alone),
            ("<|message|>[RUN_COMMAND]", RunCommand, WithClosingTag),
            ("Sure: [CREATE_FILE path=\"[id].ts\"]", CreateFile, WithClosingTag),
            ("[x] so [DONE]", Done, WithClosingTag),
        ] {
            let read = read(line).map(|tag| (tag.kind, tag.weight));
            assert_eq!(read, Some((kind, weight)), "{line}");
        }
    }

    #[test]
    fn other_lines_end_with_no_tag() {
        for line in [
            "[EDIT_FILE path=\"a\"]",
            "see [EDIT_FILE path=\"a\"].",
            "see [EDIT_FILES path=\"a\"]",
            "see [NOTE]",
            "</think>",
            "`[RUN_COMMAND]`",
            "a[RUN_COMMAND]ls[/RUN_COMMAND]",
            "",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
