//! Exit codes, and errors that carry one.

use std::process::ExitCode;

/// How `agentd` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// The operation failed.
    Failed = 1,
    /// Bad usage or bad input.
    Usage = 2,
    /// Something is missing on this machine; `agentd doctor` says what.
    Missing = 3,
    /// Refused by policy.
    Refused = 4,
    /// Another process owns the state folder.
    Held = 5,
    /// Interrupted.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// What went wrong, what to do about it, and how the process ends.
#[derive(Debug)]
pub(crate) struct Failure {
    pub exit: Exit,
    pub message: String,
    pub advice: Option<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure { exit, message: message.into(), advice: None }
    }

    #[must_use]
    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Failure {
        self.advice = Some(advice.into());
        self
    }
}

/// The result of a command: how to end, or why it failed.
pub(crate) type Outcome = Result<Exit, Failure>;
