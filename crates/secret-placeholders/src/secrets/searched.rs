//! A text that is searched for secrets, with and without its colours.

use std::ops::Range;

use crate::detector::{Span, Uncoloured};

/// A text, and its searched form without colours: a value with colours in it is still a value.
pub(super) struct Searched<'t> {
    pub(super) text: &'t str,
    uncoloured: Option<Uncoloured>,
}

impl<'t> Searched<'t> {
    pub(super) fn new(text: &'t str) -> Searched<'t> {
        Searched { text, uncoloured: Uncoloured::of(text) }
    }

    pub(super) fn plain(&self) -> &str {
        self.uncoloured.as_ref().map_or(self.text, |plain| &plain.text)
    }

    /// Maps a range of the plain text to the text.
    pub(super) fn range(&self, part: Range<usize>) -> Range<usize> {
        self.uncoloured.as_ref().map_or(part.clone(), |plain| plain.coloured(part))
    }

    pub(super) fn spans(&self, spans: Vec<Span>) -> Vec<Span> {
        spans.into_iter().map(|span| Span { range: self.range(span.range), kind: span.kind }).collect()
    }

    /// Returns a part of the text without the colours in it.
    pub(super) fn value(&self, range: &Range<usize>) -> &str {
        self.uncoloured.as_ref().map_or(&self.text[range.clone()], |plain| plain.plain(range.clone()))
    }

    /// Returns the values of some parts, each with its kind.
    pub(super) fn values<'s>(&'s self, spans: &'s [Span]) -> Vec<(&'s str, &'s str)> {
        spans.iter().map(|span| (&*span.kind, self.value(&span.range))).collect()
    }
}
