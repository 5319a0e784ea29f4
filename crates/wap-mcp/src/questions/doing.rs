//! Operations that are running because a person has allowed them, so that cancelling their calls ends them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use content_hash::ContentHash;
use wap_core::{CancelFlag, ConversationId};

/// The conversation that proposed the operation, and the digest of the request.
type Key = (ConversationId, ContentHash);

/// All running operations. A call can end before its operation, and repeating the call waits for it: cancelling either of them
/// ends it.
#[derive(Debug, Default)]
pub(super) struct Doings(Arc<Mutex<HashMap<Key, CancelFlag>>>);

/// A running operation, until it is dropped.
#[derive(Debug)]
pub(super) struct Doing {
    all: Arc<Mutex<HashMap<Key, CancelFlag>>>,
    key: Key,
    cancel: CancelFlag,
}

impl Doings {
    /// Adds an operation. Repeating the request refers to the same one: its second answer has no effect.
    pub(super) fn begin(&self, key: Key) -> Doing {
        let cancel = lock(&self.0).entry(key.clone()).or_default().clone();
        Doing { all: Arc::clone(&self.0), key, cancel }
    }

    /// Cancels an operation if it is still running.
    pub(super) fn give_up(&self, key: &Key) {
        let cancel = lock(&self.0).get(key).cloned();
        // Cancel without the lock: this runs the hooks of other modules on this thread.
        if let Some(cancel) = cancel {
            cancel.cancel();
        }
    }
}

impl Doing {
    /// Returns the flag that cancels the operation.
    pub(super) fn cancel(&self) -> &CancelFlag {
        &self.cancel
    }
}

impl Drop for Doing {
    fn drop(&mut self) {
        lock(&self.all).remove(&self.key);
    }
}

fn lock(all: &Mutex<HashMap<Key, CancelFlag>>) -> MutexGuard<'_, HashMap<Key, CancelFlag>> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use content_hash::ContentHash;
    use wap_core::ConversationId;

    use super::Doings;

    #[test]
    fn only_cancelled_operations_end() {
        let key = |name: &str| (ConversationId(name.to_owned()), ContentHash::of(b"make test"));
        let doings = Doings::default();
        let (mine, other) = (doings.begin(key("mine")), doings.begin(key("other")));
        doings.give_up(&key("mine"));
        assert!(mine.cancel().is_cancelled() && !other.cancel().is_cancelled());
        drop(mine);
        // The next operation of the same name is not affected by the earlier cancellation.
        let again = doings.begin(key("mine"));
        assert!(!again.cancel().is_cancelled());
        drop(other);
        doings.give_up(&key("other"));
    }
}
