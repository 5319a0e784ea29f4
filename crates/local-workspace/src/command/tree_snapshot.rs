//! The whole folder at one moment, as far as it is kept, to compare before and after a command.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use git_index::{REFERENCE_BYTES, is_object_file, is_reference, stays_in_references};
use rel_path::{ProtectedNames, RelPath};
use sandbox_fs::{FileKind, FileRoot, FileStamp, FsError, Metadata, Visit, WalkLimits};

use crate::adopt::build_folders::BuildFolders;
use crate::change::present::attribute_bytes;
use crate::git::guard::{INDEX_BYTES, in_git_folder, is_judged_whole, is_watched_by_git};
use crate::hidden::Hidden;

/// The limits of a snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SnapshotLimits {
    /// The largest file whose content is kept, in bytes.
    pub file_bytes: u64,
    /// The total bytes of contents kept; files that git obeys are kept in addition.
    pub total_bytes: u64,
    /// The number of entries that are visited.
    pub entries: u64,
    /// The time that it may take.
    pub timeout: Duration,
}

impl Default for SnapshotLimits {
    fn default() -> SnapshotLimits {
        SnapshotLimits {
            file_bytes: 1 << 20,
            total_bytes: 64 << 20,
            entries: 200_000,
            timeout: Duration::from_secs(20),
        }
    }
}

/// The age below which a change may be followed by another with the same stamp: some file systems have ticks of ten
/// milliseconds.
const ONE_TICK: i128 = 50_000_000;

/// One entry of the folder.
#[derive(Clone, Debug)]
pub(crate) struct EntryState {
    pub kind: FileKind,
    /// Permission bits, special ones included.
    pub mode: u32,
    stamp: FileStamp,
    /// True if the last change was so recent that the stamp proves nothing.
    is_fresh: bool,
    /// The content of a file or the target of a symlink, if it is kept.
    pub bytes: Option<Arc<[u8]>>,
    /// True if it is not kept, and git stays within `refs` when it reads it as a reference.
    pub stays_in_references: bool,
    /// The attributes of a file or folder, in recorded form.
    pub attributes: Option<Arc<[u8]>>,
    /// True for a file of a repository with another name, through which git may write to it.
    pub is_hard_linked: bool,
    /// The number of its names; only for files.
    links: u64,
}

impl EntryState {
    /// Checks whether the entry is certainly unchanged between two snapshots.
    pub(crate) fn is_untouched_since(&self, earlier: &EntryState) -> bool {
        self.stamp == earlier.stamp && self.mode == earlier.mode && !earlier.is_fresh
    }

    /// Checks whether it is a file of the same size.
    pub(crate) fn has_size_of(&self, other: &EntryState) -> bool {
        self.kind == other.kind && self.stamp.size_bytes == other.stamp.size_bytes
    }

    /// Returns the device and inode of a file that has several names, and their number.
    pub(crate) fn shared_file(&self) -> Option<((u64, u64), u64)> {
        let is_shared = self.kind == FileKind::File && self.links > 1;
        is_shared.then_some(((self.stamp.device, self.stamp.inode), self.links))
    }

    /// Checks whether a file of a repository gained another name between two snapshots.
    pub(crate) fn was_hard_linked_since(&self, earlier: Option<&EntryState>) -> bool {
        let was_before =
            |earlier: &EntryState| earlier.is_hard_linked && earlier.stamp.inode == self.stamp.inode;
        self.is_hard_linked && !earlier.is_some_and(was_before)
    }
}

/// Everything in the folder at one moment, except build folders and the state folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreeSnapshot {
    pub entries: BTreeMap<RelPath, EntryState>,
    /// The last path up to which the snapshot is complete; `None` if it is complete.
    pub known_up_to: Option<RelPath>,
    /// The number of unreadable folders, and of entries whose names cannot be paths.
    pub unreadable: u64,
    /// Build folders, whose contents are left out.
    pub left_out: BTreeSet<RelPath>,
    /// New build folders; they are only searched for names that git or an editor obeys.
    pub new_build_folders: BTreeSet<RelPath>,
}

/// The scope of a snapshot.
pub(crate) struct SnapshotScope<'a> {
    pub root: &'a FileRoot,
    pub hidden: &'a Hidden,
    pub protected: &'a ProtectedNames,
    pub limits: SnapshotLimits,
}

impl TreeSnapshot {
    /// Takes a snapshot before a command. Contents of files that have not changed since `previous` are reused.
    pub(crate) fn before(
        scope: &SnapshotScope<'_>,
        previous: Option<&TreeSnapshot>,
    ) -> Result<TreeSnapshot, FsError> {
        TreeSnapshot::take(scope, previous, None)
    }

    /// Takes the snapshot after a command, with the same omissions as `before`.
    pub(crate) fn after(scope: &SnapshotScope<'_>, before: &TreeSnapshot) -> Result<TreeSnapshot, FsError> {
        TreeSnapshot::take(scope, Some(before), Some(before))
    }

    fn take(
        scope: &SnapshotScope<'_>,
        previous: Option<&TreeSnapshot>,
        before: Option<&TreeSnapshot>,
    ) -> Result<TreeSnapshot, FsError> {
        let SnapshotScope { root, hidden, protected, limits } = scope;
        let folders = Mutex::new(Folders {
            build: BuildFolders::new(root),
            before,
            left_out: BTreeSet::new(),
            new: BTreeSet::new(),
        });
        let walk_limits =
            WalkLimits { entries: limits.entries, timeout: limits.timeout, ..WalkLimits::default() };
        let walk = root.walk(&RelPath::root(), walk_limits)?;
        let mut walk = walk.with_metadata().visited_by(|entry| {
            if hidden.hides(&entry.path) {
                return Visit::Skip;
            }
            let mut folders = folders.lock().unwrap_or_else(PoisonError::into_inner);
            if entry.kind == FileKind::Folder && folders.is_left_out(&entry.path) {
                Visit::Skip
            } else {
                Visit::Take
            }
        });
        let mut snapshot = TreeSnapshot::default();
        let mut left_bytes = limits.total_bytes;
        let mut left_index_bytes = 2 * INDEX_BYTES;
        let mut last = RelPath::root();
        while let Some(entry) = walk.next() {
            // After a folder could not be read to its end, names that had been read before still follow.
            let summary = walk.summary();
            if !summary.out_of_entries && !summary.out_of_time {
                last.clone_from(&entry.path);
            }
            let Some(metadata) = entry.metadata else { continue };
            let is_in_new = {
                let folders = folders.lock().unwrap_or_else(PoisonError::into_inner);
                folders.new.iter().any(|folder| entry.path.starts_with(folder))
            };
            if is_in_new && !is_obeyed(&entry.path, protected) {
                continue;
            }
            let earlier = previous.and_then(|previous| previous.entries.get(&entry.path));
            let mut state = EntryState::new(&metadata);
            state.is_hard_linked &=
                in_git_folder(&entry.path).is_some_and(|part| !is_object_file(part.names.iter().copied()));
            let earlier = earlier.filter(|earlier| state.is_untouched_since(earlier));
            state.attributes = match earlier {
                Some(earlier) => earlier.attributes.clone(),
                None => root.attributes(&entry.path).ok().map(|attributes| attribute_bytes(&attributes)),
            };
            state.bytes = match earlier {
                // Without bytes, the file exceeded a limit then; it may fit now.
                Some(earlier) if earlier.bytes.is_some() => earlier.bytes.clone(),
                _ => read(root, &entry.path, &metadata, *limits, (left_bytes, left_index_bytes)),
            };
            if is_judged_whole(&entry.path) {
                let length = state.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
                left_index_bytes = left_index_bytes.saturating_sub(length);
            }
            let is_counted = state.kind == FileKind::File && !is_on_top(&entry.path, &metadata);
            if let Some(bytes) = state.bytes.as_ref().filter(|_| is_counted) {
                if bytes.len() as u64 > left_bytes {
                    state.bytes = None;
                } else {
                    left_bytes -= bytes.len() as u64;
                }
            }
            if state.bytes.is_none() && state.kind == FileKind::File && is_reference(entry.path.components())
            {
                state.stays_in_references = reference_stays(root, &entry.path);
            }
            snapshot.entries.insert(entry.path, state);
        }
        let summary = walk.summary();
        if summary.out_of_entries || summary.out_of_time {
            snapshot.known_up_to = Some(last);
        }
        snapshot.unreadable = summary.unreadable + summary.unnameable;
        // The walk borrows `folders`.
        drop(walk);
        let folders = folders.into_inner().unwrap_or_else(PoisonError::into_inner);
        snapshot.left_out = folders.left_out;
        snapshot.new_build_folders = folders.new;
        Ok(snapshot)
    }

    /// Checks whether the snapshot would contain this path if it existed.
    pub(crate) fn knows(&self, path: &RelPath) -> bool {
        self.known_up_to.as_ref().is_none_or(|last| path <= last)
    }
}

/// The folders that a walk skips.
struct Folders<'a> {
    build: BuildFolders<'a>,
    before: Option<&'a TreeSnapshot>,
    left_out: BTreeSet<RelPath>,
    new: BTreeSet<RelPath>,
}

impl Folders<'_> {
    fn is_left_out(&mut self, path: &RelPath) -> bool {
        let is_left_out = match self.before {
            None => self.build.contains(path),
            // A command's `.gitignore` must not hide its changes to a folder that was not ignored.
            Some(before) => {
                let was_left_out = before.left_out.contains(path);
                let is_new = !was_left_out && before.knows(path) && !before.entries.contains_key(path);
                let is_in_new = self.new.iter().any(|folder| path.starts_with(folder));
                if is_new && !is_in_new && self.build.contains(path) {
                    self.new.insert(path.clone());
                }
                was_left_out
            }
        };
        if is_left_out {
            self.left_out.insert(path.clone());
        }
        is_left_out
    }
}

/// Checks whether git or an editor may obey the entry at `path`.
fn is_obeyed(path: &RelPath, protected: &ProtectedNames) -> bool {
    is_watched_by_git(path)
        || is_reference(path.components())
        || protected.protects(path)
        || path.components().any(|name| matches!(name, b"objects" | b"refs" | b"hooks"))
}

impl EntryState {
    fn new(metadata: &Metadata) -> EntryState {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let now = i128::try_from(now).unwrap_or(i128::MAX);
        EntryState {
            kind: metadata.kind,
            mode: metadata.mode,
            stamp: metadata.stamp(),
            // A time in the future proves nothing either.
            is_fresh: metadata.status_changed_nanoseconds > now - ONE_TICK,
            bytes: None,
            stays_in_references: false,
            attributes: None,
            is_hard_linked: metadata.kind == FileKind::File && metadata.links > 1,
            links: metadata.links,
        }
    }
}

/// Returns whether a file is kept regardless of the remaining budget: one that git obeys, or a reference of ordinary
/// length.
fn is_on_top(path: &RelPath, metadata: &Metadata) -> bool {
    let is_short = metadata.size_bytes <= REFERENCE_BYTES;
    is_watched_by_git(path) || is_short && is_reference(path.components())
}

/// Returns whether git stays within `refs` when it reads a file as a reference; false also if it cannot be read.
pub(crate) fn reference_stays(root: &FileRoot, path: &RelPath) -> bool {
    let start = root.open_file(path).and_then(|file| file.read_range(0, REFERENCE_BYTES + 1));
    start.is_ok_and(|bytes| stays_in_references(&bytes))
}

fn read(
    root: &FileRoot,
    path: &RelPath,
    metadata: &Metadata,
    limits: SnapshotLimits,
    (left_bytes, left_index_bytes): (u64, u64),
) -> Option<Arc<[u8]>> {
    match metadata.kind {
        FileKind::File => {
            let is_affordable = metadata.size_bytes <= left_bytes || is_on_top(path, metadata);
            let limit =
                if is_judged_whole(path) { INDEX_BYTES.min(left_index_bytes) } else { limits.file_bytes };
            if metadata.size_bytes > limit || !is_affordable {
                return None;
            }
            // A file that has grown in the meantime is read up to the limit, and not kept if it exceeds that.
            let bytes = root.open_file(path).ok()?.read_to_end(limit).ok()?;
            Some(bytes.into())
        }
        FileKind::Link => root.link_target(path).ok().flatten().map(Into::into),
        _ => None,
    }
}
