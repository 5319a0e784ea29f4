//! The bare repositories that an undo restores as a whole.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{ChangeNumber, ChangeState, Entry, EntryKind, JournalError, RecordedChange};
use rel_path::RelPath;
use sandbox_fs::FsError;

use crate::git::guard::in_git_folder;
use crate::undo::path::UndoPath;
use crate::undo::plan::UndoContext;

/// Folders that are completely gone, and that contain exactly the entries removed by one step once an undo is
/// carried out.
///
/// A folder removed by one step existed in that state at one moment. Parts of several steps could make a repository
/// that never existed, and that was not judged.
#[derive(Debug, Default)]
pub(super) struct RestoredRepositories {
    folders: BTreeSet<RelPath>,
}

impl RestoredRepositories {
    /// Finds them among the paths of an undo.
    pub(super) fn of(
        context: &UndoContext<'_>,
        paths: &[UndoPath],
    ) -> Result<RestoredRepositories, JournalError> {
        let by_path: BTreeMap<&RelPath, &UndoPath> = paths.iter().map(|path| (&path.path, path)).collect();
        let mut restored = RestoredRepositories::default();
        let comes_back = |path: &&UndoPath| path.now.is_none() && path.wanted.is_some();
        for head in paths.iter().filter(comes_back) {
            let is_head = head.path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(b"HEAD"));
            let folder = head.path.parent().filter(|folder| is_head && !folder.is_root());
            let Some(folder) = folder.filter(|_| in_git_folder(&head.path).is_none()) else { continue };
            let is_gone = matches!(context.root.metadata(&folder), Err(FsError::NotFound { .. }));
            if is_gone && is_whole(context, &folder, head, &by_path)? {
                restored.folders.insert(folder);
            }
        }
        Ok(restored)
    }

    pub(super) fn contains(&self, folder: &RelPath) -> bool {
        self.folders.contains(folder)
    }
}

/// Returns whether all restored entries of a folder were removed by the step that has removed its `HEAD`, and all
/// entries removed by that step are restored, as far as the journal keeps them.
fn is_whole(
    context: &UndoContext<'_>,
    folder: &RelPath,
    head: &UndoPath,
    paths: &BTreeMap<&RelPath, &UndoPath>,
) -> Result<bool, JournalError> {
    let Some(number) = oldest(head) else { return Ok(false) };
    let changes = context.journal.changes_of_path(head.path.as_bytes(), u32::MAX)?;
    let Some(removal) = changes.into_iter().find(|change| change.number == number) else { return Ok(false) };
    let mut removed = BTreeSet::new();
    for change in context.journal.changes_of_run(removal.run)? {
        let is_of_step = change.step == removal.step && change.state != ChangeState::Conflicted;
        let Some((path, before)) = removed_entry(&change).filter(|(path, _)| path.starts_with(folder)) else {
            continue;
        };
        if !is_of_step {
            continue;
        }
        let comes_back = paths.get(&path).is_some_and(|path| {
            let wanted = path.wanted.map(|wanted| (wanted.kind, wanted.content));
            oldest(path) == Some(change.number) && wanted == Some((before.kind, before.content))
        });
        if (before.was_kept() || before.kind == EntryKind::Folder) && !comes_back {
            return Ok(false);
        }
        removed.insert(path);
    }
    let coming = paths.values().filter(|path| path.wanted.is_some() && path.path.starts_with(folder));
    Ok(coming.into_iter().all(|path| removed.contains(&path.path)))
}

/// Returns the number of the oldest change that is undone at a path.
fn oldest(path: &UndoPath) -> Option<ChangeNumber> {
    path.back.last().and_then(|step| step.undoes)
}

/// Returns the entry that a change has removed.
fn removed_entry(change: &RecordedChange) -> Option<(RelPath, Entry)> {
    let before = change.before.filter(|_| change.after.is_none())?;
    Some((RelPath::from_bytes(&change.path).ok()?, before))
}
