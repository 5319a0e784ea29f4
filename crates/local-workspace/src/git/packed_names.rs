//! The names in a `packed-refs`, which is read only once for any number of lookups.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

#[cfg(test)]
thread_local! {
    /// The number of lists that this thread has read.
    pub(crate) static LISTS_READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The names of the references in a list. They are kept as hashes, because a list may have 64 MB.
#[derive(Debug, Default)]
pub(crate) struct PackedNames {
    hasher: RandomState,
    names: HashSet<u64>,
}

impl PackedNames {
    pub(crate) fn read(list: &[u8]) -> PackedNames {
        #[cfg(test)]
        LISTS_READ.set(LISTS_READ.get() + 1);
        let hasher = RandomState::new();
        let name = |line: &[u8]| {
            let space = line.iter().position(|byte| *byte == b' ')?;
            Some(hasher.hash_one(&line[space + 1..]))
        };
        let names = list.split(|byte| *byte == b'\n').filter_map(name).collect();
        PackedNames { hasher, names }
    }

    pub(crate) fn has(&self, name: &[u8]) -> bool {
        self.names.contains(&self.hasher.hash_one(name))
    }
}
