//! The extended attributes in which an overlay keeps its marks.

use std::os::fd::AsFd;

use rustix::fs::{
    XattrFlags, fgetxattr, flistxattr, fsetxattr, getxattr, lgetxattr, llistxattr, lremovexattr, setxattr,
};
use rustix::io::Errno;

use crate::handle::{self, Entry, Kind, is_root};

/// The prefix of every such attribute.
const PREFIX: &[u8] = b"user.overlay.";
/// In a folder: the one below it is not seen through it (`y`), or it may hold removed entries that are files (`x`).
const OPAQUE: &str = "user.overlay.opaque";
/// On a file: it was copied from the folder below.
const ORIGIN: &str = "user.overlay.origin";
/// On an empty file, in a folder with `x`: the entry was removed.
const WHITEOUT: &str = "user.overlay.whiteout";

/// The relation of a folder of the layer to the one below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opacity {
    /// Both are merged.
    Merged,
    /// It hides the one below.
    Opaque,
    /// Both are merged, and removed entries may be marked by an attribute.
    MarkedWhiteouts,
}

/// Reads the relation of a folder to the one below it.
pub(crate) fn opacity(folder: impl AsFd) -> Result<Opacity, Errno> {
    let mut value = [0_u8; 8];
    match fgetxattr(folder, OPAQUE, &mut value[..]) {
        Ok(length) => Ok(match &value[..length] {
            b"y" => Opacity::Opaque,
            // An overlay writes `x` on folders whose whiteouts are marked by attributes.
            b"x" => Opacity::MarkedWhiteouts,
            _ => Opacity::Merged,
        }),
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::RANGE) => Ok(Opacity::Merged),
        Err(other) => Err(other),
    }
}

/// Returns whether an entry marks the one below it as removed.
pub(crate) fn is_whiteout(folder: impl AsFd, name: &[u8], entry: &Entry, opacity: Opacity) -> bool {
    let may_be_marked =
        opacity == Opacity::MarkedWhiteouts && entry.kind == Kind::File && entry.size_bytes == 0;
    entry.kind == Kind::Whiteout || may_be_marked && has(folder, name, WHITEOUT)
}

/// Returns whether an entry was copied from below; `false` if the attribute cannot be read.
pub(crate) fn is_copied_up(folder: impl AsFd, name: &[u8]) -> bool {
    has(folder, name, ORIGIN)
}

fn has(folder: impl AsFd, name: &[u8], attribute: &str) -> bool {
    let mut value = [0_u8; 256];
    let result = lgetxattr(handle::path_at(folder, name), attribute, &mut value[..]);
    // A value longer than the buffer exists all the same.
    matches!(result, Ok(_) | Err(Errno::RANGE))
}

/// Removes an overlay's attributes from an entry with the metadata `entry`.
pub(crate) fn strip(folder: impl AsFd, name: &[u8], entry: &Entry) -> Result<(), Errno> {
    if matches!(entry.kind, Kind::Link | Kind::Special | Kind::Device | Kind::Whiteout) {
        // Entries of these kinds cannot have attributes of this family.
        return Ok(());
    }
    let path = handle::path_at(&folder, name);
    let notes = notes(&path)?;
    if notes.is_empty() {
        return Ok(());
    }
    // Changing the attributes of a file takes write permission.
    let is_closed = !is_root() && entry.mode & 0o200 == 0;
    if is_closed {
        handle::set_mode_at(&folder, name, entry.mode | 0o200)?;
    }
    let removed = notes.iter().try_for_each(|note| lremovexattr(path.as_slice(), note.as_slice()));
    if is_closed {
        handle::set_mode_at(&folder, name, entry.mode)?;
    }
    removed
}

fn notes(path: &[u8]) -> Result<Vec<Vec<u8>>, Errno> {
    let mut names = attributes(|list| llistxattr(path, list))?;
    names.retain(|name| name.starts_with(PREFIX));
    Ok(names)
}

fn attributes(read: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<Vec<u8>>, Errno> {
    let mut list = vec![0_u8; 512];
    let length = loop {
        match read(&mut list) {
            Ok(length) => break length,
            Err(Errno::RANGE) if list.len() < 1 << 16 => list.resize(list.len() * 4, 0),
            Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
            Err(other) => return Err(other),
        }
    };
    let names = list[..length].split(|byte| *byte == 0);
    Ok(names.filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect())
}

/// Copies the attributes of a file to another one, without those of the overlay and those that belong to one file. A label that the
/// system gives to new files may differ.
pub(crate) fn copy_attributes(from: impl AsFd, to: impl AsFd) -> Result<(), Errno> {
    const OF_ONE_FILE: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];
    let mut value = vec![0_u8; 1 << 16];
    for name in attributes(|list| flistxattr(&from, list))? {
        if name.starts_with(PREFIX) || OF_ONE_FILE.contains(&name.as_slice()) {
            continue;
        }
        let length = match fgetxattr(&from, name.as_slice(), value.as_mut_slice()) {
            Ok(length) => length,
            Err(Errno::NODATA) => continue,
            Err(other) => return Err(other),
        };
        match fsetxattr(&to, name.as_slice(), &value[..length], XattrFlags::empty()) {
            Ok(()) => {}
            // The system decides who may give these.
            Err(_) if !name.starts_with(b"user.") && !name.starts_with(b"system.posix_acl_") => {}
            Err(other) => return Err(other),
        }
    }
    Ok(())
}

/// Copies the access lists of one folder to another. Most folders have none.
///
/// Permission bits alone would mean something else: on a folder with a list, the group's bits are the mask of
/// the list.
pub(crate) fn copy_access_lists(from: impl AsFd, to: impl AsFd) -> Result<(), Errno> {
    let (from, to) = (handle::path_of(from), handle::path_of(to));
    let mut value = vec![0_u8; 1 << 16];
    for list in ["system.posix_acl_access", "system.posix_acl_default"] {
        match getxattr(from.as_str(), list, value.as_mut_slice()) {
            Ok(length) => setxattr(to.as_str(), list, &value[..length], XattrFlags::empty())?,
            Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(())
}
