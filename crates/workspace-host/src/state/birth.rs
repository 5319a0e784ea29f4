//! The mark that distinguishes a state folder created on this machine from one that came with files.
//!
//! A state folder is trusted: the changes in its journal are redone, its layers are adopted. A cloned repository or an
//! unpacked archive could contain one. So each holds its own creation time, as the file system records it: the author of
//! a repository cannot choose that time for the folder of a later clone. A moved folder keeps it; a copy does not.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};

use crate::state::ignore;

/// The file with the mark.
const FILE: &str = "birth";

/// A size that the file never exceeds.
const LIMIT_BYTES: u64 = 64;

/// Checks whether a state folder may be trusted. A missing or empty one may be.
pub fn is_own(folder: &Path) -> io::Result<bool> {
    let metadata = match fs::symlink_metadata(folder) {
        Ok(metadata) if metadata.is_dir() => metadata,
        // Using it reports what is wrong with it.
        _ => return Ok(true),
    };
    if held(folder).is_some_and(|held| held == birth(&metadata).as_bytes()) {
        return Ok(true);
    }
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        // Temporary forms of the mark have its name and a suffix.
        let name = name.as_encoded_bytes();
        if !ignore::is_name(name) && !name.starts_with(FILE.as_bytes()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Marks a state folder with its creation time, so that it is trusted from now on.
pub fn mark(folder: &Path) -> io::Result<()> {
    let birth = birth(&fs::symlink_metadata(folder)?);
    if held(folder).is_some_and(|held| held == birth.as_bytes()) {
        return Ok(());
    }
    // Renamed into place: a process that is killed here leaves the old mark or the new one.
    let mut file = tempfile::Builder::new().prefix(FILE).tempfile_in(folder)?;
    io::Write::write_all(&mut file, birth.as_bytes())?;
    file.persist(folder.join(FILE))?;
    Ok(())
}

/// Returns the mark in a state folder that is not trusted yet: only a small regular file is read.
fn held(folder: &Path) -> Option<Vec<u8>> {
    let root = FileRoot::open(folder, &RootRules::none(), FsPolicy::private()).ok()?;
    let file = root.open_file(&RelPath::parse(FILE).expect("it is a plain name")).ok()?;
    file.read_to_end(LIMIT_BYTES).ok()
}

/// Returns the mark of a folder: its creation time, or its inode if the file system records no such time. An inode is
/// the weaker mark, since it can be learned and matched.
fn birth(metadata: &Metadata) -> String {
    match metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()) {
        Some(time) => format!("{}.{:09}\n", time.as_secs(), time.subsec_nanos()),
        None => format!("inode {}\n", metadata.ino()),
    }
}
