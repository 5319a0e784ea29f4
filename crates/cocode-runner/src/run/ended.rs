//! The end of an agent's process.

use sandbox_exec::{Ending, Outcome, WaitError};

use crate::error::error_chain;
use crate::run::stop::StopReason;

/// The end of an agent's process.
pub(crate) struct Ended {
    pub(crate) exit_code: Option<i32>,
    pub(crate) reason: Option<StopReason>,
    pub(crate) detail: Option<String>,
}

impl Ended {
    pub(crate) fn unstarted(detail: String) -> Ended {
        Ended { exit_code: None, reason: None, detail: Some(detail) }
    }

    pub(crate) fn of(waited: Result<Outcome, WaitError>, reason: Option<StopReason>) -> Ended {
        let (exit_code, detail) = match (waited, reason) {
            (_, Some(StopReason::Deadline)) => (Some(124), None),
            (_, Some(StopReason::Cancelled)) => (Some(130), None),
            (Err(error), None) => (None, Some(error_chain(&error))),
            (Ok(Outcome { ending: Ending::TimedOut { .. }, .. }), None) => (Some(124), None),
            (Ok(Outcome { ending: Ending::Cancelled, .. }), None) => (Some(130), None),
            (Ok(Outcome { ending: ending @ Ending::KilledForMemory { .. }, .. }), None) => {
                (Some(137), Some(ending.to_string()))
            }
            (Ok(Outcome { ending, .. }), None) => {
                let detail = match ending {
                    Ending::Signaled(signal) => Some(format!("it died of {signal}")),
                    Ending::Exited(126) => Some("its program could not be run".to_owned()),
                    Ending::Exited(127) => Some("its program was not found".to_owned()),
                    _ => None,
                };
                (ending.exit_code(), detail)
            }
        };
        Ended { exit_code, reason, detail }
    }
}
