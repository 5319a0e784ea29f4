//! What has changed, for whoever keeps something about files.

use std::collections::VecDeque;
use std::time::Duration;

use rel_path::RelPath;

/// How many changes are kept for those who are behind.
const MOST_CHANGES: usize = 50_000;

/// A place in the row of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedCursor {
    /// Which list of files the changes are of.
    incarnation: u64,
    number: u64,
}

/// Changes since a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedPage {
    /// These paths, or what is beneath them, may have changed, come or gone since. None, if nothing has.
    Changes {
        /// Each once for each time that something happened, oldest first.
        paths: Vec<RelPath>,
        /// The place behind them.
        next: FeedCursor,
    },
    /// Anything may have changed: look at everything again, after taking a [cursor](ChangeFeed::cursor).
    Lost,
}

/// Changes of files that can be pulled.
///
/// The reader takes a [cursor](ChangeFeed::cursor), then looks at all files, and from then on asks for the
/// [changes since](ChangeFeed::changes_since). What was done before the question is told then, or later where much has happened
/// at once; nothing is left out. A path is a hint: what is there now, the reader finds out.
pub trait ChangeFeed: Send + Sync {
    /// The place behind everything that has happened so far; `None` while changes are not noticed yet.
    fn cursor(&self) -> Option<FeedCursor>;

    /// What has happened since, at most `limit` changes.
    fn changes_since(&self, after: FeedCursor, limit: usize) -> FeedPage;

    /// Waits for `time` at most until something may have happened since, and tells whether it may have.
    ///
    /// Waiting is no question: a feed may rest although somebody waits. Then nothing happens until somebody asks.
    fn wait(&self, after: FeedCursor, time: Duration) -> bool;
}

/// The last changes.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    incarnation: u64,
    /// The number of the first change that is held.
    first: u64,
    changes: VecDeque<RelPath>,
}

impl Feed {
    /// Begins again: all cursors are lost.
    pub(crate) fn restart(&mut self) {
        self.incarnation += 1;
        self.changes = VecDeque::new();
        self.first = 0;
    }

    pub(crate) fn push(&mut self, path: RelPath) {
        self.changes.push_back(path);
        if self.changes.len() > MOST_CHANGES {
            self.changes.pop_front();
            self.first += 1;
        }
    }

    pub(crate) fn cursor(&self) -> FeedCursor {
        FeedCursor { incarnation: self.incarnation, number: self.first + self.changes.len() as u64 }
    }

    pub(crate) fn since(&self, after: FeedCursor, limit: usize) -> FeedPage {
        let Some(skipped) = after.number.checked_sub(self.first) else { return FeedPage::Lost };
        if after.incarnation != self.incarnation || skipped > self.changes.len() as u64 {
            return FeedPage::Lost;
        }
        let paths: Vec<_> = self.changes.iter().skip(skipped as usize).take(limit).cloned().collect();
        let next = FeedCursor { number: after.number + paths.len() as u64, ..after };
        FeedPage::Changes { paths, next }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.changes.capacity() * size_of::<RelPath>()
            + self.changes.iter().map(|path| path.as_bytes().len()).sum::<usize>()
    }
}
