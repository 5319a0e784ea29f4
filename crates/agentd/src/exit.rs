//! Exit codes, and errors that carry one.

use std::process::ExitCode;

use crate::views::console::Console;

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
    /// A time ran out.
    TimedOut = 124,
    /// Interrupted.
    Interrupted = 130,
}

/// What each code means, for people.
pub(crate) const MEANINGS: [(Exit, &str); 8] = [
    (Exit::Done, "Done; for apply, the reply was carried out, whatever its blocks gave."),
    (Exit::Failed, "Failed: a tool answered with an error, no agent is ready, a disk is full."),
    (Exit::Usage, "Bad usage or bad input."),
    (Exit::Missing, "Something is missing on this machine; agentd doctor says what."),
    (Exit::Refused, "Refused: by policy, or a reply that cannot be used."),
    (
        Exit::Held,
        "Another process owns the state folder, and either does not answer or cannot do this for you.",
    ),
    (
        Exit::TimedOut,
        "A time ran out: the agent of cocode check had none left, or git did not come to an end.",
    ),
    (Exit::Interrupted, "Interrupted."),
];

impl Exit {
    /// Returns the exit of this code; that of a failure where there is none.
    pub(crate) fn of_code(code: u8) -> Exit {
        let found = MEANINGS.iter().find(|(exit, _)| *exit as u8 == code);
        found.map_or(Exit::Failed, |(exit, _)| *exit)
    }
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

    /// Says on standard error what went wrong, and answers how the process ends.
    pub(crate) fn tell(&self, console: Console) -> Exit {
        if self.exit != Exit::Interrupted || !self.message.is_empty() {
            console.notice(&format!("agentd: {}", self.message));
        }
        if let Some(advice) = &self.advice {
            console.notice(&format!("  {advice}"));
        }
        self.exit
    }

    #[must_use]
    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Failure {
        self.advice = Some(advice.into());
        self
    }
}

/// The result of a command: how to end, or why it failed.
pub(crate) type Outcome = Result<Exit, Failure>;
