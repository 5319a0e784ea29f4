//! Cancellation that can be asked about and that can call back.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

type Hook = Box<dyn FnOnce() + Send>;

/// A flag that is raised once and stays raised. Clones share it.
///
/// Long work asks [`is_cancelled`](CancelFlag::is_cancelled) now and then; work that cannot ask, because it waits
/// for a process, registers a hook with [`on_cancel`](CancelFlag::on_cancel).
#[derive(Clone, Default)]
pub struct CancelFlag {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    raised: AtomicBool,
    hooks: Mutex<Hooks>,
}

#[derive(Default)]
struct Hooks {
    next_key: u64,
    waiting: Vec<(u64, Hook)>,
}

impl CancelFlag {
    /// Returns a flag that is not raised.
    #[must_use]
    pub fn new() -> CancelFlag {
        CancelFlag::default()
    }

    /// Raises the flag and runs the hooks, each once, on this thread.
    pub fn cancel(&self) {
        let hooks = {
            let mut hooks = self.shared.hooks.lock().unwrap_or_else(PoisonError::into_inner);
            self.shared.raised.store(true, Ordering::SeqCst);
            std::mem::take(&mut hooks.waiting)
        };
        // Outside of the lock: a hook may drop its own guard or ask the flag.
        for (_, hook) in hooks {
            hook();
        }
    }

    /// Tells whether the flag was raised.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.raised.load(Ordering::SeqCst)
    }

    /// Runs `hook` when the flag is raised, at once if it already is; never after the guard was dropped.
    #[must_use = "the hook is removed when the guard is dropped"]
    pub fn on_cancel(&self, hook: Box<dyn FnOnce() + Send>) -> CancelGuard {
        let mut hooks = self.shared.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_cancelled() {
            drop(hooks);
            hook();
            return CancelGuard { flag: self.clone(), key: u64::MAX };
        }
        let key = hooks.next_key;
        hooks.next_key += 1;
        hooks.waiting.push((key, hook));
        CancelGuard { flag: self.clone(), key }
    }
}

impl fmt::Debug for CancelFlag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CancelFlag").field("raised", &self.is_cancelled()).finish_non_exhaustive()
    }
}

/// Keeps a hook of a [`CancelFlag`] registered; dropping it removes the hook.
#[derive(Debug)]
pub struct CancelGuard {
    flag: CancelFlag,
    key: u64,
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        let mut hooks = self.flag.shared.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        hooks.waiting.retain(|(key, _)| *key != self.key);
    }
}
