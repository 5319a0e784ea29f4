//! Comments that stand for omitted code: `// ... rest of the code unchanged ...`.

use std::collections::HashSet;

use crate::repair::file_kind::FileKind;

/// Markers of comment lines. The first match counts, so longer markers come before their prefixes.
const MARKERS: [&str; 11] = ["<!--", "{/*", "///", "//", "/*", "(*", "##", "#", "--", ";", "%"];

/// Ends of comments that end on their line.
const ENDS: [&str; 4] = ["-->", "*/}", "*/", "*)"];

/// Words for the omitted code.
const LEFT_OUT: &[&str] = &[
    "existing",
    "unchanged",
    "remaining",
    "unmodified",
    "omitted",
    "previous",
    "rest",
    "same",
    "other",
    "before",
    "here",
];

/// The beginnings that are required of a comment that only ends with dots.
const BEGINNINGS: &[&str] = &[
    "rest of",
    "the rest of",
    "existing code",
    "existing implementation",
    "existing content",
    "existing imports",
    "existing methods",
    "existing functions",
    "remaining code",
    "remaining implementation",
    "remaining methods",
    "remaining functions",
    "other methods",
    "other functions",
    "other imports",
    "previous code",
    "same as before",
    "unchanged code",
    "code unchanged",
    "keep existing",
    "keep the existing",
    "keep the rest",
];

/// Returns the index of the first line that consists of such a comment.
pub(crate) fn first_line_with(lines: &[&str]) -> Option<usize> {
    let is_comment = |index: Option<usize>| {
        index.and_then(|index| lines.get(index)).is_some_and(|line| comment(line).is_some())
    };
    lines.iter().enumerate().position(|(index, line)| {
        let Some(dotted) = comment(line).and_then(Dotted::read) else { return false };
        let continues = is_comment(index.checked_sub(1));
        if dotted.words.is_empty() {
            // Dots alone inside a longer comment are part of its text.
            return !continues && !is_comment(index.checked_add(1)) && is_plain_comment(line);
        }
        dotted.stands_for_code(continues)
    })
}

/// Returns the first new line of a replacement that consists of such a comment; `None` in Markdown. Lines that the search text
/// also contains come from the file.
pub(crate) fn omitted<'l>(path: &str, search: &[&str], replacement: &[&'l str]) -> Option<&'l str> {
    if FileKind::of(path) == FileKind::Markdown {
        return None;
    }
    let search: HashSet<&str> = search.iter().copied().collect();
    let mut rest = replacement;
    while let Some(index) = first_line_with(rest) {
        if !search.contains(rest[index]) {
            return Some(rest[index]);
        }
        rest = &rest[index + 1..];
    }
    None
}

/// Checks for a comment of a common language that is not for a documentation tool.
fn is_plain_comment(line: &str) -> bool {
    let marker = MARKERS.into_iter().find(|marker| line.trim_start().starts_with(marker));
    matches!(marker, Some("//" | "#" | "/*" | "{/*" | "<!--" | "--"))
}

/// Returns the text of a line that consists of a comment.
fn comment(line: &str) -> Option<&str> {
    let trimmed = line.trim();
    let text = MARKERS.into_iter().find_map(|marker| trimmed.strip_prefix(marker))?;
    let text = ENDS.into_iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
    Some(text.trim())
}

/// A comment that begins or ends with dots.
struct Dotted<'a> {
    begins: bool,
    ends: bool,
    has_space_after_dots: bool,
    words: &'a str,
}

impl<'a> Dotted<'a> {
    fn read(comment: &'a str) -> Option<Self> {
        let text = comment.trim_matches(['(', ')', '[', ']', '{', '}', '<', '>', ' ']);
        let undotted = text.strip_prefix("...").or_else(|| text.strip_prefix('…'));
        let inner = undotted.unwrap_or(text);
        let before = inner.strip_suffix("...").or_else(|| inner.strip_suffix('…'));
        let words = before.unwrap_or(inner).trim_matches(['.', '…', ' ', '(', ')', '[', ']']);
        (undotted.is_some() || before.is_some()).then_some(Self {
            begins: undotted.is_some(),
            ends: before.is_some(),
            has_space_after_dots: inner.starts_with([' ', '(', '[']),
            words,
        })
    }

    /// Checks whether the comment stands for omitted code. With `continues`, the previous line is a comment too, so leading dots
    /// may continue its sentence.
    fn stands_for_code(&self, continues: bool) -> bool {
        let words = self.words.to_ascii_lowercase();
        if self.begins && (self.ends || (self.has_space_after_dots && !continues)) {
            let mut each = words.split(|c: char| !c.is_alphanumeric());
            // A longer comment explains something and does not stand for code.
            return words.split_whitespace().count() <= 10 && each.any(|word| LEFT_OUT.contains(&word));
        }
        self.ends && BEGINNINGS.iter().any(|beginning| words.starts_with(beginning))
    }
}
