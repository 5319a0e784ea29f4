//! Lists the entries below a folder.
//!
//! Iterative, handle-based and bounded. Opens folders only, and enters no link and no other mount.

use std::cmp::Ordering;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rel_path::{MAX_COMPONENTS, RelPath};
use rustix::fs::{AtFlags, Mode, RawDir, ResolveFlags, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use crate::change::temp_name::is_temp_name;
use crate::error::FsError;
use crate::handle::{self, ALWAYS, FOLDER_LIST};
use crate::metadata::{FileKind, Metadata};
use crate::resolve::{Last, ResolveMethod};
use crate::root::FileRoot;

/// The number of names in one folder between two checks of the clock.
const CLOCK_EVERY: u64 = 256;

/// The limits of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkLimits {
    /// The number of levels listed below the start folder; 1 for the folder's own entries.
    pub depth: usize,
    /// The most entries to read, including those that the visitor leaves out.
    pub entries: u64,
    /// The time limit.
    pub timeout: Duration,
}

/// The greatest depth of a path, a million entries, 30 seconds.
impl Default for WalkLimits {
    fn default() -> WalkLimits {
        WalkLimits { depth: MAX_COMPONENTS, entries: 1_000_000, timeout: Duration::from_secs(30) }
    }
}

/// A visitor's decision about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Yields the entry and the entries below it.
    Take,
    /// Yields the entry only.
    TakeOnly,
    /// Yields the entries below it only.
    Pass,
    /// Yields neither.
    Skip,
}

/// An entry of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkEntry {
    /// Its canonical path.
    pub path: RelPath,
    /// The kind; a link is not followed.
    pub kind: FileKind,
    /// The depth below the start folder; 1 for the folder's own entries.
    pub depth: usize,
    /// The number of entries before it in its folder that were not skipped, or before a folder on the way to it in that
    /// one's folder, whichever is most; [`rel_path::Shortlist`] takes it.
    pub position: usize,
    /// The metadata, if [`Walk::with_metadata`] was called and the entry still existed.
    pub metadata: Option<Metadata>,
}

/// The entries that a walk left out, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkSummary {
    /// The number of entries read.
    pub entries: u64,
    /// Folders that could not be read completely.
    pub unreadable: u64,
    /// Folders that were not entered because they are mount points.
    pub mounts: u64,
    /// Folders that were not entered because of [`WalkLimits::depth`].
    pub too_deep: u64,
    /// Entries whose path would be too long, and folders that were not entered because every path in them would be.
    pub unnameable: u64,
    /// True if the walk ended early because of [`WalkLimits::entries`].
    pub out_of_entries: bool,
    /// True if the walk ended early because of [`WalkLimits::timeout`].
    pub out_of_time: bool,
}

type Visitor<'a> = Box<dyn FnMut(&WalkEntry) -> Visit + Send + 'a>;

/// The entries below a folder, ordered by the bytes of their whole paths.
pub struct Walk<'a> {
    method: ResolveMethod,
    limits: WalkLimits,
    deadline: Option<Instant>,
    visitor: Option<Visitor<'a>>,
    with_metadata: bool,
    start: RelPath,
    levels: Vec<Level>,
    summary: WalkSummary,
}

/// A folder that is being listed.
struct Level {
    folder: OwnedFd,
    path: RelPath,
    device: u64,
    /// The position of the folder.
    position: usize,
    /// The entries so far that were not skipped.
    visited: usize,
    /// The remaining steps, the next one last.
    steps: Vec<Step>,
}

struct Step {
    name: Vec<u8>,
    kind: FileKind,
    /// True for entering the folder. Such a step sorts like the name with a trailing slash, so that `a`, `a-b`,
    /// `a/x` come in that order.
    enter: bool,
    /// The position of the folder that is entered.
    position: usize,
}

impl FileRoot {
    /// Walks the folder `start` in the order of path bytes. The start folder itself is not listed.
    ///
    /// # Errors
    ///
    /// Those of opening the start folder, which may be reached through links that stay inside. Later failures are
    /// counted in the [`WalkSummary`].
    pub fn walk(&self, start: &RelPath, limits: WalkLimits) -> Result<Walk<'_>, FsError> {
        self.check_alive()?;
        let (folder, start) = self.resolver.open(start, FOLDER_LIST, Last::Folder, self.policy.links)?;
        let mut walk = Walk {
            method: self.method(),
            limits,
            deadline: Instant::now().checked_add(limits.timeout),
            visitor: None,
            with_metadata: false,
            start: start.clone(),
            levels: Vec::new(),
            summary: WalkSummary::default(),
        };
        if limits.depth > 0 {
            walk.push_level(folder, start, 0);
        }
        Ok(walk)
    }

    /// Lists the entries of one folder with their metadata, ordered by name.
    ///
    /// # Errors
    ///
    /// As [`FileRoot::walk`].
    pub fn list(&self, folder: &RelPath) -> Result<Vec<WalkEntry>, FsError> {
        let limits = WalkLimits { depth: 1, ..WalkLimits::default() };
        Ok(self.walk(folder, limits)?.with_metadata().collect())
    }
}

impl<'a> Walk<'a> {
    /// Calls `visitor` with every entry, before the entry is yielded and before anything below it is read.
    #[must_use]
    pub fn visited_by(mut self, visitor: impl FnMut(&WalkEntry) -> Visit + Send + 'a) -> Walk<'a> {
        self.visitor = Some(Box::new(visitor));
        self
    }

    /// Fills in [`WalkEntry::metadata`].
    #[must_use]
    pub fn with_metadata(mut self) -> Walk<'a> {
        self.with_metadata = true;
        self
    }

    /// Returns the canonical path of the start folder.
    pub fn start(&self) -> &RelPath {
        &self.start
    }

    /// Returns the summary so far; final once the walk has ended.
    pub fn summary(&self) -> WalkSummary {
        self.summary
    }

    fn push_level(&mut self, folder: OwnedFd, path: RelPath, position: usize) {
        let mut steps = Vec::new();
        let mut full = false;
        let summary = &mut self.summary;
        let read = read_names(&folder, |name, kind| {
            if is_temp_name(name) {
                return true;
            }
            full = summary.entries >= self.limits.entries;
            if !full {
                summary.entries += 1;
                steps.push(Step { name: name.to_vec(), kind, enter: false, position: 0 });
            }
            // Reading the clock for every entry would cost more than reading the entry.
            let may_look = summary.entries.is_multiple_of(CLOCK_EVERY);
            let late = may_look && self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            !full && !late
        });
        summary.out_of_entries |= full;
        summary.unreadable += u64::from(read.is_err());
        // In reverse, since steps are taken from the end.
        steps.sort_unstable_by(|a, b| b.order(a));
        let device = handle::stat(&folder).map_or(0, |metadata| metadata.device);
        self.levels.push(Level { folder, path, device, position, visited: 0, steps });
    }

    fn enter(&mut self, step: &Step) {
        let depth = self.levels.len();
        let Some(level) = self.levels.last() else { return };
        // No path to an entry of that folder would be valid.
        if level.path.components().count() + 1 >= MAX_COMPONENTS {
            self.summary.unnameable += 1;
            return;
        }
        if depth >= self.limits.depth {
            self.summary.too_deep += 1;
            return;
        }
        let Ok(path) = level.path.child(&step.name) else { return };
        match open_folder(self.method, level, &step.name) {
            Ok(Some(folder)) => self.push_level(folder, path, step.position),
            Ok(None) => self.summary.mounts += 1,
            // The folder was replaced or removed since it was listed.
            Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT) => {}
            Err(_) => self.summary.unreadable += 1,
        }
    }

    /// Builds the entry of a step and calls the visitor; `None` if the entry is not yielded.
    fn take(&mut self, step: &Step) -> Option<WalkEntry> {
        let depth = self.levels.len();
        let level = self.levels.last_mut()?;
        let Ok(path) = level.path.child(&step.name) else {
            self.summary.unnameable += 1;
            return None;
        };
        // Some file systems do not return the kind with the name.
        let needs_metadata = self.with_metadata || step.kind == FileKind::Unknown;
        let metadata =
            needs_metadata.then(|| handle::stat_at(&level.folder, &step.name).ok().flatten()).flatten();
        let kind = metadata.map_or(step.kind, |metadata| metadata.kind);
        let position = level.position.max(level.visited);
        let entry = WalkEntry { path, kind, depth, position, metadata };
        let visit = self.visitor.as_mut().map_or(Visit::Take, |visitor| visitor(&entry));
        level.visited += usize::from(visit != Visit::Skip);
        if kind == FileKind::Folder && matches!(visit, Visit::Take | Visit::Pass) {
            // Entered later than its own entry: names such as `a.txt` sort between `a` and `a/x`.
            let enter = Step { name: step.name.clone(), kind, enter: true, position };
            let position = level.steps.partition_point(|other| enter.order(other) == Ordering::Less);
            level.steps.insert(position, enter);
        }
        matches!(visit, Visit::Take | Visit::TakeOnly).then_some(entry)
    }
}

impl Iterator for Walk<'_> {
    type Item = WalkEntry;

    fn next(&mut self) -> Option<WalkEntry> {
        loop {
            let level = self.levels.last_mut()?;
            let Some(step) = level.steps.pop() else {
                self.levels.pop();
                continue;
            };
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.summary.out_of_time = true;
                self.levels.clear();
                return None;
            }
            if step.enter {
                self.enter(&step);
            } else if let Some(entry) = self.take(&step) {
                return Some(entry);
            }
        }
    }
}

impl Step {
    fn order(&self, other: &Step) -> Ordering {
        let slash = |step: &Step| step.enter.then_some(&b'/');
        self.name.iter().chain(slash(self)).cmp(other.name.iter().chain(slash(other)))
    }
}

/// Opens the folder `name` to list it; `None` if it is a mount point.
fn open_folder(method: ResolveMethod, level: &Level, name: &[u8]) -> Result<Option<OwnedFd>, Errno> {
    match method {
        ResolveMethod::Openat2 => {
            let same_mount = ResolveFlags::BENEATH
                | ResolveFlags::NO_XDEV
                | ResolveFlags::NO_SYMLINKS
                | ResolveFlags::NO_MAGICLINKS;
            match rustix::fs::openat2(&level.folder, name, FOLDER_LIST | ALWAYS, Mode::empty(), same_mount) {
                Ok(folder) => Ok(Some(folder)),
                Err(Errno::XDEV) => Ok(None),
                Err(other) => Err(other),
            }
        }
        ResolveMethod::Walker => {
            let folder = handle::open_at(&level.folder, name, FOLDER_LIST)?;
            // A bind mount of the same device has the same number, so the mount flag is checked as well.
            let other_device = handle::stat(&folder)?.device != level.device;
            Ok((!other_device && !is_mount_root(&folder)).then_some(folder))
        }
    }
}

/// Returns true for a mount point, bind mounts of the same file system included. Older kernels do not report it;
/// callers then compare devices.
pub(crate) fn is_mount_root(handle: impl AsFd) -> bool {
    rustix::fs::statx(handle, c"", AtFlags::EMPTY_PATH, StatxFlags::empty())
        .is_ok_and(|statx| statx.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Calls `each` with the names in a folder, except `.` and `..`, until it returns `false`.
pub(crate) fn read_names(
    folder: impl AsFd,
    mut each: impl FnMut(&[u8], FileKind) -> bool,
) -> Result<(), Errno> {
    let mut buffer = [MaybeUninit::<u8>::uninit(); 32 << 10];
    let mut entries = RawDir::new(folder, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." && !each(name, FileKind::from_type(entry.file_type())) {
            break;
        }
    }
    Ok(())
}
