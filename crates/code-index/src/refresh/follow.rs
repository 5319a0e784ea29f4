//! Keeping an index up with a feed of changes.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use file_index::{ChangeFeed, FeedCursor, FeedPage};
use rel_path::RelPath;
use wap_core::{Call, CancelFlag, CodeIndex, DelegatingIndex, IndexError};

use crate::index::LocalIndex;
use crate::refresh::Progress;
use crate::refresh::deadline::until;

/// With more changes than this at once, looking at the whole folder takes less time than looking at each of them.
const MOST_CHANGES: usize = 2_000;

/// How long changes are awaited at once; whoever tells the background to end waits no longer.
const WAIT: Duration = Duration::from_millis(200);

/// How long changes are gathered: one save by an editor is several of them.
const GATHER: Duration = Duration::from_millis(5);

/// How long the background rests after work, in times of that work: a file that is written to all the time is not read all
/// the time.
const REST: u32 = 4;

/// How long the background rests at most, and before it tries again what has failed.
const LONGEST_REST: Duration = Duration::from_secs(5);

/// How soon it is asked again whether changes are noticed by now.
const FEED_POLL: Duration = Duration::from_millis(50);

/// A [`LocalIndex`] that is up to date when it is asked, as far as there is time for that.
///
/// Before a question it takes in what has changed, as it [`Follows`]. What is not done within its patience, or within the
/// time that the caller has, is done later: the answer then says that the index is being built. With
/// [`FollowingIndex::keep_up`] on a thread of its own there is seldom anything left to do. A store that turns out to be
/// damaged by a question is made anew, and the question is asked again.
pub struct FollowingIndex {
    index: LocalIndex,
    follows: Follows,
    patience: Duration,
    place: Mutex<Place>,
}

/// Whence an index knows what has changed.
#[derive(Clone)]
pub enum Follows {
    /// A feed tells. When it has lost its thread, the folder is compared with what is known.
    Feed(Arc<dyn ChangeFeed>),
    /// The folder is compared with what is known, before each question.
    Folder,
    /// It does not: it stays as it is, but for what it has to build anew.
    Nothing,
}

/// How far the feed was followed.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Anything may have changed.
    Unknown,
    /// Everything before is in the index.
    Behind(FeedCursor),
}

impl FollowingIndex {
    /// Has an index follow its folder. A question waits for `patience` at most until the index is up to date.
    #[must_use]
    pub fn new(index: LocalIndex, follows: Follows, patience: Duration) -> FollowingIndex {
        FollowingIndex { index, follows, patience, place: Mutex::new(Place::Unknown) }
    }

    /// The index as it is.
    #[must_use]
    pub fn index(&self) -> &LocalIndex {
        &self.index
    }

    /// Keeps the index up to date until it is told to end. Meant for a thread of its own.
    ///
    /// Of several processes with the same index, one does this; the others are ready to take over. Waiting does not count as
    /// asking: when nobody has asked for long, the feed may rest, and the next question goes on.
    pub fn keep_up(&self, ends: &CancelFlag) {
        let mut lead = None;
        let mut pause = FEED_POLL;
        let mut has_looked = false;
        while !ends.is_cancelled() {
            let place = *self.place();
            // Once everything was looked at there is nothing to do before changes are told.
            if has_looked && matches!(place, Place::Unknown) {
                let Some(feed) = self.feed() else { return };
                if feed.cursor().is_none() {
                    // Somebody else may be told.
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
            if let (Place::Behind(cursor), Some(feed)) = (place, self.feed()) {
                if !feed.wait(cursor, WAIT) {
                    continue;
                }
                thread::sleep(GATHER);
            }
            pause = FEED_POLL;
            let began = Instant::now();
            match self.catch_up(&mut self.place(), ends) {
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

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what has changed.
    fn catch_up(&self, place: &mut Place, cancel: &CancelFlag) -> Result<(), IndexError> {
        loop {
            let after = match (*place, self.feed()) {
                (Place::Behind(cursor), Some(feed)) => Some((cursor, feed)),
                _ => None,
            };
            match after.map(|(cursor, feed)| feed.changes_since(cursor, MOST_CHANGES)) {
                Some(FeedPage::Changes { paths, .. }) if paths.is_empty() => return Ok(()),
                Some(FeedPage::Changes { paths, next }) if paths.len() < MOST_CHANGES => {
                    self.index.update(&each_once(paths), cancel)?;
                    *place = Place::Behind(next);
                }
                _ => {
                    // The place first, so that what happens meanwhile is told afterwards.
                    let cursor = self.feed().and_then(ChangeFeed::cursor);
                    *place = Place::Unknown;
                    self.index.refresh(cancel, &mut |_: Progress| {})?;
                    let Some(cursor) = cursor else { return Ok(()) };
                    *place = Place::Behind(cursor);
                }
            }
        }
    }

    /// Takes in what has changed before a question, as far as there is time.
    fn freshen(&self, call: &Call<'_>) -> Result<(), IndexError> {
        if matches!(self.follows, Follows::Nothing) {
            return Ok(());
        }
        let deadline = Instant::now() + call.time_left.map_or(self.patience, |left| left.min(self.patience));
        let Some(mut place) = self.place_before(deadline, call.cancel) else { return Ok(()) };
        if let (Place::Behind(cursor), Some(feed)) = (*place, self.feed())
            && matches!(feed.changes_since(cursor, 1), FeedPage::Changes { paths, .. } if paths.is_empty())
        {
            return Ok(());
        }
        match until(deadline, call.cancel, |ends| self.catch_up(&mut place, ends)) {
            Err(IndexError::Cancelled) if !call.cancel.is_cancelled() => Ok(()),
            other => other,
        }
    }

    /// The place, as soon as nobody else is busy with it; `None` if that takes too long.
    fn place_before(&self, deadline: Instant, cancel: &CancelFlag) -> Option<MutexGuard<'_, Place>> {
        loop {
            match self.place.try_lock() {
                Ok(place) => return Some(place),
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

/// Waits, unless it is to end.
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
    /// Asks the index, which is made anew if it turns out to be damaged.
    fn ask<T>(
        &self,
        call: &Call<'_>,
        _: &'static str,
        question: impl Fn(&dyn CodeIndex) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        self.freshen(call)?;
        match question(&self.index) {
            Err(failed @ IndexError::Failed { .. }) => {
                if !self.index.mend()? {
                    return Err(failed);
                }
                let time = call.time_left.map_or(self.patience, |left| left.min(self.patience));
                *self.place() = Place::Unknown;
                self.index.refresh_within(time, call.cancel, &mut |_| {})?;
                question(&self.index)
            }
            answered => answered,
        }
    }
}
