//! The index and its thread.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};
use sandbox_fs::FileRoot;

use crate::feed::{ChangeFeed, FeedCursor, FeedPage};
use crate::ground::Ground;
use crate::keeper::Keeper;
use crate::report::IndexReport;
use crate::rules::{IndexLimits, IndexRules};
use crate::state::State;
use crate::view::View;

/// How long a question waits while the thread looks at something. It may have been put aside by the system for longer.
const PATIENCE: Duration = Duration::from_millis(2);

/// How many entries a question looks at itself. What is more is left to the thread.
const QUESTION_ENTRIES: usize = 1000;

/// One list of the files beneath a root, one watcher, and what texts files can contain.
///
/// A thread of its own lists, reads and watches once somebody has asked; it works with the least priority. Dropping the index ends the thread and
/// gives everything back. Threads may share an index.
pub struct FileIndex {
    shared: Arc<Shared>,
    keeper: Option<JoinHandle<()>>,
}

/// What the questions and the thread share.
pub(crate) struct Shared {
    pub ground: Ground,
    state: Mutex<State>,
    pub ends: AtomicBool,
    /// Wakes the thread.
    pub bell: OwnedFd,
}

impl FileIndex {
    /// Starts the thread. It begins to list and to read when somebody has asked for the first time.
    ///
    /// # Errors
    ///
    /// The system has no thread or no handle left.
    pub fn start(
        root: Arc<FileRoot>,
        rules: impl IndexRules + 'static,
        limits: IndexLimits,
    ) -> io::Result<FileIndex> {
        let bell = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let ground = Ground { root, rules: Box::new(rules), limits };
        let shared = Shared { ground, state: Mutex::new(State::new()), ends: AtomicBool::new(false), bell };
        let shared = Arc::new(shared);
        let keeper = Keeper::new(Arc::clone(&shared));
        let keeper = thread::Builder::new().name("file-index".to_owned()).spawn(move || keeper.run())?;
        Ok(FileIndex { shared, keeper: Some(keeper) })
    }

    /// The list, after everything that was done before this call; `None` if that would take waiting. Whoever asks then looks
    /// for itself.
    pub fn view(&self) -> Option<View<'_>> {
        self.shared.fresh().map(View::new)
    }

    /// What the index is doing.
    pub fn report(&self) -> IndexReport {
        self.shared.lock().report(&self.shared.ground)
    }
}

impl ChangeFeed for FileIndex {
    fn cursor(&self) -> Option<FeedCursor> {
        self.shared.fresh().map(|state| state.feed.cursor())
    }

    fn changes_since(&self, after: FeedCursor, limit: usize) -> FeedPage {
        let mut state = self.shared.lock();
        state.last_used = Some(Instant::now());
        // What cannot be looked at yet is told later, behind what can.
        state.refresh(&self.shared.ground, QUESTION_ENTRIES);
        if state.is_lost() || state.has_work() || state.has_unread() {
            self.shared.ring();
        }
        if state.is_lost() { FeedPage::Lost } else { state.feed.since(after, limit) }
    }

    fn wait(&self, after: FeedCursor, time: Duration) -> bool {
        let queue = {
            let state = self.shared.lock();
            if !state.is_resting() && (state.is_lost() || state.feed.cursor() != after) {
                return true;
            }
            state.watcher().and_then(|watcher| watcher.queue().try_clone_to_owned().ok())
        };
        let Some(queue) = queue else {
            thread::sleep(time);
            return false;
        };
        let mut asked = [PollFd::new(&queue, PollFlags::IN)];
        let time = Timespec::try_from(time).ok();
        // A signal may end it before its time: looking once too often does no harm.
        rustix::event::poll(&mut asked, time.as_ref()) != Ok(0)
    }
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, if it can be known soon that nothing is missing from it.
    fn fresh(&self) -> Option<MutexGuard<'_, State>> {
        let deadline = Instant::now() + PATIENCE;
        let mut state = loop {
            match self.state.try_lock() {
                Ok(state) => break state,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    thread::sleep(Duration::from_micros(50));
                }
                Err(TryLockError::WouldBlock) => return None,
            }
        };
        state.last_used = Some(Instant::now());
        let is_fresh = state.has_listed() && state.refresh(&self.ground, QUESTION_ENTRIES);
        // What this question has noticed, the thread is not told of by the queue any more.
        if !is_fresh || state.has_work() || state.has_unread() {
            self.ring();
        }
        is_fresh.then_some(state)
    }

    pub(crate) fn ring(&self) {
        // If it cannot be rung any more, it has been often enough.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }
}

impl Drop for FileIndex {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::SeqCst);
        self.shared.ring();
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

impl fmt::Debug for FileIndex {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("FileIndex").finish_non_exhaustive()
    }
}
