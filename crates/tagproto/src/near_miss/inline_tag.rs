//! A tag or a whole block with other text on its line, which the grammar reads as prose.

use super::glued_tag::{is_label, words};
use super::tag_like::{TagLike, Weight, is_path};
use crate::BlockKind;
use crate::parse::tag::{Attribute, OpeningTag};
use crate::repair::{CURLY_DOUBLE, opening};

/// The maximum number of brackets of a line that are tried as the beginning or end of a tag.
const BRACKETS: usize = 16;

/// Words between two tags that are only mentioned.
const PLACEHOLDERS: [&str; 8] = ["and", "or", "to", "command", "text", "message", "summary", "body"];

/// Abbreviations at the end of which no sentence ends.
const ABBREVIATIONS: [&str; 4] = ["e.g.", "i.e.", "cf.", "vs."];

/// Words at the end of a text that mentions the block after it.
const MENTIONS: [&str; 14] = [
    "as", "like", "e.g.", "i.e.", "cf.", "vs.", "is", "was", "with", "and", "or", "write", "form", "example",
];

/// Reads a trimmed line with a whole block, or with a tag without a body, and other text: marks and text around it, or words that
/// introduce it. A tag in back-ticks is only mentioned.
pub(super) fn read(line: &str) -> Option<TagLike> {
    let core = without_marks(line);
    let core = without_enclosure(core).unwrap_or(core);
    let is_quoted = line.starts_with('>');
    let tag_at_start = || {
        let (kind, rest) = tag_of_one_line(core)?;
        // A tag with usual marks is read as a tag.
        let has_other_marks = || core.len() < line.len() && !is_quoted && opening(line).is_none();
        (!is_blank(rest) || has_other_marks()).then_some(kind)
    };
    let block_at_start = || whole_block(core).filter(|_| !is_quoted).map(|(kind, _)| kind);
    let after_words = || {
        let mut brackets = line.match_indices('[').take(BRACKETS);
        brackets.find_map(|(at, _)| {
            let tag = tag_of_one_line(&line[at..]);
            let is_block = tag.is_none();
            let (kind, rest) = tag.or_else(|| whole_block(&line[at..]))?;
            let before = line[..at].trim_end();
            let leads = || introduces(before) || is_title(before) || is_block && leads_to_block(before);
            (is_label(before) || is_blank(rest) && leads()).then_some(kind)
        })
    };
    let before_path = || kind_before_path(core).filter(|_| !is_quoted);
    let kind = tag_at_start().or_else(block_at_start).or_else(after_words).or_else(before_path)?;
    Some(TagLike { kind, is_closing: false, is_whole_block: true, weight: Weight::Alone })
}

/// Reads a trimmed line that begins with the opening tag of a block with a body and has text after it, which may be the body:
/// `[RUN_COMMAND]ls`. `None` if the text mentions the closing tag. With a space after the tag, it is probably prose.
pub(super) fn before_text(line: &str) -> Option<(TagLike, &str)> {
    let core = without_marks(line);
    let name = core.strip_prefix('[')?;
    BlockKind::ALL.into_iter().find(|kind| kind.has_body() && name.starts_with(kind.name()))?;
    let mut ends = core.match_indices(']').take(BRACKETS).map(|(at, _)| at + 1);
    let (tag, rest) = ends.find_map(|end| Some((OpeningTag::read(&core[..end])?, &core[end..])))?;
    let kind = tag.kind;
    let is_body = !is_blank(rest) && !rest.contains(kind.closing_tag());
    // Punctuation after a tag continues a sentence about it.
    let is_text = |c: char| !c.is_whitespace() && !",.:;!?)`-".contains(c);
    let is_file_with_text = tag.usable_path().is_some()
        && rest.starts_with(is_text)
        && rest.contains(char::is_alphanumeric)
        && !line.starts_with('>');
    let weight = if is_file_with_text { Weight::Alone } else { Weight::WithClosingTag };
    let tag = TagLike { kind, is_closing: false, is_whole_block: false, weight };
    is_body.then_some((tag, rest))
}

/// Returns a line without the marks of Markdown and symbols before its text, except back-ticks.
pub(super) fn without_marks(line: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbered = line.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let rest = numbered.filter(|(number, _)| is_number(number)).map_or(line, |(_, rest)| rest);
    let core = rest.trim_start_matches(is_mark);
    // The mark of a task list follows another mark.
    let task = ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| core.strip_prefix(mark));
    task.filter(|_| core.len() < line.len()).map_or(core, |task| task.trim_start_matches(is_mark))
}

/// Returns a text without the brackets, quotes or other marks around all of it.
fn without_enclosure(text: &str) -> Option<&str> {
    let pairs = [("(", ")"), ("[[", "]]"), ("\"", "\""), ("~~", "~~"), ("|", "|")];
    let inner = pairs.iter().find_map(|(first, last)| {
        let inner = text.strip_prefix(first)?.strip_suffix(last)?.trim();
        (!inner.contains('|')).then_some((inner, *first))
    });
    match inner? {
        // One of the brackets belongs to the tag.
        (_, "[[") => text.get(1..text.len() - 1),
        (inner, _) => Some(inner),
    }
}

/// Checks whether a text before a tag is bold words, or those of a heading.
fn is_title(text: &str) -> bool {
    let is_bold = text.len() > 4 && text.starts_with("**") && text.ends_with("**");
    let after_heading = text.trim_start_matches('#');
    let is_heading = after_heading.len() < text.len() && after_heading.starts_with(' ');
    (is_bold || is_heading) && text.contains(char::is_alphabetic) && !text.contains('`')
}

/// Checks whether a text before a whole block at the end of its line leads to it, and does not only mention it.
fn leads_to_block(text: &str) -> bool {
    let last = words(text).and_then(|words| words.split_whitespace().next_back()).unwrap_or_default();
    let is_mention = MENTIONS.iter().any(|word| last.eq_ignore_ascii_case(word));
    !last.is_empty() && !is_mention && !text.starts_with('>') && text.matches('`').count().is_multiple_of(2)
}

/// Returns the kind of a tag without attributes and without a body, with nothing but a path after it: `[DELETE_FILE] b.py`.
fn kind_before_path(text: &str) -> Option<BlockKind> {
    let kinds = [BlockKind::DeleteFile, BlockKind::ReadFile];
    let rest_of = |kind: BlockKind| text.strip_prefix('[')?.strip_prefix(kind.name())?.strip_prefix(']');
    let (kind, rest) = kinds.into_iter().find_map(|kind| Some((kind, rest_of(kind)?)))?;
    is_path(rest.trim_matches(|c: char| c.is_whitespace() || "`\"*".contains(c))).then_some(kind)
}

/// Checks for the characters that Markdown puts around a tag, except back-ticks, and for symbols such as arrows.
fn is_mark(c: char) -> bool {
    let is_symbol = || !c.is_ascii() && !c.is_alphanumeric() && !CURLY_DOUBLE.contains(&c);
    "*_->#+•.)".contains(c) || c.is_whitespace() || c.is_ascii_digit() || is_symbol()
}

/// Checks for a text of nothing but spaces and the end of bold text.
fn is_blank(text: &str) -> bool {
    text.trim_matches(|c: char| c.is_whitespace() || "*_".contains(c)).is_empty()
}

/// Checks whether a text before a tag introduces it: a sentence, or words before an arrow.
fn introduces(text: &str) -> bool {
    let Some(words) = words(text) else { return false };
    let is_sentence = words.ends_with(['.', '!']) && !ABBREVIATIONS.iter().any(|end| words.ends_with(end));
    is_sentence || ["->", "=>", "→", "⇒"].iter().any(|arrow| words.ends_with(arrow))
}

/// Reads a complete tag without a body at the start of a text; returns its kind and the text after it.
fn tag_of_one_line(text: &str) -> Option<(BlockKind, &str)> {
    let name = text.strip_prefix('[')?;
    let kinds = [BlockKind::DeleteFile, BlockKind::ReadFile, BlockKind::StopProcess];
    let is_named = |kind: &BlockKind| {
        name.get(..kind.name().len()).is_some_and(|name| name.eq_ignore_ascii_case(kind.name()))
    };
    let kind = kinds.into_iter().find(is_named)?;
    let is_usable = |tag: OpeningTag<'_>| match kind {
        BlockKind::StopProcess => matches!(&tag.name, Attribute::Once(name) if !name.is_empty()),
        _ => tag.usable_path().is_some_and(|path| path.contains(char::is_alphanumeric)),
    };
    let mut ends = text.match_indices(']').take(BRACKETS).map(|(at, _)| at + 1);
    // A bracket in the path does not end the tag.
    let end = ends.find(|end| {
        let tag = &text[..*end];
        let tag = opening(tag).map(|opening| opening.tag.into_owned()).or_else(|| OpeningTag::read_stop(tag));
        tag.is_some_and(is_usable)
    })?;
    Some((kind, &text[end..]))
}

/// Reads a whole block at the start of a text; returns its kind and the text after it, apart from punctuation. `None` if its text
/// stands for any text.
fn whole_block(text: &str) -> Option<(BlockKind, &str)> {
    // Most brackets, and those of long lines of data, begin no name.
    text.strip_prefix('[')?.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(())?;
    let block = |end: usize| TagLike::read(&text[..end]).filter(|tag| tag.is_whole_block);
    let ends = BlockKind::ALL.into_iter().filter_map(|kind| {
        let tag = kind.closing_tag();
        Some(text.find(tag)? + tag.len())
    });
    let whole = text.trim_end_matches(is_punctuation).len();
    let (end, tag) = ends.chain([whole]).find_map(|end| Some((end, block(end)?)))?;
    let body = text[..end].split_once(']')?.1.rsplit_once("[/")?.0.trim();
    let is_meant = body.contains(char::is_alphanumeric) && !PLACEHOLDERS.contains(&body);
    is_meant.then(|| (tag.kind, text[end..].trim_end_matches(is_punctuation)))
}

fn is_punctuation(c: char) -> bool {
    "*_.,;!".contains(c)
}

#[cfg(test)]
mod tests {
    use super::{before_text, read};
    use crate::BlockKind::{CreateFile, DeleteFile, Done, EditFile, ReadFile, RunCommand, StopProcess};
    use crate::near_miss::tag_like::Weight::{Alone, WithClosingTag};

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
            ("1. [RUN_COMMAND]touch Q[/RUN_COMMAND]", RunCommand),
            ("- [CREATE_FILE path=\"Q\"]x[/CREATE_FILE]", CreateFile),
            ("**[RUN_COMMAND]touch Q[/RUN_COMMAND]**", RunCommand),
            ("[RUN_COMMAND]touch Q[/RUN_COMMAND].", RunCommand),
            ("[RUN_COMMAND]touch Q[/RUN_COMMAND] creates the file.", RunCommand),
            ("[RUN_COMMAND]make[/RUN_COMMAND] [DONE]ok[/DONE]", RunCommand),
            ("[DONE]Fixed.[/DONE] Bye!", Done),
            ("(1) [DELETE_FILE path=\"old.py\"]", DeleteFile),
            ("✅ [DELETE_FILE path=\"old.py\"]", DeleteFile),
            ("→ [READ_FILE path=\"a\"]", ReadFile),
            ("Delete it -> [DELETE_FILE path=\"old.py\"]", DeleteFile),
            ("Now remove the old one. [DELETE_FILE path=\"old.py\"]", DeleteFile),
            ("Now I run the tests. [RUN_COMMAND]make test[/RUN_COMMAND]", RunCommand),
            ("[DELETE_FILE path=“old.py”] — unused", DeleteFile),
            ("[delete_file path=\"old.py\"] (unused)", DeleteFile),
            ("I will run the tests now [RUN_COMMAND]make test[/RUN_COMMAND]", RunCommand),
            ("- [x] [DELETE_FILE path=\"old.py\"]", DeleteFile),
            ("- [ ] [DELETE_FILE path=\"old.py\"]", DeleteFile),
            ("**Step 1** [DELETE_FILE path=\"old.py\"]", DeleteFile),
            ("### Delete [DELETE_FILE path=\"old.py\"]", DeleteFile),
            ("| [DELETE_FILE path=\"old.py\"] |", DeleteFile),
            ("([DELETE_FILE path=\"old.py\"])", DeleteFile),
            ("\"[DELETE_FILE path=\"old.py\"]\"", DeleteFile),
            ("[[DELETE_FILE path=\"old.py\"]]", DeleteFile),
            ("~~[DELETE_FILE path=\"old.py\"]~~", DeleteFile),
            ("[DELETE_FILE] old.py", DeleteFile),
            ("- [READ_FILE] `src/lib`", ReadFile),
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
            "I used it once, e.g. [DELETE_FILE path=\"old.py\"]",
            "Such a tag exists. [DELETE_FILE path=\"old.py\"] is one",
            "> > [DELETE_FILE path=\"old.py\"]",
            "> [RUN_COMMAND]touch Q[/RUN_COMMAND]",
            "[DELETE_FILE path=\"…\"] deletes a file",
            "- [DELETE_FILE path=\"...\"] deletes a file",
            "- [RUN_COMMAND]…[/RUN_COMMAND] runs a command",
            "- [RUN_COMMAND]command[/RUN_COMMAND]: runs it",
            "`[RUN_COMMAND]touch Q[/RUN_COMMAND]` creates the file.",
            "A command is [RUN_COMMAND]touch Q[/RUN_COMMAND] here.",
            "[DELETE_FILE] needs a path",
            "[DELETE_FILE path=\"\"] has none",
            "Tags: [RUN_COMMAND], [/RUN_COMMAND] and [READ_FILE]",
            "[RUN_COMMAND] and [/RUN_COMMAND] enclose a command",
            "[READ_FILE](docs/read.md): a link",
            "✅ [READ_FILE] works",
            "A block is written as [RUN_COMMAND]touch Q[/RUN_COMMAND]",
            "I wrote `x` and `[RUN_COMMAND]touch Q[/RUN_COMMAND]`",
            "The placeholder is [RUN_COMMAND]command[/RUN_COMMAND]",
            "- [x] deleted with [DELETE_FILE path=\"old.py\"] before",
            "| [DELETE_FILE path=\"old.py\"] | deletes the file |",
            "(see [DELETE_FILE path=\"old.py\"])",
            "### The tag `[DELETE_FILE path=\"old.py\"]`",
            "**Note** that [DELETE_FILE path=\"old.py\"] was used",
            "[READ_FILE] first.",
            "[DELETE_FILE] in docs/tags.md",
            "",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn text_directly_after_the_tag_of_a_file_is_its_text() {
        for (line, weight) in [
            ("[CREATE_FILE path=\"b.py\"]x = 1", Alone),
            ("- [CREATE_FILE path=\"b.py\"]\"\"\"Text.", Alone),
            ("[CREATE_FILE path=\"b.py\"] makes a file", WithClosingTag),
            ("[CREATE_FILE path=\"b.py\"]: makes a file", WithClosingTag),
            ("> [CREATE_FILE path=\"b.py\"]x = 1", WithClosingTag),
            ("[CREATE_FILE path=\"b.py\"]-style tags", WithClosingTag),
            ("[CREATE_FILE]x = 1", WithClosingTag),
        ] {
            assert_eq!(before_text(line).map(|(tag, _)| tag.weight), Some(weight), "{line}");
        }
    }

    #[test]
    fn the_text_after_an_opening_tag_may_be_its_body() {
        for (line, kind, text) in [
            ("[RUN_COMMAND]touch Q", RunCommand, "touch Q"),
            ("[RUN_COMMAND] # make it", RunCommand, " # make it"),
            ("1. [EDIT_FILE path=\"a\" start_line=\"1\" end_line=\"1\"]x = [1]", EditFile, "x = [1]"),
            ("- [ ] [RUN_COMMAND] make", RunCommand, " make"),
        ] {
            let read = before_text(line).map(|(tag, text)| (tag.kind, text));
            assert_eq!(read, Some((kind, text)), "{line}");
        }
        for line in [
            "[RUN_COMMAND]",
            "**[RUN_COMMAND]**",
            "[RUN_COMMAND] and [/RUN_COMMAND] enclose a command",
            "[READ_FILE path=\"a\"] first",
            "`[RUN_COMMAND]` runs a command",
        ] {
            assert!(before_text(line).is_none(), "{line}");
        }
    }
}
