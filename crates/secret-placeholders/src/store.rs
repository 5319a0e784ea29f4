//! The store of the values behind placeholders.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The reason for which the map cannot be read or written.
pub type StoreError = Box<dyn std::error::Error + Send + Sync>;

/// A place for the map of placeholders, which several processes may share.
///
/// The bytes hold secrets: a store keeps them from other users and writes them into no log.
pub trait PlaceholderStore: Send + Sync {
    /// Reads the map; `None` if there is none yet.
    ///
    /// # Errors
    ///
    /// Those of reading.
    fn read(&self) -> Result<Option<Vec<u8>>, StoreError>;

    /// Returns a number that is another one after each change of the map, by whichever process. It is compared for each text
    /// that is masked, so it must cost little, however large the map is.
    ///
    /// # Errors
    ///
    /// Those of looking at the map; it is then read anew for the next text.
    fn revision(&self) -> Result<u64, StoreError>;

    /// Reads the map, has it changed and writes it, with no other writer in between. `change` returns `None` to leave it.
    /// When this returns, the map survives a crash.
    ///
    /// # Errors
    ///
    /// Those of reading and writing; the old map is whole then.
    fn update(&self, change: &mut dyn FnMut(Option<Vec<u8>>) -> Option<Vec<u8>>) -> Result<(), StoreError>;
}

/// A store that ends with the process, for folders without a state folder and for tests.
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
