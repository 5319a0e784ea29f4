//! The exit codes of the contract.

use serde::{Deserialize, Serialize};

/// The meaning of an exit code in the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExitMeaning {
    /// 0: success; the verdict decides whether the agent is ready.
    Success,
    /// 1, and every code without another meaning.
    Error,
    /// 2: the agent's configuration is invalid.
    InvalidConfig,
    /// 3: a dependency of the agent is missing.
    MissingDeps,
    /// 124: the agent exceeded its timeout.
    Timeout,
    /// 130: the user interrupted the agent.
    Interrupted,
    /// 128 plus the number of the signal that killed the agent, other than 130.
    Signal(u8),
}

impl ExitMeaning {
    /// Returns the meaning of an exit code as a shell reports it in `$?`.
    pub fn of(code: i32) -> ExitMeaning {
        match code {
            0 => ExitMeaning::Success,
            2 => ExitMeaning::InvalidConfig,
            3 => ExitMeaning::MissingDeps,
            124 => ExitMeaning::Timeout,
            130 => ExitMeaning::Interrupted,
            // Linux has signals 1 to 64; a shell adds 128.
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

    /// Returns advice for the user who runs the agent, if there is any.
    pub fn advice(self) -> Option<&'static str> {
        match self {
            ExitMeaning::InvalidConfig => Some("check the agent's setup"),
            ExitMeaning::MissingDeps => {
                Some("a dependency of the agent is missing; see `agentd cocode doctor`")
            }
            ExitMeaning::Timeout => Some("give it more time with --timeout SECONDS"),
            _ => None,
        }
    }
}
