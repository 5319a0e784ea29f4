//! A regular file, open for reading.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rel_path::RelPath;

use crate::content_hash::ContentHash;
use crate::error::FsError;
use crate::handle::{self, ANY_PATH, FILE_READ};
use crate::metadata::Metadata;
use crate::metadata::attributes::{Bearer, FileAttributes};
use crate::policy::HardLinks;
use crate::resolve::Last;
use crate::root::FileRoot;

/// A regular file, open for reading. Reads as a stream, too.
///
/// Once open, it stays the same file whatever happens to its name. It is never mapped into memory, so a file that
/// shrinks gives a short read and nothing worse.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    path: RelPath,
    metadata: Metadata,
}

impl FileRoot {
    /// Opens a regular file for reading, through relative links that stay inside if the policy has it so.
    ///
    /// # Errors
    ///
    /// [`FsError::NotAFile`] with the kind for anything else than a regular file, at once: nothing is waited for.
    pub fn open_file(&self, path: &RelPath) -> Result<OpenFile, FsError> {
        self.check_alive()?;
        let links = self.policy.links;
        let (handle, path) = match self.resolver.open(path, FILE_READ, Last::Follow, links) {
            Ok(opened) => opened,
            // A socket or a device without driver cannot be opened at all. What it is says more than the errno.
            Err(error @ (FsError::Io { .. } | FsError::Busy { .. })) => {
                let (handle, path) = self.resolver.open(path, ANY_PATH, Last::Follow, links)?;
                let metadata = stat(&handle, &path)?;
                require_file(&metadata, &path)?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        OpenFile::from_handle(handle, path, self.policy.hard_links)
    }
}

impl OpenFile {
    /// Takes a file that is open for reading already; `path` is what it is called by.
    ///
    /// # Errors
    ///
    /// [`FsError::NotAFile`] for anything else than a regular file.
    pub fn from_file(file: File, path: RelPath) -> Result<OpenFile, FsError> {
        OpenFile::from_handle(file.into(), path, HardLinks::Replace)
    }

    pub(crate) fn from_handle(
        handle: OwnedFd,
        path: RelPath,
        hard_links: HardLinks,
    ) -> Result<OpenFile, FsError> {
        let metadata = stat(&handle, &path)?;
        require_file(&metadata, &path)?;
        if hard_links == HardLinks::Refuse && metadata.links > 1 {
            return Err(FsError::HardLinked { path, links: metadata.links });
        }
        Ok(OpenFile { file: File::from(handle), path, metadata })
    }

    /// The canonical path: without links and `..`.
    pub fn path(&self) -> &RelPath {
        &self.path
    }

    /// What was known about the file when it was opened.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Whether the file is mounted where it is, so that it is another one's, too, and changes there.
    pub fn is_mounted(&self) -> bool {
        crate::walk::is_mount_root(&self.file)
    }

    /// The extended attributes that the file has now, without those that belong to its content alone.
    ///
    /// # Errors
    ///
    /// [`FsError::TooManyAttributes`] and [`FsError::AttributeNotKept`].
    pub fn attributes(&self) -> Result<FileAttributes, FsError> {
        Bearer::open(self.file.as_fd(), &self.path).read()
    }

    /// What is known about the file now, for telling whether it changed while it was read.
    ///
    /// # Errors
    ///
    /// [`FsError::Io`].
    pub fn metadata_now(&self) -> Result<Metadata, FsError> {
        stat(&self.file, &self.path)
    }

    /// Reads the whole file from its beginning, however far it has been read as a stream.
    ///
    /// # Errors
    ///
    /// [`FsError::TooLarge`] if there are more than `limit_bytes`, before anything is read where the size says so,
    /// and when a file that grows passes the limit.
    pub fn read_to_end(&self, limit_bytes: u64) -> Result<Vec<u8>, FsError> {
        let too_large = |bytes| FsError::TooLarge { path: self.path.clone(), bytes, limit_bytes };
        if self.metadata.size_bytes > limit_bytes {
            return Err(too_large(self.metadata.size_bytes));
        }
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
        let mut content = Vec::new();
        // The size is a hint: a file of a pseudo file system has none, and a sparse one may not fit.
        let hint = self.metadata.size_bytes.saturating_sub(offset).min(length_bytes).min(16 << 20);
        content.reserve_exact(usize::try_from(hint).expect("16 MiB fit any address space") + 1);
        let mut from_offset = RangeReader { file: &self.file, offset }.take(length_bytes);
        from_offset.read_to_end(&mut content).map_err(|error| FsError::from_io(&error, &self.path))?;
        Ok(content)
    }

    /// The hash of the whole file, read in pieces.
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

/// Reads a file from its own position, so that the stream position of the handle stays what it is.
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
