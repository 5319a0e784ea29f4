//! Token counting.

/// Counts or estimates the tokens of a text.
pub trait TokenCounter {
    /// Returns the number of tokens of a text. It should not shrink when text is appended; if it does, fitting
    /// keeps a little less than possible.
    fn count(&self, text: &str) -> u64;
}

/// One token for every four bytes, rounded up: an estimate that needs no vocabulary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BytesPerToken;

impl TokenCounter for BytesPerToken {
    fn count(&self, text: &str) -> u64 {
        text.len().div_ceil(4) as u64
    }
}
