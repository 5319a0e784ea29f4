//! A folder, open to be listed and watched.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rel_path::RelPath;
use rustix::fs::{Mode, ResolveFlags};
use rustix::io::Errno;

use crate::change::temp_name::is_temp_name;
use crate::error::FsError;
use crate::handle::{self, ALWAYS, FOLDER_LIST};
use crate::metadata::{FileKind, Metadata};
use crate::resolve::ResolveMethod;
use crate::root::FileRoot;
use crate::walk::read_names;

/// The result of opening a folder the way a walk enters it.
#[derive(Debug)]
#[non_exhaustive]
pub enum FolderAt {
    /// A folder that can be listed.
    Folder(OpenFolder),
    /// A folder that the process may not open.
    Unreadable,
    /// A mount point, or a folder below one.
    Mount,
    /// There is no folder with this path.
    Gone,
}

/// A folder, open to be listed and watched. It stays the same folder whatever happens to its name.
#[derive(Debug)]
pub struct OpenFolder {
    handle: OwnedFd,
}

impl FileRoot {
    /// Opens a folder by its canonical path the way a [walk](FileRoot::walk) enters it: not through links or
    /// mounts.
    ///
    /// # Errors
    ///
    /// [`FsError::RootGone`], temporary failures of the system, and [`FsError::Io`] with
    /// [`ResolveMethod::Walker`], which cannot detect every mount.
    pub fn folder_at(&self, canonical: &RelPath) -> Result<FolderAt, FsError> {
        self.check_alive()?;
        if self.method() != ResolveMethod::Openat2 {
            return Err(FsError::from_errno(Errno::NOSYS, canonical));
        }
        let path = if canonical.is_root() { b"." } else { canonical.as_bytes() };
        // `NO_XDEV` refuses bind mounts of the same file system too, which device numbers do not show.
        let same_mount = ResolveFlags::BENEATH
            | ResolveFlags::NO_XDEV
            | ResolveFlags::NO_SYMLINKS
            | ResolveFlags::NO_MAGICLINKS;
        let open =
            || rustix::fs::openat2(self.handle(), path, FOLDER_LIST | ALWAYS, Mode::empty(), same_mount);
        // EAGAIN means that a concurrent rename disturbed the lookup.
        let opened = std::iter::repeat_with(open)
            .take(64)
            .find(|opened| !matches!(opened, Err(Errno::AGAIN | Errno::INTR)));
        Ok(match opened {
            Some(Ok(handle)) => FolderAt::Folder(OpenFolder { handle }),
            Some(Err(Errno::XDEV)) => FolderAt::Mount,
            Some(Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT)) => FolderAt::Gone,
            Some(Err(Errno::ACCESS | Errno::PERM)) => FolderAt::Unreadable,
            Some(Err(other)) => return Err(FsError::from_errno(other, canonical)),
            None => return Err(FsError::Busy { path: canonical.clone() }),
        })
    }
}

impl OpenFolder {
    /// Calls `each` with the names in the folder, in any order, without temporary files. The kind is
    /// [`FileKind::Unknown`] if the file system does not report it.
    ///
    /// # Errors
    ///
    /// Those of the system while listing; the names so far were passed to `each`.
    pub fn names(&self, mut each: impl FnMut(&[u8], FileKind)) -> std::io::Result<()> {
        let read = read_names(&self.handle, |name, kind| {
            if !is_temp_name(name) {
                each(name, kind);
            }
            true
        });
        read.map_err(Into::into)
    }

    /// Reads the metadata of the entry `name` itself; `None` if there is none, or if it is a temporary file.
    ///
    /// # Errors
    ///
    /// Those of the system; the entry may or may not be there.
    pub fn entry(&self, name: &[u8]) -> std::io::Result<Option<Metadata>> {
        if is_temp_name(name) {
            return Ok(None);
        }
        handle::stat_at(&self.handle, name).map_err(Into::into)
    }

    /// Reads the metadata of the folder itself.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn metadata(&self) -> std::io::Result<Metadata> {
        handle::stat(&self.handle).map_err(Into::into)
    }
}

impl AsFd for OpenFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}
