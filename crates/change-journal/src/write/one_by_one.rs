//! Owns committing the writes of a group one by one after the group failed, in the order in which they were
//! queued. It must never commit a write without a lazy one that it relies on.

use crate::error::JournalError;
use crate::write::work::Job;
use crate::write::writer::Writer;

/// The failures of the lazy writes of a group so far.
#[derive(Default)]
struct LazyFailures {
    /// The failure of the first write that everything later relies on.
    relied_on: Option<JournalError>,
    /// The failure of the first other write.
    other: Option<JournalError>,
}

impl LazyFailures {
    /// Returns the failure of an earlier write because of which `job` cannot be committed now.
    fn hindering(&self, job: &dyn Job) -> Option<JournalError> {
        let failure = match self {
            Self { relied_on: Some(failure), .. } => failure,
            // Once one of them fails, the other lazy writes wait with it: trying each of thousands on a full
            // disk would delay the callers.
            Self { other: Some(failure), .. }
                if job.is_after_all() || !job.is_awaited() && !job.is_relied_on() =>
            {
                failure
            }
            Self { .. } => return None,
        };
        Some(failure.repeated())
    }

    fn add(&mut self, job: &dyn Job, failure: JournalError) {
        let first = if job.is_relied_on() { &mut self.relied_on } else { &mut self.other };
        first.get_or_insert(failure);
    }

    fn is_empty(&self) -> bool {
        self.relied_on.is_none() && self.other.is_none()
    }
}

impl Writer {
    /// Commits each of `batch` on its own, as far as possible, and replies to the awaited ones. Returns the
    /// lazy ones that could not be committed, in their order.
    pub(super) fn commit_one_by_one(
        &mut self,
        batch: Vec<Box<dyn Job>>,
        renewals: &mut u32,
    ) -> Vec<Box<dyn Job>> {
        let count = batch.len();
        let (mut failures, mut kept) = (LazyFailures::default(), Vec::new());
        let mut rest = batch.into_iter().peekable();
        while let Some(first) = rest.next() {
            let mut group = vec![first];
            if !group[0].is_awaited() {
                group.extend(std::iter::from_fn(|| rest.next_if(|job| !job.is_awaited())));
            }
            // Consecutive lazy writes are tried together, because each commit costs a sync. All of `batch` has
            // just failed together.
            if (2..count).contains(&group.len())
                && failures.is_empty()
                && self.commit_renewing(&mut group, renewals).is_ok()
            {
                continue;
            }
            for job in group {
                let mut alone = [job];
                let failure = match failures.hindering(&*alone[0]) {
                    Some(failure) => failure,
                    None => match self.commit_renewing(&mut alone, renewals) {
                        Ok(()) => continue,
                        Err(failure) => failure,
                    },
                };
                let [mut job] = alone;
                if job.is_awaited() {
                    job.answer(Some(failure));
                } else {
                    failures.add(&*job, failure);
                    kept.push(job);
                }
            }
        }
        kept
    }
}
