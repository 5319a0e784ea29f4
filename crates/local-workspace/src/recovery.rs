//! After a crash: files that the journal has promised and that may not be there.

use std::collections::BTreeMap;

use change_journal::{ContentHash, Entry, EntryKind, Journal, RecordedChange};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};
use wap_core::WapError;

use crate::change::publish_file;
use crate::checkpoint::Checkpoint;
use crate::errors::journal_error;
use crate::plan::{Present, PresentKind, present_on_disk};

/// What was found and done when a workspace was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// Files that were written again, or removed again, by canonical path.
    pub redone: Vec<String>,
    /// Files that somebody else has changed since; theirs stayed, and the journal holds ours.
    pub conflicts: Vec<String>,
    /// Files that could not be written again now, with the reason; the next opening tries again.
    pub failed: Vec<(String, String)>,
}

/// Looks at every change that is not settled and brings its file to the state that was recorded last.
pub(crate) fn recover(
    root: &FileRoot,
    journal: &Journal,
    checkpoint: &Checkpoint,
) -> Result<Recovery, WapError> {
    let mut by_path: BTreeMap<Vec<u8>, Vec<RecordedChange>> = BTreeMap::new();
    for change in journal.reader().unsettled_changes().map_err(journal_error)? {
        by_path.entry(change.path.clone()).or_default().push(change);
    }
    let mut recovery = Recovery::default();
    for (bytes, changes) in by_path {
        let Ok(path) = RelPath::from_bytes(&bytes) else { continue };
        match recover_path(root, journal, &path, &changes) {
            Ok(Found::InPlace) => {}
            Ok(Found::Redone) => recovery.redone.push(path.to_string()),
            Ok(Found::Conflict) => recovery.conflicts.push(path.to_string()),
            Err(error) => {
                recovery.failed.push((path.to_string(), error.to_string()));
                continue;
            }
        }
        checkpoint.add(changes.iter().map(|change| (change.number, path.clone())).collect());
    }
    Ok(recovery)
}

enum Found {
    InPlace,
    Redone,
    Conflict,
}

fn recover_path(
    root: &FileRoot,
    journal: &Journal,
    path: &RelPath,
    changes: &[RecordedChange],
) -> Result<Found, FsError> {
    let last = changes.last().expect("a path is only listed with a change");
    let now = present_on_disk(root, path)?;
    if holds(now.as_ref(), last.after.as_ref()) {
        return Ok(Found::InPlace);
    }
    let after = match &last.after {
        None => None,
        Some(entry) => match content(journal, entry) {
            Some(bytes) => Some(bytes),
            None => return Ok(Found::Conflict),
        },
    };
    let is_ours = changes.iter().any(|change| {
        holds(now.as_ref(), change.before.as_ref()) || holds(now.as_ref(), change.after.as_ref())
    });
    let is_torn = !last.this_boot
        && now.as_ref().zip(after.as_ref()).is_some_and(|(now, after)| is_torn(&now.bytes, after));
    if !is_ours && !is_torn {
        return Ok(Found::Conflict);
    }
    let after = after.map(|bytes| Present {
        kind: PresentKind::File,
        hash: ContentHash::of(&bytes),
        bytes,
        mode: None,
    });
    publish_file(root, path, now.as_ref(), after.as_ref())?;
    Ok(Found::Redone)
}

/// Whether what is on the disk is this side of a change.
fn holds(now: Option<&Present>, side: Option<&Entry>) -> bool {
    match (now, side) {
        (None, None) => true,
        (Some(now), Some(side)) => {
            let kind = match now.kind {
                PresentKind::File => EntryKind::File,
                PresentKind::Other => EntryKind::Symlink,
            };
            side.kind == kind && side.content == Some(now.hash)
        }
        _ => false,
    }
}

fn content(journal: &Journal, entry: &Entry) -> Option<Vec<u8>> {
    journal.reader().content(&entry.content?).ok().flatten()
}

/// Whether a loss of power may have made this of `after`: it stops early, or pages of it are zeros.
fn is_torn(now: &[u8], after: &[u8]) -> bool {
    const PAGE: usize = 4096;
    now.len() <= after.len()
        && now
            .chunks(PAGE)
            .zip(after.chunks(PAGE))
            .all(|(now, after)| after.starts_with(now) || now.iter().all(|byte| *byte == 0))
}
