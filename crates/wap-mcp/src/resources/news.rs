//! The changed resources of which a client has not been notified yet.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::Followed;

/// The changed resources of which a client has not been notified yet: at most one entry for each subscription, which bounds the
/// memory for a client that does not read.
#[derive(Debug, Default)]
pub(crate) struct News {
    changed: Mutex<BTreeSet<Followed>>,
    ready: Notify,
}

impl News {
    /// Adds a changed resource.
    pub(crate) fn add(&self, resource: Followed) {
        self.lock().insert(resource);
        self.ready.notify_one();
    }

    /// Removes and returns the changed resources.
    pub(crate) fn take(&self) -> BTreeSet<Followed> {
        std::mem::take(&mut *self.lock())
    }

    /// Removes a resource that is no longer followed.
    pub(super) fn forget(&self, resource: &Followed) {
        self.lock().remove(resource);
    }

    /// Waits until a resource may have changed.
    pub(super) async fn wait(&self) {
        self.ready.notified().await;
    }

    /// Wakes the waiting task, so that it checks whether its client still exists.
    pub(super) fn wake(&self) {
        self.ready.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<Followed>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
