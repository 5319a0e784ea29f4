//! Changes whose sync failed, although they are published.
//!
//! After a failed sync the kernel may have dropped data that it could not write, but still shows it. Syncing again then
//! proves nothing, not even in another process. So such changes are marked in the journal, and their files are
//! rewritten from the journal before they are trusted.

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

/// The name of a file that is made and removed again, so that its folder has a change to sync.
const STIR: &[u8] = b".agentd-sync";

/// The error number reported if nothing is left to rewrite: `ENODATA`, which disks do not report.
const NOT_KEPT: i32 = 61;

/// Marks changes; when it returns, the marks are on the disk.
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

/// Removes marks with the next commit. A mark that stays is ignored for settled changes.
pub(crate) fn unmark(journal: &Journal, numbers: impl IntoIterator<Item = ChangeNumber>) {
    let names: Vec<_> = numbers.into_iter().map(name_of).collect();
    if !names.is_empty() {
        let removals: Vec<_> = names.iter().map(|name| DocumentWrite::Remove { name }).collect();
        let _ = journal.write_documents_lazily(&removals);
    }
}

/// The marked changes.
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

/// A rewritten file: the replaced one, to be watched, with its content.
pub(crate) type Rewritten = Option<(OpenFile, sandbox_fs::ContentHash)>;

/// Rewrites the path of a change in its state after the change, and syncs it with its parent folders. Another
/// program's later version stays unchanged.
///
/// # Errors
///
/// If the disk still fails, or the contents are no longer kept.
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
        // These have only names.
        _ => None,
    };
    for folder in std::iter::successors(path.parent(), RelPath::parent) {
        sync_names(&by, &folder)?;
    }
    Ok(rewritten)
}

/// Rewrites the content of a change to a new file, if the path still holds it. A disk may have lost sectors of it,
/// which are then zeros; a shorter file is the user's.
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
        // The bytes read have the right hash, whatever their source.
        None if now.is(after) => &*now.bytes,
        None if after.content.is_none() => return Err(FsError::Io { path: path.clone(), errno: NOT_KEPT }),
        _ => return Ok(None),
    };
    // Synced here rather than on publishing, which also syncs the folder: not every file system can.
    match root.stage(path, bytes, FileMode::Keep)?.publish(Expected::Content(now.hash)) {
        Ok(published) => {
            sync_again(DiskSync::new(root).file(path))?;
            Ok(published.replaced.map(|replaced| (replaced, now.hash)))
        }
        // The user has just saved it.
        Err(FsError::Changed { .. } | FsError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn sync_again(synced: Result<(), SyncError>) -> Result<(), FsError> {
    synced.map_err(|(SyncError::Disk(error) | SyncError::NotMade(error))| error)
}

/// Syncs a folder after making a change in it.
pub(crate) fn sync_names(root: &FileRoot, folder: &RelPath) -> Result<(), FsError> {
    let stirred = folder.child(STIR).map_err(FsError::from);
    let stirred = stirred.and_then(|path| root.stage(&path, b"", FileMode::Exact(0o600)).map(drop));
    match stirred {
        Err(error) if is_failed_sync(&error) => return Err(error),
        // If no file can be made, only syncing does no harm.
        Ok(()) | Err(_) => {}
    }
    sync_again(DiskSync::new(root).folder(folder))
}
