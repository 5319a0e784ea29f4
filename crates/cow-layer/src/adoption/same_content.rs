//! Comparing the contents of two files.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use crate::handle::{self, Entry, FILE_READ, Kind};
use crate::rights::SET_ID_BITS;

const CHUNK_BYTES: usize = 64 << 10;

/// Returns whether an entry of the layer and the one below it read the same: kind, permissions and content,
/// or target.
///
/// Times, owners, attributes, and a file's set-ID bits are not compared. A file that cannot be read counts as
/// different.
pub(crate) fn is_same(
    upper: (impl AsFd, &Entry),
    lower: (impl AsFd, &Entry),
    name: &[u8],
) -> Result<bool, Errno> {
    let ((upper, above), (lower, lower_entry)) = (upper, lower);
    if above.kind != lower_entry.kind {
        return Ok(false);
    }
    match above.kind {
        Kind::File => {
            let is_alike = (above.mode ^ lower_entry.mode) & !SET_ID_BITS == 0
                && above.size_bytes == lower_entry.size_bytes;
            Ok(is_alike && (above.size_bytes == 0 || holds_same(upper, above, lower, name)?))
        }
        Kind::Link => Ok(handle::link_target(upper, name)? == handle::link_target(lower, name)?),
        // Two pipes are alike, and nothing of one can be in the other.
        Kind::Special | Kind::Device => Ok(above.mode == lower_entry.mode),
        Kind::Folder | Kind::Whiteout => Ok(false),
    }
}

fn holds_same(upper: impl AsFd, entry: &Entry, lower: impl AsFd, name: &[u8]) -> Result<bool, Errno> {
    let Ok(lower_entry) = handle::open_at(lower, name, FILE_READ) else { return Ok(false) };
    let above = open_own(upper, name, entry.mode)?;
    equal(File::from(above), File::from(lower_entry))
        .map_err(|error| error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error))
}

/// Opens a file of the layer to read it, also if its owner may not.
pub(crate) fn open_own(folder: impl AsFd, name: &[u8], mode: u32) -> Result<OwnedFd, Errno> {
    match handle::open_at(&folder, name, FILE_READ) {
        Err(Errno::ACCESS) => {
            handle::set_mode_at(&folder, name, mode | 0o400)?;
            let opened = handle::open_at(&folder, name, FILE_READ);
            handle::set_mode_at(&folder, name, mode)?;
            opened
        }
        other => other,
    }
}

fn equal(mut one: File, mut other: File) -> io::Result<bool> {
    let (mut left, mut right) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    loop {
        let length = read_up_to(&mut one, &mut left)?;
        if length != read_up_to(&mut other, &mut right)? || left[..length] != right[..length] {
            return Ok(false);
        }
        if length < CHUNK_BYTES {
            return Ok(true);
        }
    }
}

fn read_up_to(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
