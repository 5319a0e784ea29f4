//! The root: one folder, held open.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rel_path::RelPath;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::error::{FsError, ReadOnlyReason};
use crate::handle::{self, ANY_PATH, FOLDER_PATH};
use crate::metadata::Metadata;
use crate::policy::FsPolicy;
use crate::resolve::{Last, ResolveMethod, Resolver};
use crate::root_rules::{RootError, RootRules};

/// A folder held open, and the files below it.
///
/// The handle follows the folder when it is moved. Once the folder is deleted, or another one has its path, every
/// operation returns [`FsError::RootGone`]. Threads may share a root.
#[derive(Debug)]
pub struct FileRoot {
    pub(crate) resolver: Resolver,
    pub(crate) policy: FsPolicy,
    origin: Option<Origin>,
}

/// The path at which a root was opened.
#[derive(Debug)]
struct Origin {
    canonical: PathBuf,
    spellings: Vec<Vec<u8>>,
    opened: Metadata,
}

impl FileRoot {
    /// Opens the folder at `path`, which may itself be a link.
    ///
    /// # Errors
    ///
    /// The folder is refused by `rules`, or cannot be opened.
    pub fn open(path: &Path, rules: &RootRules, policy: FsPolicy) -> Result<FileRoot, RootError> {
        FileRoot::open_inner(path, rules, policy, None)
    }

    /// Opens with the given resolve method, without probing the system.
    ///
    /// # Errors
    ///
    /// As [`FileRoot::open`]. Later operations fail if the system lacks the method.
    pub fn open_with_method(
        path: &Path,
        rules: &RootRules,
        policy: FsPolicy,
        method: ResolveMethod,
    ) -> Result<FileRoot, RootError> {
        FileRoot::open_inner(path, rules, policy, Some(method))
    }

    fn open_inner(
        path: &Path,
        rules: &RootRules,
        policy: FsPolicy,
        method: Option<ResolveMethod>,
    ) -> Result<FileRoot, RootError> {
        // The rules must see the target, so links are resolved first. The open below does not follow a link that takes the
        // folder's place meanwhile.
        let canonical = std::fs::canonicalize(path)?;
        rules.check(&canonical)?;
        let flags = FOLDER_PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let handle = rustix::fs::open(&canonical, flags, Mode::empty()).map_err(|errno| match errno {
            rustix::io::Errno::NOTDIR => RootError::NotAFolder,
            other => RootError::Io(other.into()),
        })?;
        let opened = handle::stat(&handle).map_err(std::io::Error::from)?;
        let given = std::path::absolute(path)?;
        // Callers may use absolute paths, in the user's spelling or in the canonical one.
        let spellings =
            vec![given.as_os_str().as_bytes().to_vec(), canonical.as_os_str().as_bytes().to_vec()];
        let resolver = match method {
            Some(method) => Resolver::with_method(handle, method),
            None => Resolver::new(handle),
        };
        Ok(FileRoot { resolver, policy, origin: Some(Origin { canonical, spellings, opened }) })
    }

    /// Wraps a folder that is already open; `O_PATH` is enough.
    ///
    /// Such a root has no path of its own, so it accepts no absolute path.
    ///
    /// # Errors
    ///
    /// [`RootError::NotAFolder`] if the handle is not a folder's.
    pub fn from_handle(handle: OwnedFd, policy: FsPolicy) -> Result<FileRoot, RootError> {
        let metadata = handle::stat(&handle).map_err(std::io::Error::from)?;
        if !metadata.is_folder() {
            return Err(RootError::NotAFolder);
        }
        Ok(FileRoot { resolver: Resolver::new(handle), policy, origin: None })
    }

    /// Opens a folder below this one as a separate root with the same resolve method. No link is followed to it.
    ///
    /// # Errors
    ///
    /// Those of finding the folder.
    pub fn subfolder(&self, path: &RelPath, policy: FsPolicy) -> Result<FileRoot, FsError> {
        self.check_alive()?;
        let links = crate::policy::LinkRule::Refuse;
        let (handle, _) = self.resolver.open(path, FOLDER_PATH, Last::Folder, links)?;
        Ok(FileRoot { resolver: Resolver::with_method(handle, self.method()), policy, origin: None })
    }

    /// Returns the folder's path at the time of opening, without links; `None` for a root made from a handle.
    ///
    /// For the program itself; must not appear in a text that a model reads.
    pub fn path(&self) -> Option<&Path> {
        self.origin.as_ref().map(|origin| origin.canonical.as_path())
    }

    /// Returns the handle of the folder, opened with `O_PATH` or better.
    pub fn handle(&self) -> BorrowedFd<'_> {
        self.resolver.root()
    }

    /// Returns the resolve method.
    pub fn method(&self) -> ResolveMethod {
        self.resolver.method()
    }

    /// Returns the policy.
    pub fn policy(&self) -> &FsPolicy {
        &self.policy
    }

    /// Parses a path for this root: relative, or absolute and beginning with the root as it was given or with its
    /// canonical form.
    ///
    /// # Errors
    ///
    /// [`FsError::Path`].
    pub fn parse_path(&self, text: &str) -> Result<RelPath, FsError> {
        let spellings: Vec<&[u8]> =
            self.origin.iter().flat_map(|origin| origin.spellings.iter().map(Vec::as_slice)).collect();
        Ok(RelPath::parse_beneath(text, &spellings)?)
    }

    /// Parses like [`FileRoot::parse_path`], and takes an empty text as the root. For listings and start folders.
    ///
    /// # Errors
    ///
    /// [`FsError::Path`].
    pub fn parse_folder_path(&self, text: &str) -> Result<RelPath, FsError> {
        if text.is_empty() { Ok(RelPath::root()) } else { self.parse_path(text) }
    }

    /// Reads the metadata of `path`; for a link that of the link itself.
    ///
    /// # Errors
    ///
    /// [`FsError::NotFound`], and those of resolving the folders on the way.
    pub fn metadata(&self, path: &RelPath) -> Result<Metadata, FsError> {
        self.check_alive()?;
        let (handle, canonical) = self.resolver.open(path, ANY_PATH, Last::Keep, self.policy.links)?;
        handle::stat(&handle).map_err(|errno| FsError::from_errno(errno, &canonical))
    }

    /// Returns the canonical path of an existing entry: without links and `..`.
    ///
    /// # Errors
    ///
    /// [`FsError::NotFound`], and those of resolving.
    pub fn canonical_path(&self, path: &RelPath) -> Result<RelPath, FsError> {
        self.check_alive()?;
        let (_, canonical) = self.resolver.open_followed(path, self.policy.links)?;
        Ok(canonical)
    }

    /// Checks that the folder still exists and was not replaced.
    ///
    /// # Errors
    ///
    /// [`FsError::RootGone`]; [`FsError::Io`] and the like if the system cannot look at it.
    pub fn check_alive(&self) -> Result<(), FsError> {
        let held = handle::stat(self.resolver.root()).map_err(|errno| match errno {
            // File systems of the network say so of a folder that was deleted elsewhere.
            Errno::NOENT | Errno::STALE => FsError::RootGone { replaced: false },
            other => FsError::from_errno(other, &RelPath::default()),
        })?;
        let at_origin = self.origin.as_ref().and_then(|origin| rustix::fs::stat(&origin.canonical).ok());
        let replaced = match (&self.origin, at_origin) {
            (Some(origin), Some(stat)) => !Metadata::from_stat(&stat).is_same_object(&origin.opened),
            // Nothing has the old path: the folder was moved, which is fine, or deleted, which its link count
            // shows.
            _ => false,
        };
        if replaced || held.links == 0 { Err(FsError::RootGone { replaced }) } else { Ok(()) }
    }

    /// Runs the checks that come before every change.
    pub(crate) fn check_writable(&self, path: &RelPath) -> Result<(), FsError> {
        if self.policy.read_only {
            return Err(FsError::ReadOnly { path: path.clone(), reason: ReadOnlyReason::Policy });
        }
        self.check_alive()
    }
}

impl AsFd for FileRoot {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle()
    }
}
