//! Values of several texts that receive placeholders together.

use std::collections::HashSet;

use crate::map::SecretMap;

/// The values of the texts of one answer that have no placeholder yet.
///
/// Keeping a value reads and writes the map durably, and rebuilds the finder of its values: an answer from a hundred
/// files must not do that a hundred times.
#[derive(Debug, Default)]
pub(crate) struct NewValues {
    /// In the order of the texts, which determines the numbers of the placeholders.
    values: Vec<(String, String)>,
    added: HashSet<String>,
    bytes: usize,
}

impl NewValues {
    /// Adds a value if the map has room for it in addition to those added before.
    pub(crate) fn add(&mut self, map: &SecretMap, kind: &str, value: &str) {
        let is_new = !map.has(kind, value) && !self.added.contains(value);
        if is_new && map.has_room_with(kind, value, self.values.len(), self.bytes) {
            self.bytes += value.len();
            self.added.insert(value.to_owned());
            self.values.push((kind.to_owned(), value.to_owned()));
        }
    }

    /// Returns the kind and text of each value.
    pub(crate) fn values(&self) -> Vec<(&str, &str)> {
        self.values.iter().map(|(kind, value)| (kind.as_str(), value.as_str())).collect()
    }
}
