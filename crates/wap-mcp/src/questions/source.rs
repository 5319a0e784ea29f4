//! The changes and commands that wait for a review, as the host of the workspace keeps it.

use wap_core::{Call, ConversationId, Request, WapError};

/// The review of a workspace, as far as questions to a client's person can decide about it.
pub trait ReviewQuestions: Send + Sync {
    /// Reports whether a person reviews such a request.
    fn concerns(&self, request: &Request) -> bool;

    /// Returns the question about a request that this conversation makes; `None` if it does not wait for a review, not yet
    /// or not any more.
    ///
    /// # Errors
    ///
    /// [`WapError`] if the review cannot be reached.
    fn question(&self, call: &Call<'_>, request: &Request) -> Result<Option<Question>, WapError>;

    /// Decides about what was asked.
    ///
    /// # Errors
    ///
    /// [`WapError`] if it is not what was asked any more, or if another front end has decided; nothing is done then.
    fn decide(&self, call: &Call<'_>, question: &Question, verdict: &Verdict) -> Result<(), WapError>;
}

/// A question to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The number of the proposal.
    pub proposal: u64,
    /// The conversation that proposed it.
    pub conversation: ConversationId,
    /// The digest of what is asked: another one means that it has changed since.
    pub digest: String,
    /// The text for the person, without secrets.
    pub text: String,
}

/// A verdict of the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All of it is carried out.
    CarryOut,
    /// Nothing of it is carried out.
    SendBack {
        /// A word for the model, which may be empty.
        comment: String,
    },
}
