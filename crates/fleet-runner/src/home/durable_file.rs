//! Writing files that survive a loss of power.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// The beginning of the name of a file that is being written, here and by the writer of bundles: that of `tempfile`.
const UNFINISHED: &str = ".tmp";

/// Writes a file in a folder, replacing one of the same name; it is on the disk when this returns. After a failure the
/// old one is intact.
pub(super) fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(folder.join(name)).map_err(|error| error.error)?;
    sync(folder)
}

/// Returns once the content of a file, or the names in a folder, are on the disk.
pub(super) fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Checks whether a name belongs to a file that is being written, or that a killed process has left unfinished.
pub(super) fn is_unfinished(name: &str) -> bool {
    name.starts_with(UNFINISHED)
}
