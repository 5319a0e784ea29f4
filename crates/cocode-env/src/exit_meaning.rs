//! What the exit codes of the document mean.

use serde::{Deserialize, Serialize};

/// What an exit code says, as the document has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExitMeaning {
    /// 0: success; the ready marker is looked for.
    Success,
    /// 1, and every code that the document does not name.
    Error,
    /// 2: the agent's settings are invalid.
    InvalidConfig,
    /// 3: something that the agent needs is missing.
    MissingDeps,
    /// 124: the time was up.
    Timeout,
    /// 130: the user interrupted it.
    Interrupted,
    /// 128 plus the number of the signal that ended it, other than 130.
    Signal(u8),
}

impl ExitMeaning {
    /// Returns the meaning of an exit code as a shell shows it.
    pub fn of(code: i32) -> ExitMeaning {
        match code {
            0 => ExitMeaning::Success,
            2 => ExitMeaning::InvalidConfig,
            3 => ExitMeaning::MissingDeps,
            124 => ExitMeaning::Timeout,
            130 => ExitMeaning::Interrupted,
            129..=192 => ExitMeaning::Signal(u8::try_from(code - 128).expect("64 is less than 256")),
            _ => ExitMeaning::Error,
        }
    }

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            ExitMeaning::Success => "success",
            ExitMeaning::Error => "error",
            ExitMeaning::InvalidConfig => "invalid_config",
            ExitMeaning::MissingDeps => "missing_deps",
            ExitMeaning::Timeout => "timeout",
            ExitMeaning::Interrupted => "interrupted",
            ExitMeaning::Signal(_) => "signal",
        }
    }

    /// Returns what the person who runs the agent can do about it.
    pub fn advice(self) -> Option<&'static str> {
        match self {
            ExitMeaning::InvalidConfig => Some("check the agent's setup"),
            ExitMeaning::MissingDeps => {
                Some("something that the agent needs is missing; see `agentd cocode doctor`")
            }
            ExitMeaning::Timeout => Some("give it more time with --timeout SECONDS"),
            _ => None,
        }
    }
}
