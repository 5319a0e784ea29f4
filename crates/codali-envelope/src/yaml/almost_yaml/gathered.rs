//! Finds the end of a quoted text or a flow collection.

/// Scans a text that begins with a quote or a bracket up to its end. Each character is scanned once.
pub(super) struct Gathered {
    deepest: usize,
    depth: usize,
    quote: Option<Quote>,
    /// The last non-blank character, which decides whether a quote mark begins a text.
    last: Option<char>,
    is_escaped: bool,
    is_begun: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    Single,
    Double,
}

impl Gathered {
    pub(super) fn new(deepest: usize) -> Gathered {
        Gathered { deepest, depth: 0, quote: None, last: None, is_escaped: false, is_begun: false }
    }

    /// Scans the next piece of the text, up to the end of the value.
    pub(super) fn push(&mut self, piece: &str) {
        for character in piece.chars() {
            if self.is_closed() || self.is_too_deep() {
                return;
            }
            self.step(character);
        }
    }

    fn step(&mut self, character: char) {
        self.is_begun = true;
        match (self.quote, character) {
            (Some(Quote::Double), _) if self.is_escaped => self.is_escaped = false,
            (Some(Quote::Double), '\\') => self.is_escaped = true,
            (Some(Quote::Double), '"') | (Some(Quote::Single), '\'') => self.quote = None,
            (Some(_), _) => {}
            (None, '"') if self.may_begin() => self.quote = Some(Quote::Double),
            (None, '\'') if self.may_begin() => self.quote = Some(Quote::Single),
            (None, '[' | '{') => self.depth += 1,
            // The kinds of brackets are not compared: the YAML parser refuses a mismatch later.
            (None, ']' | '}') => self.depth = self.depth.saturating_sub(1),
            (None, _) => {}
        }
        if !character.is_whitespace() {
            self.last = Some(character);
        }
    }

    /// Returns true if a quote mark here begins a text; within a word it is an apostrophe. (Of two adjacent marks
    /// the second continues the text.)
    fn may_begin(&self) -> bool {
        self.last.is_none_or(|last| matches!(last, '[' | '{' | ',' | ':' | '"' | '\''))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_begun && self.depth == 0 && self.quote.is_none()
    }

    pub(super) fn is_too_deep(&self) -> bool {
        self.depth > self.deepest
    }
}
