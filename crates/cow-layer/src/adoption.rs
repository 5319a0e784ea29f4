//! One change on its way into the workspace.

pub(crate) mod adopt;
mod before_image;
mod exchange;
mod folder;
mod folder_modes;
pub(crate) mod order;
mod put;
pub(crate) mod same_content;
mod seal;
mod sync;
mod take;

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use sandbox_fs::FsError;

use crate::access::{OpenFolder, Widened};
use crate::adoption::adopt::Adopted;
use crate::adoption::exchange::{At, Exchanged};
use crate::error::AdoptError;
use crate::handle::{self, Entry, FOLDER, FOLDER_PATH, Kind};
use crate::layer::Layer;
use crate::rights::Rights;
use crate::scan::change::{LayerChange, Side, Stamp};
use crate::tree;

/// One change on its way: the workspace's folder, held open, and the name in it.
pub(crate) struct Adoption<'a> {
    layer: &'a Layer,
    change: &'a LayerChange,
    folder: OwnedFd,
    name: &'a [u8],
    /// The folder again, if it had to be opened for this.
    _widened: Option<Widened>,
}

impl<'a> Adoption<'a> {
    pub(crate) fn new(layer: &'a Layer, change: &'a LayerChange) -> Result<Adoption<'a>, AdoptError> {
        let changed = || AdoptError::Changed { path: change.path.clone() };
        let (Some(parent), Some(name)) = (change.path.parent(), change.path.file_name()) else {
            return Err(changed());
        };
        let folder = layer.lower_folder(&parent).map_err(|error| match error {
            FsError::NotFound { path: folder } | FsError::ParentMissing { folder } => {
                AdoptError::ParentMissing { folder }
            }
            FsError::NotAFolder { .. } | FsError::IsLink { .. } => changed(),
            other => AdoptError::Workspace(other),
        })?;
        // The command opened the folder, changed what is in it, and closed it again; so does this.
        let widened = change.closed_parent.map(|mode| Widened::open(&folder, mode)).transpose();
        let widened = widened.map_err(|errno| AdoptError::at(&change.path, errno))?.flatten();
        Ok(Adoption { layer, change, folder, name, _widened: widened })
    }

    fn error(&self, errno: Errno) -> AdoptError {
        AdoptError::at(&self.change.path, errno)
    }

    fn changed(&self) -> AdoptError {
        AdoptError::Changed { path: self.change.path.clone() }
    }

    fn not_in_layer(&self) -> AdoptError {
        AdoptError::NotInLayer { path: self.change.path.clone() }
    }

    fn here(&self) -> At<'_> {
        (self.folder.as_fd(), self.name)
    }

    fn found(&self) -> Result<Option<Entry>, AdoptError> {
        handle::stat_at(&self.folder, self.name).map_err(|errno| self.error(errno))
    }

    fn before(&self) -> Result<Stamp, AdoptError> {
        self.change.before_stamp.ok_or_else(|| self.not_in_layer())
    }

    /// Whether the workspace's entry is what it was when the layer was looked at.
    fn is_untouched(&self, found: &Entry, before: &Stamp) -> bool {
        let is_renamed = before.is_renamed(found);
        // A folder changes with what is adopted in it, a file with several names with each of them.
        before.is(found) || is_renamed && (found.kind == Kind::Folder || found.links > 1)
    }

    /// Whether what came out of the workspace, and is at `place` now, is what it was when the layer was looked at.
    fn is_expected(&self, place: At<'_>, before: &Stamp, came_out: &Entry) -> Result<bool, Errno> {
        let was_folder = self.change.before.as_ref().is_some_and(Side::is_folder);
        if !before.is_renamed(came_out) || was_folder != (came_out.kind == Kind::Folder) {
            return Ok(false);
        }
        if !was_folder {
            return Ok(true);
        }
        if self.change.tree.is_some() {
            return Ok(!tree::has_changed_since(place.0, place.1, self.change.seen_at)?);
        }
        Ok(handle::names(handle::open_at(place.0, place.1, FOLDER)?)?.is_empty())
    }

    fn exchange(&self, place: At<'_>) -> Result<(), AdoptError> {
        handle::exchange(place, self.here()).map_err(|errno| match errno {
            Errno::NOENT => self.changed(),
            other => self.error(other),
        })
    }

    fn outcome(&self, exchanged: Exchanged, done: Adopted) -> Result<Adopted, AdoptError> {
        match exchanged {
            Exchanged::Done => Ok(done),
            Exchanged::PutBack => Err(self.changed()),
            Exchanged::Unsettled => Err(AdoptError::KeepsChanging { path: self.change.path.clone() }),
        }
    }

    /// A folder that a file takes the place of must be empty by now, unless it goes with all that is in it.
    fn check_empty(&self) -> Result<(), AdoptError> {
        let was_folder = self.change.before.as_ref().is_some_and(Side::is_folder);
        if !was_folder || self.change.tree.is_some() {
            return Ok(());
        }
        let names = handle::open_at(&self.folder, self.name, FOLDER).and_then(handle::names);
        if names.map_err(|errno| self.error(errno))?.is_empty() { Ok(()) } else { Err(self.not_empty()) }
    }

    fn not_empty(&self) -> AdoptError {
        AdoptError::FolderNotEmpty { path: self.change.path.clone() }
    }

    fn upper_place(&self) -> Result<(OpenFolder, &'a [u8]), AdoptError> {
        self.layer.upper_place(&self.change.path).map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR => self.not_in_layer(),
            other => self.error(other),
        })
    }

    /// What entries at this place of the workspace may have. What is there now may be the layer's own already, which has
    /// no more than that.
    fn rights(&self) -> Result<Rights, AdoptError> {
        let around = handle::stat(&self.folder).map_err(|errno| self.error(errno))?;
        Ok(Rights::within(&around).replacing(self.found()?.as_ref()))
    }

    /// The layer's entry, if it is the one that was looked at.
    fn own_entry(&self, place: At<'_>, ours: &Stamp) -> Result<Entry, AdoptError> {
        let found = handle::stat_at(place.0, place.1).map_err(|errno| self.error(errno))?;
        let mut entry = found.filter(|found| found.inode == ours.inode).ok_or_else(|| self.not_in_layer())?;
        if entry.kind == Kind::Device {
            return Err(AdoptError::Device { path: self.change.path.clone() });
        }
        // A crash may have come while it was prepared. Bits that the workspace is not to have are not given back: the
        // same file may be there already under another name.
        let mode = self.rights()?.mode(entry.kind, ours.mode);
        if entry.kind != Kind::Link && entry.mode != mode {
            handle::set_mode_at(place.0, place.1, mode).map_err(|errno| self.error(errno))?;
            entry.mode = mode;
        }
        Ok(entry)
    }

    /// Makes the layer's entry fit for the workspace. A folder that its owner could not move is widened, and the
    /// permissions that it is to have are given back.
    fn prepare(&self, place: At<'_>, entry: &Entry) -> Result<Option<Widened>, AdoptError> {
        let at = |errno| self.error(errno);
        if entry.kind != Kind::Folder {
            tree::prepare_entry(place.0, place.1, entry, &self.rights()?).map_err(at)?;
            return Ok(None);
        }
        tree::prepare(place.0, place.1, entry, &self.rights()?).map_err(at)?;
        let folder = handle::open_at(place.0, place.1, FOLDER_PATH).map_err(at)?;
        Widened::open(folder, entry.mode).map_err(at)
    }

    /// Lets the owner of a closed folder of the workspace move it, with everything in it.
    fn widen_theirs(&self, before: &Stamp) -> Result<Option<Widened>, AdoptError> {
        if self.change.tree.is_none() || !self.change.before.as_ref().is_some_and(Side::is_folder) {
            return Ok(None);
        }
        let at = |errno| self.error(errno);
        let folder = handle::open_at(&self.folder, self.name, FOLDER_PATH).map_err(at)?;
        Widened::open(folder, before.mode).map_err(at)
    }
}
