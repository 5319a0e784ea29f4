//! A folder that is empty at first, and removed at the end.

use std::io;
use std::path::{Path, PathBuf};

use crate::repository::closed_folder;

/// A closed folder for the files of one operation. Leftovers of a crash are removed when it is made again.
#[derive(Debug)]
pub(crate) struct EmptyFolder {
    path: PathBuf,
}

impl EmptyFolder {
    pub(crate) fn make(path: PathBuf) -> io::Result<EmptyFolder> {
        remove(&path)?;
        closed_folder::make(&path)?;
        Ok(EmptyFolder { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for EmptyFolder {
    fn drop(&mut self) {
        // A failure leaves files that the next operation with this folder removes.
        let _ = remove(&self.path);
    }
}

/// Removes a folder with all that it holds, whatever its depth and permissions; a missing one is not an error.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    sandbox_exec::remove_tree(path)
}
