//! A queue of files from the walk to the threads that search them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rel_path::RelPath;

/// The maximum number of waiting batches. A walk that is further ahead helps with searching.
const MOST_BATCHES: usize = 64;

/// The origin of a file in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileOrigin {
    /// It was found in a folder.
    Walked,
    /// It was named, so it is searched if possible at all.
    Named,
}

/// A few files, by canonical path.
pub(super) type Batch = Vec<(RelPath, FileOrigin)>;

/// A bounded queue whose `push` never waits.
#[derive(Debug, Default)]
pub(super) struct FileQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    batches: VecDeque<Batch>,
    is_closed: bool,
}

impl FileQueue {
    /// Adds a batch; returns it if the queue is full. Once the queue is closed, batches are dropped.
    pub(super) fn push(&self, batch: Batch) -> Result<(), Batch> {
        let mut state = self.lock();
        if state.is_closed {
            return Ok(());
        }
        if state.batches.len() >= MOST_BATCHES {
            return Err(batch);
        }
        state.batches.push_back(batch);
        // Unlocked first: the thread that wakes up needs the lock at once.
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for the next batch and takes it; `None` when the queue is empty and closed.
    pub(super) fn next(&self) -> Option<Batch> {
        let mut state = self.lock();
        loop {
            if let Some(batch) = state.batches.pop_front() {
                return Some(batch);
            }
            if state.is_closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends the queue after its current batches.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Ends the queue at once.
    pub(super) fn abandon(&self) {
        self.lock().batches.clear();
        self.close();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes a queue when it is dropped, so that no thread waits for a walk that has failed.
#[derive(Debug)]
pub(super) struct Closing<'a>(pub &'a FileQueue);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
