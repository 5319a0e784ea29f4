//! Folders that are closed to other users.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Makes a folder with its parents, closed to other users; an existing folder stays unchanged.
///
/// # Errors
///
/// If it cannot be made, or is another kind of file.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).recursive(true).create(folder)
}
