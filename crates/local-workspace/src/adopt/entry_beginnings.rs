//! The beginnings of protected names: a symlink there would replace a folder whose changes are noticed.

use std::collections::{BTreeMap, BTreeSet};

use rel_path::{ProtectedNames, RelPath};

/// The beginnings of the names on both lists, by the number of their components: of `.cargo/config.toml`, it is `.cargo`.
pub(crate) struct EntryBeginnings(BTreeMap<usize, ProtectedNames>);

#[cfg(test)]
thread_local! {
    /// The number of lists that this thread has built.
    pub(crate) static LISTS_BUILT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl EntryBeginnings {
    pub(crate) fn of(protected: &ProtectedNames) -> EntryBeginnings {
        #[cfg(test)]
        LISTS_BUILT.set(LISTS_BUILT.get() + 1);
        let mut beginnings: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for entry in protected.names() {
            let names: Vec<_> = entry.pattern().split('/').filter(|name| !name.is_empty()).collect();
            for count in 1..names.len() {
                beginnings.entry(count).or_default().insert(names[..count].join("/"));
            }
        }
        let lists = beginnings.into_iter().map(|(count, names)| (count, ProtectedNames::new(names)));
        EntryBeginnings(lists.collect())
    }

    /// Returns whether a path ends with such a beginning.
    pub(crate) fn end(&self, path: &RelPath) -> bool {
        let names: Vec<_> = path.components().collect();
        let ends_like = |(count, list): (&usize, &ProtectedNames)| {
            let start = names.len().checked_sub(*count);
            let end = start.and_then(|start| RelPath::from_bytes(&names[start..].join(&b'/')).ok());
            end.is_some_and(|end| list.protects(&end))
        };
        self.0.iter().any(ends_like)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_end_with_the_beginning_of_an_entry() {
        let beginnings = EntryBeginnings::of(&ProtectedNames::new(["a/b/c", ".cargo/config.toml", "single"]));
        let ends = |path: &str| beginnings.end(&RelPath::parse(path).unwrap());
        for path in ["a", "x/A", "a/b", "x/a/B", "deep/.cargo"] {
            assert!(ends(path), "{path}");
        }
        for path in ["b", "x/b", "a/b/c", "single", "config.toml", ".cargo/x"] {
            assert!(!ends(path), "{path}");
        }
    }
}
