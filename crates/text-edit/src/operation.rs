//! The edits that a caller can request.

use crate::{Lines, SearchText};

/// One edit of a text. Line numbers are 1-based and ranges inclusive; they are signed because they come from outside, and the
/// refusal quotes a bad number unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Replaces the lines `start_line..=end_line` by `content`; a `content` without lines deletes them.
    Replace {
        /// The first line to remove.
        start_line: i64,
        /// The last line to remove; past the end of the text means the last line.
        end_line: i64,
        /// The new lines.
        content: Lines,
    },
    /// Inserts `content` after a line.
    Insert {
        /// The line before the insertion; 0 inserts at the top, past the end of the text appends.
        after_line: i64,
        /// The inserted lines.
        content: Lines,
    },
    /// Removes the lines `start_line..=end_line`.
    Delete {
        /// The first line to remove.
        start_line: i64,
        /// The last line to remove; past the end of the text means the last line.
        end_line: i64,
    },
    /// Replaces a text that occurs as often as expected.
    ReplaceText {
        /// The text to find.
        search: SearchText,
        /// The text to put there; for whole lines, the empty text deletes them.
        replacement: String,
        /// The number of occurrences. If it is 1, [`MatchRule::ALL`](crate::MatchRule::ALL) are allowed, and an edit that is
        /// already applied is recognised.
        expected: usize,
        /// The first and last line (1-based) of the range to search for one occurrence; `None` for the whole text.
        within: Option<(i64, i64)>,
    },
    /// Replaces what a regular expression matches, in the whole text.
    RegexReplace {
        /// The expression, in the syntax of the `regex` crate: no look-around, no back-references.
        ///
        /// `.` matches neither a line feed nor a carriage return (unless the flag `s` is set), and with the
        /// flag `m` the end of a line is before either ending.
        pattern: String,
        /// The replacement: `$1` to `$99`, `$&` (the match), `$$` (a dollar sign), `${name}`, `$<name>`.
        ///
        /// A line feed in it is written as the text's own line ending.
        replacement: String,
        /// Any of `g` (all matches, not only the first), `i`, `m`, `s`, `u` (always on), each at most once.
        flags: String,
    },
}

/// The text that the line numbers of several operations mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Numbering {
    /// All of them mean the text as it was before the call. Two operations on the same lines conflict.
    Original,
    /// Each means the text as the operations before it have left it.
    Sequential,
}
