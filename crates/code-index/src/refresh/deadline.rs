//! Work with a deadline.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use wap_core::{CancelFlag, IndexError};

use crate::index::LocalIndex;
use crate::refresh::{Progress, Refreshed};

impl LocalIndex {
    /// Runs [`LocalIndex::refresh`] for at most `time`; returns `None` if that was not enough. Answers then come
    /// from the files stored so far and are marked as incomplete; the next refresh continues.
    ///
    /// # Errors
    ///
    /// As [`LocalIndex::refresh`].
    pub fn refresh_within(
        &self,
        time: Duration,
        cancel: &CancelFlag,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Option<Refreshed>, IndexError> {
        match until(Instant::now() + time, cancel, |ends| self.refresh(ends, progress)) {
            Err(IndexError::Cancelled) if !cancel.is_cancelled() => Ok(None),
            other => other.map(Some),
        }
    }
}

/// Runs cancellable work, and cancels it at `deadline` or when `cancel` is raised.
pub(crate) fn until<T>(deadline: Instant, cancel: &CancelFlag, work: impl FnOnce(&CancelFlag) -> T) -> T {
    let ends = CancelFlag::new();
    if deadline <= Instant::now() {
        // The work could finish before the timer thread starts.
        ends.cancel();
    }
    let raised = ends.clone();
    let _guard = cancel.on_cancel(Box::new(move || raised.cancel()));
    // The timer thread ends as soon as `done` is dropped, so finishing early does not wait.
    let (done, waiting) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let late = ends.clone();
        scope.spawn(move || {
            let left = deadline.saturating_duration_since(Instant::now());
            if waiting.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                late.cancel();
            }
        });
        let outcome = work(&ends);
        drop(done);
        outcome
    })
}
