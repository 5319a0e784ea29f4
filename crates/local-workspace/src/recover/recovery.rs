//! Recovery after a crash of files that the journal has promised and that may be missing.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{ChangeNumber, ChangeState, EntryKind, Journal, JournalError, RecordedChange};
use rel_path::RelPath;
use sandbox_fs::FileRoot;
use wap_core::WapError;

use crate::adopt::reference_order::sort_for_restoring;
use crate::change::checkpoint::Checkpoint;
use crate::change::folder_modes::FolderModes;
use crate::change::publish::{needs_open_root, open_root, restoring_root};
use crate::errors::{fs_error, journal_error};
use crate::recover::layer_recovery::{AdoptedFromLayers, LayerOutcome};
use crate::recover::leftovers::Leftovers;
use crate::recover::recovery_path::{
    Lost, PathOutcome, is_about_folders_only, is_redoable, last, recover_folder, recover_path, recover_unkept,
};
use crate::recover::repositories_in_use::{is_open, repositories_in_use, repository_with};
use crate::recover::step_conflicts::StepConflicts;
use crate::recover::unsynced;

/// The number of a path's latest changes among which one without a conflict is searched.
const LATEST_CHANGES: u32 = 64;

/// The report of the recovery when a workspace was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// Files that were written again, or removed again, by canonical path.
    pub redone: Vec<String>,
    /// Files that another program has changed since; its version was kept, and the journal holds ours. From now on,
    /// their unconfirmed steps answer with a conflict.
    pub conflicts: Vec<String>,
    /// Repositories that another program has used since. A command's changes there, except objects, were not written,
    /// and the journal holds them.
    pub repositories: Vec<String>,
    /// Files that could not be written now, with the reason; the next opening tries again.
    pub failed: Vec<(String, String)>,
    /// Versions of other programs that the crash left without a name, under their new names.
    pub kept: Vec<String>,
}

impl Recovery {
    /// Checks whether there is nothing to report.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Recovery::default()
    }
}

/// Brings the file of every unsettled change to its last recorded state, then removes the crash's leftovers next to
/// these files.
///
/// If writing is not allowed, everything stays unchanged for the next opening.
pub(crate) fn recover(
    root: &FileRoot,
    journal: &Journal,
    checkpoint: &Checkpoint,
    read_only: bool,
    adopted: &AdoptedFromLayers,
) -> Result<Recovery, WapError> {
    let mut by_path: BTreeMap<RelPath, Vec<RecordedChange>> = BTreeMap::new();
    let marked = unsynced::marked(journal).map_err(journal_error)?;
    for change in journal.reader().unsettled_changes().map_err(journal_error)? {
        let Ok(path) = RelPath::from_bytes(&change.path) else { continue };
        by_path.entry(path).or_default().push(change);
    }
    settle_superseded(journal, &mut by_path).map_err(journal_error)?;
    let open: BTreeSet<_> = by_path.values().flatten().map(|change| change.number).collect();
    unsynced::unmark(journal, marked.difference(&open).copied());
    let mut recovery =
        Recovery { kept: adopted.kept.clone(), failed: adopted.failed.clone(), ..Recovery::default() };
    if by_path.is_empty() {
        return Ok(recovery);
    }
    if read_only {
        let failed = |path: &RelPath| (path.to_string(), "this workspace is read-only".to_owned());
        recovery.failed.extend(by_path.keys().map(failed));
        return Ok(recovery);
    }
    let restoring = restoring_root(root).map_err(|error| fs_error(&error, ""))?;
    let open = open_root(root).map_err(|error| fs_error(&error, ""))?;
    let modes = folder_modes(&open, &by_path);
    modes.open(&open);
    let mut conflicts = StepConflicts::new(journal);
    let mut looked_at = Vec::new();
    let mut in_place = BTreeSet::new();
    let mut paths: Vec<_> = by_path.iter().collect();
    sort_for_restoring(&mut paths, |(path, changes)| (*path, last(changes).after.map(|after| after.kind)));
    let in_use = repositories_in_use(&restoring, journal, &by_path, &|change| lost_with(change, &marked));
    let pass = Pass { journal, adopted, marked: &marked, restoring: &restoring, open: &open };
    let all: Vec<_> = by_path.values().flatten().cloned().collect();
    let mut unwritten = BTreeSet::new();
    for (path, changes) in paths {
        let is_removed = last(changes).after.is_none() && is_open(changes);
        let is_of_used = || repository_with(path).is_some_and(|folder| in_use.contains(&folder));
        if is_open(changes) && adopted.outcome(last(changes)).is_none() && is_of_used() {
            conflicts.add(path, changes);
            looked_at.extend(changes.iter().map(|change| (change.number, path.clone())));
            continue;
        }
        // A removed reference may only be in the list that could not be written.
        if is_removed && repository_with(path).is_some_and(|folder| unwritten.contains(&folder)) {
            let why = "another file of the repository has to be written first".to_owned();
            recovery.failed.push((path.to_string(), why));
            continue;
        }
        // Leftovers of the crash would keep the folder.
        if is_removed && is_about_folders_only(changes) {
            let leftovers = Leftovers { journal, changes: &all, in_place: &in_place };
            recovery.kept.extend(leftovers.clear(root, path));
        }
        match pass.recover_changes(path, changes) {
            Ok(PathOutcome::Unchanged) => {
                in_place.insert(path.clone());
            }
            Ok(PathOutcome::Redone) => recovery.redone.push(path.to_string()),
            Ok(PathOutcome::Conflict) => {
                conflicts.add(path, changes);
                recovery.conflicts.push(path.to_string());
            }
            Err(why) => {
                unwritten.extend(repository_with(path));
                recovery.failed.push((path.to_string(), why));
                continue;
            }
        }
        looked_at.extend(changes.iter().map(|change| (change.number, path.clone())));
    }
    recovery.repositories = in_use.iter().map(RelPath::to_string).collect();
    for (path, error) in modes.close(&open) {
        recovery.failed.push((path.to_string(), error.to_string()));
    }
    // A settled change is no longer a conflict, so conflicts are recorded first.
    let unnoted = conflicts.note();
    looked_at.retain(|(number, _)| !unnoted.contains(number));
    unsynced::unmark(
        journal,
        looked_at.iter().map(|(number, _)| *number).filter(|number| marked.contains(number)),
    );
    checkpoint.add(looked_at);
    recovery.redone.sort_unstable();
    recovery.conflicts.sort_unstable();
    recovery.failed.sort_unstable();
    let folders: BTreeSet<_> = by_path.keys().filter_map(RelPath::parent).collect();
    let leftovers = Leftovers { journal, changes: &all, in_place: &in_place };
    for folder in folders {
        recovery.kept.extend(leftovers.clear(root, &folder));
    }
    // A repeated step must return the result found here.
    journal.flush().map_err(journal_error)?;
    Ok(recovery)
}

/// One pass over all files that the journal has promised.
struct Pass<'a> {
    journal: &'a Journal,
    adopted: &'a AdoptedFromLayers,
    /// The changes that the disk has not confirmed.
    marked: &'a BTreeSet<ChangeNumber>,
    restoring: &'a FileRoot,
    /// The root for paths that `restoring` does not open.
    open: &'a FileRoot,
}

impl Pass<'_> {
    /// Brings the file of a path to the state recorded by its last change. Returns the reason if that is not possible
    /// now.
    fn recover_changes(&self, path: &RelPath, changes: &[RecordedChange]) -> Result<PathOutcome, String> {
        let (journal, last) = (self.journal, last(changes));
        let root = if needs_open_root(path, changes) { self.open } else { self.restoring };
        let outcome = match self.adopted.outcome(last) {
            Some(LayerOutcome::Adopted) => Ok(PathOutcome::Unchanged),
            Some(LayerOutcome::GivenUp) => Ok(PathOutcome::Conflict),
            Some(LayerOutcome::Later(why)) => return Err(why),
            None if !is_redoable(last) => recover_unkept(root, path, last),
            None if is_about_folders_only(changes) => recover_folder(root, journal, path, last),
            None => recover_path(root, journal, path, changes, lost_with(last, self.marked)),
        };
        let outcome = outcome.map_err(|error| error.to_string())?;
        if matches!(outcome, PathOutcome::Unchanged) && self.marked.contains(&last.number) {
            // It appears to be in place, which says nothing about the disk.
            unsynced::write_again(root, journal, path, last).map_err(|error| error.to_string())?;
            return Ok(PathOutcome::Redone);
        }
        Ok(outcome)
    }
}

/// The parts of an unsettled change's file that may be missing.
fn lost_with(change: &RecordedChange, marked: &BTreeSet<ChangeNumber>) -> Lost {
    match (change.this_boot, marked.contains(&change.number)) {
        (false, _) => Lost::AnyPart,
        (true, true) => Lost::Sectors,
        (true, false) => Lost::Nothing,
    }
}

/// Settles older changes of paths with a newer settled change: if they were redone, they would replace the newer
/// one.
fn settle_superseded(
    journal: &Journal,
    by_path: &mut BTreeMap<RelPath, Vec<RecordedChange>>,
) -> Result<(), JournalError> {
    let mut superseded = BTreeSet::new();
    for (path, changes) in by_path.iter() {
        let newest = journal.reader().changes_of_path(path.as_bytes(), LATEST_CHANGES)?;
        let newest = newest.iter().find(|change| change.state != ChangeState::Conflicted);
        if let Some(newest) = newest.filter(|newest| newest.state == ChangeState::Settled) {
            superseded
                .extend(changes.iter().map(|change| change.number).filter(|number| *number < newest.number));
        }
    }
    for changes in by_path.values_mut() {
        changes.retain(|change| !superseded.contains(&change.number));
    }
    by_path.retain(|_, changes| !changes.is_empty());
    journal.settle_changes(&superseded.into_iter().collect::<Vec<_>>())
}

/// The folders whose permission bits change, or obstruct changes within.
fn folder_modes(root: &FileRoot, by_path: &BTreeMap<RelPath, Vec<RecordedChange>>) -> FolderModes {
    let mut modes = FolderModes::default();
    for (path, changes) in by_path {
        let last = last(changes);
        let is_open = last.state == ChangeState::Intended && is_redoable(last);
        let side =
            |entry: Option<change_journal::Entry>| entry.filter(|entry| entry.kind == EntryKind::Folder);
        if !is_open || side(last.before).is_none() && side(last.after).is_none() {
            continue;
        }
        let has = root
            .metadata(path)
            .ok()
            .filter(sandbox_fs::Metadata::is_folder)
            .map(|metadata| metadata.mode & 0o7777);
        let wanted = side(last.after).and_then(|entry| entry.mode);
        // Bits other than ours are the user's, and stay.
        let before = side(last.before).and_then(|entry| entry.mode);
        let is_ours = has.is_none_or(|has| {
            let possible = [before, before.map(|mode| mode | 0o700), wanted, wanted.map(|mode| mode | 0o700)];
            last.before.is_none() || possible.into_iter().flatten().any(|mode| mode & 0o777 == has & 0o777)
        });
        modes.add(path, has, wanted.filter(|_| is_ours));
    }
    modes
}
