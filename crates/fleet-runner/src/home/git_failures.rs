//! Deliveries at which git fails again and again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cocode_fleet::TaskName;
use cocode_runner::{BundleRefusal, DeliveryError, GitError, RunnerError};

/// The time for which git's failures count as this machine's, whose disk may be full: what a host has done is not lost by that.
pub(super) const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// The least failures in that time.
const LEAST: u32 = 4;

/// The failures of git at deliveries that could not be judged. A host can make one that git fails at on every machine: without an
/// end, home would judge it for ever.
#[derive(Debug)]
pub(super) struct GitFailures {
    pub(super) patience: Duration,
    /// The attempt of each task, with its first failure and their number.
    of_tasks: Mutex<HashMap<TaskName, (u64, Instant, u32)>>,
}

impl Default for GitFailures {
    fn default() -> GitFailures {
        GitFailures { patience: PATIENCE, of_tasks: Mutex::default() }
    }
}

impl GitFailures {
    /// Counts a failure to judge the delivery of an attempt, and returns whether the delivery is at fault, as far as can be known.
    pub(super) fn are_the_deliverys(&self, name: &TaskName, epoch: u64, error: &RunnerError) -> bool {
        if !is_of_git(error) {
            return false;
        }
        let mut of_tasks = self.of_tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = of_tasks.entry(name.clone()).or_insert_with(|| (epoch, Instant::now(), 0));
        if failures.0 != epoch {
            *failures = (epoch, Instant::now(), 0);
        }
        failures.2 += 1;
        failures.2 >= LEAST && failures.1.elapsed() >= self.patience
    }

    /// Forgets a task, whose delivery was judged or refused.
    pub(super) fn forget(&self, name: &TaskName) {
        self.of_tasks.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}

/// Checks whether git was started, and failed.
fn is_of_git(error: &RunnerError) -> bool {
    match error {
        RunnerError::Git(error)
        | RunnerError::Delivery { source: DeliveryError::Bundle(BundleRefusal::Git(error)), .. } => {
            !matches!(error, GitError::NotStarted(_))
        }
        _ => false,
    }
}
