//! Paths of a plan that differ in case, and are one file where the file system ignores case.
//!
//! A file has one path in a plan. Only a file that the plan deletes gives its name free: another spelling is a new file then,
//! which is how a batch changes the case of a name.

use std::collections::BTreeMap;

use rel_path::RelPath;

use crate::change::plan::Plan;

/// The paths that a plan is about, by their text without case.
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

/// More is the same on such file systems than on this list, such as two encodings of an accent. Then the second file of a
/// batch cannot be published, because its name is taken.
fn without_case(path: &RelPath) -> Vec<u8> {
    match path.to_str() {
        Some(text) => text.to_lowercase().into_bytes(),
        None => path.as_bytes().to_ascii_lowercase(),
    }
}

impl Plan<'_> {
    /// Returns the path by which the plan has a file, in place of another spelling of it.
    pub(crate) fn planned_spelling(&self, path: RelPath) -> RelPath {
        if self.leaves(&path) {
            return path;
        }
        let planned = self.other_spellings(&path).find(|other| self.leaves(other)).cloned();
        planned.unwrap_or(path)
    }

    /// Returns the path of a new file whose name is given free by the deletion of `stored`: in the spelling that was asked for.
    pub(super) fn freed_spelling(&self, stored: RelPath, requested: &RelPath) -> RelPath {
        let is_deleted = self.files.get(&stored).is_some_and(|file| file.after.is_none());
        match (stored.parent(), requested.file_name()) {
            (Some(folder), Some(name)) if is_deleted => folder.child(name).unwrap_or(stored),
            _ => stored,
        }
    }

    /// Checks whether a path that the plan does not have is there only as another spelling of files that it deletes.
    pub(super) fn is_freed(&self, path: &RelPath) -> bool {
        self.other_spellings(path).next().is_some()
    }

    fn leaves(&self, path: &RelPath) -> bool {
        self.files.get(path).is_some_and(|file| file.after.is_some())
    }

    fn other_spellings<'a>(&'a self, path: &'a RelPath) -> impl Iterator<Item = &'a RelPath> {
        // What cannot be looked at cannot be changed either.
        self.spellings.others(path).filter(|other| self.root.are_one_entry(path, other).unwrap_or(false))
    }
}
