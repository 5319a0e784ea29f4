//! Recovering one path after a crash: determines its state, and brings it to the last recorded one.

use change_journal::{
    ChangeState, Entry, EntryKind, Journal, JournalError, RecordedAttributes, RecordedChange,
};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

use crate::adopt::repository_use::is_refreshed_index;
use crate::change::present::{Present, PresentKind, read_attributes};
use crate::change::publish::publish_file;
use crate::git::guard::is_main_index;
use crate::recover::partial_write::is_partial;

/// The state in which recovery found a path, and the action taken.
pub(crate) enum PathOutcome {
    Unchanged,
    Redone,
    Conflict,
}

/// The parts of a file that may be missing although it was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// None: the machine has run since.
    Nothing,
    /// The machine has run since, but the disk failed: sectors may be zeros. A shorter file is the user's.
    Sectors,
    /// Power was lost: any part that was not synced may be missing.
    AnyPart,
}

/// The reason why a path could not be recovered now; the next opening tries again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecoverError {
    #[error(transparent)]
    Files(#[from] FsError),
    /// The journal may or may not have the content, so nothing can be concluded about the file.
    #[error("the journal cannot be read: {0}")]
    Journal(#[from] JournalError),
}

pub(crate) fn last(changes: &[RecordedChange]) -> &RecordedChange {
    changes.last().expect("a path is only listed with a change")
}

/// Checks whether the journal holds the contents to redo a change.
pub(crate) fn is_redoable(change: &RecordedChange) -> bool {
    [change.before, change.after].iter().flatten().all(Entry::was_kept)
}

/// Recovers a change whose contents are not kept: only the presence of an entry of its kind can be checked.
pub(crate) fn recover_unkept(
    root: &FileRoot,
    path: &RelPath,
    last: &RecordedChange,
) -> Result<PathOutcome, RecoverError> {
    if last.state != ChangeState::Intended {
        return Ok(PathOutcome::Unchanged);
    }
    let now = match root.metadata(path) {
        Ok(_) if root.is_stored_otherwise(path)? => None,
        Ok(metadata) => Some(metadata.kind),
        Err(FsError::NotFound { .. } | FsError::ParentMissing { .. } | FsError::NotAFolder { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let is_gone = last.after.is_none() && now.is_none();
    Ok(if is_gone { PathOutcome::Unchanged } else { PathOutcome::Conflict })
}

pub(crate) fn is_about_folders_only(changes: &[RecordedChange]) -> bool {
    let is_folder = |entry: Option<Entry>| entry.is_none_or(|entry| entry.kind == EntryKind::Folder);
    changes.iter().all(|change| is_folder(change.before) && is_folder(change.after))
}

/// Makes or removes a folder, unless another program has used its name or the folder. That is never a conflict: a
/// folder has no content of ours.
pub(crate) fn recover_folder(
    root: &FileRoot,
    journal: &Journal,
    path: &RelPath,
    last: &RecordedChange,
) -> Result<PathOutcome, RecoverError> {
    if last.state != ChangeState::Intended {
        return Ok(PathOutcome::Unchanged);
    }
    let done = match (Present::where_left(root, path, last.after.as_ref())?, last.after) {
        (None, Some(after)) => {
            let attributes = read_attributes(journal.reader(), after.attributes)?;
            let folder = Present { mode: after.mode, ..Present::folder() }.with_attributes(attributes);
            publish_file(root, path, None, Some(&folder))
        }
        (Some(now), None) if now.kind == PresentKind::Folder => root.remove_empty_folder(path),
        _ => return Ok(PathOutcome::Unchanged),
    };
    match done {
        Ok(()) => Ok(PathOutcome::Redone),
        Err(FsError::FolderNotEmpty { .. }) => Ok(PathOutcome::Unchanged),
        Err(error) if is_foreign_entry(&error) => Ok(PathOutcome::Unchanged),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn recover_path(
    root: &FileRoot,
    journal: &Journal,
    path: &RelPath,
    changes: &[RecordedChange],
    lost: Lost,
) -> Result<PathOutcome, RecoverError> {
    let last = last(changes);
    let now = match Present::where_left(root, path, last.after.as_ref()) {
        Ok(now) => now,
        Err(error) if is_foreign_entry(&error) => return Ok(PathOutcome::Conflict),
        Err(error) => return Err(error.into()),
    };
    let mode = decided_mode(last);
    // A change of only the permission bits is not visible otherwise.
    let has_old_mode = last.state == ChangeState::Intended
        && mode.is_some()
        && now.as_ref().is_some_and(|now| now.mode == last.before.and_then(|before| before.mode));
    let is_left = holds(now.as_ref(), last.after.as_ref())
        || is_refreshed(journal, path, now.as_ref(), last.after.as_ref())?;
    if is_left && !has_old_mode {
        return Ok(PathOutcome::Unchanged);
    }
    if lost == Lost::Nothing && last.state == ChangeState::Published {
        // It was in place, and without another process only a power loss removes it again.
        return Ok(PathOutcome::Conflict);
    }
    let after = match &last.after {
        None => None,
        Some(entry) => match content(journal, entry)? {
            Some(bytes) => {
                let attributes = read_attributes(journal.reader(), decided_attributes(last))?;
                Some(Present::recorded(entry.kind, bytes, mode).with_attributes(attributes))
            }
            None => return Ok(PathOutcome::Conflict),
        },
    };
    if !is_left_by_changes(journal, path, now.as_ref(), changes, lost)? {
        return Ok(PathOutcome::Conflict);
    }
    match publish_file(root, path, now.as_ref(), after.as_ref()) {
        Ok(()) => Ok(PathOutcome::Redone),
        Err(error) if is_foreign_entry(&error) => Ok(PathOutcome::Conflict),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a path is in a state that none of its changes has left: another program has written it since.
pub(crate) fn is_foreign(
    root: &FileRoot,
    journal: &Journal,
    path: &RelPath,
    changes: &[RecordedChange],
    lost: Lost,
) -> Result<bool, RecoverError> {
    match Present::where_left(root, path, last(changes).after.as_ref()) {
        Ok(now) => Ok(!is_left_by_changes(journal, path, now.as_ref(), changes, lost)?),
        Err(error) if is_foreign_entry(&error) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a path is in a state before or after one of its changes, or between them.
fn is_left_by_changes(
    journal: &Journal,
    path: &RelPath,
    now: Option<&Present>,
    changes: &[RecordedChange],
    lost: Lost,
) -> Result<bool, JournalError> {
    let is_ours =
        changes.iter().any(|change| holds(now, change.before.as_ref()) || holds(now, change.after.as_ref()));
    // Entries other than files are not exchanged but removed first.
    let is_between = now.is_none()
        && changes.iter().any(|change| {
            [change.before, change.after].iter().flatten().any(|entry| entry.kind != EntryKind::File)
        });
    if is_ours || is_between {
        return Ok(true);
    }
    for side in changes.iter().flat_map(|change| [change.before, change.after]) {
        if is_refreshed(journal, path, now, side.as_ref())? {
            return Ok(true);
        }
    }
    // A save of the user right before our change may be partial as well; the journal has it whole.
    match now.filter(|now| now.kind == PresentKind::File) {
        Some(now) => is_left_of_any(journal, now, changes, lost),
        None => Ok(false),
    }
}

/// The permission bits that a change sets, if they differ from those before.
fn decided_mode(change: &RecordedChange) -> Option<u32> {
    let [before, after] = [change.before, change.after].map(|side| side.and_then(|entry| entry.mode));
    after.filter(|_| before != after)
}

/// The attributes that a change sets, if they differ from those before.
fn decided_attributes(change: &RecordedChange) -> RecordedAttributes {
    let [before, after] = [change.before, change.after].map(|side| side.map(|entry| entry.attributes));
    after.filter(|_| before != after).unwrap_or_default()
}

/// Checks whether an error means that another program has put an entry there, which is never replaced.
fn is_foreign_entry(error: &FsError) -> bool {
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

/// Checks whether the disk holds this side of a change.
fn holds(now: Option<&Present>, side: Option<&Entry>) -> bool {
    match (now, side) {
        (None, None) => true,
        (Some(now), Some(side)) => now.is(side),
        _ => false,
    }
}

/// Returns whether a path is an index that git has rewritten with the entries of this side, as `git status` does.
fn is_refreshed(
    journal: &Journal,
    path: &RelPath,
    now: Option<&Present>,
    side: Option<&Entry>,
) -> Result<bool, JournalError> {
    let (Some(now), Some(side)) = (now.filter(|now| now.kind == PresentKind::File), side) else {
        return Ok(false);
    };
    if !is_main_index(path) || side.kind != EntryKind::File {
        return Ok(false);
    }
    Ok(content(journal, side)?.is_some_and(|then| is_refreshed_index(path, &then, now.content())))
}

/// Checks whether a file may be a remainder of a version before or after one of these changes.
fn is_left_of_any(
    journal: &Journal,
    now: &Present,
    changes: &[RecordedChange],
    lost: Lost,
) -> Result<bool, JournalError> {
    if lost == Lost::Nothing {
        return Ok(false);
    }
    let may_be_left = |whole: &[u8]| {
        let has_length = lost == Lost::AnyPart || now.content().len() == whole.len();
        has_length && is_partial(now.content(), whole)
    };
    let sides = changes.iter().flat_map(|change| [change.after, change.before]).flatten();
    for entry in sides.filter(|entry| entry.kind == EntryKind::File) {
        if content(journal, &entry)?.is_some_and(|whole| may_be_left(&whole)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads a content; `None` if it is not kept.
fn content(journal: &Journal, entry: &Entry) -> Result<Option<Vec<u8>>, JournalError> {
    entry.content.map_or(Ok(None), |hash| journal.reader().content(&hash))
}
