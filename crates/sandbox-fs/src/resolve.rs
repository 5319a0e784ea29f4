//! Resolves paths to handles below the root, never outside of it.
//!
//! There are two steps. *Resolving by hand* goes from component to component, keeps a handle of every folder on
//! the way, reads links itself and returns the canonical path: no links, no `..`. *Opening exactly* takes such a
//! path and follows nothing. Most paths are canonical already and are opened exactly at once; the others are
//! resolved first. If a folder is replaced in between, the exact opening fails and both steps are repeated.

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

/// The number of attempts while other programs change the folders of a path.
const ATTEMPTS: usize = 64;
/// The most links in one path; the kernel's own limit.
const MAX_LINKS: usize = 40;

/// The way in which canonical paths are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResolveMethod {
    /// One `openat2` call, resolved below the root by the kernel.
    Openat2,
    /// One `openat` per component, for kernels and containers without `openat2`.
    Walker,
}

/// Writes `openat2` or `walker`, the words of reports.
impl fmt::Display for ResolveMethod {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            ResolveMethod::Openat2 => "openat2",
            ResolveMethod::Walker => "walker",
        })
    }
}

/// The kinds that the last component may have.
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
    /// True if a link was followed.
    pub(crate) through_link: bool,
    /// False if the last component, and only that, is missing.
    pub(crate) exists: bool,
}

/// Resolves paths below one folder handle.
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

    /// Opens an existing entry and returns its canonical path with it. With `O_PATH` and [`Last::Follow`] a link is
    /// opened itself; [`Resolver::open_followed`] follows it.
    pub(crate) fn open(
        &self,
        path: &RelPath,
        flags: OFlags,
        last: Last,
        links: LinkRule,
    ) -> Result<(OwnedFd, RelPath), FsError> {
        self.open_with(path, flags, last, links, |entry, _| Ok(Some(entry)))
    }

    /// Opens what `path` leads to, through links, with `O_PATH`. Returns its canonical path with it.
    pub(crate) fn open_followed(
        &self,
        path: &RelPath,
        links: LinkRule,
    ) -> Result<(OwnedFd, RelPath), FsError> {
        self.open_with(path, ANY_PATH, Last::Follow, links, |entry, _| {
            let is_link = handle::stat(&entry)?.kind == FileKind::Link;
            Ok((!is_link).then_some(entry))
        })
    }

    /// Opens what `path` leads to, through links, for reading if it is a regular file; otherwise returns its kind,
    /// and does not open it. Returns its canonical path with it.
    pub(crate) fn open_regular(
        &self,
        path: &RelPath,
        links: LinkRule,
    ) -> Result<(Result<OwnedFd, FileKind>, RelPath), FsError> {
        self.open_with(path, ANY_PATH, Last::Follow, links, |entry, canonical| {
            let kind = handle::stat(&entry)?.kind;
            if kind == FileKind::Link {
                return Ok(None);
            }
            let by_name = |flags| self.open_exact(canonical, flags);
            handle::open_regular(&entry, kind, by_name).map(Some)
        })
    }

    /// Opens an existing entry and passes it to `accept` with its canonical path.
    ///
    /// `accept` returns `None` for a link to follow: `O_PATH` with `O_NOFOLLOW` opens the link itself. Its ELOOP,
    /// ENOTDIR, ENOENT and EAGAIN mean that the entry was replaced meanwhile.
    fn open_with<T>(
        &self,
        path: &RelPath,
        flags: OFlags,
        last: Last,
        links: LinkRule,
        accept: impl Fn(OwnedFd, &RelPath) -> Result<Option<T>, Errno>,
    ) -> Result<(T, RelPath), FsError> {
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
            match self.open_exact(&canonical, flags).and_then(|entry| accept(entry, &canonical)) {
                Ok(Some(opened)) => return Ok((opened, canonical)),
                Ok(None) => needs_resolving = true,
                // Either the path goes through a link, or resolving by hand finds the precise reason.
                Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT | Errno::AGAIN) => needs_resolving = true,
                Err(other) => return Err(FsError::from_errno(other, &canonical)),
            }
        }
        Err(FsError::Busy { path: path.clone() })
    }

    /// Opens a path that has no links and no `..`; ELOOP or ENOTDIR if a component has become a link.
    pub(crate) fn open_exact(&self, canonical: &RelPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        match self.method {
            ResolveMethod::Openat2 => self.open_exact_at_once(canonical, flags),
            ResolveMethod::Walker => self.open_exact_by_steps(canonical, flags),
        }
    }

    fn open_exact_at_once(&self, canonical: &RelPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        let path = if canonical.is_root() { b"." } else { canonical.as_bytes() };
        let resolve_flags = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
        let mut attempts = 0;
        loop {
            match rustix::fs::openat2(&self.root, path, flags | ALWAYS, Mode::empty(), resolve_flags) {
                // The kernel returns EAGAIN if a concurrent rename disturbs the lookup.
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

    /// Follows links and `..` by hand and returns the canonical path.
    ///
    /// A missing last component is a result, a missing folder before it is an error. At most [`MAX_LINKS`] links
    /// are followed, so the loop ends.
    pub(crate) fn resolve(&self, path: &RelPath, last: Last, links: LinkRule) -> Result<Resolved, FsError> {
        let mut position = Position { root: self.root.as_fd(), folders: Vec::new(), path: RelPath::root() };
        let mut pending: VecDeque<Vec<u8>> = path.components().map(<[u8]>::to_vec).collect();
        let mut needs_folder = last == Last::Folder || path.names_folder();
        let mut followed = 0;
        let mut last_link = path.clone();
        while let Some(name) = pending.pop_front() {
            if name == b".." {
                // `RelPath` never climbs out by itself, so a link led above the root.
                let how = LinkEscape::ClimbsOut;
                position.up().ok_or_else(|| FsError::Escape { path: last_link.clone(), how })?;
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
            // The handle pins the entry, so the kind cannot change between this check and its use.
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
                    last_link = here;
                    // Before the remaining components, in their order: the target is relative to the link's folder.
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

/// The position of resolving by hand: a handle of every folder from below the root to here, so that `..` never
/// relies on the file system's own parent entry.
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

/// Splits a link's target into components; refuses an absolute target.
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
