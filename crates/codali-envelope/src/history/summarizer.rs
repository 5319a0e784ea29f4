//! The interface to a summarizer.

use super::Message;

/// Writes summaries, for instance with a cheap agent.
pub trait Summarizer {
    /// Returns a summary of messages of about `limit_tokens` at most; a longer one is cut.
    ///
    /// # Errors
    ///
    /// [`SummaryError`]; the messages are then dropped without a summary.
    fn summarize(&mut self, messages: &[Message], limit_tokens: u64) -> Result<String, SummaryError>;
}

/// The error of a summarizer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot summarize: {cause}")]
pub struct SummaryError {
    /// The cause.
    pub cause: String,
}
