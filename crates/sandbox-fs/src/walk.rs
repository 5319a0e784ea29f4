//! Listing a folder and what is beneath it.
//!
//! Iterative, handle-based and bounded. No link and no other mount is entered, nothing but folders is opened.

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

/// After how many names of one folder the clock is looked at.
const CLOCK_EVERY: u64 = 256;

/// How far a walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkLimits {
    /// How many levels beneath the start folder are listed; 1 is the folder's own entries.
    pub depth: usize,
    /// How many entries are read, those included that the visitor leaves out.
    pub entries: u64,
    /// How long the walk may take.
    pub timeout: Duration,
}

/// As deep as paths go, a million entries, 30 seconds.
impl Default for WalkLimits {
    fn default() -> WalkLimits {
        WalkLimits { depth: MAX_COMPONENTS, entries: 1_000_000, timeout: Duration::from_secs(30) }
    }
}

/// What a visitor wants of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// The entry, and what is beneath it.
    Take,
    /// The entry only.
    TakeOnly,
    /// What is beneath it only.
    Pass,
    /// Neither.
    Skip,
}

/// One thing that a walk found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkEntry {
    /// Its canonical path.
    pub path: RelPath,
    /// What it is; a link is a link.
    pub kind: FileKind,
    /// How far beneath the start folder it is; 1 for the folder's own entries.
    pub depth: usize,
    /// What is known about it, if the walk was asked to look and the entry was still there.
    pub metadata: Option<Metadata>,
}

/// What a walk left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkSummary {
    /// How many entries were read.
    pub entries: u64,
    /// Folders that could not be read, or not to their end.
    pub unreadable: u64,
    /// Folders that were not entered because something else is mounted there.
    pub mounts: u64,
    /// Folders that were not entered because of [`WalkLimits::depth`].
    pub too_deep: u64,
    /// Entries whose path would be longer than any path may be, and folders that were not entered because that goes
    /// for whatever is in them.
    pub unnameable: u64,
    /// Whether the walk ended early because of [`WalkLimits::entries`].
    pub out_of_entries: bool,
    /// Whether the walk ended early because of [`WalkLimits::timeout`].
    pub out_of_time: bool,
}

type Visitor<'a> = Box<dyn FnMut(&WalkEntry) -> Visit + Send + 'a>;

/// The entries beneath a folder, ordered by the bytes of their whole paths.
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

/// One folder that is being listed.
struct Level {
    folder: OwnedFd,
    path: RelPath,
    device: u64,
    /// What is still to do, the next thing last.
    steps: Vec<Step>,
}

struct Step {
    name: Vec<u8>,
    kind: FileKind,
    /// Whether this is about what is beneath the entry. Such a step sorts as the name with a slash behind it, so that
    /// `a`, `a-b`, `a/x` come out in that order.
    enter: bool,
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
            walk.push_level(folder, start);
        }
        Ok(walk)
    }

    /// The entries of one folder, with their metadata, ordered by name.
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
    /// Asks `visitor` about every entry, before it is given out and before anything beneath it is read.
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

    /// The canonical path of the start folder.
    pub fn start(&self) -> &RelPath {
        &self.start
    }

    /// What was left out so far; final once the walk has ended.
    pub fn summary(&self) -> WalkSummary {
        self.summary
    }

    fn push_level(&mut self, folder: OwnedFd, path: RelPath) {
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
                steps.push(Step { name: name.to_vec(), kind, enter: false });
            }
            let may_look = summary.entries.is_multiple_of(CLOCK_EVERY);
            let late = may_look && self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            !full && !late
        });
        summary.out_of_entries |= full;
        summary.unreadable += u64::from(read.is_err());
        steps.sort_unstable_by(|a, b| b.order(a));
        let device = handle::stat(&folder).map_or(0, |found| found.device);
        self.levels.push(Level { folder, path, device, steps });
    }

    fn enter(&mut self, step: &Step) {
        let depth = self.levels.len();
        let Some(level) = self.levels.last() else { return };
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
            Ok(Some(folder)) => self.push_level(folder, path),
            Ok(None) => self.summary.mounts += 1,
            // It was replaced or removed since it was read: there is nothing to enter.
            Err(Errno::LOOP | Errno::NOTDIR | Errno::NOENT) => {}
            Err(_) => self.summary.unreadable += 1,
        }
    }

    /// Makes the entry of a step and lets the visitor decide. `None` if it is not to be given out.
    fn take(&mut self, step: &Step) -> Option<WalkEntry> {
        let depth = self.levels.len();
        let level = self.levels.last_mut()?;
        let Ok(path) = level.path.child(&step.name) else {
            self.summary.unnameable += 1;
            return None;
        };
        let needs_metadata = self.with_metadata || step.kind == FileKind::Unknown;
        let metadata =
            needs_metadata.then(|| handle::stat_at(&level.folder, &step.name).ok().flatten()).flatten();
        let kind = metadata.map_or(step.kind, |found| found.kind);
        let entry = WalkEntry { path, kind, depth, metadata };
        let visit = self.visitor.as_mut().map_or(Visit::Take, |visitor| visitor(&entry));
        if kind == FileKind::Folder && matches!(visit, Visit::Take | Visit::Pass) {
            let enter = Step { name: step.name.clone(), kind, enter: true };
            let place = level.steps.partition_point(|other| enter.order(other) == Ordering::Less);
            level.steps.insert(place, enter);
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

/// Opens the folder `name` to list it; `None` if something else is mounted there.
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
            let other_device = handle::stat(&folder)?.device != level.device;
            Ok((!other_device && !is_mount_root(&folder)).then_some(folder))
        }
    }
}

/// Whether something is mounted where a folder or file is, one of the same file system included. Kernels that cannot say
/// so leave it to the comparison of devices.
pub(crate) fn is_mount_root(handle: impl AsFd) -> bool {
    rustix::fs::statx(handle, c"", AtFlags::EMPTY_PATH, StatxFlags::empty())
        .is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Calls `each` with the names in a folder, `.` and `..` apart, until it answers `false`.
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
