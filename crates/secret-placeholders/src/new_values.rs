//! Values of several texts that get their placeholders at once.

use std::collections::HashSet;

use crate::map::SecretMap;

/// The values of the texts of one answer that have no placeholder yet.
///
/// Keeping a value reads and writes the map durably, and builds the search for its values anew: an answer from a hundred files must
/// not do that a hundred times.
#[derive(Debug, Default)]
pub(crate) struct NewValues {
    /// In the order of the texts, so that the placeholders are numbered like that.
    values: Vec<(String, String)>,
    added: HashSet<String>,
    bytes: usize,
}

impl NewValues {
    /// Adds a value, if a map has room for it together with those that were added.
    pub(crate) fn add(&mut self, map: &SecretMap, kind: &str, value: &str) {
        let is_new = !map.has(kind, value) && !self.added.contains(value);
        if is_new && map.has_room_beside(kind, value, self.values.len(), self.bytes) {
            self.bytes += value.len();
            self.added.insert(value.to_owned());
            self.values.push((kind.to_owned(), value.to_owned()));
        }
    }

    /// Returns the values, each with its kind in front.
    pub(crate) fn values(&self) -> Vec<(&str, &str)> {
        self.values.iter().map(|(kind, value)| (kind.as_str(), value.as_str())).collect()
    }
}
