//! Work that ends when its time is over.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use wap_core::{CancelFlag, IndexError};

use crate::index::LocalIndex;
use crate::refresh::{Progress, Refreshed};

impl LocalIndex {
    /// Does what [`LocalIndex::refresh`] does, but for `time` at most; `None` if that was not enough. What is stored by then
    /// is answered from, and said to be incomplete; the next refresh goes on.
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

/// Does something that can be cancelled, which it is at a moment, or before if the caller wants so.
pub(crate) fn until<T>(deadline: Instant, cancel: &CancelFlag, work: impl FnOnce(&CancelFlag) -> T) -> T {
    let ends = CancelFlag::new();
    let raised = ends.clone();
    let _guard = cancel.on_cancel(Box::new(move || raised.cancel()));
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
