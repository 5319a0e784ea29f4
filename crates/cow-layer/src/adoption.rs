//! The adoption of one change into the workspace.

pub(crate) mod adopt;
mod before_image;
mod displaced;
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

/// One change on its way: the handle of the workspace's folder, and the name in it.
pub(crate) struct Adoption<'a> {
    layer: &'a Layer,
    change: &'a LayerChange,
    folder: OwnedFd,
    name: &'a [u8],
    /// Restores the folder's permissions, if they had to be widened.
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
        // The command opened the closed folder, changed its entries and closed it again; adoption does the
        // same.
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

    fn left_in_layer(&self) -> AdoptError {
        AdoptError::LeftInLayer { path: self.change.path.clone() }
    }

    fn not_in_layer(&self) -> AdoptError {
        AdoptError::NotInLayer { path: self.change.path.clone() }
    }

    fn here(&self) -> At<'_> {
        (self.folder.as_fd(), self.name)
    }

    fn current(&self) -> Result<Option<Entry>, AdoptError> {
        handle::stat_at(&self.folder, self.name).map_err(|errno| self.error(errno))
    }

    fn before(&self) -> Result<Stamp, AdoptError> {
        self.change.before_stamp.ok_or_else(|| self.not_in_layer())
    }

    /// Returns whether the workspace's entry is unchanged since the scan.
    fn is_untouched(&self, current: &Entry, before: &Stamp) -> bool {
        let is_renamed = before.is_renamed(current);
        // Adopting inside a folder changes the folder, and adopting one name of a file changes its other
        // names.
        before.is(current) || is_renamed && (current.kind == Kind::Folder || current.links > 1)
    }

    /// Returns whether the entry that the exchange moved from the workspace to `location` is the one that
    /// the scan recorded.
    fn is_expected(&self, location: At<'_>, before: &Stamp, displaced: &Entry) -> Result<bool, Errno> {
        let was_folder = self.change.before.as_ref().is_some_and(Side::is_folder);
        if !before.is_renamed(displaced) || was_folder != (displaced.kind == Kind::Folder) {
            return Ok(false);
        }
        if !was_folder {
            return Ok(true);
        }
        if self.change.tree.is_some() {
            return Ok(!tree::has_changed_since(location.0, location.1, self.change.seen_at)?);
        }
        Ok(handle::names(handle::open_at(location.0, location.1, FOLDER)?)?.is_empty())
    }

    fn exchange(&self, location: At<'_>) -> Result<(), AdoptError> {
        handle::exchange(location, self.here()).map_err(|errno| match errno {
            Errno::NOENT => self.changed(),
            other => self.error(other),
        })
    }

    fn outcome(&self, exchanged: Exchanged, done: Adopted) -> Result<Adopted, AdoptError> {
        match exchanged {
            Exchanged::Done => Ok(done),
            Exchanged::PutBack => Err(self.changed()),
            Exchanged::Unsettled => Err(self.left_in_layer()),
        }
    }

    /// Checks that a folder which a file replaces is empty by now, unless it is replaced as a tree.
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

    fn upper_entry(&self) -> Result<(OpenFolder, &'a [u8]), AdoptError> {
        self.layer.upper_entry(&self.change.path).map_err(|errno| match errno {
            Errno::NOENT | Errno::NOTDIR => self.not_in_layer(),
            other => self.error(other),
        })
    }

    /// Returns the rights that the adopted entry may have. The current entry may already be the layer's own,
    /// which has no more than that.
    fn rights(&self) -> Result<Rights, AdoptError> {
        let around = handle::stat(&self.folder).map_err(|errno| self.error(errno))?;
        Ok(Rights::within(&around).replacing(self.current()?.as_ref()))
    }

    /// Returns the layer's entry, if it is still the scanned one.
    fn own_entry(&self, location: At<'_>, ours: &Stamp) -> Result<Entry, AdoptError> {
        let current = handle::stat_at(location.0, location.1).map_err(|errno| self.error(errno))?;
        let mut entry =
            current.filter(|current| current.inode == ours.inode).ok_or_else(|| self.not_in_layer())?;
        if entry.kind == Kind::Device {
            return Err(AdoptError::Device { path: self.change.path.clone() });
        }
        // A crash may have interrupted its preparation. Bits that the workspace must not get are not
        // restored: the same file may already be there under another name.
        let mode = self.rights()?.mode(entry.kind, ours.mode);
        if entry.kind != Kind::Link && entry.mode != mode {
            handle::set_mode_at(location.0, location.1, mode).map_err(|errno| self.error(errno))?;
            entry.mode = mode;
        }
        Ok(entry)
    }

    /// Prepares the layer's entry for the workspace. A folder that its owner could not move is widened until
    /// the returned value is dropped.
    fn prepare(&self, location: At<'_>, entry: &Entry) -> Result<Option<Widened>, AdoptError> {
        let at = |errno| self.error(errno);
        if entry.kind != Kind::Folder {
            tree::prepare_entry(location.0, location.1, entry, &self.rights()?).map_err(at)?;
            return Ok(None);
        }
        tree::prepare(location.0, location.1, entry, &self.rights()?).map_err(at)?;
        let folder = handle::open_at(location.0, location.1, FOLDER_PATH).map_err(at)?;
        Widened::open(folder, entry.mode).map_err(at)
    }

    /// Widens a closed folder of the workspace, so that its owner can move it with everything in it.
    fn widen_theirs(&self, before: &Stamp) -> Result<Option<Widened>, AdoptError> {
        if self.change.tree.is_none() || !self.change.before.as_ref().is_some_and(Side::is_folder) {
            return Ok(None);
        }
        let at = |errno| self.error(errno);
        let folder = handle::open_at(&self.folder, self.name, FOLDER_PATH).map_err(at)?;
        Widened::open(folder, before.mode).map_err(at)
    }
}
