//! An opening tag after other text on its line, which the grammar reads as prose.

use super::tag_like::{TagLike, Weight};
use crate::BlockKind;
use crate::parse::tag::OpeningTag;
use crate::repair::ends_with_closing_mark;

/// Reads the opening tag at the end of a trimmed line. Prose may end with a tag too, but not after a mark of thinking or of a
/// chat.
pub(super) fn read(line: &str) -> Option<TagLike> {
    let (before, tag) = split(line)?;
    let follows_mark = ends_with_closing_mark(before) || before.contains("<|") && before.ends_with("|>");
    let weight = match follows_mark && tag.usable_path().is_some() {
        true => Weight::Alone,
        false => Weight::WithClosingTag,
    };
    Some(TagLike { kind: tag.kind, is_closing: false, is_whole_block: false, weight })
}

/// Reads the opening tag at the end of a trimmed line, after a label (`Step 2: [RUN_COMMAND]`).
pub(super) fn after_label(line: &str) -> Option<OpeningTag<'_>> {
    split(line).filter(|(before, _)| is_label(before)).map(|(_, tag)| tag)
}

/// Reads the opening tag at the end of a trimmed line, after words (`Then I run [RUN_COMMAND]`).
pub(super) fn after_words(line: &str) -> Option<OpeningTag<'_>> {
    split(line).filter(|(before, _)| words(before).is_some()).map(|(_, tag)| tag)
}

/// Splits a trimmed line into the opening tag at its end and the text before the tag, trimmed at its end.
fn split(line: &str) -> Option<(&str, OpeningTag<'_>)> {
    let at = line.match_indices('[').skip_while(|(at, _)| *at == 0).find_map(|(at, _)| {
        let name = line[at + 1..].split(|c: char| !c.is_ascii_uppercase() && c != '_').next()?;
        name.parse::<BlockKind>().ok().map(|_| at)
    })?;
    Some((line[..at].trim_end(), OpeningTag::read(&line[at..])?))
}

/// Checks whether a text is words that end in a colon, or a few words that end in other punctuation (`Step 2.`, `Next -`).
pub(super) fn is_label(text: &str) -> bool {
    let Some(words) = words(text) else { return false };
    let is_short =
        || words.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count() <= 2;
    words.ends_with(':') || words.ends_with(['.', ')', ',', '-', '–', '—', '→']) && is_short()
}

/// Returns a text without the Markdown around it, if it begins as prose does. A single `#` begins a comment in code.
pub(super) fn words(text: &str) -> Option<&str> {
    let is_mark = |c: char| "*_->+•.)".contains(c) || c.is_whitespace() || c.is_ascii_digit();
    let words = text.strip_prefix("##").map_or(text, |text| text.trim_start_matches('#'));
    let words = words.trim_start_matches(is_mark).trim_end_matches(['*', '_']);
    words.starts_with(|c: char| c.is_alphabetic() || !c.is_ascii()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::{after_label, read};
    use crate::BlockKind::{CreateFile, Done, EditFile, ReadFile, RunCommand};
    use crate::near_miss::tag_like::Weight::{Alone, WithClosingTag};

    #[test]
    fn a_tag_after_text_is_read_with_its_weight() {
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
    #[test]
    fn a_label_ends_in_punctuation() {
        for line in [
            "Then: [RUN_COMMAND]",
            "2. **Now run it:** [RUN_COMMAND]",
            "## Step 2: [CREATE_FILE path=\"a\"]",
            "- Next:[EDIT_FILE path=\"a\"]",
            "Step 2. [RUN_COMMAND]",
            "**Step 2** - [RUN_COMMAND]",
            "→ [RUN_COMMAND]",
        ] {
            assert!(after_label(line).is_some(), "{line}");
        }
        for line in [
            "# such as: [RUN_COMMAND]",
            "see [RUN_COMMAND]",
            "It was removed. [RUN_COMMAND]",
            "`x`: [RUN_COMMAND]",
            "\"cmd\": [RUN_COMMAND]",
            ": [RUN_COMMAND]",
            "Then: [RUN_COMMAND] ",
        ] {
            assert!(after_label(line).is_none(), "{line}");
        }
    }
}
