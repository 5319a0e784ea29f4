//! Calls about sessions, as plain values that the owner of the state folder carries out for every process.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tag_session::{NewSession, SessionError};
use tagproto::{Dialect, ExecutionObserver, Session, SessionId};
use wap_core::{Call, TaskFile, Tool};

use crate::failure::{Exit, Failure};
use crate::owner::handover_call::describe;
use crate::session_failure::explain;
use crate::state::LocalSessions;

/// The process that a call about sessions comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The owner of the state folder itself.
    Owner,
    /// Another process; there may be more of them.
    Client,
}

/// A call about the sessions of a state folder. It is idempotent, so that it can be repeated if its owner ends without
/// an answer.
pub trait SessionCall: Serialize + DeserializeOwned + Send + 'static {
    /// The method by which clients request it.
    const METHOD: &'static str;
    /// The tool whose threads carry it out.
    const TOOL: Tool;
    /// True if a process that is about to end must not begin it: a command runs in it, or outlives it.
    const BEGINS_COMMAND: bool = matches!(Self::TOOL, Tool::ExecuteCommand);
    /// True if its effect depends on the confinement of commands or on protected names.
    const IS_CONFINED: bool = true;
    /// The answer to a call that was carried out.
    type Answer: Serialize + DeserializeOwned;

    /// Carries it out.
    fn carry_out(
        &self,
        sessions: &LocalSessions,
        caller: Caller,
        call: &Call<'_>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<Self::Answer, SessionRefusal>;
}

/// The refusal of a call about sessions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionRefusal {
    exit: u8,
    /// The refusal in one sentence.
    pub message: String,
    /// The way out; `None` if there is none.
    pub advice: Option<String>,
    /// True if another reply may succeed.
    pub is_about_the_reply: bool,
    /// True if another session has taken the file of the reply.
    pub is_taken: bool,
}

impl SessionRefusal {
    /// Returns the refusal of a call whose client has an option that would not be obeyed.
    pub fn by_policy(message: impl Into<String>) -> SessionRefusal {
        Failure::new(Exit::Refused, message).into()
    }

    /// Returns the failure with which a program ends.
    pub fn into_failure(self) -> Failure {
        let SessionRefusal { exit, message, advice, .. } = self;
        Failure { exit: Exit::of_code(exit), message, advice }
    }
}

impl From<Failure> for SessionRefusal {
    fn from(failure: Failure) -> SessionRefusal {
        let Failure { exit, message, advice } = failure;
        SessionRefusal { exit: exit as u8, message, advice, is_about_the_reply: false, is_taken: false }
    }
}

impl From<SessionError> for SessionRefusal {
    fn from(error: SessionError) -> SessionRefusal {
        let is_about_the_reply = is_about_the_reply(&error);
        let is_taken = matches!(error, SessionError::Taken { .. });
        SessionRefusal { is_about_the_reply, is_taken, ..explain(error).into() }
    }
}

/// True if another reply may succeed.
fn is_about_the_reply(error: &SessionError) -> bool {
    matches!(
        error,
        SessionError::Refused(_)
            | SessionError::OtherSession { .. }
            | SessionError::UnknownSession { .. }
            | SessionError::OtherSequence { .. }
            | SessionError::KnownText { .. }
            | SessionError::StillHeld { .. }
            | SessionError::KnownWithoutResults { .. }
            | SessionError::HeldHasBegun
            | SessionError::KnownUnfinished { .. }
            | SessionError::BegunElsewhere { .. }
            | SessionError::HistoryLost
            | SessionError::Empty
            | SessionError::Declined
    )
}

/// Starts a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreateSession {
    /// The id, chosen by the caller, so that a repeated call after a lost answer does not start a second session.
    pub id: SessionId,
    /// The task, as the user gave it.
    pub task: String,
    /// The dialect that the model speaks.
    pub dialect: Dialect,
    /// The maximum number of tokens of a message.
    pub budget: Option<u32>,
    /// The maximum number of characters of one paste.
    #[serde(default)]
    pub paste_characters: Option<u32>,
    /// The files that matter for the task, the most relevant first.
    #[serde(default)]
    pub task_files: Vec<TaskFile>,
    /// The files that the first message shows whole, by their paths in the workspace.
    #[serde(default)]
    pub read_files: Vec<String>,
    /// Sentences about the surroundings of commands.
    #[serde(default)]
    pub surroundings: Vec<String>,
    /// The conversation whose work the session continues: a session, or a client as the log names it.
    #[serde(default)]
    pub from: Option<String>,
}

impl SessionCall for CreateSession {
    const METHOD: &'static str = "agentd/createSession";
    const TOOL: Tool = Tool::WriteFile;
    type Answer = Session;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Session, SessionRefusal> {
        let work = |from| describe(sessions, from, self.budget, call.cancel);
        let handover = self.from.as_deref().map(work).transpose()?;
        let new = NewSession {
            id: self.id,
            task: &self.task,
            dialect: self.dialect,
            token_budget: self.budget,
            paste_characters: self.paste_characters,
            task_files: &self.task_files,
            read_files: &self.read_files,
            surroundings: &self.surroundings,
            handover: handover.as_ref(),
        };
        Ok(sessions.create_once(&new, call.cancel)?)
    }
}

/// Makes the next message of a complete session pending; the message says that the task is not complete yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReopenSession {
    /// The session.
    pub id: SessionId,
}

impl SessionCall for ReopenSession {
    const METHOD: &'static str = "agentd/reopenSession";
    const TOOL: Tool = Tool::WriteFile;
    type Answer = Session;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Session, SessionRefusal> {
        Ok(sessions.reopen(self.id, call.cancel)?)
    }
}

/// Puts an answer of the user into the pending message of a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AnswerModel {
    /// The session.
    pub id: SessionId,
    /// The message that the answer goes into.
    pub sequence: u32,
    /// The answer.
    pub text: String,
}

impl SessionCall for AnswerModel {
    const METHOD: &'static str = "agentd/answerModel";
    const TOOL: Tool = Tool::WriteFile;
    type Answer = Session;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        _: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Session, SessionRefusal> {
        Ok(sessions.answer(self.id, self.sequence, &self.text)?)
    }
}

/// Writes the pending message of a session for a new chat, with the content of all earlier messages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WholeOutbox {
    /// The session.
    pub id: SessionId,
}

impl SessionCall for WholeOutbox {
    const METHOD: &'static str = "agentd/wholeOutbox";
    const TOOL: Tool = Tool::ReadFile;
    /// `None` if the message is not in the journal.
    type Answer = Option<String>;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Option<String>, SessionRefusal> {
        Ok(sessions.whole_outbox(self.id, call.cancel)?)
    }
}
