//! Taking turns, and giving up on waiting for one.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wap_core::CancelFlag;

/// How long a raised flag may go unseen. A flag has no way to wake somebody who may be gone by then.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// One at a time has the turn.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    is_taken: Mutex<bool>,
    given_back: Condvar,
}

/// The turn; dropping it lets the next one have it.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
}

impl Turns {
    /// Waits for the turn; `None` if the flag was raised first.
    pub(crate) fn wait(&self, cancel: &CancelFlag) -> Option<Turn<'_>> {
        let mut is_taken = self.lock();
        while *is_taken {
            if cancel.is_cancelled() {
                return None;
            }
            (is_taken, _) =
                self.given_back.wait_timeout(is_taken, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner);
        }
        *is_taken = true;
        Some(Turn { turns: self })
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.turns.lock() = false;
        self.turns.given_back.notify_one();
    }
}
