//! The files that a session or a run has changed, as far as they still differ from before.

use std::collections::BTreeMap;

use change_journal::{
    ChangeState, Entry, EntryKind, JournalError, JournalReader, RecordedChange, RecordedRun, RunFilter,
};
use file_index::GitIgnores;
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};

use crate::WorkspacePaths;
use crate::state::bookkeeping::Bookkeeping;

/// The runs that are read at a time.
const PAGE: u32 = 50;

/// The runs of which the touched files are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchedBy<'a> {
    /// All runs of a session, by its id.
    Session(&'a str),
    /// The last run that did anything, undos left out.
    LastRun,
}

/// Returns the files that differ from how they were before the runs, sorted, relative to the workspace. Changes that other
/// runs made in between count as well, folders and bookkeeping do not.
///
/// # Errors
/// The journal cannot be read.
pub fn touched_paths(
    journal: &JournalReader,
    paths: &WorkspacePaths,
    by: TouchedBy<'_>,
) -> Result<Vec<String>, JournalError> {
    let changes = match by {
        TouchedBy::Session(id) => {
            let filter = RunFilter { conversation: Some(id.to_owned()), ..RunFilter::default() };
            let mut changes = Vec::new();
            for run in journal.runs(&filter, u32::MAX)?.iter().rev() {
                changes.extend(journal.changes_of_run(run.number)?);
            }
            changes
        }
        TouchedBy::LastRun => of_last_run(journal)?,
    };
    let Ok(root) = FileRoot::open(&paths.workspace, &RootRules::default(), FsPolicy::default()) else {
        return Ok(Vec::new());
    };
    let mut judge = Bookkeeping::new(journal, GitIgnores::new(&root));
    // The state before the first change and after the last, and whether any was made on purpose.
    let mut sides: BTreeMap<Vec<u8>, (Option<Entry>, Option<Entry>, bool)> = BTreeMap::new();
    for change in changes.into_iter().filter(|change| change.state != ChangeState::Conflicted) {
        let on_purpose = !judge.holds(&change)?;
        let RecordedChange { path, before, after, .. } = change;
        let side = sides.entry(path).or_insert((before, None, false));
        side.1 = after;
        side.2 |= on_purpose;
    }
    let touched = sides.into_iter().filter(|(_, (before, after, on_purpose))| {
        *on_purpose
            && !is_same(before.as_ref(), after.as_ref())
            && !is_folder(before.as_ref().or(after.as_ref()))
    });
    Ok(touched.map(|(path, _)| RelPath::from_bytes(&path).unwrap_or_default().to_string()).collect())
}

fn of_last_run(journal: &JournalReader) -> Result<Vec<RecordedChange>, JournalError> {
    let mut filter = RunFilter::default();
    loop {
        let runs = journal.runs(&filter, PAGE)?;
        let Some(RecordedRun { number, .. }) = runs.last() else { return Ok(Vec::new()) };
        filter.before = Some(*number);
        for run in &runs {
            let changes = journal.changes_of_run(run.number)?;
            let is_undo = changes.iter().any(|change| change.undoes.is_some());
            if !is_undo && !journal.steps(run.number)?.is_empty() {
                return Ok(changes);
            }
        }
    }
}

fn is_same(before: Option<&Entry>, after: Option<&Entry>) -> bool {
    match (before, after) {
        (None, None) => true,
        // A content that is not known may be another one.
        (Some(before), Some(after)) => {
            (before.kind, before.content, before.mode) == (after.kind, after.content, after.mode)
                && before.content.is_some()
        }
        _ => false,
    }
}

fn is_folder(side: Option<&Entry>) -> bool {
    side.is_some_and(|side| side.kind == EntryKind::Folder)
}
