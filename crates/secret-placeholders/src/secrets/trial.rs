//! Examining a text that may never be written, without keeping its values.

use std::sync::Mutex;

use super::used_values::UsedValues;
use super::{Secrets, State};
use crate::key_lines::KeyLines;
use crate::map::SecretMap;
use crate::marker::Marker;
use crate::new_values::NewValues;
use crate::store::{MemoryStore, PlaceholderStore};

impl Secrets {
    /// Returns an in-memory copy that keeps the values of a text without a placeholder; `None` if all have one. A
    /// refused edit would otherwise leave values in the store that are in no file.
    pub(crate) fn trial(&self, text: &str) -> Option<Secrets> {
        let mut values = NewValues::default();
        self.add_values(text, &KeyLines::default(), &mut values);
        if values.values().is_empty() {
            return None;
        }
        let map = self.lock().map.copied();
        let store = MemoryStore::default();
        let revision = store.revision().ok();
        Some(Secrets {
            store: Box::new(store),
            state: Mutex::new(State { map, revision }),
            used: UsedValues::default(),
        })
    }

    /// Returns the kinds of the issued placeholders.
    pub(crate) fn kinds(&self) -> Vec<String> {
        self.read_what_was_added();
        self.lock().map.kinds()
    }

    /// Checks whether a placeholder stands for a value.
    pub(crate) fn has_issued(&self, marker: &Marker) -> bool {
        self.read_what_was_added();
        self.lock().map.value_of(marker).is_some()
    }
}

impl SecretMap {
    /// Returns a map with the same entries.
    fn copied(&self) -> SecretMap {
        let mut map = SecretMap::default();
        map.absorb(&self.encode());
        map.adopt_hidden(self);
        map
    }
}
