//! The time of an operation, independent of the load of the machine.

use std::fs;
use std::time::{Duration, Instant};

/// A started measurement.
///
/// The limits of the cases assume an idle machine. With other programs a thread also waits for a processor; that wait says
/// nothing about the operation and is subtracted. What remains is the time in which the thread ran, slept or waited for a
/// file. If the kernel does not count the wait, all time counts.
pub(super) struct Effort {
    began: Instant,
    waited: Duration,
}

impl Effort {
    pub(super) fn begin() -> Effort {
        Effort { began: Instant::now(), waited: waited_for_processor() }
    }

    pub(super) fn spent(&self) -> Duration {
        let waited = waited_for_processor().saturating_sub(self.waited);
        self.began.elapsed().saturating_sub(waited)
    }
}

/// Returns the time that this thread has waited for a processor since it started.
fn waited_for_processor() -> Duration {
    // The second number, in nanoseconds.
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').nth(1).and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}
