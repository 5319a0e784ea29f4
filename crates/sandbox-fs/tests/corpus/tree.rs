//! A snapshot of a workspace, to prove that an operation changed only its own path.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The largest file whose contents are compared, in bytes; larger ones are compared by size.
const COMPARED_BYTES: u64 = 1 << 16;

/// All entries below a folder.
#[derive(Default)]
pub(super) struct Tree(BTreeMap<PathBuf, Entry>);

#[derive(PartialEq)]
struct Entry {
    mode: u32,
    size_bytes: u64,
    content: Option<Vec<u8>>,
    target: Option<PathBuf>,
}

impl Tree {
    pub(super) fn of(folder: &Path) -> Tree {
        let mut tree = Tree::default();
        tree.add(folder, folder);
        tree
    }

    fn add(&mut self, top: &Path, folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let is_small_file = metadata.is_file() && metadata.len() <= COMPARED_BYTES;
            let content = is_small_file.then(|| fs::read(&path).unwrap_or_default());
            let size_bytes = if metadata.is_file() { metadata.len() } else { 0 };
            let entry =
                Entry { mode: metadata.mode(), size_bytes, content, target: fs::read_link(&path).ok() };
            self.0.insert(path.strip_prefix(top).unwrap_or(&path).to_owned(), entry);
            if metadata.is_dir() {
                self.add(top, &path);
            }
        }
    }

    /// Returns the first path at which two trees differ. An operation on a path of this name may change that path and make
    /// folders, so these differences do not count.
    pub(super) fn difference(&self, later: &Tree, name: Option<&OsStr>) -> Option<String> {
        let is_own = |path: &Path| name.is_some() && path.file_name() == name;
        let gone = self.0.keys().filter(|path| !later.0.contains_key(*path) && !is_own(path));
        let other = later.0.iter().filter(|(path, entry)| match self.0.get(*path) {
            Some(before) => before != *entry && !is_own(path),
            None => !(is_own(path) || name.is_some() && entry.mode & 0o170_000 == 0o040_000),
        });
        let gone = gone.map(|path| format!("{} is gone", path.display()));
        let other = other.map(|(path, _)| format!("{} was changed or made", path.display()));
        gone.chain(other).next()
    }
}
