//! Positions in a reply: byte spans and line ranges.

use std::ops::Range;

/// A range of byte offsets in the given text; `end` is exclusive.
///
/// Both offsets are on character boundaries, and a byte-order mark at the start of the text counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

impl Span {
    /// Returns the span as a range, for slicing its text.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// A range of lines of the given text, 1-based and inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LineRange {
    /// Number of the first line.
    pub first: u32,
    /// Number of the last line; equal to `first` for a single line.
    pub last: u32,
}

impl LineRange {
    /// Returns the range between two 1-based line numbers; numbers beyond `u32` are clamped.
    pub(crate) fn of(first: usize, last: usize) -> Self {
        Self { first: line_number(first), last: line_number(last) }
    }
}

/// Returns a 1-based line number for the wire, clamped instead of wrapped.
pub(crate) fn line_number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A value with its position in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The parsed value.
    pub value: T,
    /// From the `[` of the opening tag to the `]` of the closing tag.
    pub span: Span,
    /// The lines from the opening tag to the closing tag.
    pub lines: LineRange,
}
