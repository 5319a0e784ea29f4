//! Deliveries that home fails to judge again and again.

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cocode_fleet::TaskName;
use cocode_runner::{BundleRefusal, DeliveryError, GitError, RunnerError};

/// The time for which failures count as this machine's, whose disk may be full: a host's work must not be lost by that.
pub(super) const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// The divisor of that time for failures that a full disk and the like cannot explain.
const SHARE_OF_OTHERS: u32 = 4;

/// The minimum number of failures in that time.
const LEAST: u32 = 4;

/// The failures at deliveries that could not be judged. A host can make one at which git fails on every machine:
/// without a limit, home would judge it forever.
#[derive(Debug)]
pub(super) struct GitFailures {
    pub(super) patience: Duration,
    of_tasks: Mutex<HashMap<TaskName, Failures>>,
}

/// The failures at the delivery of one attempt.
#[derive(Debug)]
struct Failures {
    epoch: u64,
    first: Instant,
    /// The number of failures of git and of files.
    count: u32,
    /// The kind that was reported last.
    reported: Option<Discriminant<RunnerError>>,
}

impl Default for GitFailures {
    fn default() -> GitFailures {
        GitFailures { patience: PATIENCE, of_tasks: Mutex::default() }
    }
}

impl GitFailures {
    /// Counts a failure to judge the delivery of an attempt, and returns whether the delivery is probably at fault.
    pub(super) fn are_the_deliverys(&self, name: &TaskName, epoch: u64, error: &RunnerError) -> bool {
        if !can_be_the_deliverys(error) {
            return false;
        }
        let mut of_tasks = self.lock();
        let failures = of_attempt(&mut of_tasks, name, epoch);
        failures.count += 1;
        let patience =
            if is_of_this_machine(error) { self.patience } else { self.patience / SHARE_OF_OTHERS };
        failures.count >= LEAST && failures.first.elapsed() >= patience
    }

    /// Returns whether a failure should be reported to people: it differs from the last one of the attempt.
    pub(super) fn is_news(&self, name: &TaskName, epoch: u64, error: &RunnerError) -> bool {
        let mut of_tasks = self.lock();
        let kind = Some(discriminant(error));
        let reported = &mut of_attempt(&mut of_tasks, name, epoch).reported;
        std::mem::replace(reported, kind) != kind
    }

    /// Forgets a task, whose delivery was judged or refused.
    pub(super) fn forget(&self, name: &TaskName) {
        self.lock().remove(name);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskName, Failures>> {
        self.of_tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the failures of an attempt. Those of an earlier one are dropped.
fn of_attempt<'a>(
    of_tasks: &'a mut HashMap<TaskName, Failures>,
    name: &TaskName,
    epoch: u64,
) -> &'a mut Failures {
    let none = || Failures { epoch, first: Instant::now(), count: 0, reported: None };
    let failures = of_tasks.entry(name.clone()).or_insert_with(none);
    if failures.epoch != epoch {
        *failures = none();
    }
    failures
}

/// Checks whether git was started and failed, or a file of the work could not be used.
fn can_be_the_deliverys(error: &RunnerError) -> bool {
    match error {
        RunnerError::Git(error)
        | RunnerError::Delivery { source: DeliveryError::Bundle(BundleRefusal::Git(error)), .. } => {
            !matches!(error, GitError::NotStarted(_))
        }
        RunnerError::File { .. } => true,
        _ => false,
    }
}

fn is_of_this_machine(error: &RunnerError) -> bool {
    use std::io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    match error {
        RunnerError::Git(error)
        | RunnerError::Delivery { source: DeliveryError::Bundle(BundleRefusal::Git(error)), .. } => {
            error.is_of_this_machine()
        }
        RunnerError::File { source, .. } => {
            matches!(source.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem)
        }
        _ => false,
    }
}
