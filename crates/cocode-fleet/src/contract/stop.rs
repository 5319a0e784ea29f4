//! Stopping an agent.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The reason why an agent has to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// A person cancelled the task.
    Cancelled,
    /// Another host was given the task.
    FenceLost,
    /// The worker ends.
    WorkerStops,
}

/// A signal that is raised once and stays raised.
#[derive(Clone, Debug, Default)]
pub struct StopSignal {
    state: Arc<State>,
}

/// A callback that runs when a signal is raised.
type Call = Box<dyn FnOnce(StopReason) + Send>;

#[derive(Default)]
struct State {
    reason: Mutex<Option<StopReason>>,
    raised: Condvar,
    calls: Mutex<Vec<Call>>,
}

impl fmt::Debug for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("State").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl StopSignal {
    /// Returns a signal that is not raised.
    #[must_use]
    pub fn new() -> StopSignal {
        StopSignal::default()
    }

    /// Raises the signal. The first reason stays.
    pub fn raise(&self, reason: StopReason) {
        let first = {
            let mut current = self.state.reason.lock().unwrap_or_else(PoisonError::into_inner);
            *current.get_or_insert(reason)
        };
        self.state.raised.notify_all();
        self.run_calls(first);
    }

    /// Registers `call` to run when the signal is raised, on the thread that raises it, or at once if it is already
    /// raised. It must not block.
    pub fn on_raise(&self, call: impl FnOnce(StopReason) + Send + 'static) {
        self.state.calls.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(call));
        // Raised before, or between the two: whichever comes second finds the call.
        if let Some(reason) = self.reason() {
            self.run_calls(reason);
        }
    }

    fn run_calls(&self, reason: StopReason) {
        let calls = std::mem::take(&mut *self.state.calls.lock().unwrap_or_else(PoisonError::into_inner));
        for call in calls {
            call(reason);
        }
    }

    /// Returns the reason, if the signal is raised.
    #[must_use]
    pub fn reason(&self) -> Option<StopReason> {
        *self.state.reason.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the signal is raised, at most for `timeout`; returns the reason if it is.
    #[must_use]
    pub fn wait(&self, timeout: Duration) -> Option<StopReason> {
        // An unreachable time means no deadline.
        let deadline = Instant::now().checked_add(timeout);
        let mut reason = self.state.reason.lock().unwrap_or_else(PoisonError::into_inner);
        while reason.is_none() {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return None;
            }
            let raised = &self.state.raised;
            reason = match left {
                Some(left) => raised.wait_timeout(reason, left).unwrap_or_else(PoisonError::into_inner).0,
                None => raised.wait(reason).unwrap_or_else(PoisonError::into_inner),
            };
        }
        *reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_without_an_end_ends_with_the_signal() {
        let stop = StopSignal::new();
        assert_eq!(stop.wait(Duration::ZERO), None);
        let raising = stop.clone();
        let thread = std::thread::spawn(move || raising.wait(Duration::MAX));
        stop.raise(StopReason::Cancelled);
        assert_eq!(thread.join().ok(), Some(Some(StopReason::Cancelled)));
    }
}
