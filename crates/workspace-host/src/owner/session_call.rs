//! Calls about sessions, as plain values that the owner of the state folder carries out for every process.

use std::time::Duration;

use change_journal::{GarbageReport, RunNumber};
use local_workspace::{LateWrite, LocalWorkspace};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tag_session::{Applied, ApplyOptions, Executed, InboxFile, NewSession, SessionError};
use tagproto::{CommandResult, Dialect, ExecutionObserver, Session, SessionId};
use wap_core::{Call, TaskFile, Tool, Workspace};

use crate::failure::{Exit, Failure};
use crate::history::work_so_far::work_so_far;
use crate::reply_plan::{self, ReplyPlan};
use crate::session_failure::{explain, unwritten};
use crate::state::{LocalSessions, garbage_keeper};

/// The process that a call about sessions comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The owner of the state folder itself.
    Owner,
    /// Another process; there may be more of them.
    Client,
}

/// A call about the sessions of a state folder. It is idempotent, so that it can be made again when its owner has gone
/// without an answer.
pub trait SessionCall: Serialize + DeserializeOwned + Send + 'static {
    /// The method by which clients request it.
    const METHOD: &'static str;
    /// The tool whose threads carry it out.
    const TOOL: Tool;
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
            | SessionError::OtherSequence { .. }
            | SessionError::KnownText { .. }
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
    /// The most tokens of a message.
    pub budget: Option<u32>,
    /// The most characters of one paste.
    #[serde(default)]
    pub paste_characters: Option<u32>,
    /// The files that matter for the task, the most relevant one in front.
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
        let rules = sessions.rules();
        let hides = |path: &str| rules.secrets.is_some() && rules.withheld.may_leave_out(path);
        let mask = |text: &str| rules.mask_file_text(text);
        let work = |from| work_so_far(sessions.journal_reader(), from, self.budget, &hides, &mask);
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

/// Writes the pending message of a session for a new chat, with everything that earlier messages had.
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

/// A reply to a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionReply {
    /// The session that the reply is for.
    pub session: SessionId,
    /// The whole reply.
    pub text: String,
    /// True if a text is executed again although it was executed before.
    pub again: bool,
    /// True if the complete blocks of a reply that was cut off are executed at once.
    pub run_complete: bool,
}

/// Checks whether a reply would be executed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReplyState(pub SessionReply);

impl SessionCall for ReplyState {
    const METHOD: &'static str = "agentd/replyState";
    const TOOL: Tool = Tool::ReadFile;
    const IS_CONFINED: bool = false;
    /// False if it was executed before.
    type Answer = bool;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        _: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<bool, SessionRefusal> {
        let SessionReply { session, text, again, .. } = &self.0;
        Ok(sessions.would_execute(*session, text, *again)?)
    }
}

/// Plans a reply without carrying anything out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlanReply {
    /// The reply.
    pub reply: SessionReply,
    /// The longest run time of a command.
    pub timeout: Duration,
}

impl SessionCall for PlanReply {
    const METHOD: &'static str = "agentd/planReply";
    const TOOL: Tool = Tool::ReadFile;
    type Answer = ReplyPlan;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<ReplyPlan, SessionRefusal> {
        Ok(reply_plan::plan(sessions, &self.reply, self.timeout, call.cancel)?)
    }
}

/// Executes a reply and writes the next outbox.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApplyReply {
    /// The reply.
    pub reply: SessionReply,
    /// The file of the inbox with the text of the reply; `None` if the reply came another way.
    pub file: Option<InboxFile>,
    /// The message that was pending when the reply was read.
    pub answering: u32,
    /// True if a person has reviewed the reply and accepted it.
    pub confirmed: bool,
    /// The longest run time of a command.
    pub timeout: Duration,
}

/// The outcome of executing a reply.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AppliedReply {
    /// True if it was executed by this call, and not before.
    pub is_executed: bool,
    /// The session as it is now.
    pub session: Session,
    /// The message that the reply answered.
    pub sequence: u32,
    /// The result of each block.
    pub results: Vec<CommandResult>,
    /// The damage of pasting that was repaired.
    pub repairs: Vec<String>,
    /// True if an earlier call carried out a part of the reply.
    pub was_resumed: bool,
    /// The results of an interrupted reply that this one supersedes.
    pub taken_over: Vec<CommandResult>,
    /// Lines about changed files that other programs wrote to, or that the disk has not taken.
    pub late: Vec<String>,
    /// The files that could not be written or moved although the reply was executed; `None` if all could.
    pub left_undone: Option<SessionRefusal>,
}

impl SessionCall for ApplyReply {
    const METHOD: &'static str = "agentd/applyReply";
    const TOOL: Tool = Tool::ExecuteCommand;
    type Answer = AppliedReply;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        call: &Call<'_>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<AppliedReply, SessionRefusal> {
        self.apply_through(sessions, None, "", call, observer)
    }
}

impl ApplyReply {
    /// Executes the reply through a view of the workspace, a reviewer's choice for instance, and puts the review into the
    /// next outbox.
    pub(crate) fn apply_through(
        &self,
        sessions: &LocalSessions,
        through: Option<&dyn Workspace>,
        user_review: &str,
        call: &Call<'_>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<AppliedReply, SessionRefusal> {
        let SessionReply { session, text, again, run_complete } = &self.reply;
        let applied = match self.file.as_ref().map(|file| sessions.claim(file)).transpose() {
            // Named, so that the claim lasts until the file is moved: `_` would drop it at once.
            Ok(_claim) => {
                let options = ApplyOptions {
                    again: *again,
                    answering: Some(self.answering),
                    run_complete: *run_complete,
                    confirmed: self.confirmed,
                    file: self.file.as_ref(),
                    through,
                    user_review,
                    review: None,
                };
                let applied = sessions.apply(*session, text, self.timeout, options, call.cancel, observer)?;
                // Under the claim: another session that has read the file must not find it in the inbox any more.
                let moved = self.file.as_ref().map(|file| sessions.move_to_processed(&file.name)).transpose();
                return answer(sessions, *session, applied, moved.err());
            }
            Err(taken @ SessionError::Taken { .. }) => {
                // An earlier owner may have executed it for this very call, before its answer was lost.
                let finished = sessions.finished_before(*session, self.answering, text)?;
                let results = finished.ok_or(taken)?;
                Applied::AlreadyDone { sequence: self.answering, results }
            }
            Err(error) => return Err(error.into()),
        };
        answer(sessions, *session, applied, None)
    }
}

fn answer(
    sessions: &LocalSessions,
    id: SessionId,
    applied: Applied,
    not_moved: Option<SessionError>,
) -> Result<AppliedReply, SessionRefusal> {
    let late = late_lines(sessions.workspace().inner());
    // Opening the state folder again moves it.
    let not_moved = not_moved.map(|error| {
        let advice = "the reply was executed; `agentd resume` continues the session and moves its file to inbox/processed/";
        SessionRefusal::from(explain(error).advise(advice))
    });
    Ok(match applied {
        Applied::Executed(executed) => {
            let Executed { session, sequence, results, repairs, was_resumed, taken_over, not_written } =
                *executed;
            AppliedReply {
                is_executed: true,
                session,
                sequence,
                results,
                repairs: repairs.iter().map(|kind| kind.to_string()).collect(),
                was_resumed,
                taken_over,
                late,
                left_undone: not_written.map(|error| unwritten(&error).into()).or(not_moved),
            }
        }
        Applied::AlreadyDone { sequence, results } => AppliedReply {
            is_executed: false,
            session: sessions.session(id)?,
            sequence,
            results,
            repairs: Vec::new(),
            was_resumed: false,
            taken_over: Vec::new(),
            late,
            left_undone: not_moved,
        },
    })
}

/// Returns a line for each file that another program wrote to after it had been replaced, and for each that the disk has
/// not taken so far.
fn late_lines(workspace: &LocalWorkspace) -> Vec<String> {
    // Syncs first: only then is it certain which files the disk has taken.
    workspace.checkpoint();
    let late = workspace.late_writes().into_iter().map(|LateWrite { path, kept_as, .. }| match kept_as {
        Ok(kept) => format!("{path} was written to by a program that had it open from before: what it wrote is kept as {kept}"),
        Err(error) => format!("{path} was written to by a program that had it open from before, and what it wrote could not be kept: {error}"),
    });
    let unsynced = workspace.unsynced().into_iter().map(|path| {
        format!("the disk has not taken {path}: the journal has it, and it is written again until the disk takes it")
    });
    late.chain(unsynced).collect()
}

/// Removes the history of finished sessions beyond a limit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CollectGarbage {
    /// The most bytes of file contents that may stay.
    pub limit_bytes: u64,
}

/// The amounts that were removed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Collected {
    /// File contents that were removed.
    pub contents_removed: u64,
    /// Their size in bytes.
    pub contents_bytes: u64,
    /// Changes that cannot be undone any more.
    pub changes_not_undoable: u64,
    /// Files without an entry in the journal that were removed.
    pub stray_files_removed: u64,
    /// Their size in bytes.
    pub stray_files_bytes: u64,
    /// Outputs of commands that were removed.
    pub outputs_removed: u64,
    /// Their size in bytes.
    pub outputs_bytes: u64,
    /// Bytes of contents that are still kept.
    pub kept_bytes: u64,
    /// Bytes by which the database has shrunk.
    pub database_bytes_freed: u64,
}

impl SessionCall for CollectGarbage {
    const METHOD: &'static str = "agentd/collectGarbage";
    const TOOL: Tool = Tool::WriteFile;
    const IS_CONFINED: bool = false;
    type Answer = Collected;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        caller: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Collected, SessionRefusal> {
        let journal = sessions.journal_reader();
        let unfinished = garbage_keeper::unfinished(journal)?;
        // Files must hold what the journal promises before their contents may be removed.
        sessions.workspace().inner().checkpoint();
        let is_needed = |run: RunNumber| {
            let run = journal.run(run).ok().flatten();
            run.is_some_and(|run| {
                let conversation = &run.key.conversation;
                // A connected client may still read the output of its commands.
                let may_be_connected = caller == Caller::Client && conversation.parse::<SessionId>().is_err();
                may_be_connected || unfinished.contains(conversation)
            })
        };
        let (outputs_removed, outputs_bytes) = sessions.workspace().inner().discard_outputs(&is_needed);
        let rule = garbage_keeper::rule(journal, &unfinished, self.limit_bytes)?;
        // A process that owns the folder for this call alone may take the whole disk; one with clients must not delay them.
        let report = match caller {
            Caller::Owner => sessions.collect_garbage(&rule),
            Caller::Client => sessions.collect_garbage_in_background(&rule, &|| !call.cancel.is_cancelled()),
        };
        let failed = |error| Failure::new(Exit::Failed, format!("the journal failed: {error}"));
        let GarbageReport {
            contents_removed,
            contents_bytes,
            changes_cut,
            files_removed,
            files_bytes,
            kept_bytes,
            database_bytes,
            ..
        } = report.map_err(failed)?;
        Ok(Collected {
            contents_removed,
            contents_bytes,
            changes_not_undoable: changes_cut,
            stray_files_removed: files_removed,
            stray_files_bytes: files_bytes,
            outputs_removed,
            outputs_bytes,
            kept_bytes,
            database_bytes_freed: database_bytes,
        })
    }
}
