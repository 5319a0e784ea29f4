//! Kept homes on the disk: their sizes, the limit, and the removal of old ones.

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use crate::launcher::home::size::{ClosedFolders, TreeSize, measure};
use crate::launcher::home::{CACHES, HOME, PASSING, TRASH, WORKSPACE, make_private, removal};
use crate::launcher::private_folder::{PrivateFolder, lock};

/// The record of the last measurement: the file's time is when it took place, its contents say how many bytes were free.
const MEASURED: &str = "measured";
/// Names the parts of the home to be removed because it exceeded its limit.
const OVER_LIMIT: &str = "over-limit";

/// The most entries that are counted while a caller waits, and at all. A part of a home with more counts as too large.
const QUICK_ENTRIES: u64 = 4_000;
const MOST_ENTRIES: u64 = 4_000_000;

/// The time after which a home is measured again.
const INTERVAL: Duration = Duration::from_secs(60);

/// The kept homes of a user, each in a folder of its own.
#[derive(Clone, Debug)]
pub struct KeptHomes {
    folder: PathBuf,
}

/// The size of the homes, and of the removed parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HomeSize {
    /// The number of homes that stay.
    pub homes: u64,
    /// Bytes that they hold on the disk.
    pub bytes: u64,
    /// The number of homes that were removed.
    pub homes_removed: u64,
    /// Bytes that were removed, including from homes that stay.
    pub bytes_removed: u64,
    /// The number of homes in use, which were neither measured nor changed.
    pub in_use: u64,
}

impl KeptHomes {
    /// The homes in this folder, which need not exist.
    pub fn in_folder(folder: PathBuf) -> KeptHomes {
        KeptHomes { folder }
    }

    /// Removes a home with everything in it, whatever its permissions; a missing home is not an error.
    ///
    /// # Errors
    /// Those of the removal, which removes as much as it can.
    pub fn remove(home: &Path) -> io::Result<()> {
        removal::remove_tree(home)
    }

    /// Removes the homes of workspaces that do not exist any more and those that no command has used for `unused`, and
    /// of each other home the largest parts beyond the limit. A home in use is left alone.
    ///
    /// # Errors
    /// Those of listing the folder. A failed removal is retried the next time.
    pub fn collect(&self, limit_bytes: u64, unused: Duration) -> io::Result<HomeSize> {
        let mut total = HomeSize::default();
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(total),
            entries => entries?,
        };
        for entry in entries.flatten() {
            let home = entry.path();
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let Some(_lock) = lock(&home)? else {
                total.in_use += 1;
                continue;
            };
            // Without this file it may not be a home.
            if !home.join(WORKSPACE).exists() {
                continue;
            }
            remove_leftovers(&home);
            let before = parts(&home, ClosedFolders::Open).iter().map(|(_, size)| size.bytes).sum::<u64>();
            if is_abandoned(&home, unused) {
                let is_removed = removal::remove_tree(&home).is_ok();
                total.homes_removed += u64::from(is_removed);
                total.bytes_removed += if is_removed { before } else { 0 };
                continue;
            }
            let kept = shrink(&home, limit_bytes, ClosedFolders::Open);
            let _ = removal::remove_tree(&home.join(TRASH));
            total.homes += 1;
            total.bytes += kept;
            total.bytes_removed += before.saturating_sub(kept);
        }
        Ok(total)
    }
}

/// Records whose home it is.
pub(super) fn note_workspace(home: &Path, workspace: &Path) -> io::Result<()> {
    let (file, text) = (home.join(WORKSPACE), workspace.as_os_str().as_bytes());
    if fs::read(&file).is_ok_and(|noted| noted == text) {
        // The file's time records the last use of the home.
        return fs::File::options().append(true).open(&file)?.set_modified(SystemTime::now());
    }
    fs::write(file, text)
}

fn is_abandoned(home: &Path, unused: Duration) -> bool {
    let file = home.join(WORKSPACE);
    let Ok(workspace) = fs::read(&file) else { return false };
    let workspace = PathBuf::from(std::ffi::OsString::from_vec(workspace));
    let is_gone = fs::symlink_metadata(workspace).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    is_gone || age(&file).is_some_and(|age| age > unused)
}

fn age(file: &Path) -> Option<Duration> {
    fs::metadata(file).ok()?.modified().ok()?.elapsed().ok()
}

/// Removes leftovers of killed commands, as far as that is quick.
pub(super) fn remove_leftovers(home: &Path) {
    let passing = home.join(PASSING);
    if fs::remove_dir(&passing).is_err() {
        PrivateFolder::sweep(&passing);
    }
    empty_trash(home);
}

/// Returns a name for something in the trash.
pub(super) fn trash_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{now}-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Empties the trash: at once if it holds little, otherwise in the background.
fn empty_trash(home: &Path) {
    let trash = home.join(TRASH);
    if fs::symlink_metadata(&trash).is_err() {
        return;
    }
    if measure(&trash, QUICK_ENTRIES, ClosedFolders::Skip).is_some_and(|size| !size.is_unmeasurable) {
        let _ = removal::remove_tree(&trash);
    } else {
        in_background(move || drop(removal::remove_tree(&trash)));
    }
}

/// Removes parts of the home if it was found to be over its limit.
pub(super) fn enforce_limit(home: &Path, limit_bytes: u64) {
    let file = home.join(OVER_LIMIT);
    let Ok(named) = fs::read_to_string(&file) else { return };
    // The limit may have changed since.
    let (limit, names) = named.split_once('\n').unwrap_or_default();
    if limit.parse() == Ok(limit_bytes) {
        let named: Vec<&str> = names.lines().collect();
        let is_named = |part: &PathBuf| {
            part.strip_prefix(home).is_ok_and(|name| named.iter().any(|named| name == Path::new(named)))
        };
        part_folders(home).iter().filter(|part| is_named(part)).for_each(|part| discard(home, part));
        empty_trash(home);
    }
    let _ = fs::remove_file(file);
}

/// Measures the home if that was long ago, or if much was written to its disk since; removes parts of it if it is too
/// large. A large home is measured in the background, and shrunk before the next command.
pub(super) fn measure_if_due(home: &Path, limit_bytes: u64) {
    let free = free_bytes(home);
    let record = home.join(MEASURED);
    let free_then = fs::read_to_string(&record).ok().and_then(|text| text.parse::<u64>().ok());
    let much = (limit_bytes / 16).max(1);
    let is_recent = age(&record).is_some_and(|age| age < INTERVAL)
        && free_then.is_some_and(|then| then.saturating_sub(free) < much);
    if is_recent {
        return;
    }
    match quick_bytes(home) {
        Some(bytes) if bytes <= limit_bytes => {}
        Some(_) => {
            shrink(home, limit_bytes, ClosedFolders::Skip);
            empty_trash(home);
        }
        None => {
            let own = home.to_owned();
            if !in_background(move || note_parts_beyond(&own, limit_bytes)) {
                // Without a record, the next command has it measured.
                return;
            }
        }
    }
    let _ = fs::write(record, free_bytes(home).to_string());
}

fn free_bytes(folder: &Path) -> u64 {
    rustix::fs::statvfs(folder).map_or(0, |status| status.f_bavail.saturating_mul(status.f_frsize))
}

/// Runs slow work in a separate thread, one at a time; false if it was skipped, to be done another time.
fn in_background(work: impl FnOnce() + Send + 'static) -> bool {
    static IS_BUSY: AtomicBool = AtomicBool::new(false);
    if IS_BUSY.swap(true, Ordering::Acquire) {
        return false;
    }
    let started = std::thread::Builder::new().name("kept home".into()).spawn(move || {
        work();
        IS_BUSY.store(false, Ordering::Release);
    });
    if started.is_err() {
        IS_BUSY.store(false, Ordering::Release);
    }
    started.is_ok()
}

/// Returns the folders that make up a home.
fn part_folders(home: &Path) -> Vec<PathBuf> {
    let caches = fs::read_dir(home.join(CACHES)).into_iter().flatten().flatten();
    [home.join(HOME)].into_iter().chain(caches.map(|entry| entry.path())).collect()
}

/// Returns the home's size, if it has few entries.
fn quick_bytes(home: &Path) -> Option<u64> {
    let mut entries_left = QUICK_ENTRIES;
    let mut bytes: u64 = 0;
    for part in part_folders(home) {
        let size = measure(&part, entries_left, ClosedFolders::Skip).filter(|size| !size.is_unmeasurable)?;
        entries_left -= size.entries;
        bytes = bytes.saturating_add(size.bytes);
    }
    Some(bytes)
}

/// Measures the parts of a home, the largest first.
fn parts(home: &Path, closed: ClosedFolders) -> Vec<(PathBuf, TreeSize)> {
    let too_large = TreeSize { bytes: u64::MAX / 1_000_000, ..TreeSize::default() };
    let mut parts: Vec<(PathBuf, TreeSize)> = part_folders(home)
        .into_iter()
        .map(|part| {
            let size = measure(&part, MOST_ENTRIES, closed)
                .filter(|size| !size.is_unmeasurable)
                .unwrap_or(too_large);
            (part, size)
        })
        .collect();
    parts.sort_by_key(|(_, size)| std::cmp::Reverse(size.bytes));
    parts
}

/// Returns the largest parts whose removal brings a home within its limit, and its size without them.
fn beyond(home: &Path, limit_bytes: u64, closed: ClosedFolders) -> (Vec<PathBuf>, u64) {
    let parts = parts(home, closed);
    let mut bytes: u64 = parts.iter().map(|(_, size)| size.bytes).fold(0, u64::saturating_add);
    let mut beyond = Vec::new();
    for (part, size) in parts {
        if bytes > limit_bytes {
            bytes -= size.bytes;
            beyond.push(part);
        }
    }
    (beyond, bytes)
}

/// Moves the largest parts of a home to the trash until the others are within the limit. Returns the bytes that stay.
fn shrink(home: &Path, limit_bytes: u64, closed: ClosedFolders) -> u64 {
    let (beyond, bytes) = beyond(home, limit_bytes, closed);
    beyond.iter().for_each(|part| discard(home, part));
    bytes
}

/// Records the parts of a home beyond the limit, for the next command to move away: the home may be in use now.
fn note_parts_beyond(home: &Path, limit_bytes: u64) {
    let (beyond, _) = beyond(home, limit_bytes, ClosedFolders::Skip);
    let names = beyond.iter().filter_map(|part| part.strip_prefix(home).ok()?.to_str());
    let names: Vec<&str> = names.collect();
    if !names.is_empty() {
        let text = format!("{limit_bytes}\n{}\n", names.join("\n"));
        // Written atomically: the next command may read it at any time.
        let file = home.join(OVER_LIMIT);
        let new = file.with_extension("new");
        let _ = fs::write(&new, text).and_then(|()| fs::rename(new, file));
    }
}

/// Moves a part of a home to the trash.
fn discard(home: &Path, part: &Path) {
    let trash = home.join(TRASH);
    // On failure, the home is over its limit the next time, too.
    let _ = make_private(&trash).and_then(|()| fs::rename(part, trash.join(trash_name())));
}
