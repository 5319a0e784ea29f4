//! Walking a whole tree by handle.

use std::os::fd::AsFd;

use rustix::io::Errno;

use crate::access::OpenFolder;
use crate::handle::{self, Entry, FOLDER, Kind};
use crate::rights::Rights;
use crate::scan::moment::Moment;
use crate::xattr;

/// How deep a tree is walked: every level holds a folder open.
const DEPTH: usize = 256;

/// Whether anything beneath the folder changed after `moment`, or cannot be looked at. The folder itself does not
/// count: a rename changes it.
pub(crate) fn has_changed_since(parent: impl AsFd, name: &[u8], moment: Moment) -> Result<bool, Errno> {
    changed_beneath(&handle::open_at(parent, name, FOLDER)?, moment, 0)
}

fn changed_beneath(folder: impl AsFd, moment: Moment, depth: usize) -> Result<bool, Errno> {
    for name in handle::names(&folder)? {
        let Some(found) = handle::stat_at(&folder, &name)? else { return Ok(true) };
        if moment.is_before(found.changed) {
            return Ok(true);
        }
        if found.kind == Kind::Folder {
            let Ok(below) = handle::open_at(&folder, &name, FOLDER) else { return Ok(true) };
            if depth == DEPTH || changed_beneath(&below, moment, depth + 1)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Does something to an entry of the layer and, if it is a folder, to everything beneath it first. What lies deeper
/// than [`DEPTH`] is left out.
pub(crate) fn visit(
    parent: impl AsFd,
    name: &[u8],
    entry: &Entry,
    visitor: &mut Visitor<'_>,
) -> Result<(), Errno> {
    visit_at(&parent, name, entry, visitor, 0)
}

/// Gets the folder, the name in it, and what is known about the entry.
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
            if let Some(found) = handle::stat_at(&folder, &child)? {
                visit_at(&folder, &child, &found, visitor, depth + 1)?;
            }
        }
    }
    visitor(parent, name, entry)
}

/// Makes a tree of the layer fit for the workspace: without an overlay's notes, without the marks of removed entries,
/// without devices, and without rights that are not among these.
pub(crate) fn prepare(parent: impl AsFd, name: &[u8], entry: &Entry, rights: &Rights) -> Result<(), Errno> {
    visit(parent, name, entry, &mut |folder, name, entry| {
        if matches!(entry.kind, Kind::Whiteout | Kind::Device) {
            return handle::unlink_at(folder, name);
        }
        prepare_entry(folder, name, entry, rights)
    })
}

/// The same for a single entry.
pub(crate) fn prepare_entry(
    folder: impl AsFd,
    name: &[u8],
    entry: &Entry,
    rights: &Rights,
) -> Result<(), Errno> {
    xattr::strip(&folder, name, entry)?;
    // A change of owner takes bits away, too: those that stay are given last.
    rights.mend(&folder, name, entry)?;
    let mode = rights.mode(entry.kind, entry.mode);
    if entry.kind != Kind::Link && entry.mode != mode {
        handle::set_mode_at(&folder, name, mode)?;
    }
    Ok(())
}
