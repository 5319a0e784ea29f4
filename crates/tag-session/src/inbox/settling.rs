//! Whether a file that somebody puts into a folder is complete, as far as that can be told from outside.

#[cfg(target_os = "linux")]
use std::collections::HashMap;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use sandbox_fs::FileStamp;
use tagproto::{Item, ParseErrorKind, Strictness};

/// How long a file that was moved into the inbox must stay as it is before it is read.
const MOVED_IN: Duration = Duration::from_millis(150);

/// The same for a file that was written in place, as editors and shells do.
const WRITTEN_IN_PLACE: Duration = Duration::from_millis(400);

/// The same for a file that was seen growing: its writer pauses now and then.
const GROWING: Duration = Duration::from_millis(900);

/// The same for a file whose last block is not closed: cut off by the chat, or not all there yet.
pub(crate) const UNCLOSED: Duration = Duration::from_secs(3);

/// How long an empty file may be in the making before the user is told.
const EMPTY: Duration = Duration::from_secs(2);

/// How much later than its content the status of a file has changed if it was moved, in nanoseconds.
const MOVE_NANOSECONDS: i128 = 1_000_000;

/// How long a file must be unchanged before it is looked at.
#[must_use]
pub fn settling_time(stamp: &FileStamp, was_seen_changing: bool) -> Duration {
    if stamp.size_bytes == 0 {
        EMPTY
    } else if was_seen_changing {
        GROWING
    } else if stamp.status_changed_nanoseconds - stamp.modified_nanoseconds > MOVE_NANOSECONDS {
        MOVED_IN
    } else {
        WRITTEN_IN_PLACE
    }
}

/// Whether the text stops within a block.
pub(crate) fn ends_unclosed(text: &str) -> bool {
    let reply = tagproto::read(text, Strictness::Repair);
    match reply.items.last() {
        Some(Item::Error(error)) => matches!(error.kind, ParseErrorKind::Unclosed { .. }),
        _ => false,
    }
}

/// Whether a process of this user still has the file open to write. Where that cannot be found out, the answer is no.
#[must_use]
pub(crate) fn is_open_for_writing(path: &Path, stamp: &FileStamp) -> bool {
    path.file_name().is_some_and(|name| !open_for_writing(&[(name, *stamp)]).is_empty())
}

/// Which of these files processes of this user still have open to write, by their names and stamps; told by their places in the
/// list. Where that cannot be found out, there are none. One look at all processes serves all files.
#[cfg(target_os = "linux")]
#[must_use]
pub fn open_for_writing(files: &[(&OsStr, FileStamp)]) -> HashSet<usize> {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    /// The access mode of an open file, and the two of its values that write.
    const ACCESS_MODE: u32 = 0o3;
    const WRITES: [u32; 2] = [1, 2];

    let mut open = HashSet::new();
    let Ok(processes) = fs::read_dir("/proc") else { return open };
    let processes = processes.flatten().filter(|entry| {
        let name = entry.file_name();
        name.as_encoded_bytes().iter().all(u8::is_ascii_digit)
    });
    let places: HashMap<&OsStr, usize> =
        files.iter().enumerate().map(|(place, (name, _))| (*name, place)).collect();
    for process in processes {
        let folder = process.path();
        // Other users' descriptors cannot be listed; what they write cannot be told from what is complete.
        let Ok(descriptors) = fs::read_dir(folder.join("fd")) else { continue };
        for descriptor in descriptors.flatten() {
            // The name comes first: looking at every file that every process has open could wait for a dead server.
            let target = fs::read_link(descriptor.path()).unwrap_or_default();
            let Some(place) = target.file_name().and_then(|name| places.get(name)) else { continue };
            let (_, stamp) = &files[*place];
            let is_it = fs::metadata(descriptor.path())
                .is_ok_and(|found| found.dev() == stamp.device && found.ino() == stamp.inode);
            if !is_it {
                continue;
            }
            let flags = fs::read_to_string(folder.join("fdinfo").join(descriptor.file_name()));
            let flags = flags.ok().and_then(|text| {
                let line = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
                u32::from_str_radix(line.trim(), 8).ok()
            });
            if flags.is_some_and(|flags| WRITES.contains(&(flags & ACCESS_MODE))) {
                open.insert(*place);
            }
        }
    }
    open
}

/// Which of these files processes of this user still have open to write. This system does not tell.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn open_for_writing(_: &[(&OsStr, FileStamp)]) -> HashSet<usize> {
    HashSet::new()
}
