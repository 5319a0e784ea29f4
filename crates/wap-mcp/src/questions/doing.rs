//! Things that are being carried out because a person has allowed them, so that giving up their calls ends them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use content_hash::ContentHash;
use wap_core::{CancelFlag, ConversationId};

/// The conversation that has proposed it, and the digest of the request.
type Key = (ConversationId, ContentHash);

/// Everything that is being carried out. A call can end before it, and the same call again waits for it: whichever of them
/// is given up ends it.
#[derive(Debug, Default)]
pub(super) struct Doings(Arc<Mutex<HashMap<Key, CancelFlag>>>);

/// One thing that is being carried out, until it is dropped.
#[derive(Debug)]
pub(super) struct Doing {
    all: Arc<Mutex<HashMap<Key, CancelFlag>>>,
    key: Key,
    cancel: CancelFlag,
}

impl Doings {
    /// Adds one. The same request again is the same: its second answer does nothing.
    pub(super) fn begin(&self, key: Key) -> Doing {
        let cancel = lock(&self.0).entry(key.clone()).or_default().clone();
        Doing { all: Arc::clone(&self.0), key, cancel }
    }

    /// Ends what is being carried out, if it still is.
    pub(super) fn give_up(&self, key: &Key) {
        let cancel = lock(&self.0).get(key).cloned();
        // Outside of the lock: cancelling runs the hooks of other modules on this thread.
        if let Some(cancel) = cancel {
            cancel.cancel();
        }
    }
}

impl Doing {
    /// Returns the flag that ends it.
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
    fn only_what_was_given_up_ends() {
        let key = |name: &str| (ConversationId(name.to_owned()), ContentHash::of(b"make test"));
        let doings = Doings::default();
        let (mine, other) = (doings.begin(key("mine")), doings.begin(key("other")));
        doings.give_up(&key("mine"));
        assert!(mine.cancel().is_cancelled() && !other.cancel().is_cancelled());
        drop(mine);
        // The next one of the same name is not ended by what was given up before.
        let again = doings.begin(key("mine"));
        assert!(!again.cancel().is_cancelled());
        drop(other);
        doings.give_up(&key("other"));
    }
}
