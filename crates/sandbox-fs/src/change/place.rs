//! The place of a change: a parent folder, held open, and one name in it.

use std::os::fd::OwnedFd;

use rel_path::RelPath;
use rustix::fs::RenameFlags;
use rustix::io::{Errno, retry_on_intr};

use crate::change::temp_name::{is_temp_name, new_kept_name};
use crate::content_hash::ContentHash;
use crate::error::{FsError, ReadOnlyReason};
use crate::handle::{self, FILE_READ, FOLDER_PATH};
use crate::metadata::{FileKind, Metadata};
use crate::open_file::OpenFile;
use crate::policy::{HardLinks, LinkRule, NewNames, WriteBits};
use crate::resolve::Last;
use crate::root::FileRoot;

/// How often a parent folder that others keep changing is looked for.
const ATTEMPTS: usize = 64;

/// A parent folder, held open, and one name in it. No link led here, and the name is not protected.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) folder: OwnedFd,
    /// The canonical path of the folder.
    pub(crate) folder_path: RelPath,
    pub(crate) name: Vec<u8>,
    /// The canonical path of the whole.
    pub(crate) path: RelPath,
}

impl FileRoot {
    /// Finds the place that a change of `path` is about; its folder must exist.
    pub(crate) fn place(&self, path: &RelPath) -> Result<Place, FsError> {
        self.check_writable(path)?;
        if path.is_root() || path.names_folder() {
            return Err(FsError::NotAFile { path: path.clone(), kind: FileKind::Folder });
        }
        let mut canonical = path.clone();
        let mut needs_resolving = path.has_parent_steps();
        if !needs_resolving {
            // Protection holds for what does not exist, so it is decided before looking.
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
                    return Ok(Place { folder, folder_path, name, path: canonical });
                }
                Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT | Errno::AGAIN) => needs_resolving = true,
                Err(other) => return Err(FsError::from_errno(other, &folder_path)),
            }
        }
        Err(FsError::Busy { path: path.clone() })
    }

    /// `canonical` has no links and no `..`.
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

    /// The file at `place` if there is one that may be replaced, `None` if the name is free and may be given.
    pub(crate) fn check_replaceable(&self, place: &Place) -> Result<Option<Metadata>, FsError> {
        let Some(found) = place.stat()? else {
            self.check_new_name(&place.path, &place.name)?;
            return Ok(None);
        };
        match found.kind {
            FileKind::File => {}
            FileKind::Link => return Err(self.link_error(&place.path)),
            kind => return Err(FsError::NotAFile { path: place.path.clone(), kind }),
        }
        self.check_changeable(place, &found)?;
        Ok(Some(found))
    }

    /// Whether the permissions and the policy let this regular file be changed.
    pub(crate) fn check_changeable(&self, place: &Place, found: &Metadata) -> Result<(), FsError> {
        let path = || place.path.clone();
        let bits_count = self.policy.write_bits == WriteBits::Respect;
        if bits_count && found.mode & 0o222 == 0 {
            return Err(FsError::ReadOnly { path: path(), reason: ReadOnlyReason::NoWriteBit });
        }
        if self.policy.hard_links == HardLinks::Refuse && found.links > 1 {
            return Err(FsError::HardLinked { path: path(), links: found.links });
        }
        if let Some(reason) = handle::mark_at(&place.folder, &place.name) {
            return Err(FsError::ReadOnly { path: path(), reason });
        }
        if !bits_count {
            return Ok(());
        }
        // A rename asks for the folder's permission only. The file's own is honoured as if it were written in place.
        let flags = rustix::fs::AtFlags::EACCESS;
        let access = rustix::fs::accessat(&place.folder, &*place.name, rustix::fs::Access::WRITE_OK, flags);
        match access {
            Err(Errno::ACCESS | Errno::PERM) => Err(FsError::OsPermission { path: path() }),
            Err(Errno::ROFS) => Err(FsError::from_errno(Errno::ROFS, &place.path)),
            // Kernels without this question leave it to the rename.
            _ => Ok(()),
        }
    }

    /// Why a link is not written, with the target to write instead where that is inside.
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

    /// Checks that the held folder still is where it was found, so that nothing is put into a folder that was moved
    /// out in the meantime.
    pub(crate) fn check_folder(&self, place: &Place) -> Result<(), FsError> {
        let changed = || FsError::Changed { path: place.path.clone() };
        let failed = |errno| match errno {
            Errno::LOOP | Errno::NOTDIR | Errno::NOENT | Errno::XDEV | Errno::AGAIN => changed(),
            // Not being able to look is no sign that somebody changed anything.
            other => FsError::from_errno(other, &place.path),
        };
        let now = self.resolver.open_exact(&place.folder_path, FOLDER_PATH).map_err(failed)?;
        let stat = |handle: &OwnedFd| handle::stat(handle).map_err(failed);
        if stat(&now)?.is_same_object(&stat(&place.folder)?) { Ok(()) } else { Err(changed()) }
    }
}

impl Place {
    /// What has the name now.
    pub(crate) fn stat(&self) -> Result<Option<Metadata>, FsError> {
        self.stat_name(&self.name)
    }

    /// What has another name in the same folder.
    pub(crate) fn stat_name(&self, name: &[u8]) -> Result<Option<Metadata>, FsError> {
        handle::stat_at(&self.folder, name).map_err(|errno| self.error(errno))
    }

    /// A system error about this place. ENOENT in a held folder means that the folder itself is gone.
    pub(crate) fn error(&self, errno: Errno) -> FsError {
        match errno {
            Errno::NOENT => FsError::ParentMissing { folder: self.folder_path.clone() },
            other => FsError::from_errno(other, &self.path),
        }
    }

    /// Opens `name` in the folder if it is a regular file with this content, which held still while it was read.
    pub(crate) fn open_if_content(
        &self,
        name: &[u8],
        expected: &ContentHash,
    ) -> Result<Option<OpenFile>, FsError> {
        let file = match handle::open_at(&self.folder, name, FILE_READ) {
            Ok(handle) => handle,
            Err(Errno::LOOP | Errno::NXIO | Errno::NODEV | Errno::NOENT) => return Ok(None),
            Err(other) => return Err(self.error(other)),
        };
        let file = match OpenFile::from_handle(file, self.path.clone(), HardLinks::Replace) {
            Ok(file) => file,
            Err(FsError::NotAFile { .. }) => return Ok(None),
            Err(other) => return Err(other),
        };
        let hash = file.content_hash()?;
        let (before, after) = (file.metadata(), file.metadata_now()?);
        let steady = before.modified_nanoseconds == after.modified_nanoseconds
            && before.size_bytes == after.size_bytes;
        Ok((steady && hash == *expected).then_some(file))
    }

    /// Gives a version that could not be put back a name under which it is seen and never swept away, and makes the
    /// error that says so.
    pub(crate) fn keep_aside(&self, temp_name: &[u8]) -> FsError {
        let kept = new_kept_name();
        let renamed = rename_new((&self.folder, temp_name), (&self.folder, &kept)).is_ok();
        let name = if renamed { &kept } else { temp_name };
        match self.folder_path.child(name) {
            Ok(kept_as) => FsError::LeftBehind { path: self.path.clone(), kept_as },
            Err(error) => FsError::Path(error),
        }
    }

    pub(crate) fn unlink_name(&self, name: &[u8]) -> Result<(), Errno> {
        retry_on_intr(|| rustix::fs::unlinkat(&self.folder, name, rustix::fs::AtFlags::empty()))
    }

    /// Removes a temporary name. A failure is tried once more, since nobody comes back for what stays.
    pub(crate) fn remove_temporary(&self, name: &[u8]) -> Result<(), Errno> {
        self.unlink_name(name).or_else(|_| self.unlink_name(name))
    }
}

/// Gives a file a new name that must be free.
///
/// Where the file system has no such rename, a second link and the removal of the first do the same for files.
pub(crate) fn rename_new(from: (&OwnedFd, &[u8]), to: (&OwnedFd, &[u8])) -> Result<(), Errno> {
    // Some network file systems interrupt a rename; it has not happened then.
    let rename = || rustix::fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE);
    match retry_on_intr(rename) {
        Err(errno) if lacks_rename_flags(errno) => {
            let flags = rustix::fs::AtFlags::empty();
            retry_on_intr(|| rustix::fs::linkat(from.0, from.1, to.0, to.1, flags))?;
            retry_on_intr(|| rustix::fs::unlinkat(from.0, from.1, flags))
        }
        result => result,
    }
}

/// Whether a rename failed because the file system or the kernel knows no flags.
pub(crate) fn lacks_rename_flags(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}
