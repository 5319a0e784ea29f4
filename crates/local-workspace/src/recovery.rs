//! After a crash: files that the journal has promised and that may not be there.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{ChangeState, Entry, Journal, RecordedChange};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};
use wap_core::{Reason, WapError};

use crate::checkpoint::Checkpoint;
use crate::errors::journal_error;
use crate::leftovers;
use crate::present::Present;
use crate::publish::publish_file;
use crate::step_record::{ChangeRecord, encode};

/// What was found and done when a workspace was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// Files that were written again, or removed again, by canonical path.
    pub redone: Vec<String>,
    /// Files that somebody else has changed since; theirs stayed, and the journal holds ours. Steps that had not been
    /// seen to come through answer this as a conflict from now on.
    pub conflicts: Vec<String>,
    /// Files that could not be written again now, with the reason; the next opening tries again.
    pub failed: Vec<(String, String)>,
    /// Versions of somebody else that the crash left without a place, under the names that they have now.
    pub kept: Vec<String>,
}

impl Recovery {
    /// Whether there is nothing to tell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Recovery::default()
    }
}

/// Looks at every change that is not settled and brings its file to the state that was recorded last, then clears away
/// what the crash has left beside these files.
///
/// Where nothing may be written, everything stays as it is for the next opening.
pub(crate) fn recover(
    root: &FileRoot,
    journal: &Journal,
    checkpoint: &Checkpoint,
    read_only: bool,
) -> Result<Recovery, WapError> {
    let mut by_path: BTreeMap<RelPath, Vec<RecordedChange>> = BTreeMap::new();
    for change in journal.reader().unsettled_changes().map_err(journal_error)? {
        if let Ok(path) = RelPath::from_bytes(&change.path) {
            by_path.entry(path).or_default().push(change);
        }
    }
    let mut recovery = Recovery::default();
    if read_only {
        let failed = |path: &RelPath| (path.to_string(), "this workspace is read-only".to_owned());
        recovery.failed = by_path.keys().map(failed).collect();
        return Ok(recovery);
    }
    for (path, changes) in &by_path {
        match recover_path(root, journal, path, changes) {
            Ok(Found::InPlace) => {}
            Ok(Found::Redone) => recovery.redone.push(path.to_string()),
            Ok(Found::Conflict) => {
                note_conflict(journal, path, changes);
                recovery.conflicts.push(path.to_string());
            }
            Err(error) => {
                recovery.failed.push((path.to_string(), error.to_string()));
                continue;
            }
        }
        checkpoint.add(changes.iter().map(|change| (change.number, path.clone())).collect());
    }
    let folders: BTreeSet<_> = by_path.keys().filter_map(RelPath::parent).collect();
    let changes: Vec<_> = by_path.into_values().flatten().collect();
    for folder in folders {
        recovery.kept.extend(leftovers::clear(root, journal, &folder, &changes));
    }
    // A step that is asked for again must answer what was found here.
    journal.flush().map_err(journal_error)?;
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
    let now = match Present::on_disk(root, path) {
        Ok(now) => now,
        Err(error) if is_somebody_elses(&error) => return Ok(Found::Conflict),
        Err(error) => return Err(error),
    };
    if holds(now.as_ref(), last.after.as_ref()) {
        return Ok(Found::InPlace);
    }
    if last.this_boot && last.state == ChangeState::Published {
        // It was in its place, and nothing but a loss of power takes it away again without somebody's doing.
        return Ok(Found::Conflict);
    }
    let after = match &last.after {
        None => None,
        Some(entry) => match content(journal, entry) {
            Some(bytes) => Some(Present::file(bytes, None)),
            None => return Ok(Found::Conflict),
        },
    };
    let is_ours = changes.iter().any(|change| {
        holds(now.as_ref(), change.before.as_ref()) || holds(now.as_ref(), change.after.as_ref())
    });
    let is_torn = !last.this_boot
        && now.as_ref().zip(after.as_ref()).is_some_and(|(now, after)| is_torn(&now.bytes, &after.bytes));
    if !is_ours && !is_torn {
        return Ok(Found::Conflict);
    }
    match publish_file(root, path, now.as_ref(), after.as_ref()) {
        Ok(()) => Ok(Found::Redone),
        Err(error) if is_somebody_elses(&error) => Ok(Found::Conflict),
        Err(error) => Err(error),
    }
}

/// Whether an error means that somebody has put something there that is not replaced, now or later.
fn is_somebody_elses(error: &FsError) -> bool {
    matches!(
        error,
        FsError::NotAFile { .. }
            | FsError::NotAFolder { .. }
            | FsError::IsLink { .. }
            | FsError::LinkLoop { .. }
            | FsError::Escape { .. }
            | FsError::TooLarge { .. }
            | FsError::Changed { .. }
            | FsError::LeftBehind { .. }
            | FsError::AlreadyExists { .. }
            | FsError::NotFound { .. }
            | FsError::Protected { .. }
    )
}

/// Turns the recorded outcomes of changes that were never seen in their places into conflicts.
fn note_conflict(journal: &Journal, path: &RelPath, changes: &[RecordedChange]) {
    let text = format!(
        "`{path}` was changed by someone else while this change was under way, so theirs stayed: read the file again"
    );
    let error = WapError::new(Reason::Conflict, text).with("path", path.to_string());
    let outcome = encode(&ChangeRecord { outcome: Err(error), line_map: None });
    for change in changes.iter().filter(|change| change.state == ChangeState::Intended) {
        // If it cannot be noted, the next opening finds the same.
        let _ = journal.conflict_change(change.number, &outcome);
    }
}

/// Whether what is on the disk is this side of a change.
fn holds(now: Option<&Present>, side: Option<&Entry>) -> bool {
    match (now, side) {
        (None, None) => true,
        (Some(now), Some(side)) => now.is(side),
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

#[cfg(test)]
mod tests {
    use super::is_torn;

    #[test]
    fn beginnings_and_pages_of_zeros_are_torn_and_nothing_else_is() {
        let whole = [vec![b'a'; 4096], vec![b'b'; 4096], vec![b'c'; 100]].concat();
        let zeros = vec![0; 4096];
        let torn: [&[u8]; 5] = [
            b"",
            &whole[..5000],
            &[&zeros[..], &whole[4096..]].concat(),
            &[&whole[..4096], &zeros[..]].concat(),
            &vec![0; 8292],
        ];
        for now in torn {
            assert!(is_torn(now, &whole), "{} bytes", now.len());
        }
        let others: [&[u8]; 4] = [
            b"x",
            &[&whole[..], b"more"].concat(),
            &[&whole[..4095], b"x", &whole[4096..]].concat(),
            &[&whole[..4096], &[0; 100], &whole[4196..]].concat(),
        ];
        for now in others {
            assert!(!is_torn(now, &whole), "{} bytes", now.len());
        }
    }
}
