//! Decides when a file is complete, as far as an observer can determine.

#[cfg(target_os = "linux")]
use std::collections::HashMap;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::time::Duration;

use sandbox_fs::FileStamp;

/// The time for which a file that was moved into the folder must be unchanged.
const MOVED_IN: Duration = Duration::from_millis(150);

/// The same for a file that was written under its final name, as editors and shells do.
const WRITTEN_DIRECTLY: Duration = Duration::from_millis(400);

/// The same for a file that was observed growing: its writer may pause.
const GROWING: Duration = Duration::from_millis(900);

/// The time that a writer gets to fill an empty file.
const EMPTY: Duration = Duration::from_secs(2);

/// A file was moved if its status changed later than its content by more than this, in nanoseconds.
const MOVE_NANOSECONDS: i128 = 1_000_000;

/// Returns the time for which a file must be unchanged to count as complete.
#[must_use]
pub fn settling_time(stamp: &FileStamp, was_seen_changing: bool) -> Duration {
    if stamp.size_bytes == 0 {
        EMPTY
    } else if was_seen_changing {
        GROWING
    } else if stamp.status_changed_nanoseconds - stamp.modified_nanoseconds > MOVE_NANOSECONDS {
        // A rename sets the time of the status and keeps the time of the content; a write sets both.
        MOVED_IN
    } else {
        WRITTEN_DIRECTLY
    }
}

/// Returns the positions in `files` of the files that a process of this user has open for writing. Files are matched by name and
/// stamp. A single pass over all processes checks all files; processes that cannot be inspected are skipped.
#[cfg(target_os = "linux")]
#[must_use]
pub fn open_for_writing(files: &[(&OsStr, FileStamp)]) -> HashSet<usize> {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    /// The mask of the access mode of an open file, and its two values for writing.
    const ACCESS_MODE: u32 = 0o3;
    const WRITES: [u32; 2] = [1, 2];

    let mut open = HashSet::new();
    let Ok(processes) = fs::read_dir("/proc") else { return open };
    let processes = processes.flatten().filter(|entry| {
        let name = entry.file_name();
        name.as_encoded_bytes().iter().all(u8::is_ascii_digit)
    });
    let positions: HashMap<&OsStr, usize> =
        files.iter().enumerate().map(|(position, (name, _))| (*name, position)).collect();
    for process in processes {
        let folder = process.path();
        // The descriptors of other users cannot be listed: their files count as closed.
        let Ok(descriptors) = fs::read_dir(folder.join("fd")) else { continue };
        for descriptor in descriptors.flatten() {
            // The name is compared first: calling `stat` on every open file could block on a dead network file system.
            let target = fs::read_link(descriptor.path()).unwrap_or_default();
            let Some(position) = target.file_name().and_then(|name| positions.get(name)) else { continue };
            let (_, stamp) = &files[*position];
            let is_same_file = fs::metadata(descriptor.path())
                .is_ok_and(|metadata| metadata.dev() == stamp.device && metadata.ino() == stamp.inode);
            if !is_same_file {
                continue;
            }
            // `fdinfo` prints the flags of `open` in octal.
            let flags = fs::read_to_string(folder.join("fdinfo").join(descriptor.file_name()));
            let flags = flags.ok().and_then(|text| {
                let line = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
                u32::from_str_radix(line.trim(), 8).ok()
            });
            if flags.is_some_and(|flags| WRITES.contains(&(flags & ACCESS_MODE))) {
                open.insert(*position);
            }
        }
    }
    open
}

/// Returns no positions: this system does not list the open files of processes.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn open_for_writing(_: &[(&OsStr, FileStamp)]) -> HashSet<usize> {
    HashSet::new()
}
