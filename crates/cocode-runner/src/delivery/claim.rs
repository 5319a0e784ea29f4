//! The claims of another machine about an agent's end.

use cocode_env::{AgentState, ExitMeaning};

use crate::delivery::Delivery;
use crate::record::AgentRecord;

/// The most characters of a text from another machine.
const MOST_CHARACTERS: usize = 400;

impl Delivery {
    /// Returns the exit code that the claimed state allows: 0 together with a failure is a contradiction, and counts as
    /// unknown.
    pub(super) fn claimed_exit_code(&self) -> Option<i32> {
        match self.state {
            // As for an agent on this machine.
            AgentState::TimedOut => Some(124),
            AgentState::Cancelled => Some(130),
            AgentState::Failed | AgentState::Lost => self.exit_code.filter(|code| *code != 0),
            _ => self.exit_code,
        }
    }

    /// Records the claimed end of the agent; only `is_ready` was determined here.
    pub(super) fn conclude(&self, record: &mut AgentRecord, is_ready: bool) {
        record.detail = self.detail.as_deref().map(plain);
        record.state = match (self.state, record.exit_code) {
            (AgentState::TimedOut | AgentState::Cancelled | AgentState::Failed | AgentState::Lost, _) => {
                self.state
            }
            (_, None) => AgentState::Failed,
            (_, Some(code)) => {
                let meaning = ExitMeaning::of(code);
                record.detail = record.detail.take().or(meaning.advice().map(str::to_owned));
                AgentState::after_exit(meaning, is_ready)
            }
        };
    }
}

/// Returns the beginning of a text from another machine, without control characters.
pub(super) fn plain(text: &str) -> String {
    let is_plain = |one: char| if one.is_control() { ' ' } else { one };
    text.chars().take(MOST_CHARACTERS).map(is_plain).collect()
}
