//! The calls about a reply to a session: whether it would be executed, its plan, and executing it.

use std::time::Duration;

use local_workspace::{LateWrite, LocalWorkspace};
use serde::{Deserialize, Serialize};
use tag_session::{Applied, ApplyOptions, Executed, InboxFile, SessionError};
use tagproto::{CommandResult, ExecutionObserver, Session, SessionId};
use wap_core::{Call, Tool, Workspace};

use crate::owner::session_call::{Caller, SessionCall, SessionRefusal};
use crate::reply_plan::{self, ReplyPlan};
use crate::session_failure::{explain, unwritten};
use crate::state::LocalSessions;

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
        let SessionReply { session, text, again, run_complete } = &self.0;
        Ok(sessions.would_execute(*session, text, *again, *run_complete)?)
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
    /// The file of the inbox with the text of the reply; `None` if the reply has another source.
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
    /// The damage of pasting that was repaired, each as [`RepairKind::description`](tagproto::RepairKind::description) names it.
    pub repairs: Vec<String>,
    /// True if an earlier call carried out a part of the reply.
    pub was_resumed: bool,
    /// The results of an interrupted reply that this one supersedes.
    pub taken_over: Vec<CommandResult>,
    /// Lines about changed files that other programs wrote to, or whose sync has failed.
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
    /// Executes the reply through a view of the workspace, such as a reviewer's choice, and puts the review into the
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
                // Under the claim: another session that has read the file must no longer find it in the inbox.
                let moved = self.file.as_ref().map(|file| sessions.move_to_processed(file)).transpose();
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
                repairs: repairs.iter().map(|kind| kind.description().to_owned()).collect(),
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

/// Returns a line for each file that another program wrote to after it had been replaced, and for each whose sync has
/// failed so far.
fn late_lines(workspace: &LocalWorkspace) -> Vec<String> {
    // Sync first: only then is it certain which files are on the disk.
    workspace.checkpoint();
    let late = workspace.late_writes().into_iter().map(|LateWrite { path, kept_as, .. }| match kept_as {
        Ok(kept) => format!("{path} was written to by a program that had it open from before: what it wrote is kept as {kept}"),
        Err(error) => format!("{path} was written to by a program that had it open from before, and what it wrote could not be kept: {error}"),
    });
    let unsynced = workspace.unsynced().into_iter().map(|path| {
        format!("syncing {path} to the disk has failed: the journal has it, and the sync is retried until it succeeds")
    });
    late.chain(unsynced).collect()
}
