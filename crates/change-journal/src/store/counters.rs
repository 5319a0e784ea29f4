//! Owns the counts by which the cost of durability is measured.

use std::sync::atomic::{AtomicU64, Ordering};

/// How often a journal has made a caller, or the background, wait for the disk since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalCounts {
    /// Commits that at least one caller waited for. Each syncs the log once.
    pub commits: u64,
    /// Commits of lazy writes that nobody waited for.
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
