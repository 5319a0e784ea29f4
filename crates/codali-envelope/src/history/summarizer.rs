//! The seam to whoever writes summaries.

use super::Message;

/// Writes summaries, a cheap agent for instance.
pub trait Summarizer {
    /// Returns a summary of messages, of about `limit_tokens` at most; what is longer is cut.
    ///
    /// # Errors
    ///
    /// [`SummaryError`]; the messages are then left out without a summary.
    fn summarize(&mut self, messages: &[Message], limit_tokens: u64) -> Result<String, SummaryError>;
}

/// There is no summary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no summary: {cause}")]
pub struct SummaryError {
    /// Why not.
    pub cause: String,
}
