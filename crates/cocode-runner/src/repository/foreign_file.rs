//! Safe reading of files that an agent can change or replace meanwhile.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file without blocking: opening a pipe that replaced it could block until the agent writes.
///
/// A symlink at the end of the path is not followed.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(file)
}

/// Reads a text of at most `limit_bytes`; a longer one is an error.
pub(crate) fn read_short(path: &Path, limit_bytes: u64) -> io::Result<String> {
    let mut text = String::new();
    let length = open(path)?.take(limit_bytes + 1).read_to_string(&mut text)?;
    if length as u64 > limit_bytes { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}
