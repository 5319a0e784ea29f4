//! The reasons why a flow stops before its result.

use codali_envelope::Role;

use super::{AgentError, EngineError, StepError};

/// A reason why a flow stops before its result. All answers up to then are kept, and resuming only requests the rest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// The user cancelled it.
    #[error("the flow was cancelled")]
    Cancelled,
    /// An agent gave no reply.
    #[error("the {role} gave no reply: {error}")]
    Agent {
        /// The agent's role.
        role: Role,
        /// The cause.
        error: AgentError,
    },
    /// An agent does not stop asking.
    #[error("the {role} was still asking after {requests} responses")]
    TooManyRequests {
        /// The agent's role.
        role: Role,
        /// The number of responses that it received.
        requests: u32,
    },
    /// The task, the instructions and the plan alone exceed the agents' window.
    #[error("the prompt for the {role} needs {tokens} tokens, and the window has {limit_tokens}")]
    SmallWindow {
        /// The agent's role.
        role: Role,
        /// The tokens of the shortest prompt.
        tokens: u64,
        /// The size of the window.
        limit_tokens: u64,
    },
    /// The architect was asked twice, and its plan does not name a file.
    #[error("the architect's plan names no files under plan_targets")]
    NoTargets,
    /// The builder was asked twice, and nothing of its replies could be applied.
    #[error("nothing that the builder wrote could be applied: {reason}")]
    EditsRefused {
        /// The first reason of the last reply.
        reason: String,
    },
    /// The engine has failed.
    #[error(transparent)]
    Engine(EngineError),
    /// A step cannot be read or written.
    #[error(transparent)]
    Step(#[from] StepError),
}

impl From<EngineError> for FlowError {
    fn from(error: EngineError) -> FlowError {
        if error.is_cancelled { FlowError::Cancelled } else { FlowError::Engine(error) }
    }
}
