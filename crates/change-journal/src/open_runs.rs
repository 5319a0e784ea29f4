//! Owns the set of runs that are open in this process, so that none runs twice at once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use rusqlite::{Connection, params};

use crate::clock;
use crate::error::JournalError;
use crate::reader::JournalReader;
use crate::run::{RecordedRun, RunKey, RunNumber, RunState};
use crate::step::ResumedSteps;
use crate::store::rows::HashColumn;
use crate::store::rows::{self, RUN_COLUMNS};

/// A run that is open in this process. Dropping it closes the run; its record stays, and beginning the same
/// run later resumes it.
#[derive(Debug)]
pub struct Run {
    number: RunNumber,
    open_runs: Arc<OpenRuns>,
}

impl Run {
    /// Returns the number that the journal's methods take for this run.
    pub fn number(&self) -> RunNumber {
        self.number
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.open_runs.close(self.number);
    }
}

/// The facts about an open run that the writer needs.
#[derive(Debug)]
pub(crate) struct OpenRun {
    pub(crate) number: RunNumber,
    pub(crate) key: RunKey,
    pub(crate) began_at_ms: i64,
    /// Set once a commit has written the run's row, which is part of the first write of the run.
    pub(crate) written: AtomicBool,
}

#[derive(Debug)]
pub(crate) struct OpenRuns {
    next_number: AtomicU64,
    by_number: Mutex<HashMap<RunNumber, Arc<OpenRun>>>,
}

impl OpenRuns {
    /// Creates an empty set; new runs are numbered from `next_number` on.
    pub(crate) fn new(next_number: u64) -> Self {
        Self { next_number: AtomicU64::new(next_number), by_number: Mutex::default() }
    }

    /// Decides whether the run that `key` names may be done, and opens it if so.
    ///
    /// With `again`, the same content under another sequence does not prevent the run.
    pub(crate) fn begin(
        self: &Arc<Self>,
        key: &RunKey,
        again: bool,
        reader: &JournalReader,
    ) -> Result<RunState, JournalError> {
        // The lock is held to the end, so that of two callers with the same key only one opens the run.
        let mut by_number = self.lock();
        if let Some(open_run) = by_number.values().find(|open_run| open_run.key == *key) {
            return Ok(RunState::InProgress { number: open_run.number });
        }
        let recorded = reader.read(|connection| Ok(find_runs(connection, key)?))?;
        if let Some(same) = recorded.iter().find(|run| run.key == *key) {
            if let Some(outcome) = &same.outcome {
                return Ok(RunState::Finished { number: same.number, outcome: outcome.clone() });
            }
            let steps = ResumedSteps(reader.steps(same.number)?);
            let run = self.open(&mut by_number, same.number, key, true);
            return Ok(RunState::Resumed { run, steps });
        }
        // A run without a row yet is known to this process only, so both sources are searched.
        let unwritten = by_number.values().filter(|open_run| open_run.key.is_repeated_by(key));
        let elsewhere = unwritten.map(|open_run| (open_run.number, &open_run.key, false));
        let elsewhere =
            elsewhere.chain(recorded.iter().map(|run| (run.number, &run.key, run.outcome.is_some())));
        if let Some((number, key, finished)) = elsewhere.max_by_key(|(number, _, _)| *number)
            && !again
        {
            return Ok(RunState::KnownElsewhere { number, key: key.clone(), finished });
        }
        // Relaxed is enough, because the lock orders the callers.
        let number = RunNumber(self.next_number.fetch_add(1, Ordering::Relaxed));
        Ok(RunState::New(self.open(&mut by_number, number, key, false)))
    }

    fn open(
        self: &Arc<Self>,
        by_number: &mut HashMap<RunNumber, Arc<OpenRun>>,
        number: RunNumber,
        key: &RunKey,
        written: bool,
    ) -> Run {
        let written = AtomicBool::new(written);
        let open_run = OpenRun { number, key: key.clone(), began_at_ms: clock::now_ms(), written };
        by_number.insert(number, Arc::new(open_run));
        Run { number, open_runs: Arc::clone(self) }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunNumber, Arc<OpenRun>>> {
        self.by_number.lock().expect("no code panics while it holds the open runs")
    }

    pub(crate) fn find(&self, number: RunNumber) -> Option<Arc<OpenRun>> {
        self.lock().get(&number).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<OpenRun>> {
        self.lock().values().cloned().collect()
    }

    pub(crate) fn close(&self, number: RunNumber) {
        self.lock().remove(&number);
    }
}

/// Returns all recorded runs of the key's content in its conversation.
fn find_runs(connection: &Connection, key: &RunKey) -> rusqlite::Result<Vec<RecordedRun>> {
    let sql = format!("SELECT {RUN_COLUMNS} FROM run WHERE conversation = ?1 AND content = ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params![key.conversation, HashColumn(key.content)], rows::run)?.collect()
}
