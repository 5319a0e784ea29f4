//! Where in a reply something stands: byte spans and line ranges. Knows nothing of blocks.

use std::ops::Range;

/// A piece of the text that was given, as byte offsets; `end` is exclusive.
///
/// Both offsets lie on character boundaries, and a byte-order mark at the start of the text counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

impl Span {
    /// Returns the span as a range, for slicing the text it was made from.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// Lines of the text that was given, 1-based and inclusive on both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LineRange {
    /// Number of the first line.
    pub first: u32,
    /// Number of the last line; equal to `first` for one line.
    pub last: u32,
}

impl LineRange {
    /// Makes a range of two 1-based line numbers; numbers beyond `u32` are held at its maximum.
    pub(crate) fn of(first: usize, last: usize) -> Self {
        Self { first: line_number(first), last: line_number(last) }
    }
}

/// A 1-based line number as the wire has it, held at the maximum rather than wrapped.
pub(crate) fn line_number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A value together with the place it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// What was read.
    pub value: T,
    /// From the `[` of the opening tag to the `]` of the closing one.
    pub span: Span,
    /// The lines from the opening tag to the closing one.
    pub lines: LineRange,
}
