//! How many tokens a text costs.

/// Counts the tokens of a text as a model does, or nearly.
pub trait TokenCounter {
    /// Returns how many tokens a text has. More text should not have fewer; where it has, a little less than might be is kept.
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
