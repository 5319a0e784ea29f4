//! Commands as tasks: begun once, followed by any process, answered from the journal.
//!
//! A task belongs to the owner of the state folder rather than a connection, so it survives its client. Its record is a
//! document of the journal; its result is the recorded step of its run, or the decision about its proposal. If the
//! owner was killed in the meantime, the result is unknown, and the command is never run again.

pub(crate) mod calls;
mod following;
mod record;
mod running;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use change_journal::{DocumentWrite, Journal, JournalError};
use wap_core::CancelFlag;

use crate::failure::{Exit, Failure};
use crate::owner::session_call::SessionRefusal;

pub use record::{TaskId, TaskIdError, TaskRecord, TaskState};

use record::TaskDocument;

/// The maximum number of tasks that run, or wait for their turn, at once.
const MOST_RUNNING: usize = 32;

/// The number of tasks whose records are kept.
const KEPT: usize = 1_000;

/// The time that cancelled tasks have to end when their process leaves.
const PARTING: Duration = Duration::from_secs(5);

const DOCUMENTS: &str = "task/";

/// The tasks of a state folder that this process owns.
#[derive(Debug)]
pub(crate) struct Tasks {
    journal: Journal,
    running: Mutex<HashMap<TaskId, RunningTask>>,
    changed: Condvar,
}

/// A task whose command runs, or waits for its turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunningTask {
    pub(crate) cancel: CancelFlag,
    /// False while the command waits for its turn.
    pub(crate) has_started: Arc<AtomicBool>,
}

impl Tasks {
    /// Opens the tasks of a journal.
    pub(crate) fn new(journal: Journal) -> Tasks {
        Tasks { journal, running: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits until no task runs, or until `is_ending`; then cancels running tasks, and any that begin meanwhile, so
    /// that their end is recorded.
    pub(crate) fn wait_until_idle(&self, is_ending: &dyn Fn() -> bool) {
        let mut running = self.running();
        while !running.is_empty() && !is_ending() {
            // A signal wakes no condition variable.
            let pause = Duration::from_millis(50);
            (running, _) = self.changed.wait_timeout(running, pause).unwrap_or_else(PoisonError::into_inner);
        }
        let deadline = Instant::now() + PARTING;
        while !running.is_empty() && Instant::now() < deadline {
            let cancels: Vec<CancelFlag> = running.values().map(|task| task.cancel.clone()).collect();
            drop(running);
            // Outside of the lock: cancelling runs the hooks of other modules on this thread.
            cancels.iter().for_each(CancelFlag::cancel);
            running = self.running();
            let is_same = |running: &mut HashMap<TaskId, RunningTask>| {
                !running.is_empty() && running.values().all(|task| task.cancel.is_cancelled())
            };
            // A task that begins notifies no waiting thread.
            let pause = Duration::from_millis(50);
            let waited = self.changed.wait_timeout_while(running, pause, is_same);
            (running, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn running(&self) -> MutexGuard<'_, HashMap<TaskId, RunningTask>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn document(&self, id: &TaskId) -> Result<Option<TaskDocument>, SessionRefusal> {
        let Some(document) = self.journal.reader().document(&name(id))? else { return Ok(None) };
        serde_json::from_slice(&document.bytes).map(Some).map_err(|error| {
            let message = format!("the record of the task {id} cannot be read: {error}");
            Failure::new(Exit::Failed, message).into()
        })
    }

    fn put(&self, document: &TaskDocument) -> Result<(), SessionRefusal> {
        let bytes = serde_json::to_vec(document).expect("records of tasks have string keys");
        self.journal.write_documents(&[DocumentWrite::Put { name: &name(&document.id), bytes: &bytes }])?;
        Ok(())
    }

    /// Returns the ids of all tasks, the oldest first: the time is the first part of an id.
    fn ids(&self) -> Result<Vec<TaskId>, SessionRefusal> {
        let heads = self.journal.reader().documents(DOCUMENTS)?;
        Ok(heads.iter().filter_map(|head| head.name.strip_prefix(DOCUMENTS)?.parse().ok()).collect())
    }

    /// Removes the oldest records above the limit, except those of running tasks.
    fn forget_old(&self) -> Result<(), SessionRefusal> {
        let ids = self.ids()?;
        let old: Vec<String> = {
            let running = self.running();
            let old = ids.iter().take(ids.len().saturating_sub(KEPT));
            old.filter(|id| !running.contains_key(*id)).map(name).collect()
        };
        let removals: Vec<_> = old.iter().map(|name| DocumentWrite::Remove { name }).collect();
        if !removals.is_empty() {
            self.journal.write_documents_lazily(&removals)?;
        }
        Ok(())
    }
}

fn name(id: &TaskId) -> String {
    format!("{DOCUMENTS}{id}")
}

impl From<JournalError> for SessionRefusal {
    fn from(error: JournalError) -> SessionRefusal {
        Failure::new(Exit::Failed, error.to_string()).into()
    }
}
