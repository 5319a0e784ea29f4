//! The names of the objects that a repository has, loose and in packs.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

use crate::command::effect::Effect;

/// The most bytes of the indexes of a repository's packs that are read: about two million objects.
const INDEX_BYTES: u64 = 64 << 20;

/// The beginning of an index of a pack, with its version.
const MAGIC: &[u8] = b"\xfftOc\0\0\0\x02";

/// The entries of its table of first bytes, each a number of four bytes.
const FIRST_BYTES: usize = 256;

/// The indexes of the packs of one repository; `None` where it may have objects that are in none of them.
type PackIndexes = Option<Vec<Vec<u8>>>;

/// The objects of repositories of the workspace, with those that the effects of a command bring.
pub(crate) struct StoredNames<'a> {
    root: &'a FileRoot,
    effects: &'a BTreeMap<&'a RelPath, &'a Effect>,
    indexes: RefCell<BTreeMap<RelPath, PackIndexes>>,
}

impl<'a> StoredNames<'a> {
    pub(crate) fn new(root: &'a FileRoot, effects: &'a BTreeMap<&'a RelPath, &'a Effect>) -> StoredNames<'a> {
        StoredNames { root, effects, indexes: RefCell::default() }
    }

    /// Returns whether the repository in a folder surely lacks an object, by its name in hexadecimal digits.
    pub(crate) fn lacks(&self, folder: &RelPath, object: &[u8]) -> bool {
        let Some(name) = bytes_of(object) else { return false };
        let (start, rest) = object.split_at(2);
        let Ok(loose) =
            joined(folder, &[b"objects", &start.to_ascii_lowercase(), &rest.to_ascii_lowercase()])
        else {
            return false;
        };
        if self.is_there(&loose) {
            return false;
        }
        let mut all = self.indexes.borrow_mut();
        let indexes = all.entry(folder.clone()).or_insert_with(|| self.indexes_of(folder));
        indexes
            .as_ref()
            .is_some_and(|indexes| !indexes.iter().any(|index| holds(index, &name) != Some(false)))
    }

    /// Returns whether something is at a path, before the effects or after them: what a command removes may stay.
    fn is_there(&self, path: &RelPath) -> bool {
        self.effects.get(path).is_some_and(|effect| effect.after.is_some())
            || self.root.metadata(path).is_ok()
    }

    fn indexes_of(&self, folder: &RelPath) -> PackIndexes {
        // Objects may be anywhere else.
        for elsewhere in [&b"alternates"[..], b"http-alternates"] {
            if self.is_there(&joined(folder, &[b"objects", b"info", elsewhere]).ok()?) {
                return None;
            }
        }
        let objects = joined(folder, &[b"objects"]).ok()?;
        let packs = objects.child(b"pack").ok()?;
        let is_index = |path: &RelPath| path.as_bytes().ends_with(b".idx");
        let mut indexes = Vec::new();
        let mut left = INDEX_BYTES;
        match self.root.list(&packs) {
            Ok(entries) => {
                for entry in entries.iter().filter(|entry| is_index(&entry.path)) {
                    let bytes = self.root.open_file(&entry.path).ok()?.read_to_end(left).ok()?;
                    left -= bytes.len() as u64;
                    indexes.push(bytes);
                }
            }
            Err(FsError::NotFound { .. }) => {}
            Err(_) => return None,
        }
        let new = self.effects.iter().filter(|(path, effect)| {
            effect.after.is_some() && is_index(path) && path.parent().as_ref() == Some(&packs)
        });
        for (_, effect) in new {
            indexes.push(effect.text_after()?.to_vec());
        }
        Some(indexes)
    }
}

/// Returns whether the index of a pack has a name; `None` where it cannot be read.
fn holds(index: &[u8], name: &[u8]) -> Option<bool> {
    let rest = index.strip_prefix(MAGIC)?;
    let (counts, names) = rest.split_at_checked(4 * FIRST_BYTES)?;
    let count_up_to = |first: usize| {
        let bytes = counts.get(4 * first..4 * first + 4)?;
        usize::try_from(u32::from_be_bytes(bytes.try_into().ok()?)).ok()
    };
    let names = names.get(..count_up_to(FIRST_BYTES - 1)?.checked_mul(name.len())?)?;
    let (mut low, mut high) = (0, names.len() / name.len());
    while low < high {
        let middle = low.midpoint(high);
        match names[middle * name.len()..][..name.len()].cmp(name) {
            std::cmp::Ordering::Equal => return Some(true),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Some(false)
}

fn joined(folder: &RelPath, names: &[&[u8]]) -> Result<RelPath, rel_path::PathError> {
    RelPath::from_bytes(&names.join(&b'/')).and_then(|names| folder.join(&names))
}

/// Returns the bytes of an object's name.
fn bytes_of(object: &[u8]) -> Option<Vec<u8>> {
    if !matches!(object.len(), 40 | 64) {
        return None;
    }
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    object.chunks(2).map(|two| Some(digit(&two[0])? << 4 | digit(&two[1])?)).collect()
}
