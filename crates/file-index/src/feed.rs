//! The feed of changes, for readers that keep data about files.

use std::collections::VecDeque;
use std::time::Duration;

use rel_path::RelPath;

/// The number of changes kept for readers that lag.
const MOST_CHANGES: usize = 50_000;

/// The most bytes of memory for them: a path may have 4,096 bytes.
const MOST_BYTES: usize = 16 << 20;

/// A position in the sequence of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedCursor {
    /// The list of files that the changes belong to; each restart begins another one.
    incarnation: u64,
    number: u64,
}

/// The changes since a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedPage {
    /// These paths, or paths below them, may have changed, appeared or disappeared since. Empty if none
    /// has.
    Changes {
        /// Oldest first; a path occurs once for each of its changes.
        paths: Vec<RelPath>,
        /// The position after them.
        next: FeedCursor,
    },
    /// Anything may have changed: take a new [cursor](ChangeFeed::cursor), then read everything again.
    Lost,
}

/// Changes of files that can be pulled.
///
/// The reader takes a [cursor](ChangeFeed::cursor), then reads all files, and from then on asks for the
/// [changes since](ChangeFeed::changes_since). Changes made before that call are reported by it, or by a
/// later call if there are many at once; none is omitted. A path is a hint: the reader checks its current
/// state.
pub trait ChangeFeed: Send + Sync {
    /// Returns the position after all changes so far; `None` while changes are not tracked yet.
    fn cursor(&self) -> Option<FeedCursor>;

    /// Returns the changes since a position, at most `limit` of them.
    fn changes_since(&self, after: FeedCursor, limit: usize) -> FeedPage;

    /// Waits until something may have changed since, or until `time` has passed; returns `true` in the first
    /// case.
    ///
    /// Waiting does not count as use: a feed may go to rest while a reader waits, and then reports nothing
    /// until the next request.
    fn wait(&self, after: FeedCursor, time: Duration) -> bool;
}

/// The last changes.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    incarnation: u64,
    /// The number of the first change that is held.
    first: u64,
    changes: VecDeque<RelPath>,
    /// The bytes of their paths.
    path_bytes: usize,
}

impl Feed {
    /// Begins again: all cursors are lost.
    pub(crate) fn restart(&mut self) {
        self.incarnation += 1;
        self.changes = VecDeque::new();
        self.path_bytes = 0;
        self.first = 0;
    }

    pub(crate) fn push(&mut self, path: RelPath) {
        self.path_bytes += path.as_bytes().len();
        self.changes.push_back(path);
        while self.changes.len() > MOST_CHANGES || self.bytes() > MOST_BYTES {
            let Some(oldest) = self.changes.pop_front() else { break };
            self.path_bytes -= oldest.as_bytes().len();
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
        self.changes.len() * size_of::<RelPath>() + self.path_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_paths_take_bounded_memory_and_lagging_readers_are_lost() {
        let mut feed = Feed::default();
        let start = feed.cursor();
        let long = RelPath::parse(&vec!["a".repeat(200); 20].join("/")).unwrap();
        (0..MOST_CHANGES).for_each(|_| feed.push(long.clone()));
        assert!(feed.bytes() <= MOST_BYTES, "{}", feed.bytes());
        assert_eq!(feed.since(start, 10), FeedPage::Lost);
        // The control: as many short ones are kept.
        let mut feed = Feed::default();
        (0..MOST_CHANGES).for_each(|_| feed.push(RelPath::parse("a/b").unwrap()));
        assert!(matches!(feed.since(feed.cursor(), 10), FeedPage::Changes { .. }));
        assert!(
            matches!(feed.since(Feed::default().cursor(), 10), FeedPage::Changes { paths, .. } if paths.len() == 10)
        );
    }
}
