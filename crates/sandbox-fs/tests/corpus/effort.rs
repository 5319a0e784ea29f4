//! How long an operation kept its thread, whatever else the machine does.

use std::fs;
use std::time::{Duration, Instant};

/// A measurement that has begun.
///
/// The limits of the cases are seconds of a machine that does nothing else. Where other programs run, a thread also waits for
/// a processor; that wait says nothing about the operation and is left out. What remains is the time in which the thread ran,
/// slept or waited for a file: what a case limits. Where the kernel does not count the wait, all time counts.
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

/// How long this thread has waited for a processor since it began: the second number, in nanoseconds.
fn waited_for_processor() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').nth(1).and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}
