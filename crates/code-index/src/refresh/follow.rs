//! An index that follows the changes of its folder.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use file_index::{ChangeFeed, FeedCursor, FeedPage};
use rel_path::RelPath;
use wap_core::{Call, CancelFlag, CodeIndex, DelegatingIndex, IndexError};

use crate::index::LocalIndex;
use crate::refresh::Progress;
use crate::refresh::deadline::until;

/// The number of changes from which a refresh of the whole folder is faster than updating each path.
const MOST_CHANGES: usize = 2_000;

/// The longest single wait for changes, and so the longest delay of a cancellation.
const WAIT: Duration = Duration::from_millis(200);

/// The time for collecting changes: an editor's save causes several.
const GATHER: Duration = Duration::from_millis(5);

/// The pause after work, as a multiple of its duration, so that a constantly written file is not constantly read.
const REST: u32 = 4;

/// The longest pause, and the pause after a failure.
const LONGEST_REST: Duration = Duration::from_secs(5);

/// The initial interval for polling a feed that is not running yet.
const FEED_POLL: Duration = Duration::from_millis(50);

/// A [`LocalIndex`] that updates itself before each request, if time permits.
///
/// Before a request it applies the changes that its [`Follows`] reports. Work that exceeds the time limit of the index or of the
/// caller is deferred, and the answer then reports that the index is being built. With [`FollowingIndex::keep_up`] on a separate
/// thread there is rarely any work left. If a request finds the store damaged, the store is rebuilt and the request repeated.
pub struct FollowingIndex {
    index: LocalIndex,
    follows: Follows,
    max_wait: Duration,
    position: Mutex<Position>,
    /// The rules of `.git/info/exclude` that the last refresh of the whole folder used. No feed covers them.
    clone_rules: Mutex<Option<Vec<u8>>>,
}

/// The source of changes that an index follows.
#[derive(Clone)]
pub enum Follows {
    /// A feed of changes. After the feed lost events, the whole folder is compared with the index.
    Feed(Arc<dyn ChangeFeed>),
    /// The whole folder is compared with the index before each request.
    Folder,
    /// No source: files are only read when the index has to be rebuilt.
    Nothing,
}

/// The position in the feed up to which the index is current.
#[derive(Clone, Copy, Debug)]
enum Position {
    /// Unknown: any file may have changed.
    Unknown,
    /// The index contains every change before the cursor.
    After(FeedCursor),
}

impl FollowingIndex {
    /// Makes `index` follow its folder. A request waits at most `max_wait` for the index to become current.
    #[must_use]
    pub fn new(index: LocalIndex, follows: Follows, max_wait: Duration) -> FollowingIndex {
        FollowingIndex {
            index,
            follows,
            max_wait,
            position: Mutex::new(Position::Unknown),
            clone_rules: Mutex::default(),
        }
    }

    /// Returns the index itself, which is not updated by access.
    #[must_use]
    pub fn index(&self) -> &LocalIndex {
        &self.index
    }

    /// Updates the index until `ends` is raised. Meant for a separate thread.
    ///
    /// Of several processes with the same index, one does the work and the others wait to take its place. Waiting does not count
    /// as a request: the feed may pause if there were no requests for a while, and the next request resumes it.
    pub fn keep_up(&self, ends: &CancelFlag) {
        let mut lead = None;
        let mut pause = FEED_POLL;
        let mut has_looked = false;
        while !ends.is_cancelled() {
            let position = *self.position();
            // After a full refresh there is nothing to do until the feed reports changes.
            if has_looked && matches!(position, Position::Unknown) {
                let Some(feed) = self.feed() else { return };
                if feed.cursor().is_none() {
                    // Another process may have a working feed, so give up the lead.
                    lead = None;
                    rest(pause, ends);
                    pause = (pause * 2).min(LONGEST_REST);
                    continue;
                }
            }
            if lead.is_none() {
                lead = self.index.store.lead();
            }
            if lead.is_none() {
                rest(LONGEST_REST, ends);
                continue;
            }
            if let (Position::After(cursor), Some(feed)) = (position, self.feed()) {
                if !feed.wait(cursor, WAIT) && !self.has_other_rules() {
                    continue;
                }
                // An editor's save causes several changes.
                thread::sleep(GATHER);
            }
            pause = FEED_POLL;
            let began = Instant::now();
            match self.catch_up(&mut self.position(), ends) {
                Ok(()) => rest((began.elapsed() * REST).min(LONGEST_REST), ends),
                Err(_) => rest(LONGEST_REST, ends),
            }
            has_looked = true;
        }
    }

    fn feed(&self) -> Option<&dyn ChangeFeed> {
        match &self.follows {
            Follows::Feed(feed) => Some(&**feed),
            Follows::Folder | Follows::Nothing => None,
        }
    }

    fn position(&self) -> MutexGuard<'_, Position> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clone_rules(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.clone_rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if git's rules for this clone have changed since the last refresh of the whole folder.
    fn has_other_rules(&self) -> bool {
        let rules = self.index.source.clone_rules();
        *self.clone_rules() != rules
    }

    /// Applies all changes. Until that is done, answers report that the index is being built.
    fn catch_up(&self, position: &mut Position, cancel: &CancelFlag) -> Result<(), IndexError> {
        self.index.is_outdated.store(true, Ordering::SeqCst);
        self.apply_changes(position, cancel)?;
        self.index.is_outdated.store(false, Ordering::SeqCst);
        Ok(())
    }

    fn apply_changes(&self, position: &mut Position, cancel: &CancelFlag) -> Result<(), IndexError> {
        if self.has_other_rules() {
            *position = Position::Unknown;
        }
        loop {
            let after = match (*position, self.feed()) {
                (Position::After(cursor), Some(feed)) => Some((cursor, feed)),
                _ => None,
            };
            match after.map(|(cursor, feed)| feed.changes_since(cursor, MOST_CHANGES)) {
                Some(FeedPage::Changes { paths, .. }) if paths.is_empty() => return Ok(()),
                Some(FeedPage::Changes { paths, next }) if paths.len() < MOST_CHANGES => {
                    self.index.update(&each_once(paths), cancel)?;
                    *position = Position::After(next);
                }
                _ => {
                    // The cursor is taken before the refresh, so that changes during the refresh are applied again.
                    let cursor = self.feed().and_then(ChangeFeed::cursor);
                    *position = Position::Unknown;
                    let rules = self.index.source.clone_rules();
                    self.index.refresh(cancel, &mut |_: Progress| {})?;
                    *self.clone_rules() = rules;
                    let Some(cursor) = cursor else { return Ok(()) };
                    *position = Position::After(cursor);
                }
            }
        }
    }

    /// Applies changes before a request, if time permits.
    fn freshen(&self, call: &Call<'_>) -> Result<(), IndexError> {
        if matches!(self.follows, Follows::Nothing) {
            return Ok(());
        }
        let deadline = Instant::now() + call.time_left.map_or(self.max_wait, |left| left.min(self.max_wait));
        let Some(mut position) = self.lock_before(deadline, call.cancel) else { return Ok(()) };
        if let (Position::After(cursor), Some(feed)) = (*position, self.feed())
            && matches!(feed.changes_since(cursor, 1), FeedPage::Changes { paths, .. } if paths.is_empty())
            && !self.has_other_rules()
        {
            self.index.is_outdated.store(false, Ordering::SeqCst);
            return Ok(());
        }
        // A timeout is not an error: the answer then reports that the index is being built.
        match until(deadline, call.cancel, |ends| self.catch_up(&mut position, ends)) {
            Err(IndexError::Cancelled) if !call.cancel.is_cancelled() => Ok(()),
            other => other,
        }
    }

    /// Locks the position, or returns `None` if another thread holds it until the deadline.
    fn lock_before(&self, deadline: Instant, cancel: &CancelFlag) -> Option<MutexGuard<'_, Position>> {
        loop {
            match self.position.try_lock() {
                Ok(position) => return Some(position),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline && !cancel.is_cancelled() => {
                    thread::sleep(Duration::from_micros(500));
                }
                Err(TryLockError::WouldBlock) => return None,
            }
        }
    }
}

impl fmt::Debug for FollowingIndex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FollowingIndex").field("index", &self.index).finish_non_exhaustive()
    }
}

fn each_once(mut paths: Vec<RelPath>) -> Vec<RelPath> {
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// Sleeps for `time`, or until `ends` is raised.
fn rest(time: Duration, ends: &CancelFlag) {
    let deadline = Instant::now() + time;
    while !ends.is_cancelled() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(WAIT));
    }
}

impl DelegatingIndex for FollowingIndex {
    /// Runs a request, and repeats it once if the store was damaged and could be rebuilt.
    fn ask<T>(
        &self,
        call: &Call<'_>,
        _: &'static str,
        question: impl Fn(&dyn CodeIndex) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        self.freshen(call)?;
        match question(&self.index) {
            Err(failed @ IndexError::Failed { .. }) => {
                if !self.index.repair()? {
                    return Err(failed);
                }
                let time = call.time_left.map_or(self.max_wait, |left| left.min(self.max_wait));
                *self.position() = Position::Unknown;
                self.index.refresh_within(time, call.cancel, &mut |_| {})?;
                question(&self.index)
            }
            answered => answered,
        }
    }
}
