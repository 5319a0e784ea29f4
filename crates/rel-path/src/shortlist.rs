//! Selection of the entries that a bounded listing of a tree shows.

use std::collections::{BTreeMap, HashMap};

/// The number of entries of each folder that come before the rest of all folders, even of shallower ones.
const FIRST_ENTRIES: usize = 50;

/// Chooses the entries of a tree that a bounded listing shows.
///
/// Shallow entries are chosen before deep ones, but only the first 50 of each folder have that priority; the rest of large
/// folders comes last. So no large folder hides its siblings or their entries, and a folder is chosen before its entries. Memory
/// is bounded by the limit, regardless of the number of offered entries.
///
/// ```
/// use rel_path::Shortlist;
///
/// let mut shortlist = Shortlist::new(2);
/// shortlist.offer(1, 0, || "data");
/// shortlist.offer(2, 0, || "data/1.json");
/// shortlist.offer(1, 1, || "src");
/// assert_eq!(shortlist.into_values(), ["data", "src"]);
/// ```
#[derive(Clone, Debug)]
pub struct Shortlist<T> {
    limit: usize,
    /// The last entry has the lowest priority.
    chosen: BTreeMap<Key, T>,
    offered: u64,
}

/// Smaller keys are chosen first. No two are equal, because each entry has its own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    is_late: bool,
    depth: usize,
    number: u64,
}

impl<T> Shortlist<T> {
    /// Returns a list of at most `limit` entries.
    #[must_use]
    pub fn new(limit: usize) -> Shortlist<T> {
        Shortlist { limit, chosen: BTreeMap::new(), offered: 0 }
    }

    /// Offers the next entry of the tree. `make` is called if it is chosen for now.
    ///
    /// `depth` is 1 for the entries of the listed folder. `position` is the number of entries before this one in its folder, or
    /// before one of its ancestors among that ancestor's siblings, whichever is largest.
    pub fn offer(&mut self, depth: usize, position: usize, make: impl FnOnce() -> T) {
        let key = Key { is_late: position >= FIRST_ENTRIES, depth, number: self.offered };
        self.offered += 1;
        if self.chosen.len() >= self.limit {
            if !self.has_room_for(key) {
                return;
            }
            self.chosen.pop_last();
        }
        self.chosen.insert(key, make());
    }

    /// Checks whether an entry would currently be chosen.
    #[must_use]
    pub fn has_room(&self, depth: usize, position: usize) -> bool {
        self.has_room_for(Key { is_late: position >= FIRST_ENTRIES, depth, number: self.offered })
    }

    fn has_room_for(&self, key: Key) -> bool {
        self.chosen.len() < self.limit || self.chosen.last_key_value().is_some_and(|(worst, _)| key < *worst)
    }

    /// Returns the number of entries that were offered.
    #[must_use]
    pub fn offered(&self) -> u64 {
        self.offered
    }

    /// Returns the chosen entries in the order in which they were offered.
    #[must_use]
    pub fn into_values(self) -> Vec<T> {
        let mut chosen: Vec<(Key, T)> = self.chosen.into_iter().collect();
        chosen.sort_unstable_by_key(|(key, _)| key.number);
        chosen.into_iter().map(|(_, value)| value).collect()
    }
}

impl Shortlist<usize> {
    /// Chooses from `/`-separated paths in tree order; folders may be included or not. Returns the 0-based indexes of the chosen
    /// ones, in ascending order.
    #[must_use]
    pub fn of_paths<'p>(paths: impl IntoIterator<Item = &'p str>, limit: usize) -> Vec<usize> {
        let mut shortlist = Shortlist::new(limit);
        let mut folders = Folders::default();
        for (index, path) in paths.into_iter().enumerate() {
            let position = folders.enter(path);
            shortlist.offer(path.split('/').count(), position, || index);
        }
        shortlist.into_values()
    }
}

/// The position of each path so far, and the number of entries in it so far.
#[derive(Default)]
struct Folders<'p>(HashMap<&'p str, (usize, usize)>);

impl<'p> Folders<'p> {
    /// Counts a path as an entry of its folder, and likewise its ancestors if they are new; returns its position.
    fn enter(&mut self, path: &'p str) -> usize {
        if let Some((position, _)) = self.0.get(path) {
            return *position;
        }
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let above = if folder.is_empty() { 0 } else { self.enter(folder) };
        let (_, entries) = self.0.entry(folder).or_insert((above, 0));
        let position = above.max(*entries);
        *entries += 1;
        self.0.insert(path, (position, 0));
        position
    }
}
