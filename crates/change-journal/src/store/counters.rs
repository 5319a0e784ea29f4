//! Owns the counters that measure the cost of durability.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of waits for the disk, by callers and in the background, since a journal was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalCounts {
    /// Commits that at least one caller waited for. Each syncs the log once.
    pub commits: u64,
    /// Commits of lazy writes only, for which no caller waited.
    pub background_commits: u64,
    /// Syncs of content files and their folders, all of which a caller waited for.
    pub file_syncs: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) commits: AtomicU64,
    pub(crate) background_commits: AtomicU64,
    pub(crate) file_syncs: AtomicU64,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> JournalCounts {
        JournalCounts {
            commits: self.commits.load(Ordering::Relaxed),
            background_commits: self.background_commits.load(Ordering::Relaxed),
            file_syncs: self.file_syncs.load(Ordering::Relaxed),
        }
    }
}
