//! Cancellation that can be polled and that can call back.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

type Hook = Box<dyn FnOnce() + Send>;

/// A flag that is raised once and stays raised. Clones share it.
///
/// Long work polls [`is_cancelled`](CancelFlag::is_cancelled); work that cannot poll, because it waits for a process, registers a
/// hook with [`on_cancel`](CancelFlag::on_cancel).
#[derive(Clone, Default)]
pub struct CancelFlag {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    raised: AtomicBool,
    hooks: Mutex<Hooks>,
    /// Notified whenever a hook has ended.
    hook_ended: Condvar,
}

#[derive(Default)]
struct Hooks {
    next_key: u64,
    waiting: Vec<(u64, Hook)>,
    running: Vec<(u64, ThreadId)>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Hooks> {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CancelFlag {
    /// Returns a flag that is not raised.
    #[must_use]
    pub fn new() -> CancelFlag {
        CancelFlag::default()
    }

    /// Raises the flag and runs the hooks, each once, in the order of their registration, on this thread.
    pub fn cancel(&self) {
        self.shared.raised.store(true, Ordering::SeqCst);
        while let Some((key, hook)) = self.start_next() {
            // Run the hook without the lock: it may drop its own guard or poll the flag. `HookEnd` takes the lock again when the
            // hook ends, also by a panic.
            let _ended = HookEnd { shared: &self.shared, key };
            hook();
        }
    }

    fn start_next(&self) -> Option<(u64, Hook)> {
        let mut hooks = self.shared.lock();
        if hooks.waiting.is_empty() {
            return None;
        }
        let (key, hook) = hooks.waiting.remove(0);
        hooks.running.push((key, thread::current().id()));
        Some((key, hook))
    }

    /// Checks whether the flag was raised.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.raised.load(Ordering::SeqCst)
    }

    /// Runs `hook` when the flag is raised, immediately if it already is, and never after the guard was dropped.
    ///
    /// A hook must be short and must not wait for the thread that holds its guard.
    #[must_use = "the hook is removed when the guard is dropped"]
    pub fn on_cancel(&self, hook: Box<dyn FnOnce() + Send>) -> CancelGuard {
        let mut hooks = self.shared.lock();
        // Check under the lock: `cancel` raises the flag before it locks the hooks, so either it sees this hook or this check
        // sees the flag.
        if self.is_cancelled() {
            drop(hooks);
            hook();
            return CancelGuard { flag: self.clone(), key: None };
        }
        let key = hooks.next_key;
        hooks.next_key += 1;
        hooks.waiting.push((key, hook));
        CancelGuard { flag: self.clone(), key: Some(key) }
    }
}

impl fmt::Debug for CancelFlag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CancelFlag").field("raised", &self.is_cancelled()).finish_non_exhaustive()
    }
}

/// Removes a hook from the list of running ones when it is dropped.
struct HookEnd<'a> {
    shared: &'a Shared,
    key: u64,
}

impl Drop for HookEnd<'_> {
    fn drop(&mut self) {
        self.shared.lock().running.retain(|(key, _)| *key != self.key);
        self.shared.hook_ended.notify_all();
    }
}

/// Keeps a hook of a [`CancelFlag`] registered; dropping it removes the hook.
///
/// After the drop the hook neither runs nor will run: the drop waits for a hook that another thread is running. So the target of
/// the hook, such as a process, may be released after dropping the guard.
#[derive(Debug)]
pub struct CancelGuard {
    flag: CancelFlag,
    /// `None` if the hook ran immediately.
    key: Option<u64>,
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        let shared = &self.flag.shared;
        let here = thread::current().id();
        let mut hooks = shared.lock();
        // Under the lock a hook is either waiting and removed here, or running and awaited, or finished.
        let removed = hooks.waiting.iter().position(|(waiting, _)| *waiting == key);
        let removed = removed.map(|index| hooks.waiting.remove(index));
        // Do not wait for a hook on this thread: a hook that drops its own guard would wait for itself.
        while hooks.running.iter().any(|(running, thread)| *running == key && *thread != here) {
            hooks = shared.hook_ended.wait(hooks).unwrap_or_else(PoisonError::into_inner);
        }
        drop(hooks);
        // Drop the hook without the lock: it may itself hold a guard.
        drop(removed);
    }
}
