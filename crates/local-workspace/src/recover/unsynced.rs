//! Changes that the disk did not take, although they are in their places.
//!
//! After a failed sync the kernel may have given up what it could not write, and shows it all the same. Syncing once more
//! then proves nothing, not even in another process. So such changes are marked in the journal, and their files are written
//! once more from what the journal holds before anything is believed of them.

use std::collections::BTreeSet;

use change_journal::{ChangeNumber, DocumentWrite, Entry, EntryKind, Journal, JournalError, RecordedChange};
use rel_path::RelPath;
use sandbox_fs::{Expected, FileMode, FileRoot, FsError, OpenFile};

use crate::change::present::{Present, PresentKind};
use crate::change::publish::{needs_open_root, open_root, restoring_root};
use crate::recover::disk_sync::{DiskSync, SyncError, is_failed_sync};
use crate::recover::partial_write::is_partial;

/// The prefix of the marks' names.
const MARKS: &str = "unsynced/";

/// The name of a file that is made and removed again, so that its folder has something to write.
const STIR: &[u8] = b".agentd-sync";

/// The error number that is reported where nothing is left to write again: `ENODATA`, which no disk reports.
const NOT_KEPT: i32 = 61;

/// Marks changes; when it answers, the marks are on the disk.
///
/// # Errors
///
/// Those of the journal.
pub(crate) fn mark(
    journal: &Journal,
    numbers: impl IntoIterator<Item = ChangeNumber>,
) -> Result<(), JournalError> {
    let names: Vec<_> = numbers.into_iter().map(name_of).collect();
    let writes: Vec<_> = names.iter().map(|name| DocumentWrite::Put { name, bytes: b"" }).collect();
    journal.write_documents(&writes).map(drop)
}

/// Takes marks away with the next commit. A mark that stays says nothing about a change that is settled.
pub(crate) fn unmark(journal: &Journal, numbers: impl IntoIterator<Item = ChangeNumber>) {
    let names: Vec<_> = numbers.into_iter().map(name_of).collect();
    if !names.is_empty() {
        let removals: Vec<_> = names.iter().map(|name| DocumentWrite::Remove { name }).collect();
        let _ = journal.write_documents_lazily(&removals);
    }
}

/// The changes that are marked.
///
/// # Errors
///
/// Those of the journal.
pub(crate) fn marked(journal: &Journal) -> Result<BTreeSet<ChangeNumber>, JournalError> {
    let heads = journal.reader().documents(MARKS)?;
    let number = |name: &str| name.strip_prefix(MARKS)?.parse().ok().map(ChangeNumber);
    Ok(heads.iter().filter_map(|head| number(&head.name)).collect())
}

fn name_of(number: ChangeNumber) -> String {
    format!("{MARKS}{number}")
}

/// A file that was written once more: what had its place before, to be watched, with its content.
pub(crate) type Rewritten = Option<(OpenFile, sandbox_fs::ContentHash)>;

/// Writes the path of a change once more, as it is after the change, and syncs it with the folders above it. What
/// another program has put there since stays as it is.
///
/// # Errors
///
/// Those of a disk that still fails, and of contents that are no longer kept.
pub(crate) fn write_again(
    root: &FileRoot,
    journal: &Journal,
    path: &RelPath,
    change: &RecordedChange,
) -> Result<Rewritten, FsError> {
    let by = if needs_open_root(path, std::slice::from_ref(change)) {
        open_root(root)?
    } else {
        restoring_root(root)?
    };
    let rewritten = match change.after {
        Some(after) if after.kind == EntryKind::File => write_file_again(&by, journal, path, &after)?,
        // Names are all that there is to these.
        _ => None,
    };
    for folder in std::iter::successors(path.parent(), RelPath::parent) {
        sync_names(&by, &folder)?;
    }
    Ok(rewritten)
}

/// Gives the content that a change has left a file of its own, where the path still holds it. A disk may have lost sectors of
/// it, which are zeros then; a shorter file is the user's.
fn write_file_again(
    root: &FileRoot,
    journal: &Journal,
    path: &RelPath,
    after: &Entry,
) -> Result<Rewritten, FsError> {
    let now = match Present::of_any_kind(root, path)? {
        Some(now) if now.kind == PresentKind::File => now,
        _ => return Ok(None),
    };
    let held = after.content.and_then(|hash| journal.reader().content(&hash).ok().flatten());
    let has_lost_sectors = |held: &[u8]| now.bytes.len() == held.len() && is_partial(&now.bytes, held);
    let bytes = match &held {
        Some(held) if now.is(after) || has_lost_sectors(held) => held,
        // What was read has the right hash, wherever it was read from.
        None if now.is(after) => &*now.bytes,
        None if after.content.is_none() => return Err(FsError::Io { path: path.clone(), errno: NOT_KEPT }),
        _ => return Ok(None),
    };
    // Synced here and not with the publishing, which also syncs the folder: not every file system can.
    match root.stage(path, bytes, FileMode::Keep)?.publish(Expected::Content(now.hash)) {
        Ok(published) => {
            sync_again(DiskSync::new(root).file(path))?;
            Ok(published.replaced.map(|replaced| (replaced, now.hash)))
        }
        // The user has saved it in this moment.
        Err(FsError::Changed { .. } | FsError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn sync_again(synced: Result<(), SyncError>) -> Result<(), FsError> {
    synced.map_err(|(SyncError::Disk(error) | SyncError::NotMade(error))| error)
}

/// Syncs a folder after it was given something to write.
pub(crate) fn sync_names(root: &FileRoot, folder: &RelPath) -> Result<(), FsError> {
    let stirred = folder.child(STIR).map_err(FsError::from);
    let stirred = stirred.and_then(|path| root.stage(&path, b"", FileMode::Exact(0o600)).map(drop));
    match stirred {
        Err(error) if is_failed_sync(&error) => return Err(error),
        // Where nothing can be made, nothing is lost by only syncing.
        Ok(()) | Err(_) => {}
    }
    sync_again(DiskSync::new(root).folder(folder))
}
