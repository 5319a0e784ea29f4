//! The extended attributes of a file or folder: access control lists, labels, and what users and programs attach.
//!
//! A new version of a file is a new file, so that whatever hangs on the old one has to be carried over. What cannot be
//! carried refuses the change: nothing is dropped without a word, and no access is widened.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rel_path::RelPath;
use rustix::fs::XattrFlags;
use rustix::io::Errno;

use crate::change::place::Place;
use crate::error::FsError;
use crate::handle::{self, ANY_PATH, FILE_READ, FOLDER_LIST};
use crate::metadata::FileKind;
use crate::metadata::access_list::ACCESS_LIST;
use crate::resolve::Last;
use crate::root::FileRoot;

/// The longest list of names, and the longest value, that Linux gives.
const KERNEL_LIMIT_BYTES: usize = 65_536;

/// What the names of nearly every file fit into.
const USUAL_BYTES: usize = 512;

/// Attributes that say something about one content, or that are the notes of an overlay: no other file has them.
const OWN_NAMES: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];
const OWN_FAMILIES: [&[u8]; 2] = [b"user.overlay.", b"trusted.overlay."];

/// Marks the form of [`FileAttributes::to_bytes`].
const FORM: u8 = 1;

/// The extended attributes of a file or folder that a new version of it has, too.
///
/// Access control lists (`system.posix_acl_access`, `system.posix_acl_default`) and labels (`security.selinux`) are among
/// them. Left out are `security.capability`, `security.ima` and `security.evm`, which belong to one content, and the notes
/// of an overlay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileAttributes {
    values: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl FileAttributes {
    /// The most bytes that the names and values of one file may have together: 256 KiB. A file with more is not changed.
    pub const LIMIT_BYTES: usize = 256 * 1024;

    /// Reads those of an open file or folder, which errors call `path`.
    ///
    /// # Errors
    ///
    /// [`FsError::TooManyAttributes`], and [`FsError::AttributeNotKept`] for one that may not be read.
    pub fn of_open(handle: impl AsFd, path: &RelPath) -> Result<FileAttributes, FsError> {
        Bearer::open(handle.as_fd(), path).read()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value of an attribute.
    #[must_use]
    pub fn value(&self, name: &[u8]) -> Option<&[u8]> {
        self.values.get(name).map(Vec::as_slice)
    }

    /// The same attributes with another value of one.
    #[must_use]
    pub fn with_value(mut self, name: &[u8], value: &[u8]) -> FileAttributes {
        self.values.insert(name.to_vec(), value.to_vec());
        self
    }

    /// Writes the attributes as bytes that [`FileAttributes::from_bytes`] reads, the same for the same attributes.
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

    /// Reads what [`FileAttributes::to_bytes`] has written; `None` if it has not.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<FileAttributes> {
        let mut rest = bytes.strip_prefix(&[FORM])?;
        let mut values = BTreeMap::new();
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

/// Something whose attributes are read or written.
pub(crate) struct Bearer<'a> {
    handle: BorrowedFd<'a>,
    /// Whether the handle is for resolving only, so that it is named by the system's own link to it.
    by_name: bool,
    path: &'a RelPath,
}

impl<'a> Bearer<'a> {
    /// A file or folder that is open for reading or writing.
    pub(crate) fn open(handle: BorrowedFd<'a>, path: &'a RelPath) -> Bearer<'a> {
        Bearer { handle, by_name: false, path }
    }

    fn name(&self) -> String {
        format!("/proc/self/fd/{}", self.handle.as_raw_fd())
    }

    /// Reads all attributes but those that belong to this file alone.
    pub(crate) fn read(&self) -> Result<FileAttributes, FsError> {
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
                // Some file systems list what they do not give, and others may remove one meanwhile.
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

    /// Gives it these attributes. An access list that it has got from its folder and that is not among them goes.
    ///
    /// The access list comes last, so that nothing else is refused after it has given access to others.
    pub(crate) fn give(&self, wanted: &FileAttributes) -> Result<(), FsError> {
        let has = self.read()?;
        for list in crate::metadata::access_list::LISTS {
            if has.value(list).is_some() && wanted.value(list).is_none() {
                self.remove(list).map_err(|_| self.refused(list))?;
            }
        }
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

impl Place {
    /// The attributes of what has the name: a regular file or a folder. Anything else has none that are kept.
    pub(crate) fn attributes(&self, kind: FileKind) -> Result<FileAttributes, FsError> {
        let flags = match kind {
            FileKind::File => FILE_READ,
            FileKind::Folder => FOLDER_LIST,
            _ => return Ok(FileAttributes::default()),
        };
        let handle = match handle::open_at(&self.folder, &self.name, flags) {
            // What may not be read may have attributes all the same.
            Err(Errno::ACCESS | Errno::PERM) => {
                handle::open_at(&self.folder, &self.name, ANY_PATH).map(|handle| (handle, true))
            }
            other => other.map(|handle| (handle, false)),
        };
        let (handle, by_name) = handle.map_err(|errno| match errno {
            Errno::LOOP | Errno::NXIO | Errno::NODEV | Errno::NOENT | Errno::NOTDIR => {
                FsError::Changed { path: self.path.clone() }
            }
            other => self.error(other),
        })?;
        Bearer { handle: handle.as_fd(), by_name, path: &self.path }.read()
    }
}

impl FileRoot {
    /// The extended attributes of the regular file or folder `path`, without those that belong to its content alone. Links
    /// and special files have none that are kept.
    ///
    /// # Errors
    ///
    /// [`FsError::NotFound`], [`FsError::TooManyAttributes`], and [`FsError::AttributeNotKept`] for one that may not be read.
    pub fn attributes(&self, path: &RelPath) -> Result<FileAttributes, FsError> {
        let (handle, path) = self.resolver.open(path, ANY_PATH, Last::Keep, self.policy.links)?;
        let kind = handle::stat(&handle).map_err(|errno| FsError::from_errno(errno, &path))?.kind;
        if !matches!(kind, FileKind::File | FileKind::Folder) {
            return Ok(FileAttributes::default());
        }
        let by_name = Bearer { handle: handle.as_fd(), by_name: true, path: &path };
        if kind == FileKind::Folder
            && let Ok(folder) = handle::reopen_folder(&handle)
        {
            return Bearer::open(folder.as_fd(), &path).read();
        }
        by_name.read()
    }

    /// Gives the folder `path` these attributes. An access list that it has and that is not among them goes.
    ///
    /// # Errors
    ///
    /// [`FsError::AttributeNotKept`], [`FsError::NotAFolder`], [`FsError::NotFound`], and those of every change.
    pub fn set_folder_attributes(&self, path: &RelPath, wanted: &FileAttributes) -> Result<(), FsError> {
        let place = self.place(path)?;
        let folder =
            handle::open_at(&place.folder, &place.name, FOLDER_LIST).map_err(|errno| match errno {
                Errno::NOENT => FsError::NotFound { path: place.path.clone() },
                Errno::NOTDIR => FsError::NotAFolder { path: place.path.clone() },
                Errno::LOOP => FsError::IsLink { path: place.path.clone(), target: None },
                other => FsError::from_errno(other, &place.path),
            })?;
        Bearer::open(folder.as_fd(), &place.path).give(wanted)
    }
}

/// What a new version may not keep narrows it, see [`crate::metadata::access_list::narrow_list`].
pub(crate) fn narrowed(
    attributes: &FileAttributes,
    lost: crate::metadata::access_list::Lost,
) -> FileAttributes {
    let Some(list) = attributes.value(ACCESS_LIST) else { return attributes.clone() };
    match crate::metadata::access_list::narrow_list(list, lost) {
        Some(list) => attributes.clone().with_value(ACCESS_LIST, &list),
        None => attributes.clone(),
    }
}
