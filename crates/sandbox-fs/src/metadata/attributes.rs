//! The extended attributes of a file or folder: access control lists, labels, and what users and programs attach.
//!
//! A new version of a file is a new inode, so the old one's attributes have to be copied. A change whose
//! attributes cannot be copied is refused: none is dropped silently, and access is never widened.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rel_path::RelPath;
use rustix::fs::XattrFlags;
use rustix::io::Errno;

use crate::change::dir_entry::DirEntry;
use crate::error::FsError;
use crate::handle::{self, ANY_PATH, FOLDER_LIST};
use crate::metadata::FileKind;
use crate::metadata::access_list::ACCESS_LIST;
use crate::resolve::Last;
use crate::root::FileRoot;

/// The longest list of names, and the longest value, that Linux returns.
const KERNEL_LIMIT_BYTES: usize = 65_536;

/// A first buffer that is large enough for the attribute names of nearly every file.
const USUAL_BYTES: usize = 512;

/// Attributes that are not copied: they describe one content, or are an overlay's own bookkeeping.
const OWN_NAMES: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];
const OWN_FAMILIES: [&[u8]; 2] = [b"user.overlay.", b"trusted.overlay."];

/// The format version in the first byte of [`FileAttributes::to_bytes`].
const FORM: u8 = 1;

/// The extended attributes of a file or folder that carry over to a new version of it.
///
/// Includes access control lists (`system.posix_acl_access`, `system.posix_acl_default`) and labels
/// (`security.selinux`). Excludes `security.capability`, `security.ima` and `security.evm`, which belong to one
/// content, and the bookkeeping of an overlay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileAttributes {
    values: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl FileAttributes {
    /// The largest total size of one file's names and values: 256 KiB. A file with more is not changed.
    pub const LIMIT_BYTES: usize = 256 * 1024;

    /// Reads the attributes of an open file or folder; errors name it `path`.
    ///
    /// # Errors
    ///
    /// [`FsError::TooManyAttributes`], and [`FsError::AttributeNotKept`] for one that may not be read.
    pub fn of_open(handle: impl AsFd, path: &RelPath) -> Result<FileAttributes, FsError> {
        AttributeHandle::open(handle.as_fd(), path).read()
    }

    /// Returns true if there are no attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the value of an attribute.
    #[must_use]
    pub fn value(&self, name: &[u8]) -> Option<&[u8]> {
        self.values.get(name).map(Vec::as_slice)
    }

    /// Returns the same attributes with `name` set to `value`.
    #[must_use]
    pub fn with_value(mut self, name: &[u8], value: &[u8]) -> FileAttributes {
        self.values.insert(name.to_vec(), value.to_vec());
        self
    }

    /// Encodes the attributes for [`FileAttributes::from_bytes`]; equal attributes give equal bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![FORM];
        for part in self.values.iter().flat_map(|(name, value)| [name, value]) {
            let length = u32::try_from(part.len()).expect("an attribute has at most 64 KiB");
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(part);
        }
        bytes
    }

    /// Decodes the output of [`FileAttributes::to_bytes`]; `None` for any other bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<FileAttributes> {
        let mut rest = bytes.strip_prefix(&[FORM])?;
        let mut values = BTreeMap::new();
        // Each round consumes at least the eight bytes of two lengths.
        while !rest.is_empty() {
            let name = part(&mut rest)?;
            values.insert(name, part(&mut rest)?);
        }
        Some(FileAttributes { values })
    }
}

fn part(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let (part, after) = after.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    *rest = after;
    Some(part.to_vec())
}

fn is_own(name: &[u8]) -> bool {
    OWN_NAMES.contains(&name) || OWN_FAMILIES.iter().any(|family| name.starts_with(family))
}

/// A handle through which attributes are read and written.
pub(crate) struct AttributeHandle<'a> {
    handle: BorrowedFd<'a>,
    /// True for an `O_PATH` handle: the attribute calls reject it, so it is reached through `/proc/self/fd`.
    by_name: bool,
    path: &'a RelPath,
}

impl<'a> AttributeHandle<'a> {
    /// Wraps a file or folder that is open for reading or writing.
    pub(crate) fn open(handle: BorrowedFd<'a>, path: &'a RelPath) -> AttributeHandle<'a> {
        AttributeHandle { handle, by_name: false, path }
    }

    fn name(&self) -> String {
        format!("/proc/self/fd/{}", self.handle.as_raw_fd())
    }

    /// Reads all attributes that carry over to a new version.
    pub(crate) fn read(&self) -> Result<FileAttributes, FsError> {
        // At most two attempts: a list that grows past the kernel's limit meanwhile is an error.
        let mut names = vec![0; USUAL_BYTES];
        let mut length = self.names(&mut names);
        if length == Err(Errno::RANGE) {
            names.resize(KERNEL_LIMIT_BYTES, 0);
            length = self.names(&mut names);
        }
        let length = match length {
            Ok(length) => length,
            Err(Errno::NOTSUP) => 0,
            Err(Errno::RANGE | Errno::TOOBIG) => return Err(self.too_many()),
            Err(other) => return Err(FsError::from_errno(other, self.path)),
        };
        let mut attributes = FileAttributes::default();
        let mut buffer = Vec::new();
        let mut total = 0;
        for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty() && !is_own(name))
        {
            buffer.resize(KERNEL_LIMIT_BYTES, 0);
            let value = match self.value(name, &mut buffer) {
                Ok(length) => &buffer[..length],
                // Some file systems list attributes that they do not return, and another program may remove one
                // meanwhile.
                Err(Errno::NODATA | Errno::NOTSUP) => continue,
                Err(_) => return Err(self.refused(name)),
            };
            total += name.len() + value.len();
            if total > FileAttributes::LIMIT_BYTES {
                return Err(self.too_many());
            }
            attributes.values.insert(name.to_vec(), value.to_vec());
        }
        Ok(attributes)
    }

    fn names(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        if self.by_name {
            rustix::fs::listxattr(self.name(), buffer)
        } else {
            rustix::fs::flistxattr(self.handle, buffer)
        }
    }

    fn value(&self, name: &[u8], buffer: &mut [u8]) -> Result<usize, Errno> {
        if self.by_name {
            rustix::fs::getxattr(self.name(), name, buffer)
        } else {
            rustix::fs::fgetxattr(self.handle, name, buffer)
        }
    }

    /// Sets the attributes to `wanted`. Removes an access list that the file inherited from its folder.
    ///
    /// The access lists come last, so that access is granted only after every other attribute was accepted.
    pub(crate) fn give(&self, wanted: &FileAttributes) -> Result<(), FsError> {
        let has = self.read()?;
        for list in crate::metadata::access_list::LISTS {
            if has.value(list).is_some() && wanted.value(list).is_none() {
                self.remove(list).map_err(|_| self.refused(list))?;
            }
        }
        // Access lists come last: until then only the owner can open a staged file.
        let is_list = |name: &[u8]| crate::metadata::access_list::LISTS.contains(&name);
        let (lists, others): (Vec<_>, Vec<_>) = wanted.values.iter().partition(|(name, _)| is_list(name));
        for (name, value) in others.into_iter().chain(lists) {
            if has.value(name) != Some(value) {
                self.set(name, value).map_err(|errno| match errno {
                    Errno::NOSPC | Errno::DQUOT => FsError::from_errno(errno, self.path),
                    _ => self.refused(name),
                })?;
            }
        }
        Ok(())
    }

    fn set(&self, name: &[u8], value: &[u8]) -> Result<(), Errno> {
        if self.by_name {
            rustix::fs::setxattr(self.name(), name, value, XattrFlags::empty())
        } else {
            rustix::fs::fsetxattr(self.handle, name, value, XattrFlags::empty())
        }
    }

    fn remove(&self, name: &[u8]) -> Result<(), Errno> {
        if self.by_name {
            rustix::fs::removexattr(self.name(), name)
        } else {
            rustix::fs::fremovexattr(self.handle, name)
        }
    }

    fn refused(&self, name: &[u8]) -> FsError {
        let name = String::from_utf8_lossy(name).into_owned();
        FsError::AttributeNotKept { path: self.path.clone(), name }
    }

    fn too_many(&self) -> FsError {
        FsError::TooManyAttributes { path: self.path.clone(), limit_bytes: FileAttributes::LIMIT_BYTES }
    }
}

impl DirEntry {
    /// Reads the attributes of the regular file or folder with this name; empty for any other kind.
    pub(crate) fn attributes(&self, kind: FileKind) -> Result<FileAttributes, FsError> {
        let changed = || self.changed();
        let opened = match kind {
            FileKind::File => handle::open_regular_at(&self.folder, &self.name),
            FileKind::Folder => handle::open_at(&self.folder, &self.name, FOLDER_LIST).map(Ok),
            _ => return Ok(FileAttributes::default()),
        };
        let handle = match opened {
            Ok(Ok(handle)) => Ok((handle, false)),
            Ok(Err(_)) => return Err(changed()),
            // Reading attributes does not always need permission to read the content.
            Err(Errno::ACCESS | Errno::PERM) => {
                handle::open_at(&self.folder, &self.name, ANY_PATH).map(|handle| (handle, true))
            }
            Err(other) => Err(other),
        };
        let (handle, by_name) = handle.map_err(|errno| match errno {
            Errno::LOOP | Errno::NXIO | Errno::NODEV | Errno::NOENT | Errno::NOTDIR => changed(),
            other => self.error(other),
        })?;
        AttributeHandle { handle: handle.as_fd(), by_name, path: &self.path }.read()
    }
}

impl FileRoot {
    /// Reads the extended attributes of the regular file or folder `path` that carry over to a new version; empty
    /// for links and special files.
    ///
    /// # Errors
    ///
    /// [`FsError::NotFound`], [`FsError::TooManyAttributes`], and [`FsError::AttributeNotKept`] for an unreadable
    /// attribute.
    pub fn attributes(&self, path: &RelPath) -> Result<FileAttributes, FsError> {
        let (handle, path) = self.resolver.open(path, ANY_PATH, Last::Keep, self.policy.links)?;
        let kind = handle::stat(&handle).map_err(|errno| FsError::from_errno(errno, &path))?.kind;
        if !matches!(kind, FileKind::File | FileKind::Folder) {
            return Ok(FileAttributes::default());
        }
        let by_name = AttributeHandle { handle: handle.as_fd(), by_name: true, path: &path };
        // A folder that can be opened needs no detour through `/proc`, which may not be mounted.
        if kind == FileKind::Folder
            && let Ok(folder) = handle::reopen_folder(&handle)
        {
            return AttributeHandle::open(folder.as_fd(), &path).read();
        }
        by_name.read()
    }

    /// Sets the attributes of the folder `path`, and removes an access list that is not among them.
    ///
    /// # Errors
    ///
    /// [`FsError::AttributeNotKept`], [`FsError::NotAFolder`], [`FsError::NotFound`], and those of every change.
    pub fn set_folder_attributes(&self, path: &RelPath, wanted: &FileAttributes) -> Result<(), FsError> {
        let entry = self.dir_entry(path)?;
        let folder =
            handle::open_at(&entry.folder, &entry.name, FOLDER_LIST).map_err(|errno| match errno {
                Errno::NOENT => FsError::NotFound { path: entry.path.clone() },
                Errno::NOTDIR => FsError::NotAFolder { path: entry.path.clone() },
                Errno::LOOP => FsError::IsLink { path: entry.path.clone(), target: None },
                other => FsError::from_errno(other, &entry.path),
            })?;
        AttributeHandle::open(folder.as_fd(), &entry.path).give(wanted)
    }
}

/// Returns the attributes with the access list narrowed for the lost ownership.
pub(crate) fn narrowed(
    attributes: &FileAttributes,
    lost: crate::metadata::access_list::Lost,
) -> FileAttributes {
    let Some(list) = attributes.value(ACCESS_LIST) else { return attributes.clone() };
    match crate::metadata::access_list::narrow_list(list, lost) {
        Some(list) => attributes.clone().with_value(ACCESS_LIST, &list),
        // The kernel refuses a list in an unknown format, so it cannot grant too much.
        None => attributes.clone(),
    }
}
