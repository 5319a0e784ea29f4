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

use crate::context::IndexContext;
use crate::feed::{ChangeFeed, FeedCursor, FeedPage};
use crate::keeper::Keeper;
use crate::report::IndexReport;
use crate::rules::{IndexLimits, IndexRules};
use crate::state::State;
use crate::view::View;

/// The longest that a request waits for the thread's lock. The operating system may suspend the caller for
/// longer.
const LONGEST_WAIT: Duration = Duration::from_millis(2);

/// The number of entries that a request checks itself. The thread checks the rest.
const REQUEST_ENTRIES: usize = 1000;

/// One list of the files below a root, one watcher, and a signature of each file's content.
///
/// A thread of the lowest priority lists, reads and watches, from the first request on. Dropping the index
/// ends the thread and frees all memory. Threads may share an index.
pub struct FileIndex {
    shared: Arc<Shared>,
    keeper: Option<JoinHandle<()>>,
}

/// The state that callers and the thread share.
pub(crate) struct Shared {
    pub context: IndexContext,
    state: Mutex<State>,
    pub ends: AtomicBool,
    /// Wakes the thread.
    pub bell: OwnedFd,
}

impl FileIndex {
    /// Starts the thread. It begins to list and to read at the first request.
    ///
    /// # Errors
    ///
    /// The system has no thread or no handle left.
    pub fn start(
        root: Arc<FileRoot>,
        rules: impl IndexRules + 'static,
        limits: IndexLimits,
    ) -> io::Result<FileIndex> {
        let context = IndexContext { root, rules: Box::new(rules), limits };
        let shared = Arc::new(Shared::new(context)?);
        let keeper = Keeper::new(Arc::clone(&shared));
        let keeper = thread::Builder::new().name("file-index".to_owned()).spawn(move || keeper.run())?;
        Ok(FileIndex { shared, keeper: Some(keeper) })
    }

    /// Returns the list, up to date with every change made before this call; `None` if that would take
    /// waiting. The caller then walks the folder itself.
    pub fn view(&self) -> Option<View<'_>> {
        self.shared.fresh().map(View::new)
    }

    /// Reports the state of the index.
    pub fn report(&self) -> IndexReport {
        self.shared.lock().report(&self.shared.context)
    }
}

impl ChangeFeed for FileIndex {
    fn cursor(&self) -> Option<FeedCursor> {
        self.shared.fresh().map(|state| state.feed.cursor())
    }

    fn changes_since(&self, after: FeedCursor, limit: usize) -> FeedPage {
        let mut state = self.shared.lock();
        state.last_used = Some(Instant::now());
        // Changes beyond the budget are reported later, in order.
        state.refresh(&self.shared.context, REQUEST_ENTRIES);
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
            // Without a queue, as while the index rests, only time can pass.
            thread::sleep(time);
            return false;
        };
        let mut polled = [PollFd::new(&queue, PollFlags::IN)];
        let time = Timespec::try_from(time).ok();
        // A signal may end the wait early; one check too many does no harm.
        rustix::event::poll(&mut polled, time.as_ref()) != Ok(0)
    }
}

impl Shared {
    pub(crate) fn new(context: IndexContext) -> io::Result<Shared> {
        let bell = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Shared { context, state: Mutex::new(State::new()), ends: AtomicBool::new(false), bell })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state, once it is certain to be complete; `None` if that would take waiting.
    fn fresh(&self) -> Option<MutexGuard<'_, State>> {
        let deadline = Instant::now() + LONGEST_WAIT;
        let mut state = loop {
            match self.state.try_lock() {
                Ok(state) => break state,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                // The thread holds the lock for short pieces of work; polling bounds the wait, which a
                // blocking lock cannot.
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    thread::sleep(Duration::from_micros(50));
                }
                Err(TryLockError::WouldBlock) => return None,
            }
        };
        state.last_used = Some(Instant::now());
        // Reading the kernel's queue here is what makes the answer current: every earlier change has its
        // notice in it.
        let is_fresh = state.has_listed() && state.refresh(&self.context, REQUEST_ENTRIES);
        // This request has drained the queue, so the thread has to be woken for the rest of the work.
        if !is_fresh || state.has_work() || state.has_unread() {
            self.ring();
        }
        is_fresh.then_some(state)
    }

    pub(crate) fn ring(&self) {
        // The write fails only if the counter is at its maximum, when the thread is due to wake anyway.
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
