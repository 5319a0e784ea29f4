//! The progress of a flow.

use codali_envelope::{CriticResult, Role};
use serde::Serialize;

use super::{EditResult, Plan};

/// One event of a flow. Serialized as an object with its name under `event`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FlowEvent {
    /// The flow resumes after previously answered steps.
    Resumed {
        /// The number of those steps.
        steps: usize,
    },
    /// A round begins.
    Round {
        /// Its number, from 1.
        round: u32,
        /// The most rounds.
        of: u32,
    },
    /// An agent is called.
    Called {
        /// Its role.
        role: Role,
        /// The tokens of the prompt.
        tokens: u64,
    },
    /// An agent has replied; the reply is kept.
    Replied {
        /// Its role.
        role: Role,
        /// The tokens of the reply.
        tokens: u64,
        /// The time that it took, in milliseconds.
        elapsed_ms: u64,
    },
    /// A request of an agent was answered.
    Responded {
        /// The agent's role.
        role: Role,
        /// The id of the request.
        request_id: String,
        /// The number of results.
        results: usize,
        /// The warnings of the response.
        warnings: Vec<String>,
    },
    /// The architect has a plan.
    Planned {
        /// The plan.
        #[serde(flatten)]
        plan: Plan,
    },
    /// A builder's reply was applied.
    Applied {
        /// The run in the journal.
        run: u32,
        /// The reason why nothing was carried out; `None` if it was.
        #[serde(skip_serializing_if = "Option::is_none")]
        refusal: Option<String>,
        /// The results of its blocks.
        results: Vec<EditResult>,
        /// The paths that the session has changed so far.
        touched: Vec<String>,
    },
    /// The user's command has run.
    Tested {
        /// The command.
        command: String,
        /// True if it ended with exit code 0.
        succeeded: bool,
        /// Its outcome in one line, with the exit code.
        outcome: String,
    },
    /// A round was judged.
    Judged {
        /// Its number.
        round: u32,
        /// The critic's result.
        result: CriticResult,
        /// True if the critic agent said PASS although the check failed.
        is_contradicted: bool,
    },
}

/// Receives the events of a flow.
pub trait FlowEvents {
    /// Receives one event.
    fn event(&self, event: &FlowEvent);
}
