//! One line that resembles a tag, regardless of the lines around it.

use crate::{BlockKind, repair::stray_closing_kind};

/// A line that resembles a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TagLike {
    pub(super) kind: BlockKind,
    pub(super) is_closing: bool,
    /// True if the line holds a block with its closing tag.
    pub(super) is_whole_block: bool,
    pub(super) weight: Weight,
}

/// The evidence that is required to treat a line as a misspelt tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// The line alone: prose does not contain such a line.
    Alone,
    /// A closing tag of the same kind after it.
    WithClosingTag,
}

/// The letters of the protocol's names.
const NAMES: [(&str, BlockKind); BlockKind::ALL.len()] = [
    ("CREATEFILE", BlockKind::CreateFile),
    ("EDITFILE", BlockKind::EditFile),
    ("DELETEFILE", BlockKind::DeleteFile),
    ("READFILE", BlockKind::ReadFile),
    ("RUNCOMMAND", BlockKind::RunCommand),
    ("MESSAGE", BlockKind::Message),
    ("DONE", BlockKind::Done),
];

/// Names that models use instead of the protocol's, as letters in upper case.
const OTHER_NAMES: [(&str, BlockKind); 19] = [
    ("WRITEFILE", BlockKind::CreateFile),
    ("NEWFILE", BlockKind::CreateFile),
    ("MODIFYFILE", BlockKind::EditFile),
    ("UPDATEFILE", BlockKind::EditFile),
    ("REPLACEFILE", BlockKind::EditFile),
    ("PATCHFILE", BlockKind::EditFile),
    ("REMOVEFILE", BlockKind::DeleteFile),
    ("OPENFILE", BlockKind::ReadFile),
    ("VIEWFILE", BlockKind::ReadFile),
    ("SHOWFILE", BlockKind::ReadFile),
    ("EXECUTECOMMAND", BlockKind::RunCommand),
    ("EXECCOMMAND", BlockKind::RunCommand),
    ("SHELLCOMMAND", BlockKind::RunCommand),
    ("BASHCOMMAND", BlockKind::RunCommand),
    ("RUNSHELL", BlockKind::RunCommand),
    ("APPENDFILE", BlockKind::EditFile),
    ("RENAMEFILE", BlockKind::RunCommand),
    ("MOVEFILE", BlockKind::RunCommand),
    ("COPYFILE", BlockKind::RunCommand),
];

/// Single words that models use instead. Prose and code have them in brackets too, so a path or a closing tag has to follow.
const SHORT_NAMES: [(&str, BlockKind); 7] = [
    ("CREATE", BlockKind::CreateFile),
    ("WRITE", BlockKind::CreateFile),
    ("EDIT", BlockKind::EditFile),
    ("DELETE", BlockKind::DeleteFile),
    ("READ", BlockKind::ReadFile),
    ("RUN", BlockKind::RunCommand),
    ("COMMAND", BlockKind::RunCommand),
];

/// The maximum length of a name in bytes.
const LONGEST_NAME: usize = 24;

impl TagLike {
    /// Reads a trimmed line as a closing tag with Markdown around it.
    pub(super) fn decorated_end(line: &str) -> Option<TagLike> {
        let kind = stray_closing_kind(line)?;
        Some(TagLike { kind, is_closing: true, is_whole_block: false, weight: Weight::WithClosingTag })
    }

    /// Reads a trimmed line.
    pub(super) fn read(line: &str) -> Option<TagLike> {
        let (inner, is_xml) = match line.as_bytes().first()? {
            b'[' => (line.strip_prefix('[')?.strip_suffix(']')?.trim(), false),
            b'<' => (line.strip_prefix('<')?.strip_suffix('>')?, true),
            _ => return None,
        };
        let (is_closing, inner) = match inner.strip_prefix('/') {
            Some(inner) => (true, inner),
            None => (false, inner),
        };
        let (name, rest) = name(inner)?;
        let is_short = is_short(name);
        let kind = kind(name).filter(|_| !(is_short && is_xml))?;
        let tag = |is_whole_block, weight| Some(TagLike { kind, is_closing, is_whole_block, weight });
        if is_closing {
            return if rest.trim().is_empty() { tag(false, Weight::WithClosingTag) } else { None };
        }
        if holds_closing_tag(rest, kind, is_xml) {
            return tag(true, Weight::Alone);
        }
        let is_exact = name == kind.name() && !line.starts_with("[ ");
        if is_exact && !is_xml && !rest.starts_with(':') {
            // A tag of the protocol, or prose by its rules.
            return None;
        }
        let begins_well =
            rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || "/:".contains(c));
        // A second bracket means a link or prose, unless it may belong to a path.
        if !begins_well || rest.contains(if is_xml { ['<', '>'] } else { ['[', ']'] }) && !has_path(rest) {
            return None;
        }
        let is_upper_case = !name.contains(|c: char| c.is_ascii_lowercase());
        match kind {
            BlockKind::Message | BlockKind::Done if is_xml && !is_upper_case => None,
            BlockKind::Message | BlockKind::Done => tag(false, Weight::WithClosingTag),
            _ if is_short && rest.is_empty() => tag(false, Weight::WithClosingTag),
            // A slash alone may be between words.
            _ if is_short && is_upper_case && kind != BlockKind::RunCommand && has_extension(rest.trim()) => {
                tag(false, Weight::Alone)
            }
            _ if is_short && !has_path(rest) => None,
            _ if has_path(rest) || is_upper_case => tag(false, Weight::Alone),
            // Names that do not occur in prose: `edit_file`, and in angle brackets also `edit-file` and `editFile`.
            _ if rest.trim_matches(|c: char| c == '/' || c.is_whitespace()).is_empty()
                && (name.contains('_')
                    || is_xml && name.contains(|c: char| c == '-' || c.is_ascii_uppercase())) =>
            {
                tag(false, Weight::Alone)
            }
            _ => tag(false, Weight::WithClosingTag),
        }
    }
}

/// Splits a line into the name at its start and the rest. A name has two words if the second one is FILE or COMMAND.
fn name(inner: &str) -> Option<(&str, &str)> {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '-';
    let word_end =
        |from: usize| inner[from..].find(|c: char| !is_letter(c)).map_or(inner.len(), |end| from + end);
    let first = word_end(0);
    if first == 0 || first > LONGEST_NAME {
        return None;
    }
    let second = inner[first..].strip_prefix(' ').map(|_| word_end(first + 1)).filter(|end| {
        let word = &inner[first + 1..*end];
        word.eq_ignore_ascii_case("FILE") || word.eq_ignore_ascii_case("COMMAND")
    });
    Some(inner.split_at(second.unwrap_or(first)))
}

/// Returns the block that a name means: a name of the protocol in another spelling, or a name that is often used instead.
fn kind(name: &str) -> Option<BlockKind> {
    let letters = letters(name);
    let same = NAMES.iter().find(|(name, _)| *name == letters);
    let other = || OTHER_NAMES.iter().chain(&SHORT_NAMES).find(|(other, _)| *other == letters);
    let close = || {
        // MESSAGE and DONE are words, and so are those that are close to them.
        let mut long = NAMES.iter().filter(|(_, kind)| kind.name().contains('_'));
        long.find(|(name, _)| differ_by_one(name, &letters))
    };
    same.or_else(other).or_else(close).map(|(_, kind)| *kind)
}

fn is_short(name: &str) -> bool {
    let letters = letters(name);
    SHORT_NAMES.iter().any(|(short, _)| *short == letters)
}

fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_uppercase()).collect()
}

/// Checks whether two names of ASCII letters differ by one inserted, removed or replaced letter, or by two swapped letters.
fn differ_by_one(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    // After the common prefix, a single edit has to explain the whole rest.
    let (one, other) = (&one[start..], &other[start..]);
    match (one, other) {
        ([_, one_rest @ ..], [_, other_rest @ ..]) if one_rest == other_rest => true,
        ([a, b, one_rest @ ..], [c, d, other_rest @ ..]) if a == d && b == c && one_rest == other_rest => {
            true
        }
        ([_, rest @ ..], _) if rest == other => true,
        (_, [_, rest @ ..]) => rest == one,
        _ => false,
    }
}

/// Checks whether the rest of a line, without its last bracket, ends with the closing tag of a kind.
fn holds_closing_tag(rest: &str, kind: BlockKind, is_xml: bool) -> bool {
    let (closing, opened) = if is_xml { ("</", '>') } else { ("[/", ']') };
    let Some(at) = rest.rfind(closing) else { return false };
    rest[..at].contains(opened)
        && name(&rest[at + 2..]).is_some_and(|(name, rest)| rest.is_empty() && self::kind(name) == Some(kind))
}

/// Checks whether a path is given, with quotes or without.
pub(super) fn has_path(rest: &str) -> bool {
    let rest = rest.to_ascii_lowercase();
    rest.match_indices("path").any(|(at, _)| {
        let is_word = rest[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || c == ':');
        is_word && rest[at + 4..].trim_start().starts_with('=')
    })
}

/// Checks for one word that can only be a path: with a slash, or with the extension of a file.
pub(super) fn is_path(word: &str) -> bool {
    has_extension(word)
        || is_word_of_path(word) && word.contains('/') && word.ends_with(char::is_alphanumeric)
}

/// Checks for one word with the extension of a file.
fn has_extension(word: &str) -> bool {
    let is_extension = |(_, end): (&str, &str)| {
        end.starts_with(|c: char| c.is_ascii_alphabetic())
            && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    is_word_of_path(word) && word.rsplit_once('.').is_some_and(is_extension)
}

fn is_word_of_path(word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "._-/@+".contains(c);
    word.chars().all(is_part) && word.contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(BlockKind, Weight)> {
        TagLike::read(line).map(|tag| (tag.kind, tag.weight))
    }

    #[test]
    fn misspelt_names_and_angle_brackets_are_like_tags() {
        use BlockKind::{CreateFile, DeleteFile, EditFile, ReadFile, RunCommand};
        for (line, kind) in [
            ("[EDITFILE path=\"a\" start_line=\"1\" end_line=\"2\"]", EditFile),
            ("[Edit_File path=\"a\"]", EditFile),
            ("[edit_file path=a.rs]", EditFile),
            ("[edit-file path='a']", EditFile),
            ("[EDIT FILE path=\"a\"]", EditFile),
            ("[EDT_FILE path=\"a\"]", EditFile),
            ("[READ_FILES path=\"a\"]", ReadFile),
            ("[READ_FILE: src/a.rs]", ReadFile),
            ("[WRITE_FILE path=\"a\"]", CreateFile),
            ("[RUNCOMMAND]", RunCommand),
            ("[run_command]", RunCommand),
            ("[RUN_COMMAND]ls -l[/RUN_COMMAND]", RunCommand),
            ("<edit_file path=\"src/[id].ts\">", EditFile),
            ("<EDIT_FILE>", EditFile),
            ("<READ_FILE path=\"a\"/>", ReadFile),
            ("<deleteFile path=\"a\" />", DeleteFile),
            ("<run_command>ls -l</run_command>", RunCommand),
            ("<run-command>", RunCommand),
            ("[ RUN_COMMAND ]", RunCommand),
            ("[READ path=\"a\"]", ReadFile),
            ("[edit path=\"a\" start_line=\"1\" end_line=\"1\"]", EditFile),
            ("[DELETE path='a']", DeleteFile),
            ("[WRITE path=\"a\"]", CreateFile),
            ("[RUN]ls[/RUN]", RunCommand),
            ("[RENAME_FILE path=\"a\" to=\"b\"]", RunCommand),
            ("[APPEND_FILE path=\"a\"]", EditFile),
            ("[DELETE b.py]", DeleteFile),
            ("[READ src/lib.rs]", ReadFile),
        ] {
            assert_eq!(read(line), Some((kind, Weight::Alone)), "{line}");
        }
    }

    #[test]
    fn words_that_prose_has_too_need_a_closing_tag() {
        for line in [
            "[Message]",
            "[done]",
            "<DONE>",
            "[Run command]",
            "[edit-file]",
            "<readfile>",
            "[Read File]",
            "[RUN]",
            "[Edit]",
            "[ DONE ]",
        ] {
            assert_eq!(read(line).map(|(_, weight)| weight), Some(Weight::WithClosingTag), "{line}");
        }
    }

    #[test]
    fn prose_is_prose() {
        for line in [
            "[NOTE]",
            "[TODO]",
            "[x] done",
            "[Done](https://example.org)",
            "[edit_file](docs/edit_file.md)",
            "[EDIT_FILE][1]",
            "[edit_file]: https://example.org",
            "[the file path=a]",
            "[READ_FILE path=\"a\"] please",
            "[profile path=\"a\"]",
            "<p>",
            "<message>",
            "<done/>",
            "<file path=\"a\">",
            "<div class=\"read_file\">",
            "<https://example.org/read_file>",
            "[1, 2, 3]",
            "[]",
            "<>",
            "[/etc/passwd]",
            "[section.run_command]",
            "[Read more]",
            "[READ more.]",
            "[READ 2.0]",
            "[Edit b.py]",
            "[RUN make.sh]",
            "[CREATE table/index]",
            "[EDIT: typo]",
            "[READ] the docs",
            "[run]: https://example.org",
            "<read path=\"a\">",
            "<delete path=\"build\"/>",
            "<command>",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn tags_of_the_protocol_are_left_to_it() {
        for line in ["[EDIT_FILE path=\"a\"]", "[RUN_COMMAND]", "[DONE]", "[READ_FILE]"] {
            assert_eq!(read(line), None, "{line}");
        }
        assert!(TagLike::read("[/EDIT_FILE]").unwrap().is_closing);
    }
}
