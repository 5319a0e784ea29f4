//! A shell command of the user that writes summaries.

use std::time::Duration;

use codali_envelope::history::{History, Message, Summarizer, SummaryError};
use model_program::ModelProgram;
use wap_core::CancelFlag;

/// The environment variable with the token limit of the summary.
const LIMIT_VARIABLE: &str = "SUMMARY_TOKENS";

/// The byte limit of a summary for each token of its limit.
const BYTES_PER_TOKEN: u64 = 32;

/// A command that reads messages on standard input and writes a summary of them to standard output.
///
/// It runs unconfined as the user who configured it, like any program started from a shell. Its input comes from an agent and a
/// repository, and is only data. The variable `SUMMARY_TOKENS` holds the limit of the summary.
pub struct SummarizerCommand<'a> {
    /// The text for `/bin/sh -c`.
    pub command: &'a str,
    /// The time limit of one summary, after which the command and its descendants are killed.
    pub timeout: Duration,
    /// Ends the command early.
    pub cancel: &'a CancelFlag,
    /// Receives a line for the user if there is no summary.
    pub notice: &'a dyn Fn(&str),
}

impl Summarizer for SummarizerCommand<'_> {
    fn summarize(&mut self, messages: &[Message], limit_tokens: u64) -> Result<String, SummaryError> {
        let input = messages.iter().cloned().collect::<History>().written();
        let most = limit_tokens.saturating_mul(BYTES_PER_TOKEN).max(4_096);
        let program =
            ModelProgram::new(self.command, self.timeout, usize::try_from(most).unwrap_or(usize::MAX))
                .with_variable(LIMIT_VARIABLE, limit_tokens.to_string())
                .with_cut_reply();
        let summary = program.ask(&input, self.cancel).map_err(|error| error.to_string());
        summary.map_err(|cause| {
            (self.notice)(&format!("there is no summary: {cause}"));
            SummaryError { cause }
        })
    }
}

/// A summarizer that always fails, so that the oldest messages are left out instead.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSummarizer;

impl Summarizer for NoSummarizer {
    fn summarize(&mut self, _: &[Message], _: u64) -> Result<String, SummaryError> {
        Err(SummaryError { cause: "no command was named".to_owned() })
    }
}
