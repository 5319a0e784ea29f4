//! Paths of a plan that differ in case, and are one file on a case-insensitive file system.
//!
//! A file has one path in a plan. Only a file that the plan deletes frees its name: then another spelling is a new
//! file, which is how a batch changes the case of a name.

use std::collections::BTreeMap;

use rel_path::RelPath;

use crate::change::plan::Plan;

/// The paths of a plan, by their case-folded text.
#[derive(Debug, Default)]
pub(crate) struct Spellings {
    paths: BTreeMap<Vec<u8>, Vec<RelPath>>,
}

impl Spellings {
    pub(super) fn add(&mut self, path: &RelPath) {
        self.paths.entry(without_case(path)).or_default().push(path.clone());
    }

    /// The other paths with the same text.
    fn others<'a>(&'a self, path: &'a RelPath) -> impl Iterator<Item = &'a RelPath> {
        let alike = self.paths.get(&without_case(path)).map_or(&[][..], Vec::as_slice);
        alike.iter().filter(move |other| *other != path)
    }
}

/// Such file systems equate more than this function does, such as two encodings of an accent. Then the second file of a
/// batch cannot be published, because its name is taken.
fn without_case(path: &RelPath) -> Vec<u8> {
    match path.to_str() {
        Some(text) => text.to_lowercase().into_bytes(),
        None => path.as_bytes().to_ascii_lowercase(),
    }
}

impl Plan<'_> {
    /// Returns the path under which the plan has a file, given any spelling of it.
    pub(crate) fn planned_spelling(&self, path: RelPath) -> RelPath {
        if self.leaves(&path) {
            return path;
        }
        let planned = self.other_spellings(&path).find(|other| self.leaves(other)).cloned();
        planned.unwrap_or(path)
    }

    /// Returns the path of a new file whose name is freed by the deletion of `stored`, in the requested spelling.
    pub(super) fn freed_spelling(&self, stored: RelPath, requested: &RelPath) -> RelPath {
        let is_deleted = self.files.get(&stored).is_some_and(|file| file.after.is_none());
        match (stored.parent(), requested.file_name()) {
            (Some(folder), Some(name)) if is_deleted => folder.child(name).unwrap_or(stored),
            _ => stored,
        }
    }

    /// Checks whether a path outside of the plan exists only as another spelling of files that the plan deletes.
    pub(super) fn is_freed(&self, path: &RelPath) -> bool {
        self.other_spellings(path).next().is_some()
    }

    fn leaves(&self, path: &RelPath) -> bool {
        self.files.get(path).is_some_and(|file| file.after.is_some())
    }

    fn other_spellings<'a>(&'a self, path: &'a RelPath) -> impl Iterator<Item = &'a RelPath> {
        // An entry that cannot be examined cannot be changed either.
        self.spellings.others(path).filter(|other| self.root.are_one_entry(path, other).unwrap_or(false))
    }
}
