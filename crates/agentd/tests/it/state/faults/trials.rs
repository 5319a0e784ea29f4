//! Many trials, several at a time.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use super::cycle::{Cycle, Trial};
use super::tracer::Injection;

/// Tries each of the injections, `workers` at a time. `done` gets the result of each one, and may return another injection.
///
/// After `deadline` no further trial is begun. Returns the number of injections that were not tried.
pub(crate) fn carry_out(
    cycle: &Cycle,
    injections: Vec<Injection>,
    workers: usize,
    deadline: Option<Instant>,
    done: impl FnMut(Injection, Trial) -> Option<Injection> + Send,
) -> usize {
    let queue = Mutex::new(VecDeque::from(injections));
    let done = Mutex::new(done);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while deadline.is_none_or(|deadline| Instant::now() < deadline) {
                    let next = queue.lock().unwrap().pop_front();
                    let Some(injection) = next else { break };
                    let trial = cycle.trial(injection);
                    let further = done.lock().unwrap()(injection, trial);
                    queue.lock().unwrap().extend(further);
                }
            });
        }
    });
    queue.into_inner().unwrap().len()
}
