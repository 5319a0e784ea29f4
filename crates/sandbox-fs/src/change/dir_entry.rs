//! The directory entry that a change is about: a parent folder, held open, and one name in it.

use std::os::fd::OwnedFd;

use rel_path::RelPath;
use rustix::io::{Errno, retry_on_intr};

use crate::change::new_name::rename_away;
use crate::change::temp_name::{is_temp_name, new_kept_name};
use crate::error::{FsError, ReadOnlyReason};
use crate::handle::{self, FOLDER_PATH};
use crate::metadata::{FileKind, Metadata};
use crate::open_file::OpenFile;
use crate::policy::{HardLinks, LinkRule, NewNames, WriteBits};
use crate::resolve::Last;
use crate::root::FileRoot;
use content_hash::ContentHash;

/// The number of attempts to open a parent folder that other programs keep changing.
const ATTEMPTS: usize = 64;

/// A parent folder, held open, and one name in it, reached without links. The name is not protected.
#[derive(Debug)]
pub(crate) struct DirEntry {
    pub(crate) folder: OwnedFd,
    /// The canonical path of the folder.
    pub(crate) folder_path: RelPath,
    pub(crate) name: Vec<u8>,
    /// The canonical path of the entry.
    pub(crate) path: RelPath,
}

impl FileRoot {
    /// Resolves `path` to the directory entry that a change affects; its folder must exist.
    pub(crate) fn dir_entry(&self, path: &RelPath) -> Result<DirEntry, FsError> {
        self.check_writable(path)?;
        if path.is_root() || path.names_folder() {
            return Err(FsError::NotAFile { path: path.clone(), kind: FileKind::Folder });
        }
        let mut canonical = path.clone();
        let mut needs_resolving = path.has_parent_steps();
        if !needs_resolving {
            // Protected names are refused even if they do not exist, so this comes before any lookup.
            self.check_protected(path)?;
        }
        for _ in 0..ATTEMPTS {
            if needs_resolving {
                let resolved = self.resolver.resolve(path, Last::Keep, self.policy.links)?;
                self.check_protected(&resolved.path)?;
                if resolved.through_link {
                    return Err(FsError::IsLink { path: path.clone(), target: Some(resolved.path) });
                }
                canonical = resolved.path;
            }
            let (Some(folder_path), Some(name)) = (canonical.parent(), canonical.file_name()) else {
                return Err(FsError::NotAFile { path: path.clone(), kind: FileKind::Folder });
            };
            match self.resolver.open_exact(&folder_path, FOLDER_PATH) {
                Ok(folder) => {
                    let name = name.to_vec();
                    return Ok(DirEntry { folder, folder_path, name, path: canonical });
                }
                Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT | Errno::AGAIN) => needs_resolving = true,
                Err(other) => return Err(FsError::from_errno(other, &folder_path)),
            }
        }
        Err(FsError::Busy { path: path.clone() })
    }

    /// Refuses a protected or reserved name. `canonical` has no links and no `..`.
    pub(crate) fn check_protected(&self, canonical: &RelPath) -> Result<(), FsError> {
        let reserved = canonical
            .components()
            .any(is_temp_name)
            .then_some((".agentd-tmp-*", "agentd's own temporary files have such names"));
        let listed = self.policy.protected.never(canonical).map(|name| (name.pattern(), name.reason()));
        match listed.or(reserved) {
            Some((entry, reason)) => Err(FsError::Protected {
                path: canonical.clone(),
                entry: entry.to_owned(),
                reason: reason.to_owned(),
            }),
            None => Ok(()),
        }
    }

    pub(crate) fn check_new_name(&self, path: &RelPath, name: &[u8]) -> Result<(), FsError> {
        match self.policy.new_names {
            NewNames::Any => Ok(()),
            NewNames::Checked => rel_path::check_new_name(name)
                .map_err(|reason| FsError::InvalidName { path: path.clone(), reason }),
        }
    }

    /// Returns the regular file that a write would replace, or `None` if the name is free and allowed.
    pub(crate) fn check_replaceable(&self, entry: &DirEntry) -> Result<Option<Metadata>, FsError> {
        let Some(metadata) = entry.stat()? else {
            self.check_new_name(&entry.path, &entry.name)?;
            return Ok(None);
        };
        match metadata.kind {
            FileKind::File => {}
            FileKind::Link => return Err(self.link_error(&entry.path)),
            kind => return Err(FsError::NotAFile { path: entry.path.clone(), kind }),
        }
        self.check_changeable(entry, &metadata)?;
        Ok(Some(metadata))
    }

    /// Refuses a change that the file's permissions or the policy forbid.
    pub(crate) fn check_changeable(&self, entry: &DirEntry, metadata: &Metadata) -> Result<(), FsError> {
        let path = || entry.path.clone();
        let bits_count = self.policy.write_bits == WriteBits::Respect;
        if bits_count && metadata.mode & 0o222 == 0 {
            return Err(FsError::ReadOnly { path: path(), reason: ReadOnlyReason::NoWriteBit });
        }
        if self.policy.hard_links == HardLinks::Refuse && metadata.links > 1 {
            return Err(FsError::HardLinked { path: path(), links: metadata.links });
        }
        if let Some(reason) = handle::mark_at(&entry.folder, &entry.name) {
            return Err(FsError::ReadOnly { path: path(), reason });
        }
        if !bits_count {
            return Ok(());
        }
        // A rename needs only the folder's permission. The file's own is respected as if it were written in place.
        let flags = rustix::fs::AtFlags::EACCESS;
        let access = rustix::fs::accessat(&entry.folder, &*entry.name, rustix::fs::Access::WRITE_OK, flags);
        match access {
            Err(Errno::ACCESS | Errno::PERM) => Err(FsError::OsPermission { path: path() }),
            Err(Errno::ROFS) => Err(FsError::from_errno(Errno::ROFS, &entry.path)),
            // Without kernel support the rename decides.
            _ => Ok(()),
        }
    }

    /// Returns the error for writing to a link, with the target to write instead if that is inside the root.
    fn link_error(&self, link: &RelPath) -> FsError {
        let is_link = |target| FsError::IsLink { path: link.clone(), target };
        if self.policy.links == LinkRule::Refuse {
            return is_link(None);
        }
        match self.resolver.resolve(link, Last::Follow, LinkRule::ReadInside) {
            Ok(resolved) => is_link(Some(resolved.path)),
            Err(error @ (FsError::Escape { .. } | FsError::LinkLoop { .. })) => error,
            Err(_) => is_link(None),
        }
    }

    /// Checks that the open folder still has its path, so that no file is created in a folder that was moved out
    /// of the root.
    pub(crate) fn check_folder(&self, entry: &DirEntry) -> Result<(), FsError> {
        let failed = |errno| match errno {
            Errno::LOOP | Errno::NOTDIR | Errno::NOENT | Errno::XDEV | Errno::AGAIN => entry.changed(),
            // Any other error does not show that the folder was changed.
            other => FsError::from_errno(other, &entry.path),
        };
        let now = self.resolver.open_exact(&entry.folder_path, FOLDER_PATH).map_err(failed)?;
        let stat = |handle: &OwnedFd| handle::stat(handle).map_err(failed);
        if stat(&now)?.is_same_object(&stat(&entry.folder)?) { Ok(()) } else { Err(entry.changed()) }
    }
}

impl DirEntry {
    /// Reads the current metadata of the entry.
    pub(crate) fn stat(&self) -> Result<Option<Metadata>, FsError> {
        self.stat_name(&self.name)
    }

    /// Reads the metadata of another name in the same folder.
    pub(crate) fn stat_name(&self, name: &[u8]) -> Result<Option<Metadata>, FsError> {
        handle::stat_at(&self.folder, name).map_err(|errno| self.error(errno))
    }

    /// Reads the target text of the link `name` in the same folder; `None` if there is no such link.
    pub(crate) fn link_target(&self, name: &[u8]) -> Result<Option<Vec<u8>>, FsError> {
        match rustix::fs::readlinkat(&self.folder, name, Vec::new()) {
            Ok(target) => Ok(Some(target.into_bytes())),
            // EINVAL means that the entry is not a link.
            Err(Errno::INVAL | Errno::NOENT) => Ok(None),
            Err(other) => Err(self.error(other)),
        }
    }

    /// Returns the error for an entry that is not the expected one.
    pub(crate) fn changed(&self) -> FsError {
        FsError::Changed { path: self.path.clone() }
    }

    /// Maps a system error about this entry. ENOENT in an open folder means that the folder itself was deleted.
    pub(crate) fn error(&self, errno: Errno) -> FsError {
        match errno {
            Errno::NOENT => FsError::ParentMissing { folder: self.folder_path.clone() },
            Errno::BUSY if handle::is_busy_mount(&self.folder, &self.name) => {
                FsError::ReadOnly { path: self.path.clone(), reason: ReadOnlyReason::MountPoint }
            }
            other => FsError::from_errno(other, &self.path),
        }
    }

    /// Maps a system error of removing or renaming this entry. ENOENT means that it is missing.
    pub(crate) fn removal_error(&self, errno: Errno) -> FsError {
        match errno {
            Errno::NOENT => FsError::NotFound { path: self.path.clone() },
            other => self.error(other),
        }
    }

    /// Opens `name` in the folder if it is a regular file with this content that did not change while it was read.
    pub(crate) fn open_if_content(
        &self,
        name: &[u8],
        expected: &ContentHash,
    ) -> Result<Option<OpenFile>, FsError> {
        let file = match handle::open_regular_at(&self.folder, name) {
            Ok(Ok(handle)) => handle,
            Ok(Err(_)) | Err(Errno::NOENT) => return Ok(None),
            Err(other) => return Err(self.error(other)),
        };
        let file = OpenFile::from_handle(file, self.path.clone(), HardLinks::Replace)?;
        let hash = file.content_hash()?;
        // A writer that changed the file while it was hashed may have changed a part that was already read.
        let (before, after) = (file.metadata(), file.metadata_now()?);
        let unchanged = before.modified_nanoseconds == after.modified_nanoseconds
            && before.size_bytes == after.size_bytes;
        Ok((unchanged && hash == *expected).then_some(file))
    }

    /// Renames a version that could not be restored to a visible name that is never swept, and returns the error
    /// that names it.
    pub(crate) fn keep_under_new_name(&self, temp_name: &[u8]) -> FsError {
        let kept = new_kept_name();
        let renamed = rename_away(&self.folder, temp_name, &kept).is_ok();
        let name = if renamed { &kept } else { temp_name };
        match self.folder_path.child(name) {
            Ok(kept_as) => FsError::LeftBehind { path: self.path.clone(), kept_as },
            Err(error) => FsError::Path(error),
        }
    }

    pub(crate) fn unlink_name(&self, name: &[u8]) -> Result<(), Errno> {
        retry_on_intr(|| rustix::fs::unlinkat(&self.folder, name, rustix::fs::AtFlags::empty()))
    }

    /// Removes a temporary name, with one retry: a file that stays is removed only by a later sweep.
    pub(crate) fn remove_temporary(&self, name: &[u8]) -> Result<(), Errno> {
        self.unlink_name(name).or_else(|_| self.unlink_name(name))
    }
}
