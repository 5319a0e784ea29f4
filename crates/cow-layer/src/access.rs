//! Reaching into a layer's own folders when their permission bits forbid it.
//!
//! A command may leave folders without permissions. They belong to the same user, who can widen their
//! permissions temporarily; root needs none.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rel_path::RelPath;
use rustix::io::Errno;

use crate::handle::{self, FOLDER, is_root};

/// The permission bits with which an owner can list and change a folder.
pub(crate) const OWN_FOLDER: u32 = 0o700;

/// A folder of a layer, open, with its permissions widened as long as this value lives.
#[derive(Debug)]
pub(crate) struct OpenFolder {
    handle: OwnedFd,
    /// The permissions to restore.
    mode: Option<u32>,
    /// The folders on the way, which were widened too.
    _above: Option<Box<OpenFolder>>,
}

impl OpenFolder {
    /// Opens the folder `name`. The caller knows that it is a folder, and that no other process uses it.
    pub(crate) fn open(parent: impl AsFd, name: &[u8], mode: u32) -> Result<OpenFolder, Errno> {
        let is_closed = !is_root() && mode & OWN_FOLDER != OWN_FOLDER;
        if is_closed {
            handle::set_mode_at(&parent, name, mode | OWN_FOLDER)?;
        }
        let handle = handle::open_at(&parent, name, FOLDER)?;
        Ok(OpenFolder { handle, mode: is_closed.then_some(mode), _above: None })
    }

    /// Opens the folder `path` below the folder `top` of `parent`, and widens every folder on the way.
    pub(crate) fn open_below(parent: impl AsFd, top: &[u8], path: &RelPath) -> Result<OpenFolder, Errno> {
        let mode = handle::stat_at(&parent, top)?.ok_or(Errno::NOENT)?.mode;
        let mut folder = OpenFolder::open(&parent, top, mode)?;
        for name in path.components() {
            let mode = handle::stat_at(&folder, name)?.ok_or(Errno::NOENT)?.mode;
            let mut below = OpenFolder::open(&folder, name, mode)?;
            // The folders above stay widened as long as this one, because restoring them would close the way.
            below._above = Some(Box::new(folder));
            folder = below;
        }
        Ok(folder)
    }
}

impl AsFd for OpenFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl Drop for OpenFolder {
    fn drop(&mut self) {
        if let Some(mode) = self.mode {
            // If this fails the folder stays wider than it was, for its owner alone.
            let _ = handle::set_mode(&self.handle, mode);
        }
    }
}

/// A closed folder of the workspace, widened while this value lives, as the command did.
#[derive(Debug)]
pub(crate) struct Widened {
    handle: OwnedFd,
    mode: u32,
}

impl Widened {
    /// Widens a folder that has exactly these permissions; returns `None` if it has others, or if this
    /// process is root.
    pub(crate) fn open(handle: impl AsFd, mode: u32) -> Result<Option<Widened>, Errno> {
        let is_closed = !is_root() && mode & OWN_FOLDER != OWN_FOLDER;
        if !is_closed || handle::stat(&handle)?.mode != mode {
            return Ok(None);
        }
        let handle = rustix::io::fcntl_dupfd_cloexec(handle, 0)?;
        handle::set_mode(&handle, mode | OWN_FOLDER)?;
        Ok(Some(Widened { handle, mode }))
    }
}

impl Drop for Widened {
    fn drop(&mut self) {
        // If this fails, `finish_folders` tries again.
        let _ = handle::set_mode(&self.handle, self.mode);
    }
}
