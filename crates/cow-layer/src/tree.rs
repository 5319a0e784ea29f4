//! Walking a whole tree by handle.

use std::os::fd::AsFd;

use rustix::io::Errno;

use crate::access::OpenFolder;
use crate::handle::{self, Entry, FOLDER, Kind};
use crate::rights::Rights;
use crate::scan::moment::Moment;
use crate::xattr;

/// The greatest depth of a walk: every level holds a folder open.
const DEPTH: usize = 256;

/// Returns whether anything below the folder changed after `moment`, or cannot be read. The folder itself
/// does not count: a rename changes it.
pub(crate) fn has_changed_since(parent: impl AsFd, name: &[u8], moment: Moment) -> Result<bool, Errno> {
    contents_changed(&handle::open_at(parent, name, FOLDER)?, moment, 0)
}

fn contents_changed(folder: impl AsFd, moment: Moment, depth: usize) -> Result<bool, Errno> {
    for name in handle::names(&folder)? {
        let Some(entry) = handle::stat_at(&folder, &name)? else { return Ok(true) };
        if moment.is_before(entry.changed) {
            return Ok(true);
        }
        if entry.kind == Kind::Folder {
            let Ok(below) = handle::open_at(&folder, &name, FOLDER) else { return Ok(true) };
            if depth == DEPTH || contents_changed(&below, moment, depth + 1)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Calls `visitor` for an entry of the layer and, if it is a folder, for everything below it first. Entries
/// deeper than [`DEPTH`] are skipped.
pub(crate) fn visit(
    parent: impl AsFd,
    name: &[u8],
    entry: &Entry,
    visitor: &mut Visitor<'_>,
) -> Result<(), Errno> {
    visit_at(&parent, name, entry, visitor, 0)
}

/// Receives the folder, the name in it, and the metadata of the entry.
pub(crate) type Visitor<'v> = dyn FnMut(&dyn AsFd, &[u8], &Entry) -> Result<(), Errno> + 'v;

fn visit_at(
    parent: &dyn AsFd,
    name: &[u8],
    entry: &Entry,
    visitor: &mut Visitor<'_>,
    depth: usize,
) -> Result<(), Errno> {
    if entry.kind == Kind::Folder && depth < DEPTH {
        let folder = OpenFolder::open(parent, name, entry.mode)?;
        for child in handle::names(&folder)? {
            if let Some(below) = handle::stat_at(&folder, &child)? {
                visit_at(&folder, &child, &below, visitor, depth + 1)?;
            }
        }
    }
    visitor(parent, name, entry)
}

/// Prepares a tree of the layer for the workspace: removes an overlay's attributes, whiteouts, devices, and
/// excess rights.
pub(crate) fn prepare(parent: impl AsFd, name: &[u8], entry: &Entry, rights: &Rights) -> Result<(), Errno> {
    visit(parent, name, entry, &mut |folder, name, entry| {
        if matches!(entry.kind, Kind::Whiteout | Kind::Device) {
            return handle::unlink_at(folder, name);
        }
        prepare_entry(folder, name, entry, rights)
    })
}

/// Prepares a single entry, like [`prepare`].
pub(crate) fn prepare_entry(
    folder: impl AsFd,
    name: &[u8],
    entry: &Entry,
    rights: &Rights,
) -> Result<(), Errno> {
    xattr::strip(&folder, name, entry)?;
    // A change of owner clears set-ID bits, so the permitted ones are set last.
    rights.strip_excess(&folder, name, entry)?;
    let mode = rights.mode(entry.kind, entry.mode);
    if entry.kind != Kind::Link && entry.mode != mode {
        handle::set_mode_at(&folder, name, mode)?;
    }
    Ok(())
}
