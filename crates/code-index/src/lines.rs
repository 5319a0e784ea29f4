//! The line starts of a text.

use std::ops::Range;

/// Converts between byte offsets and lines of a text.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'t> {
    text: &'t [u8],
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Lines<'t> {
        let mut starts = Vec::with_capacity(text.len() / 32 + 1);
        if !text.is_empty() {
            starts.push(0);
        }
        starts
            .extend(memchr::memchr_iter(b'\n', text).map(|end| end + 1).filter(|start| *start < text.len()));
        Lines { text, starts }
    }

    /// Returns the number of lines; a last line without an ending counts.
    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    /// Returns the lines `first..=last`, 1-based, with their endings, clamped to the end of the text.
    pub(crate) fn range(&self, first: usize, last: usize) -> &'t [u8] {
        &self.text[self.bytes_of(first, last)]
    }

    /// Returns the byte range of the lines `first..=last`, as in [`range`](Self::range).
    pub(crate) fn bytes_of(&self, first: usize, last: usize) -> Range<usize> {
        let start = self.starts.get(first.saturating_sub(1)).copied().unwrap_or(self.text.len());
        let end = self.starts.get(last).copied().unwrap_or(self.text.len());
        start..end.max(start)
    }

    /// Returns the 1-based line of a byte; `from` is a line at or before it, or 0, at which the search starts.
    pub(crate) fn line_of(&self, byte: usize, from: usize) -> usize {
        let from = from.saturating_sub(1);
        from + self.starts[from.min(self.starts.len())..].partition_point(|start| *start <= byte)
    }
}
