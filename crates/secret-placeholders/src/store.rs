//! The store of the values behind placeholders.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The reason why the map cannot be read or written.
pub type StoreError = Box<dyn std::error::Error + Send + Sync>;

/// A store for the map of placeholders, which several processes may share.
///
/// The bytes contain secrets: a store keeps them from other users and never logs them.
pub trait PlaceholderStore: Send + Sync {
    /// Reads the map; `None` if there is none yet.
    ///
    /// # Errors
    ///
    /// If reading fails.
    fn read(&self) -> Result<Option<Vec<u8>>, StoreError>;

    /// Returns a number that differs after each change of the map by any process. It is compared for each masked text,
    /// so it must be cheap, however large the map is.
    ///
    /// # Errors
    ///
    /// If the map cannot be examined; it is then read again for the next text.
    fn revision(&self) -> Result<u64, StoreError>;

    /// Reads the map, applies `change` and writes the result, without another writer in between. `change` returns
    /// `None` to leave the map. When this returns, the map survives a crash.
    ///
    /// # Errors
    ///
    /// If reading or writing fails; the old map is then intact.
    fn update(&self, change: &mut dyn FnMut(Option<Vec<u8>>) -> Option<Vec<u8>>) -> Result<(), StoreError>;
}

/// A store that is lost with the process, for workspaces without a state folder and for tests.
#[derive(Debug, Default)]
pub struct MemoryStore {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    bytes: Option<Vec<u8>>,
    revision: u64,
}

impl MemoryStore {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlaceholderStore for MemoryStore {
    fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.lock().bytes.clone())
    }

    fn revision(&self) -> Result<u64, StoreError> {
        Ok(self.lock().revision)
    }

    fn update(&self, change: &mut dyn FnMut(Option<Vec<u8>>) -> Option<Vec<u8>>) -> Result<(), StoreError> {
        let mut kept = self.lock();
        if let Some(changed) = change(kept.bytes.clone()) {
            *kept = Kept { bytes: Some(changed), revision: kept.revision + 1 };
        }
        Ok(())
    }
}
