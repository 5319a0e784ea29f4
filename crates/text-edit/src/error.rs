//! The errors with which an edit is refused.

use std::ops::RangeInclusive;

use crate::{BinaryError, Encoding, NoMatch, Stale};

/// An edit that was refused. Nothing of the call has been applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{kind}", operation_prefix(.operation_index))]
pub struct EditError {
    /// The 0-based index of the operation at fault, if it is a single one.
    pub operation_index: Option<usize>,
    /// The reason.
    pub kind: EditErrorKind,
}

fn operation_prefix(operation_index: &Option<usize>) -> String {
    operation_index.map(|index| format!("operation {}: ", index + 1)).unwrap_or_default()
}

/// The reason why an edit is refused.
///
/// The list is closed: a caller that maps it onto a protocol's codes has to handle all of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditErrorKind {
    /// The list of operations is empty.
    #[error("there are no operations")]
    NoOperations,
    /// The file is not a text.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// The text cannot be decoded and the operation requires it: any edit of UTF-16 with half a unit, a regular expression over
    /// UTF-16 with a lone surrogate.
    #[error("the text is not valid {encoding}")]
    Undecodable {
        /// The encoding that the mark announces.
        encoding: Encoding,
    },
    /// A line range that is not in the text. Numbers as given.
    #[error("invalid line range {start_line}-{end_line} for a text of {total_lines} lines")]
    InvalidRange {
        /// The first line, 1-based.
        start_line: i64,
        /// The last line, inclusive.
        end_line: i64,
        /// The number of lines of the text that the numbers mean.
        total_lines: usize,
    },
    /// An insertion after a negative line. Number as given.
    #[error("invalid position after line {after_line} in a text of {total_lines} lines")]
    InvalidPosition {
        /// The line to insert after.
        after_line: i64,
        /// The number of lines of the text that the number means.
        total_lines: usize,
    },
    /// Two operations of one call touch the same lines.
    #[error(transparent)]
    Conflict(Box<Conflict>),
    /// The addressed lines have changed since the version that the line numbers mean.
    #[error(transparent)]
    Stale(Box<Stale>),
    /// A character that the text's encoding cannot hold.
    #[error("{} in line {content_line} of the new content cannot be written in {encoding}", unencodable(*.character))]
    Unencodable {
        /// The character.
        character: char,
        /// The encoding of the text.
        encoding: Encoding,
        /// The 1-based line of the new content (or of the replacement) that has it.
        content_line: usize,
    },
    /// A flag that is unknown or given twice.
    #[error("bad flag {flag:?} (flags are g, i, m, s and u, each at most once)")]
    BadFlag {
        /// The flag.
        flag: char,
    },
    /// A regular expression that cannot be parsed.
    #[error("invalid regular expression at byte {offset_bytes}: {reason}")]
    InvalidRegex {
        /// The parser's explanation.
        reason: String,
        /// The offset in the pattern, counted from 0.
        offset_bytes: usize,
    },
    /// A regular expression with a construct that a linear-time engine lacks or interprets differently.
    #[error("unsupported in regular expressions: {construct} at byte {offset_bytes}")]
    UnsupportedRegex {
        /// The construct.
        construct: UnsupportedConstruct,
        /// The offset in the pattern, counted from 0.
        offset_bytes: usize,
    },
    /// A pattern over the limit.
    #[error("the regular expression is longer than {limit_bytes} bytes")]
    PatternTooLong {
        /// The limit.
        limit_bytes: usize,
    },
    /// A pattern that takes more memory than allowed once it is compiled.
    #[error("the regular expression needs more than {limit_bytes} bytes when compiled")]
    RegexTooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// A replacement that names a group which the expression does not have.
    #[error(
        "bad group {group} in the replacement (the expression has {group_count} groups; $$ is a dollar sign)"
    )]
    BadGroup {
        /// The reference as written, with its dollar sign.
        group: String,
        /// The number of capturing groups, the whole match not counted.
        group_count: usize,
    },
    /// A replacement that refers to a group with a backslash.
    #[error(
        "\\{group} in the replacement is not a group here: write ${group}, or if these two characters are meant, groups as (?:…) in \
         the expression"
    )]
    BackslashGroup {
        /// The group.
        group: usize,
    },
    /// A replacement that refers to groups more often than allowed.
    #[error("the replacement refers to groups more than {limit} times")]
    TooManyReferences {
        /// The limit.
        limit: usize,
    },
    /// The operations of the call take more work than allowed: the expression scans long parts of the text for many matches, or
    /// there are many operations on a large text.
    #[error(
        "this takes more than {limit_steps} steps on a text of this size: make the expression more exact, or make fewer \
         changes in one call"
    )]
    TooMuchWork {
        /// The steps that a call may take on this text; a step is about one byte looked at.
        limit_steps: u64,
    },
    /// Operations that change so many separate lines in turn that tracking the lines takes too much memory.
    #[error(
        "the operations change more than {limit} separate places in turn: make fewer changes in one call"
    )]
    TooManyStretches {
        /// The limit.
        limit: usize,
    },
    /// A text to replace that does not occur as often as expected.
    #[error(transparent)]
    NoMatch(Box<NoMatch>),
    /// A replacement with a line that cannot be indented like the match: it has less indentation than has to be removed, or
    /// spaces that do not make whole tabs of the file.
    #[error(
        "the search text occurs at {} with another indentation, which cannot be given to a line of the replacement for certain: \
         write the lines as they are indented in the file",
        named(.lines)
    )]
    UnfitIndentation {
        /// The lines of the match, 1-based.
        lines: RangeInclusive<usize>,
    },
    /// A replacement of a search text with the numbers of a view, whose own numbers may be fields of rows, or which has a bar
    /// without a number.
    #[error(
        "the search text has the numbers of a view in front of {}, and numbers or bars in front of the replacement may be part of its \
         lines: send both without the numbers of the view",
        named(.lines)
    )]
    UncertainNumbers {
        /// The lines of the match, 1-based.
        lines: RangeInclusive<usize>,
    },
    /// A search text with U+FFFD, where the text has bytes that cannot be decoded: a view only shows a stand-in for them, so they
    /// cannot be replaced this way.
    #[error(
        "the search text has U+FFFD where bytes of {} cannot be decoded: search for a part without it, or replace the lines by their \
         numbers",
        named(.lines)
    )]
    UndecodableMatch {
        /// The lines of the match, 1-based.
        lines: RangeInclusive<usize>,
    },
    /// A new line that is indented with tabs in a text that is indented with spaces throughout, or the other way round.
    #[error(
        "line {content_line} of the replacement is indented with {given} and the file with {usual}: write {usual}, or \
         replace the lines by their numbers if {given} are meant"
    )]
    OtherIndentation {
        /// The 1-based line of the replacement.
        content_line: usize,
        /// The indentation of that line: tabs or spaces.
        given: &'static str,
        /// The indentation of the text.
        usual: &'static str,
        /// The lines of the match, 1-based.
        lines: RangeInclusive<usize>,
    },
    /// A new line that begins with no-break spaces in a text where no line does.
    #[error(
        "line {content_line} of the replacement begins with no-break spaces and no line of the file does: write plain spaces"
    )]
    NoBreakSpaces {
        /// The 1-based line of the replacement.
        content_line: usize,
        /// The lines of the match, 1-based.
        lines: RangeInclusive<usize>,
    },
    /// A new line with curly quotes in a text that has none; nothing in the edit shows that they were changed in transit.
    #[error(
        "line {content_line} of the replacement has curly quotes and the file has none: write straight ones, or replace \
         the lines by their numbers if curly ones are meant"
    )]
    OtherQuotes {
        /// The 1-based line of the replacement.
        content_line: usize,
        /// The lines of the match, 1-based.
        lines: RangeInclusive<usize>,
    },
    /// The replacement is already in the text, around the match, and its new lines are too short to show that the edit was
    /// applied before.
    #[error(
        "the new text is already at {}: if you want it there twice, add the lines around it to the search text",
        named(.lines)
    )]
    AlreadyThere {
        /// The lines of the new text, 1-based.
        lines: RangeInclusive<usize>,
    },
    /// The caller does not want the result any more.
    #[error("cancelled before anything was done")]
    Cancelled,
    /// A result over the limit.
    #[error("the edited text would be larger than {limit_bytes} bytes")]
    ResultTooLarge {
        /// The limit.
        limit_bytes: usize,
    },
}

/// Describes a character that cannot be written without quoting it: it may be part of a password in the content.
fn unencodable(character: char) -> &'static str {
    match character {
        '\0' => "a NUL",
        char::REPLACEMENT_CHARACTER => "U+FFFD",
        _ => "a character other than ASCII",
    }
}

/// A construct that regular expressions cannot use here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum UnsupportedConstruct {
    /// `(?=…)`, `(?!…)`, `(?<=…)`, `(?<!…)`.
    #[error("look-around")]
    LookAround,
    /// `\1`, `\k<name>`.
    #[error("a back-reference")]
    BackReference,
    /// `(?>…)`.
    #[error("an atomic group")]
    AtomicGroup,
    /// `\<` and `\>`, word boundaries here and plain characters in JavaScript.
    #[error("an escaped angle bracket (write < or > without the backslash)")]
    EscapedAngleBracket,
}

/// Two operations of one call that touch the same lines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operations {} and {} both touch {}", .first + 1, .second + 1, named(.lines))]
pub struct Conflict {
    /// The 0-based index of the operation that comes first in the call.
    pub first: usize,
    /// The 0-based index of the later one.
    pub second: usize,
    /// The lines that the second one addresses, in the text as it was before the call; for an insertion the
    /// lines on both sides of the gap.
    pub lines: RangeInclusive<usize>,
    /// The text that the first one puts there, without endings, cut.
    pub first_text: String,
    /// The text that the second one puts there, without endings, cut.
    pub second_text: String,
}

fn named(lines: &RangeInclusive<usize>) -> String {
    if lines.start() == lines.end() {
        format!("line {}", lines.start())
    } else {
        format!("lines {}-{}", lines.start(), lines.end())
    }
}

impl EditError {
    pub(crate) fn of(operation_index: usize, kind: EditErrorKind) -> Self {
        Self { operation_index: Some(operation_index), kind }
    }

    pub(crate) fn of_call(kind: EditErrorKind) -> Self {
        Self { operation_index: None, kind }
    }
}

impl EditErrorKind {
    /// The lines around which a refusal should show the text, 1-based and within it, in the text that the
    /// call's line numbers mean (for [`Stale`](Self::Stale) in the current text).
    ///
    /// `None` if the refusal is not about lines, or the text has none.
    pub fn lines_in_question(&self) -> Option<RangeInclusive<usize>> {
        let clamped = |line: i64, total: usize| usize::try_from(line).unwrap_or(1).clamp(1, total);
        match self {
            Self::InvalidRange { total_lines: 0, .. } | Self::InvalidPosition { total_lines: 0, .. } => None,
            Self::InvalidRange { start_line, end_line, total_lines } => {
                let (one, other) = (clamped(*start_line, *total_lines), clamped(*end_line, *total_lines));
                Some(one.min(other)..=one.max(other))
            }
            Self::InvalidPosition { .. } => Some(1..=1),
            Self::Conflict(conflict) => Some(conflict.lines.clone()),
            Self::Stale(stale) => stale.present_lines.clone(),
            Self::NoMatch(reason) => reason.lines_in_question(),
            Self::UnfitIndentation { lines }
            | Self::UncertainNumbers { lines }
            | Self::UndecodableMatch { lines }
            | Self::OtherIndentation { lines, .. }
            | Self::OtherQuotes { lines, .. }
            | Self::NoBreakSpaces { lines, .. }
            | Self::AlreadyThere { lines } => Some(lines.clone()),
            _ => None,
        }
    }
}
