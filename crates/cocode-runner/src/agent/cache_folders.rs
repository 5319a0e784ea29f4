//! Folders of files that programs generate and can regenerate.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Names of folders that hold only such files, whether git ignores them or not.
const NAMES: [&str; 12] = [
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".tox",
    ".nox",
    "node_modules",
    ".gradle",
    ".cache",
    ".parcel-cache",
    ".nyc_output",
];

/// The file that marks a folder as a cache, and the beginning of that file (<https://bford.info/cachedir/>).
const TAG: (&str, &[u8]) = ("CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55");

/// The caches in a work tree.
pub(crate) struct CacheFolders {
    root: PathBuf,
    /// Folders by their paths in the work tree, with true for those marked as caches.
    tagged: RefCell<HashMap<PathBuf, bool>>,
}

impl CacheFolders {
    pub(crate) fn of(root: &Path) -> CacheFolders {
        CacheFolders { root: root.to_owned(), tagged: RefCell::default() }
    }

    /// Checks whether a file, by its path in the work tree, is in a cache.
    pub(crate) fn hold(&self, path: &Path) -> bool {
        let mut folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        folders.any(|folder| {
            folder.file_name().is_some_and(|name| NAMES.iter().any(|cache| name == *cache))
                || self.is_tagged(folder)
        })
    }

    fn is_tagged(&self, folder: &Path) -> bool {
        if let Some(is_tagged) = self.tagged.borrow().get(folder) {
            return *is_tagged;
        }
        let file = self.root.join(folder).join(TAG.0);
        let mut start = vec![0; TAG.1.len()];
        // Opening a pipe of that name would block.
        let is_file = file.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        let is_tagged = is_file
            && File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_ok()
            && start == TAG.1;
        self.tagged.borrow_mut().insert(folder.to_owned(), is_tagged);
        is_tagged
    }
}
