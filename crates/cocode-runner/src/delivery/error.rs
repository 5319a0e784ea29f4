//! The reasons that a delivery is refused.

use cocode_env::AgentState;

use crate::bundle::refusal::BundleRefusal;

/// A reason to refuse a delivery, or a change of the record of an agent on another machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeliveryError {
    /// Its bundle is refused.
    #[error(transparent)]
    Bundle(#[from] BundleRefusal),
    /// It claims a commit, and has no bundle.
    #[error("it claims the commit {head} and has no bundle")]
    NoBundle {
        /// The commit.
        head: String,
    },
    /// It has a bundle, and claims no commit.
    #[error("it has a bundle and claims no commit")]
    NoHead,
    /// The commit that it claims is not a full name of this repository's kind.
    #[error("the commit that it claims is not named by {digits} hexadecimal digits")]
    HeadName {
        /// The number of digits of this repository's names.
        digits: usize,
    },
    /// The files would take more than the limit.
    #[error("its files take more than {limit_bytes} bytes, which is the limit")]
    Files {
        /// The limit.
        limit_bytes: u64,
    },
    /// Git cannot list its files, so their size is unknown.
    #[error("its files cannot be listed: {reason}")]
    Unlistable {
        /// Git's reason.
        reason: String,
    },
    /// It claims a state in which the agent has not ended.
    #[error("it claims the state {state}, in which an agent has not ended")]
    NotEnded {
        /// The state.
        state: AgentState,
    },
    /// Another attempt has begun since.
    #[error("it is of attempt {epoch}, and attempt {current} has begun since")]
    Late {
        /// Its attempt.
        epoch: u64,
        /// The attempt of the record.
        current: u64,
    },
    /// The task was given up, or its work was judged before.
    #[error("the agent has ended already, as {state}")]
    Over {
        /// The state.
        state: AgentState,
    },
    /// Only the verdict of this machine leads to that state.
    #[error("only a verdict of this machine leads to the state {state}")]
    OnlyByVerdict {
        /// The state.
        state: AgentState,
    },
    /// The judgement was interrupted. It can be repeated.
    #[error("the judgement was interrupted, and can be repeated")]
    Stopped,
}

impl DeliveryError {
    /// Returns whether the delivery itself is at fault, so that the agent has to run again. If not, the same delivery may be
    /// judged later, or need not be judged any more.
    pub fn is_about_delivery(&self) -> bool {
        match self {
            DeliveryError::Bundle(refusal) => refusal.is_about_bundle(),
            DeliveryError::Late { .. }
            | DeliveryError::Over { .. }
            | DeliveryError::OnlyByVerdict { .. }
            | DeliveryError::Stopped => false,
            DeliveryError::NoBundle { .. }
            | DeliveryError::NoHead
            | DeliveryError::HeadName { .. }
            | DeliveryError::Files { .. }
            | DeliveryError::Unlistable { .. }
            | DeliveryError::NotEnded { .. } => true,
        }
    }
}
