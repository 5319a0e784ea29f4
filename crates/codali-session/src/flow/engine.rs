//! The workspace of a flow: edits as journalled runs, and answers to requests.

use codali_envelope::{CommandOutput, Reading, Response};
use serde::{Deserialize, Serialize};

/// Carries out the edits and requests of the agents of a flow.
///
/// Every call except [`FlowEngine::pending_run`] may be repeated with the same arguments after a crash. The engine then answers
/// from its record and does nothing twice.
pub trait FlowEngine {
    /// Returns the number of the next run of the flow's session.
    ///
    /// # Errors
    ///
    /// [`EngineError`] if the session cannot be read.
    fn pending_run(&self) -> Result<u32, EngineError>;

    /// Returns true if a builder's reply contains an edit or a command. A request in such a reply is a quotation, or premature.
    fn has_edits(&self, text: &str) -> bool;

    /// Applies a builder's reply as the run of this number.
    ///
    /// # Errors
    ///
    /// [`EngineError`] if nothing can be applied, for any reply. A refusal of the reply is an answer.
    fn apply(&self, run: u32, text: &str) -> Result<Applied, EngineError>;

    /// Runs a command of the user, confined, as the run of this number. An interrupted command may be run again.
    ///
    /// # Errors
    ///
    /// [`EngineError`] if it cannot be run. A command that fails is an answer.
    fn run_command(&self, run: u32, command: &str) -> Result<CommandOutput, EngineError>;

    /// Returns the paths whose content differs from that before the session, sorted, relative to the workspace.
    ///
    /// # Errors
    ///
    /// [`EngineError`] if the journal cannot be read.
    fn touched(&self) -> Result<Vec<String>, EngineError>;

    /// Answers a request. `output` is the output of the flow's command, if there is one and it has run.
    ///
    /// # Errors
    ///
    /// [`EngineError`] if the sources of answers cannot be opened. A need that fails is an answer.
    fn respond(&self, reading: &Reading, output: Option<&CommandOutput>) -> Result<Response, EngineError>;

    /// Completes the session with a summary, as the run of this number.
    ///
    /// # Errors
    ///
    /// [`EngineError`] if the journal cannot be written.
    fn finish(&self, run: u32, summary: &str) -> Result<(), EngineError>;
}

/// The outcome of a builder's reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The reason why nothing of the reply was carried out; `None` if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The result of each block, in the order of the reply.
    #[serde(default)]
    pub results: Vec<EditResult>,
    /// The text for the builder about a person's review that left out or commented on something; empty without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub review: String,
}

/// The result of one block of a builder's reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditResult {
    /// The outcome, for a failure with advice.
    pub summary: String,
    /// The output of a command, or the text that explains a failure; often empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub details: String,
    /// True if it was carried out.
    pub succeeded: bool,
    /// True if it changes a file or runs a command; false for example for a message to the user.
    pub is_edit: bool,
}

/// A failure of the engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EngineError {
    /// The cause in one sentence.
    pub message: String,
    /// Advice for the user; `None` if there is none.
    pub advice: Option<String>,
    /// The exit code for the calling program.
    pub exit: u8,
    /// True if the user has cancelled the call.
    pub is_cancelled: bool,
}
