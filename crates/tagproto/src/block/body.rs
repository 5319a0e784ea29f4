//! The body of a file block.

use std::borrow::Cow;

/// The lines between an opening tag and its closing tag.
///
/// A body without lines and a body of one blank line have the same text but differ in effect: the first empties a range of lines
/// or a file, the second writes one blank line. So the number of lines is kept with the text.
///
/// Invariant: `line_count` is 0 and the text empty, or `line_count` is the number of LF in the text plus one.
///
/// Source: docs/tagproto.md, Reading a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body<'a> {
    text: Cow<'a, str>,
    line_count: usize,
}

impl<'a> Body<'a> {
    /// Returns a body without lines.
    #[must_use]
    pub const fn no_lines() -> Self {
        Self { text: Cow::Borrowed(""), line_count: 0 }
    }

    /// Returns a body of lines separated by LF; the empty text is one blank line.
    #[must_use]
    pub fn of_lines(text: impl Into<Cow<'a, str>>) -> Self {
        let text = text.into();
        let line_count = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
        Self { text, line_count }
    }

    /// Returns a body like [`Body::of_lines`], with the given number of lines.
    pub(crate) fn counted(text: Cow<'a, str>, line_count: usize) -> Self {
        debug_assert!(if line_count == 0 {
            text.is_empty()
        } else {
            line_count == memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1
        });
        Self { text, line_count }
    }

    /// Returns the lines joined by LF, without a final LF.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the number of lines: 0 without lines, 1 for one line, even if blank.
    #[must_use]
    pub const fn line_count(&self) -> usize {
        self.line_count
    }

    /// Iterates over the lines without their LF.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.split('\n').take(self.line_count)
    }

    /// Returns the text, borrowed from the reply unless a character had to be dropped.
    #[must_use]
    pub fn into_text(self) -> Cow<'a, str> {
        self.text
    }

    /// Returns the same body with an owned text.
    #[must_use]
    pub fn into_owned(self) -> Body<'static> {
        Body { text: Cow::Owned(self.text.into_owned()), line_count: self.line_count }
    }
}
