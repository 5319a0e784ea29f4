//! Whether a state folder was made in its place, or came there with somebody's files.
//!
//! A state folder is believed: what its journal holds is done or redone, its layers are adopted. A cloned repository or an
//! unpacked archive could bring one along. So each holds the time at which it was made, as the file system tells it; nobody
//! can choose that time for a folder that is made elsewhere later. A folder that is moved keeps it; a copy does not.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};

use crate::state::ignore;

/// The file that holds it.
const FILE: &str = "birth";

/// More bytes than that file ever has.
const LIMIT_BYTES: u64 = 64;

/// Whether a state folder may be believed. One that is not there, or that holds nothing yet, may be.
pub fn is_own(folder: &Path) -> io::Result<bool> {
    let metadata = match fs::symlink_metadata(folder) {
        Ok(metadata) if metadata.is_dir() => metadata,
        // Whoever wants to use it finds out what is wrong with it.
        _ => return Ok(true),
    };
    if held(folder).is_some_and(|held| held == birth(&metadata).as_bytes()) {
        return Ok(true);
    }
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        // Temporary forms of the mark are called as it is, and something more.
        let name = name.as_encoded_bytes();
        if !ignore::is_name(name) && !name.starts_with(FILE.as_bytes()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Has a state folder hold when it was made, so that it is believed from now on.
pub fn mark(folder: &Path) -> io::Result<()> {
    let birth = birth(&fs::symlink_metadata(folder)?);
    if held(folder).is_some_and(|held| held == birth.as_bytes()) {
        return Ok(());
    }
    // Whoever is killed here leaves the old one or the new one.
    let mut file = tempfile::Builder::new().prefix(FILE).tempfile_in(folder)?;
    io::Write::write_all(&mut file, birth.as_bytes())?;
    file.persist(folder.join(FILE))?;
    Ok(())
}

/// What a state folder says of itself. Nobody has vouched for it yet: what is no small regular file is not read.
fn held(folder: &Path) -> Option<Vec<u8>> {
    let root = FileRoot::open(folder, &RootRules::none(), FsPolicy::private()).ok()?;
    let file = root.open_file(&RelPath::parse(FILE).expect("it is a plain name")).ok()?;
    file.read_to_end(LIMIT_BYTES).ok()
}

/// When a folder was made. Where the file system does not know that, its number there: harder to meet by chance than to
/// find out, and all there is.
fn birth(metadata: &Metadata) -> String {
    match metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()) {
        Some(time) => format!("{}.{:09}\n", time.as_secs(), time.subsec_nanos()),
        None => format!("inode {}\n", metadata.ino()),
    }
}
