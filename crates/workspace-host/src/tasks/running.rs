//! Beginning tasks and ending them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use change_review::{ProposalId, ProposedCall};
use tagproto::UnobservedExecution;
use wap_core::{Call, CommandObserver, ExecuteCommand, Reason, WapError, Workspace};

use super::record::{Ended, TaskDocument, now_ms};
use super::{MOST_RUNNING, RunningTask, TaskId, Tasks};
use crate::failure::{Exit, Failure};
use crate::owner::session_call::{Caller, SessionCall, SessionRefusal};
use crate::review::calls::ProposeCalls;
use crate::state::LocalSessions;
use crate::tasks::calls::StartTask;

/// The longest subject in characters.
const SUBJECT_CHARACTERS: usize = 200;

impl Tasks {
    /// Begins a task, unless it was begun before.
    pub(super) fn start(
        self: &Arc<Tasks>,
        sessions: &LocalSessions,
        task: &StartTask,
        call: &Call<'_>,
    ) -> Result<(), SessionRefusal> {
        if self.document(&task.id)?.is_some() {
            return Ok(());
        }
        let document = TaskDocument {
            id: task.id.clone(),
            conversation: task.conversation.clone(),
            subject: subject(&task.command),
            created_ms: now_ms(),
            proposal: None,
            ended: None,
        };
        if task.is_reviewed {
            let proposal = Some(propose(sessions, task, call)?);
            self.put(&TaskDocument { proposal, ..document })?;
        } else {
            self.spawn(sessions, document, task.command.clone())?;
        }
        self.forget_old()
    }

    /// Runs the command on a separate thread.
    fn spawn(
        self: &Arc<Tasks>,
        sessions: &LocalSessions,
        document: TaskDocument,
        command: ExecuteCommand,
    ) -> Result<(), SessionRefusal> {
        let task = RunningTask::default();
        {
            let mut running = self.running();
            if running.contains_key(&document.id) {
                return Ok(());
            }
            if running.len() >= MOST_RUNNING {
                let message =
                    format!("{MOST_RUNNING} tasks run or wait already: wait for one, or cancel one");
                return Err(Failure::new(Exit::Failed, message).into());
            }
            running.insert(document.id.clone(), task.clone());
        }
        let running = Running { tasks: Arc::clone(self), id: document.id.clone() };
        // The record comes first: a task that a client knows is never without one.
        self.put(&document)?;
        let engine = Arc::clone(sessions.engine());
        let carry_out = move || {
            let origin = document.origin();
            let call = Call { origin: &origin, cancel: &task.cancel, time_left: None };
            let mut starting = Starting(task.has_started);
            let ran =
                catch_unwind(AssertUnwindSafe(|| engine.execute_command(&call, &command, &mut starting)));
            let outcome = ran.unwrap_or_else(|_| Err(fault()));
            // Recorded ends are read from the step. A failure leaves a task with an unknown end, which is reported.
            if !matches!(engine.recorded_command(&origin), Ok(Some(_))) {
                let ended = Some(Ended { at_ms: now_ms(), outcome });
                let _ = running.tasks.put(&TaskDocument { ended, ..document });
            }
            drop(engine);
            drop(running);
        };
        let started = thread::Builder::new().name("task".to_owned()).spawn(carry_out);
        started.map(drop).map_err(|error| {
            Failure::new(Exit::Failed, format!("the task cannot be started: {error}")).into()
        })
    }

    /// Cancels a task; a finished one stays unchanged.
    pub(super) fn cancel(
        &self,
        sessions: &LocalSessions,
        id: &TaskId,
        call: &Call<'_>,
    ) -> Result<(), SessionRefusal> {
        let task = self.running().get(id).cloned();
        if let Some(task) = task {
            task.cancel.cancel();
            return Ok(());
        }
        let Some(document) = self.document(id)? else { return Ok(()) };
        let (Some(proposal), None) = (document.proposal, &document.ended) else { return Ok(()) };
        let reviews = sessions.reviews();
        let is_pending = reviews.queue.proposal(proposal).is_ok_and(|proposal| proposal.is_pending());
        if is_pending {
            let revision = reviews.queue.draft(proposal)?.revision;
            reviews.send_back(sessions, (proposal, revision), call)?;
            let text = "the task was cancelled before it was reviewed; nothing was done";
            let outcome = Err(WapError::new(Reason::Cancelled, text));
            self.put(&TaskDocument { ended: Some(Ended { at_ms: now_ms(), outcome }), ..document })?;
        }
        Ok(())
    }
}

/// Records that the command of a task has had its turn.
struct Starting(Arc<AtomicBool>);

impl CommandObserver for Starting {
    fn started(&mut self, _: &str) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A running task; dropping it notifies the waiting callers.
struct Running {
    tasks: Arc<Tasks>,
    id: TaskId,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.tasks.running().remove(&self.id);
        self.tasks.changed.notify_all();
    }
}

/// Submits the command of a task for review, as a separate conversation: the same command in another task is another
/// proposal.
fn propose(
    sessions: &LocalSessions,
    task: &StartTask,
    call: &Call<'_>,
) -> Result<ProposalId, SessionRefusal> {
    let proposed = ProposeCalls {
        conversation: task.id.to_string(),
        front_end: task.front_end.clone(),
        calls: vec![ProposedCall::Command(task.command.clone())],
        run: task.id.to_string(),
    };
    let proposal = proposed.carry_out(sessions, Caller::Owner, call, &mut UnobservedExecution)?;
    proposal.map(|proposal| proposal.id).ok_or_else(|| {
        let message = "the command could not be put before the user for review; nothing was done";
        Failure::new(Exit::Failed, message).into()
    })
}

/// Returns one line for people, with placeholders for secrets.
fn subject(command: &ExecuteCommand) -> String {
    let text = command.recorded_command.as_ref().unwrap_or(&command.command);
    let line = text.trim().lines().next().unwrap_or_default();
    let printable = |character: char| if character.is_control() { ' ' } else { character };
    line.chars().take(SUBJECT_CHARACTERS).map(printable).collect()
}

fn fault() -> WapError {
    WapError::new(Reason::OutcomeUnknown, "agentd has a fault and could not carry out this task")
}
