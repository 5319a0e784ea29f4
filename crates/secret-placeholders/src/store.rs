//! The store of the values behind placeholders.

use std::sync::{Mutex, PoisonError};

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
    bytes: Mutex<Option<Vec<u8>>>,
}

impl PlaceholderStore for MemoryStore {
    fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.bytes.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn update(&self, change: &mut dyn FnMut(Option<Vec<u8>>) -> Option<Vec<u8>>) -> Result<(), StoreError> {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(changed) = change(bytes.clone()) {
            *bytes = Some(changed);
        }
        Ok(())
    }
}
