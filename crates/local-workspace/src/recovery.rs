//! After a crash: files that the journal has promised and that may not be there.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{ChangeState, Entry, EntryKind, Journal, RecordedChange};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};
use wap_core::{Reason, WapError};

use crate::checkpoint::Checkpoint;
use crate::errors::{fs_error, journal_error};
use crate::leftovers;
use crate::present::{Present, PresentKind};
use crate::publish::{publish_file, restoring_root};
use crate::step_record::{ChangeRecord, encode};
use crate::torn::is_torn;

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
    if by_path.is_empty() {
        return Ok(recovery);
    }
    if read_only {
        let failed = |path: &RelPath| (path.to_string(), "this workspace is read-only".to_owned());
        recovery.failed = by_path.keys().map(failed).collect();
        return Ok(recovery);
    }
    let restoring = restoring_root(root).map_err(|error| fs_error(&error, ""))?;
    // What goes makes room for what comes, and a folder can go only after what is in it.
    let goes = |(_, changes): &(&RelPath, &Vec<RecordedChange>)| last(changes).after.is_none();
    let (going, coming): (Vec<_>, Vec<_>) = by_path.iter().partition(goes);
    for (path, changes) in going.into_iter().rev().chain(coming) {
        let found = if is_about_folders_only(changes) {
            recover_folder(&restoring, path, last(changes))
        } else {
            recover_path(&restoring, journal, path, changes)
        };
        match found {
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
    recovery.redone.sort_unstable();
    recovery.conflicts.sort_unstable();
    recovery.failed.sort_unstable();
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

fn last(changes: &[RecordedChange]) -> &RecordedChange {
    changes.last().expect("a path is only listed with a change")
}

fn is_about_folders_only(changes: &[RecordedChange]) -> bool {
    let is_folder = |entry: Option<Entry>| entry.is_none_or(|entry| entry.kind == EntryKind::Folder);
    changes.iter().all(|change| is_folder(change.before) && is_folder(change.after))
}

/// Makes or removes a folder, if nobody has done anything else with its name or with it. That is never a conflict: a
/// folder holds nothing of ours.
fn recover_folder(root: &FileRoot, path: &RelPath, last: &RecordedChange) -> Result<Found, FsError> {
    if last.state != ChangeState::Intended {
        return Ok(Found::InPlace);
    }
    let done = match (Present::of_any_kind(root, path)?, last.after) {
        (None, Some(_)) => root.create_dirs(path).map(drop),
        (Some(now), None) if now.kind == PresentKind::Folder => root.remove_empty_folder(path),
        _ => return Ok(Found::InPlace),
    };
    match done {
        Ok(()) => Ok(Found::Redone),
        Err(FsError::FolderNotEmpty { .. }) => Ok(Found::InPlace),
        Err(error) if is_somebody_elses(&error) => Ok(Found::InPlace),
        Err(error) => Err(error),
    }
}

fn recover_path(
    root: &FileRoot,
    journal: &Journal,
    path: &RelPath,
    changes: &[RecordedChange],
) -> Result<Found, FsError> {
    let last = last(changes);
    let now = match Present::of_any_kind(root, path) {
        Ok(now) => now,
        Err(error) if is_somebody_elses(&error) => return Ok(Found::Conflict),
        Err(error) => return Err(error),
    };
    let mode = decided_mode(last);
    // A change of the permission bits alone shows in nothing else.
    let has_old_mode = last.state == ChangeState::Intended
        && mode.is_some()
        && now.as_ref().is_some_and(|now| now.mode == last.before.and_then(|before| before.mode));
    if holds(now.as_ref(), last.after.as_ref()) && !has_old_mode {
        return Ok(Found::InPlace);
    }
    if last.this_boot && last.state == ChangeState::Published {
        // It was in its place, and nothing but a loss of power takes it away again without somebody's doing.
        return Ok(Found::Conflict);
    }
    let after = match &last.after {
        None => None,
        Some(entry) => match content(journal, entry) {
            Some(bytes) => Some(Present::recorded(entry.kind, bytes, mode)),
            None => return Ok(Found::Conflict),
        },
    };
    let is_ours = changes.iter().any(|change| {
        holds(now.as_ref(), change.before.as_ref()) || holds(now.as_ref(), change.after.as_ref())
    });
    // What is no file is not exchanged but removed first.
    let is_between = now.is_none()
        && changes.iter().any(|change| {
            [change.before, change.after].iter().flatten().any(|entry| entry.kind != EntryKind::File)
        });
    // What a user had saved right before our change may be torn as well; we have it whole.
    let is_left_of = |side: Option<Entry>, now: &Present| {
        let whole = side.and_then(|entry| content(journal, &entry));
        whole.is_some_and(|whole| is_torn(now.content(), &whole))
    };
    let is_torn = !last.this_boot
        && now.as_ref().filter(|now| now.kind == PresentKind::File).is_some_and(|now| {
            changes.iter().any(|change| is_left_of(change.after, now) || is_left_of(change.before, now))
        });
    if !is_ours && !is_torn && !is_between {
        return Ok(Found::Conflict);
    }
    match publish_file(root, path, now.as_ref(), after.as_ref()) {
        Ok(()) => Ok(Found::Redone),
        Err(error) if is_somebody_elses(&error) => Ok(Found::Conflict),
        Err(error) => Err(error),
    }
}

/// The permission bits that a change gives its file, if it has other ones after it than before.
fn decided_mode(change: &RecordedChange) -> Option<u32> {
    let [before, after] = [change.before, change.after].map(|side| side.and_then(|entry| entry.mode));
    after.filter(|_| before != after)
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
            | FsError::FolderNotEmpty { .. }
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
