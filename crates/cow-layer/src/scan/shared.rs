//! Files of the layer that have several names.
//!
//! A write through one name changes what is read through the others. Names may stay linked only if all of them are in one
//! folder whose contents are not recorded; any other name becomes a separate file before it is adopted, or a later command
//! could change it through another name, unrecorded.

use std::collections::BTreeMap;

use rel_path::RelPath;

use crate::handle::{Entry, Kind};

/// The number of a folder that counts as one change, within a scan.
pub(super) type WholeFolder = usize;

/// A file of the layer whose names have to be separated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedFile {
    /// The bytes that a copy takes.
    pub(crate) allocated_bytes: u64,
    /// Its names that would be adopted, as far as paths can name them.
    pub(crate) names: Vec<RelPath>,
    /// `true` if it has no further name that might be adopted, so that one of these can keep it.
    pub(crate) is_complete: bool,
}

impl SharedFile {
    /// Returns the bytes of all copies that separating its names takes.
    pub(crate) fn copied_bytes(&self) -> u64 {
        let copies = self.names.len() - usize::from(self.is_complete);
        self.allocated_bytes.saturating_mul(copies as u64)
    }
}

/// The files with several names that a scan has met, by their inodes.
#[derive(Debug, Default)]
pub(super) struct SharedFiles {
    by_inode: BTreeMap<u64, Names>,
}

#[derive(Debug)]
struct Names {
    allocated_bytes: u64,
    /// The number of names that may be adopted, met or not.
    links: u64,
    /// `true` if another name stays in the layer.
    has_unchanged: bool,
    met: Vec<(RelPath, Option<WholeFolder>)>,
}

impl SharedFiles {
    /// Records a name that would be adopted, and the folder in which it is part of one change.
    pub(super) fn note(&mut self, path: &RelPath, entry: &Entry, whole: Option<WholeFolder>) {
        if let Some(names) = self.names_of(entry) {
            names.met.push((path.clone(), whole));
        }
    }

    /// Records a name that stays in the layer, because it has not changed.
    pub(super) fn note_unchanged(&mut self, entry: &Entry) {
        if let Some(names) = self.names_of(entry) {
            names.links = names.links.saturating_sub(1);
            names.has_unchanged = true;
        }
    }

    fn names_of(&mut self, entry: &Entry) -> Option<&mut Names> {
        let is_shared = entry.kind == Kind::File && entry.links > 1;
        is_shared.then(|| {
            self.by_inode.entry(entry.inode).or_insert_with(|| Names {
                allocated_bytes: entry.allocated_bytes,
                links: entry.links,
                has_unchanged: false,
                met: Vec::new(),
            })
        })
    }

    /// Returns the files whose names have to be separated: all except those with a single name, and those of which all adopted
    /// names are in the same folder that counts as one change.
    pub(super) fn into_files(self) -> Vec<SharedFile> {
        let files = self.by_inode.into_values().filter_map(|names| {
            // A name deeper than any path, or in a folder that cannot be listed, has not been met.
            let is_complete = names.met.len() as u64 == names.links;
            let first = names.met.first().and_then(|(_, whole)| *whole);
            let is_in_one = first.is_some() && names.met.iter().all(|(_, whole)| *whole == first);
            // A new name of a file that has not changed takes no copy: the other name leads to the user's file again.
            let is_alone = names.met.len() == 1 && !names.has_unchanged;
            let stays = is_complete && (is_alone || is_in_one);
            (!stays && !names.met.is_empty()).then(|| SharedFile {
                allocated_bytes: names.allocated_bytes,
                names: names.met.into_iter().map(|(path, _)| path).collect(),
                is_complete,
            })
        });
        files.collect()
    }
}
