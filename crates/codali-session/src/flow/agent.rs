//! The agents of a flow.

use codali_envelope::Role;
use model_program::{ModelProgram, ProgramError};
use wap_core::CancelFlag;

/// An agent: a prompt in, a reply out. It keeps no state between calls.
pub trait Agent {
    /// Replies to a prompt.
    ///
    /// # Errors
    ///
    /// [`AgentError`] if there is no reply. Nothing of a failed call is used.
    fn reply(&self, prompt: &str, cancel: &CancelFlag) -> Result<String, AgentError>;
}

/// The reason why an agent gave no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AgentError {
    /// The cause in one sentence.
    pub message: String,
    /// True if the user cancelled the call.
    pub is_cancelled: bool,
    /// True if the call exceeded its time limit.
    pub is_timeout: bool,
}

/// The agents of a flow, by their roles.
#[derive(Clone, Copy)]
pub struct Agents<'a> {
    /// Collects context before the first plan; without one, the architect does.
    pub librarian: Option<&'a dyn Agent>,
    /// Plans.
    pub architect: &'a dyn Agent,
    /// Edits.
    pub builder: &'a dyn Agent,
    /// Judges in addition to the check; without one, the check alone decides.
    pub critic: Option<&'a dyn Agent>,
}

impl<'a> Agents<'a> {
    /// Returns the agent of a role; `None` for a role without one.
    pub(super) fn of(&self, role: &Role) -> Option<&'a dyn Agent> {
        match role {
            Role::Librarian => self.librarian,
            Role::Architect => Some(self.architect),
            Role::Builder => Some(self.builder),
            Role::Critic => self.critic,
            Role::Interpreter | Role::Other(_) => None,
        }
    }
}

impl Agent for ModelProgram {
    fn reply(&self, prompt: &str, cancel: &CancelFlag) -> Result<String, AgentError> {
        self.ask(prompt, cancel).map_err(|error| AgentError {
            is_cancelled: matches!(error, ProgramError::Cancelled),
            is_timeout: matches!(error, ProgramError::TimedOut(_)),
            message: error.to_string(),
        })
    }
}
