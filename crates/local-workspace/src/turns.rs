//! Turns in the order of requests, with cancellable waiting.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wap_core::CancelFlag;

/// The interval at which a waiting caller checks its flag, because a flag cannot wake a thread.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// One caller at a time has the turn, in the order of requests. So a caller that returns it between two parts of a long
/// task lets all waiting ones go first.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    queue: Mutex<Queue>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    next: u64,
    /// The numbers of the waiting callers, after that of the caller that has the turn.
    numbers: VecDeque<u64>,
}

/// The turn; dropping it passes it to the next caller.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    number: u64,
}

impl Turns {
    /// Waits for the turn.
    pub(crate) fn wait(&self) -> Turn<'_> {
        let turn = self.ask();
        let has_to_wait = |queue: &mut Queue| queue.numbers.front() != Some(&turn.number);
        drop(self.moved.wait_while(self.lock(), has_to_wait).unwrap_or_else(PoisonError::into_inner));
        turn
    }

    /// Waits for the turn; `None` if the flag was raised first.
    pub(crate) fn wait_unless(&self, cancel: &CancelFlag) -> Option<Turn<'_>> {
        let turn = self.ask();
        let mut queue = self.lock();
        while queue.numbers.front() != Some(&turn.number) {
            if cancel.is_cancelled() {
                drop(queue);
                return None;
            }
            (queue, _) = self.moved.wait_timeout(queue, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner);
        }
        drop(queue);
        Some(turn)
    }

    /// The number of callers that wait.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.lock().numbers.len().saturating_sub(1)
    }

    fn ask(&self) -> Turn<'_> {
        let mut queue = self.lock();
        let number = queue.next;
        queue.next += 1;
        queue.numbers.push_back(number);
        Turn { turns: self, number }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.lock().numbers.retain(|number| *number != self.number);
        self.turns.moved.notify_all();
    }
}
