//! From a path to a handle, beneath the root and nowhere else.
//!
//! There are two steps. *Resolving by hand* goes from component to component, keeps a handle of every folder on
//! the way, reads links itself and gives the canonical path: no links, no `..`. *Opening exactly* takes such a path
//! and refuses to follow anything. An ordinary path is canonical already, so it is opened exactly at once; the rest
//! is resolved first. Whatever is swapped in between makes the exact opening fail, and both steps are repeated.

use std::collections::VecDeque;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rel_path::{PathError, RelPath};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::error::{FsError, LinkEscape};
use crate::handle::{self, ALWAYS, ANY_PATH, FOLDER_PATH};
use crate::metadata::FileKind;
use crate::policy::LinkRule;

/// How often an opening that others disturb is tried again.
const ATTEMPTS: usize = 64;
/// How many links one path may go through; the kernel's own limit.
const MAX_LINKS: usize = 40;

/// How canonical paths are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResolveMethod {
    /// One `openat2` call, resolved beneath the root by the kernel.
    Openat2,
    /// One `openat` per component, for kernels and containers without `openat2`.
    Walker,
}

/// `openat2` or `walker`, as reports say it.
impl fmt::Display for ResolveMethod {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            ResolveMethod::Openat2 => "openat2",
            ResolveMethod::Walker => "walker",
        })
    }
}

/// What the last component may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    /// Anything; a link is followed.
    Follow,
    /// A folder; a link is followed.
    Folder,
    /// Anything; a link stays a link.
    Keep,
}

/// A path without links and `..`.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) path: RelPath,
    /// Whether a link was followed on the way.
    pub(crate) through_link: bool,
    /// Whether there is anything. If not, only the last component is missing.
    pub(crate) exists: bool,
}

/// Resolves paths beneath one folder handle.
#[derive(Debug)]
pub(crate) struct Resolver {
    root: OwnedFd,
    method: ResolveMethod,
}

impl Resolver {
    /// Uses `openat2` if this kernel and container have it.
    pub(crate) fn new(root: OwnedFd) -> Resolver {
        let mut resolver = Resolver { root, method: ResolveMethod::Openat2 };
        let probe = resolver.open_exact(&RelPath::root(), FOLDER_PATH);
        // ENOSYS comes from old kernels, EPERM from the filters of some containers.
        if matches!(probe, Err(Errno::NOSYS | Errno::PERM)) {
            resolver.method = ResolveMethod::Walker;
        }
        resolver
    }

    pub(crate) fn with_method(root: OwnedFd, method: ResolveMethod) -> Resolver {
        Resolver { root, method }
    }

    pub(crate) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    pub(crate) fn method(&self) -> ResolveMethod {
        self.method
    }

    /// Opens an existing thing and says its canonical path.
    pub(crate) fn open(
        &self,
        path: &RelPath,
        flags: OFlags,
        last: Last,
        links: LinkRule,
    ) -> Result<(OwnedFd, RelPath), FsError> {
        let mut canonical = path.clone();
        let mut needs_resolving = path.has_parent_steps() || path.names_folder();
        for _ in 0..ATTEMPTS {
            if needs_resolving {
                let resolved = self.resolve(path, last, links)?;
                if !resolved.exists {
                    return Err(FsError::NotFound { path: resolved.path });
                }
                canonical = resolved.path;
            }
            match self.open_exact(&canonical, flags) {
                Ok(fd) => return Ok((fd, canonical)),
                // Either a link is on the way, or the precise reason is found by hand.
                Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT | Errno::AGAIN) => needs_resolving = true,
                Err(other) => return Err(FsError::from_errno(other, &canonical)),
            }
        }
        Err(FsError::Busy { path: path.clone() })
    }

    /// Opens a path that has no links and no `..`; ELOOP or ENOTDIR if a link has come in.
    pub(crate) fn open_exact(&self, canonical: &RelPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        match self.method {
            ResolveMethod::Openat2 => self.open_exact_at_once(canonical, flags),
            ResolveMethod::Walker => self.open_exact_by_steps(canonical, flags),
        }
    }

    fn open_exact_at_once(&self, canonical: &RelPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = if canonical.is_root() { b"." } else { canonical.as_bytes() };
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
        let mut attempts = 0;
        loop {
            match rustix::fs::openat2(&self.root, path, flags | ALWAYS, Mode::empty(), beneath) {
                Err(Errno::AGAIN | Errno::INTR) if attempts < ATTEMPTS => attempts += 1,
                result => return result,
            }
        }
    }

    fn open_exact_by_steps(&self, canonical: &RelPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        let mut folder: Option<OwnedFd> = None;
        let mut names = canonical.components().peekable();
        loop {
            let held = folder.as_ref().map_or(self.root.as_fd(), AsFd::as_fd);
            let Some(name) = names.next() else { return handle::open_at(held, b".", flags) };
            if names.peek().is_none() {
                return handle::open_at(held, name, flags);
            }
            folder = Some(handle::open_at(held, name, FOLDER_PATH)?);
        }
    }

    /// Follows links and `..` by hand and gives the canonical path.
    ///
    /// A missing last component is an answer, a missing folder on the way is an error.
    pub(crate) fn resolve(&self, path: &RelPath, last: Last, links: LinkRule) -> Result<Resolved, FsError> {
        let mut position = Position { root: self.root.as_fd(), folders: Vec::new(), path: RelPath::root() };
        let mut pending: VecDeque<Vec<u8>> = path.components().map(<[u8]>::to_vec).collect();
        let mut needs_folder = last == Last::Folder || path.names_folder();
        let mut followed = 0;
        while let Some(name) = pending.pop_front() {
            if name == b".." {
                // The path on paper stays inside, so only a link can have asked for this.
                position
                    .up()
                    .ok_or_else(|| FsError::Escape { path: path.clone(), how: LinkEscape::ClimbsOut })?;
                continue;
            }
            let here = position.path.child(&name)?;
            let entry = match handle::open_at(position.folder(), &name, ANY_PATH) {
                Ok(entry) => entry,
                Err(Errno::NOENT) if pending.is_empty() => {
                    return Ok(Resolved { path: here, through_link: followed > 0, exists: false });
                }
                Err(Errno::NOENT) => return Err(FsError::ParentMissing { folder: here }),
                Err(other) => return Err(FsError::from_errno(other, &here)),
            };
            let kind = handle::stat(&entry).map_err(|errno| FsError::from_errno(errno, &here))?.kind;
            let is_last = pending.is_empty();
            match kind {
                FileKind::Link if is_last && last == Last::Keep && !needs_folder => {
                    return Ok(Resolved { path: here, through_link: followed > 0, exists: true });
                }
                FileKind::Link => {
                    if links == LinkRule::Refuse {
                        return Err(FsError::IsLink { path: here, target: None });
                    }
                    followed += 1;
                    if followed > MAX_LINKS {
                        return Err(FsError::LinkLoop { path: path.clone() });
                    }
                    let target =
                        handle::link_target(&entry).map_err(|errno| FsError::from_errno(errno, &here))?;
                    let steps = link_steps(&target, &here)?;
                    needs_folder |= is_last && names_folder(&target);
                    for step in steps.into_iter().rev() {
                        pending.push_front(step);
                    }
                }
                FileKind::Folder => position.down(entry, here),
                _ if is_last && !needs_folder => {
                    return Ok(Resolved { path: here, through_link: followed > 0, exists: true });
                }
                _ => return Err(FsError::NotAFolder { path: here }),
            }
        }
        Ok(Resolved { path: position.path, through_link: followed > 0, exists: true })
    }
}

/// Where resolving by hand has come to: a handle of every folder from below the root to here, so that `..` needs no
/// trust in what the file system says is above.
struct Position<'a> {
    root: BorrowedFd<'a>,
    folders: Vec<OwnedFd>,
    path: RelPath,
}

impl Position<'_> {
    fn folder(&self) -> BorrowedFd<'_> {
        self.folders.last().map_or(self.root, AsFd::as_fd)
    }

    fn down(&mut self, folder: OwnedFd, path: RelPath) {
        self.folders.push(folder);
        self.path = path;
    }

    fn up(&mut self) -> Option<()> {
        self.path = self.path.parent()?;
        self.folders.pop();
        Some(())
    }
}

/// The components of a link's target; only relative links have any meaning here.
fn link_steps(target: &[u8], link: &RelPath) -> Result<Vec<Vec<u8>>, FsError> {
    match target.first() {
        Some(b'/') => Err(FsError::Escape { path: link.clone(), how: LinkEscape::Absolute }),
        None => Err(FsError::Path(PathError::Empty)),
        Some(_) => Ok(target
            .split(|byte| *byte == b'/')
            .filter(|part| !matches!(*part, b"" | b"."))
            .map(<[u8]>::to_vec)
            .collect()),
    }
}

fn names_folder(target: &[u8]) -> bool {
    matches!(target.rsplit(|byte| *byte == b'/').next(), Some(b"" | b"." | b".."))
}
