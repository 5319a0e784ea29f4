//! Failures with advice for the person, and the exit codes that they mean.

use std::process::ExitCode;

/// Exit codes that the programs over a shared workspace agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
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
    /// A time ran out.
    TimedOut = 124,
    /// Interrupted.
    Interrupted = 130,
}

impl Exit {
    /// Returns the exit of this code; [`Exit::Failed`] if there is none.
    #[must_use]
    pub fn of_code(code: u8) -> Exit {
        use Exit::{Done, Failed, Held, Interrupted, Missing, Refused, TimedOut, Usage};
        let all = [Done, Failed, Usage, Missing, Refused, Held, TimedOut, Interrupted];
        all.into_iter().find(|exit| *exit as u8 == code).unwrap_or(Failed)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// A failure with the advice for it and the exit code with which a program ends because of it.
#[derive(Debug)]
pub struct Failure {
    /// The exit code of a program that ends because of it.
    pub exit: Exit,
    /// The failure in one sentence.
    pub message: String,
    /// The way out; `None` if there is none.
    pub advice: Option<String>,
}

impl Failure {
    /// Returns a failure without advice.
    pub fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure { exit, message: message.into(), advice: None }
    }

    #[must_use]
    /// Returns the failure with advice.
    pub fn advise(mut self, advice: impl Into<String>) -> Failure {
        self.advice = Some(advice.into());
        self
    }
}
