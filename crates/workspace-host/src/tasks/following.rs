//! The state of a task, from its process and the journal.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use change_review::{Proposal, ProposalId, QueueError, State};
use local_workspace::{CommandEnd, RecordedCommand};
use wap_core::{ExecuteCommandResponse, Reason, WapError};

use super::record::{Ended, TaskDocument, milliseconds};
use super::{TaskId, TaskRecord, TaskState, Tasks};
use crate::failure::{Exit, Failure};
use crate::owner::session_call::SessionRefusal;
use crate::review::CallAnswer;
use crate::state::LocalSessions;

impl Tasks {
    /// Returns a task, after waiting for its end for at most this long; `None` if there is none with this id.
    pub(super) fn follow(
        &self,
        sessions: &LocalSessions,
        id: &TaskId,
        longest: Duration,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<TaskRecord>, SessionRefusal> {
        let deadline = Instant::now() + longest;
        loop {
            let Some(task) = self.task(sessions, id)? else { return Ok(None) };
            let left = deadline.saturating_duration_since(Instant::now());
            if matches!(task.state, TaskState::Ended { .. }) || left.is_zero() || is_cancelled() {
                return Ok(Some(task));
            }
            // A decision about a proposal and a cancellation wake no condition variable of this type.
            let pause = left.min(Duration::from_millis(100));
            let running = self.running();
            if matches!(task.state, TaskState::Running | TaskState::Waiting) && !running.contains_key(id) {
                continue;
            }
            drop(self.changed.wait_timeout(running, pause).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Returns the current state of a task.
    pub(super) fn task(
        &self,
        sessions: &LocalSessions,
        id: &TaskId,
    ) -> Result<Option<TaskRecord>, SessionRefusal> {
        // Before the record is read: a task that ends in between counts as running once more, and never as unknown.
        let running = self.running().get(id).map(|task| task.has_started.load(Ordering::SeqCst));
        let Some(document) = self.document(id)? else { return Ok(None) };
        if let Some(Ended { at_ms, outcome }) = document.ended.clone() {
            return Ok(Some(document.in_state(TaskState::Ended { outcome: Box::new(outcome) }, at_ms)));
        }
        if let Some(proposal) = document.proposal {
            let task = reviewed(sessions, &document, proposal)?;
            self.keep_outcome(&task, document)?;
            return Ok(Some(task));
        }
        if let Some(has_started) = running {
            let state = if has_started { TaskState::Running } else { TaskState::Waiting };
            return Ok(Some(document.in_state(state, document.created_ms)));
        }
        let recorded = sessions.engine().recorded_command(&document.origin());
        let recorded = recorded.map_err(|error| Failure::new(Exit::Failed, error.message()))?;
        let (at_ms, outcome) = match recorded {
            Some(RecordedCommand { end: Some(CommandEnd { at, outcome }) }) => (milliseconds(at), outcome),
            Some(RecordedCommand { end: None }) => (document.created_ms, Err(killed_meanwhile())),
            None => (document.created_ms, Err(never_started())),
        };
        Ok(Some(document.in_state(TaskState::Ended { outcome: Box::new(outcome) }, at_ms)))
    }

    /// Keeps the outcome of a task whose proposal was decided: the queue forgets proposals sooner than tasks are forgotten.
    pub(crate) fn note_decided(&self, sessions: &LocalSessions, proposal: &Proposal) {
        let Ok(id) = proposal.conversation.parse::<TaskId>() else { return };
        let Ok(Some(document)) = self.document(&id) else { return };
        if document.proposal == Some(proposal.id) && document.ended.is_none() {
            // A failure leaves the outcome with its proposal, from which the next query keeps it.
            let _ = reviewed(sessions, &document, proposal.id)
                .and_then(|task| self.keep_outcome(&task, document));
        }
    }

    fn keep_outcome(&self, task: &TaskRecord, document: TaskDocument) -> Result<(), SessionRefusal> {
        let TaskState::Ended { outcome } = &task.state else { return Ok(()) };
        let ended = Some(Ended { at_ms: task.updated_ms, outcome: (**outcome).clone() });
        self.put(&TaskDocument { ended, ..document })
    }

    /// Returns tasks, the newest first, without their outputs; with `before`, those that were begun before that one.
    pub(super) fn list(
        &self,
        sessions: &LocalSessions,
        before: Option<&TaskId>,
        limit: usize,
    ) -> Result<Vec<TaskRecord>, SessionRefusal> {
        let ids = self.ids()?;
        let meant = ids.iter().rev().filter(|id| before.is_none_or(|before| *id < before)).take(limit);
        let mut tasks = Vec::new();
        for id in meant {
            // A task that was removed in the meantime is left out.
            tasks.extend(self.task(sessions, id)?.map(without_output));
        }
        Ok(tasks)
    }
}

/// Returns the task whose command waits for a reviewer, or was decided.
fn reviewed(
    sessions: &LocalSessions,
    document: &TaskDocument,
    id: ProposalId,
) -> Result<TaskRecord, SessionRefusal> {
    let proposal = match sessions.reviews().queue.proposal(id) {
        Ok(proposal) => proposal,
        Err(QueueError::Unknown { .. }) => {
            let state = TaskState::Ended { outcome: Box::new(Err(gone(id))) };
            return Ok(document.in_state(state, document.created_ms));
        }
        Err(error) => return Err(error.into()),
    };
    let State::Decided(decision) = proposal.state else {
        return Ok(document.in_state(TaskState::AwaitsReview { proposal: id }, document.created_ms));
    };
    let answers: Vec<CallAnswer> = serde_json::from_value(decision.answers).unwrap_or_default();
    let outcome = match answers.into_iter().next() {
        Some(CallAnswer::Command(outcome)) => with_review(outcome, &decision.review),
        _ => Err(WapError::new(Reason::OutcomeUnknown, "the review is over, and its outcome cannot be read")),
    };
    Ok(document.in_state(TaskState::Ended { outcome: Box::new(outcome) }, document.created_ms))
}

fn with_review(
    outcome: Result<ExecuteCommandResponse, WapError>,
    review: &str,
) -> Result<ExecuteCommandResponse, WapError> {
    if review.is_empty() {
        return outcome;
    }
    match outcome {
        Ok(mut response) => {
            response.warnings.push(review.to_owned());
            Ok(response)
        }
        Err(error) => Err(WapError::new(error.reason(), format!("{}\n\n{review}", error.message()))),
    }
}

/// Returns a task for a list.
fn without_output(mut task: TaskRecord) -> TaskRecord {
    if let TaskState::Ended { outcome } = &mut task.state {
        match &mut **outcome {
            Ok(response) => {
                response.stdout.clear();
                response.stderr.clear();
            }
            Err(error) => *error = WapError::new(error.reason(), error.message()),
        }
    }
    task
}

fn killed_meanwhile() -> WapError {
    WapError::new(
        Reason::OutcomeUnknown,
        "UNKNOWN: the process that ran this task was killed. The command was started, and how it ended is not known; it was \
         not run again: look at what it has done before repeating it",
    )
}

fn never_started() -> WapError {
    WapError::new(
        Reason::SpawnFailed,
        "the process that was to run this task was killed before it started the command: nothing was done",
    )
}

fn gone(proposal: ProposalId) -> WapError {
    WapError::new(
        Reason::OutcomeUnknown,
        format!("the result of this task is gone: proposal {proposal} is not kept any more"),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    use crate::state;
    use crate::tasks::record::{TaskDocument, now_ms};
    use crate::tasks::{RunningTask, TaskId, TaskState};
    use crate::{HostOptions, NoNotices, SharedNotices, WorkspacePaths};

    #[test]
    fn a_task_whose_command_has_not_had_its_turn_waits() {
        let folder = tempfile::tempdir().unwrap();
        let options = HostOptions::new(folder.path());
        let paths = WorkspacePaths::find(&options).unwrap();
        let notices: SharedNotices = Arc::new(NoNotices);
        let owner = state::open(&options, &paths, &notices).unwrap();
        let (sessions, id) = (&*owner, TaskId::new());
        let tasks = sessions.tasks();
        let document = TaskDocument {
            id: id.clone(),
            conversation: "test".to_owned(),
            subject: "make".to_owned(),
            created_ms: now_ms(),
            proposal: None,
            ended: None,
        };
        tasks.put(&document).unwrap_or_else(|refusal| panic!("{}", refusal.message));
        let state = || match tasks.task(sessions, &id) {
            Ok(task) => task.unwrap().state,
            Err(refusal) => panic!("{}", refusal.message),
        };
        let running = RunningTask::default();
        tasks.running().insert(id.clone(), running.clone());
        assert_eq!(state(), TaskState::Waiting);
        running.has_started.store(true, Ordering::SeqCst);
        assert_eq!(state(), TaskState::Running);
        tasks.running().remove(&id);
        assert!(matches!(state(), TaskState::Ended { .. }));
    }
}
