//! A regular file, open for reading.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rel_path::RelPath;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;

use crate::error::FsError;
use crate::handle;
use crate::metadata::Metadata;
use crate::metadata::attributes::{AttributeHandle, FileAttributes};
use crate::policy::HardLinks;
use crate::root::FileRoot;
use content_hash::ContentHash;

/// The bytes by which a buffer grows at least, where the size of the file was not known.
const GROWTH_BYTES: usize = 64 * 1024;

/// The numbers of file systems on disks and in memory of this machine: ext2 to ext4, XFS, Btrfs, F2FS, ZFS, bcachefs, tmpfs,
/// ramfs, and layers over these.
const LOCAL_FILE_SYSTEMS: [u64; 9] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0xf2f5_2010,
    0x2fc1_2fc1,
    0xca45_1a4e,
    0x0102_1994,
    0x8584_58f6,
    0x794c_7630,
];

/// A regular file, open for reading. Implements [`Read`].
///
/// It stays the same file whatever happens to its name. It is never mapped into memory, so a file that shrinks
/// meanwhile gives a short read instead of a signal.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    path: RelPath,
    metadata: Metadata,
}

impl FileRoot {
    /// Opens a regular file for reading, through relative links that stay inside if the policy allows it.
    ///
    /// # Errors
    ///
    /// [`FsError::NotAFile`] with the kind for anything but a regular file, which is not opened.
    pub fn open_file(&self, path: &RelPath) -> Result<OpenFile, FsError> {
        self.check_alive()?;
        let (opened, path) = self.resolver.open_regular(path, self.policy.links)?;
        let handle = opened.map_err(|kind| FsError::NotAFile { path: path.clone(), kind })?;
        OpenFile::from_handle(handle, path, self.policy.hard_links)
    }
}

impl OpenFile {
    /// Wraps a file that is already open for reading; errors name it `path`.
    ///
    /// # Errors
    ///
    /// [`FsError::NotAFile`] for anything but a regular file.
    pub fn from_file(file: File, path: RelPath) -> Result<OpenFile, FsError> {
        OpenFile::from_handle(file.into(), path, HardLinks::Replace)
    }

    pub(crate) fn from_handle(
        handle: OwnedFd,
        path: RelPath,
        hard_links: HardLinks,
    ) -> Result<OpenFile, FsError> {
        // The open file is checked and not its name, which may lead elsewhere by now.
        let metadata = stat(&handle, &path)?;
        require_file(&metadata, &path)?;
        if hard_links == HardLinks::Refuse && metadata.links > 1 {
            return Err(FsError::HardLinked { path, links: metadata.links });
        }
        Ok(OpenFile { file: File::from(handle), path, metadata })
    }

    /// Returns true if the times of the file are known to come from the clock of this machine, in ticks of a few milliseconds.
    ///
    /// Those of a share are another machine's, and some file systems round them down by seconds: neither can be compared
    /// with a moment of this machine.
    pub fn has_local_times(&self) -> bool {
        rustix::fs::fstatfs(&self.file).is_ok_and(|system| {
            let kind = u64::try_from(system.f_type).unwrap_or(0);
            LOCAL_FILE_SYSTEMS.contains(&(kind & 0xffff_ffff))
        })
    }

    /// Returns the canonical path: without links and `..`.
    pub fn path(&self) -> &RelPath {
        &self.path
    }

    /// Returns the metadata at the time of opening.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns true if the file is a mount point (a bind mount), so that it also exists, and changes, elsewhere.
    pub fn is_mounted(&self) -> bool {
        crate::walk::is_mount_root(&self.file)
    }

    /// Reads the file's current extended attributes that carry over to a new version.
    ///
    /// # Errors
    ///
    /// [`FsError::TooManyAttributes`] and [`FsError::AttributeNotKept`].
    pub fn attributes(&self) -> Result<FileAttributes, FsError> {
        AttributeHandle::open(self.file.as_fd(), &self.path).read()
    }

    /// Reads the current metadata, to detect a change during a read.
    ///
    /// # Errors
    ///
    /// [`FsError::Io`].
    pub fn metadata_now(&self) -> Result<Metadata, FsError> {
        stat(&self.file, &self.path)
    }

    /// Reads the whole file from its beginning, independent of the stream position.
    ///
    /// # Errors
    ///
    /// [`FsError::TooLarge`] if the size exceeds `limit_bytes` (nothing is read then), or if the file grows past
    /// the limit while it is read.
    pub fn read_to_end(&self, limit_bytes: u64) -> Result<Vec<u8>, FsError> {
        let too_large = |bytes| FsError::TooLarge { path: self.path.clone(), bytes, limit_bytes };
        if self.metadata.size_bytes > limit_bytes {
            return Err(too_large(self.metadata.size_bytes));
        }
        // One byte more than allowed, because the file may have grown since it was opened.
        let content = self.read_range(0, limit_bytes.saturating_add(1))?;
        let length = content.len() as u64;
        if length > limit_bytes { Err(too_large(length)) } else { Ok(content) }
    }

    /// Reads up to `length_bytes` from the byte `offset` (0-based) on; less only where the file ends.
    ///
    /// # Errors
    ///
    /// [`FsError::Io`].
    pub fn read_range(&self, offset: u64, length_bytes: u64) -> Result<Vec<u8>, FsError> {
        // The size is a hint: a file of a pseudo file system has none, and a sparse one may not fit.
        let hint = self.metadata.size_bytes.saturating_sub(offset).min(length_bytes).min(16 << 20);
        let mut content = Vec::new();
        content.reserve_exact(usize::try_from(hint).expect("16 MiB fit any address space") + 1);
        while (content.len() as u64) < length_bytes {
            if content.len() == content.capacity() {
                content.reserve(GROWTH_BYTES);
            }
            let at = offset.saturating_add(content.len() as u64);
            // Into memory that was not filled with zeros before, as a slice would have to be.
            match rustix::io::pread(&self.file, spare_capacity(&mut content), at) {
                Ok(0) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(FsError::from_errno(errno, &self.path)),
            }
        }
        content.truncate(usize::try_from(length_bytes).unwrap_or(usize::MAX));
        Ok(content)
    }

    /// Hashes the whole file in pieces, independent of the stream position.
    ///
    /// # Errors
    ///
    /// [`FsError::Io`].
    pub fn content_hash(&self) -> Result<ContentHash, FsError> {
        ContentHash::of_reader(RangeReader { file: &self.file, offset: 0 })
            .map_err(|error| FsError::from_io(&error, &self.path))
    }
}

impl Read for OpenFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

/// Reads a file at its own offset, so that the handle's stream position does not move.
struct RangeReader<'a> {
    file: &'a File,
    offset: u64,
}

impl Read for RangeReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

fn stat(handle: impl std::os::fd::AsFd, path: &RelPath) -> Result<Metadata, FsError> {
    handle::stat(handle).map_err(|errno| FsError::from_errno(errno, path))
}

fn require_file(metadata: &Metadata, path: &RelPath) -> Result<(), FsError> {
    if metadata.is_file() {
        Ok(())
    } else {
        Err(FsError::NotAFile { path: path.clone(), kind: metadata.kind })
    }
}
