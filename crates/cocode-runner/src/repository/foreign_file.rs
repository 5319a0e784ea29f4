//! Files that an agent can change, or replace by something else, while they are read.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file and never waits: a pipe in its place would be waited for as long as the agent likes.
///
/// A link at the end of the path is not followed.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(file)
}

/// Reads a short text; one that is longer than so many bytes is no text of ours.
pub(crate) fn read_short(path: &Path, limit_bytes: u64) -> io::Result<String> {
    let mut text = String::new();
    let length = open(path)?.take(limit_bytes + 1).read_to_string(&mut text)?;
    if length as u64 > limit_bytes { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}
