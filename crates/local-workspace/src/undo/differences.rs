//! The effects of recorded changes on files, as diffs.

use std::collections::{BTreeMap, btree_map};
use std::ops::RangeInclusive;

use change_journal::{
    ChangeNumber, ChangeState, Entry, EntryKind, JournalError, JournalReader, RecordedChange, RunNumber,
};
use rel_path::RelPath;

use crate::undo::history::undone_by;
use crate::undo::unified_diff::UnifiedDiff;

/// The number of changes that are read at a time.
const PAGE: u32 = 1_000;

/// The combined effect of some changes on one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileDifference {
    /// The file.
    pub path: String,
    /// A unified diff, empty if the changes cancel each other out; a line of explanation for contents that are
    /// not text.
    pub diff: String,
    /// Lines that are new or different.
    pub lines_added: usize,
    /// Lines that are gone or different.
    pub lines_removed: usize,
    /// The first change included in the difference.
    pub first: ChangeNumber,
    /// The last change included in the difference.
    pub last: ChangeNumber,
    /// True if the request covers older changes of the file, whose contents are no longer kept.
    pub is_cut: bool,
    /// The contents, `None` for a missing file; both are `None` if a content is not kept.
    sides: [Option<Vec<u8>>; 2],
}

impl FileDifference {
    /// Returns the diff of the path and the contents as masked by `view`, for a reader that may not see all of them.
    #[must_use]
    pub fn diff_as(&self, view: impl Fn(&str) -> String) -> String {
        let mut sides = [None, None];
        for (side, bytes) in sides.iter_mut().zip(&self.sides) {
            let Some(bytes) = bytes else { continue };
            // The diff of contents that are not text only says so.
            let Ok(text) = str::from_utf8(bytes) else { return view(&self.diff) };
            *side = Some(view(text).into_bytes());
        }
        match &sides {
            [None, None] => view(&self.diff),
            [before, after] => {
                UnifiedDiff::between(&view(&self.path), before.as_deref(), after.as_deref()).text
            }
        }
    }
}

/// Returns the difference that the changes with these numbers have made to each file.
///
/// It is computed from the contents in the journal: the state before the first and after the last of them. Changes
/// by other programs in between are included, later ones are not. Folders are left out.
///
/// # Errors
///
/// Only if the journal cannot be read.
pub fn differences(
    journal: &JournalReader,
    numbers: RangeInclusive<ChangeNumber>,
) -> Result<FileDifferences<'_>, JournalError> {
    let mut by_path: BTreeMap<Vec<u8>, Vec<RecordedChange>> = BTreeMap::new();
    let mut after = ChangeNumber(numbers.start().0.saturating_sub(1));
    loop {
        let page = journal.changes(after, PAGE)?;
        let Some(newest) = page.last() else { break };
        after = newest.number;
        let is_over = after > *numbers.end();
        let is_wanted = |change: &RecordedChange| {
            change.number <= *numbers.end() && change.state != ChangeState::Conflicted
        };
        for change in page.into_iter().filter(is_wanted) {
            by_path.entry(change.path.clone()).or_default().push(change);
        }
        if is_over {
            break;
        }
    }
    Ok(FileDifferences { journal, files: by_path.into_iter(), leaves_out_undone: false })
}

/// The differences that changes have made to files, sorted by path, computed lazily: they may exceed an answer, or
/// memory.
#[derive(Debug)]
pub struct FileDifferences<'a> {
    journal: &'a JournalReader,
    files: btree_map::IntoIter<Vec<u8>, Vec<RecordedChange>>,
    leaves_out_undone: bool,
}

impl FileDifferences<'_> {
    /// Returns the difference of a path; `None` if only a folder was changed, or no change is in force.
    fn of(&self, path: &[u8], changes: Vec<RecordedChange>) -> Result<Option<FileDifference>, JournalError> {
        let mut in_force = Vec::new();
        for change in changes {
            if !self.leaves_out_undone || undone_by(self.journal, change.number)?.is_none() {
                in_force.push(change);
            }
        }
        of_path(self.journal, path, &in_force)
    }

    /// Returns the number of remaining paths, including folders and paths without changes in force.
    #[must_use]
    pub fn paths_left(&self) -> usize {
        self.files.len()
    }
}

impl Iterator for FileDifferences<'_> {
    /// One path; `None` if only a folder was changed, or no change is in force. Such paths are not skipped here, so
    /// that the caller can stop at each of them.
    type Item = Result<Option<FileDifference>, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (path, changes) = self.files.next()?;
        Some(self.of(&path, changes))
    }
}

/// Returns the difference that the changes of one run have made to each file; see [`differences`].
///
/// # Errors
///
/// Only if the journal cannot be read.
pub fn run_differences(journal: &JournalReader, run: RunNumber) -> Result<FileDifferences<'_>, JournalError> {
    let files = by_path(journal.changes_of_run(run)?);
    Ok(FileDifferences { journal, files: files.into_iter(), leaves_out_undone: false })
}

/// Returns the difference that the changes of several runs, the oldest first, have made to each file; see [`differences`].
/// Changes that have been undone since are left out.
///
/// # Errors
///
/// Only if the journal cannot be read.
pub fn runs_differences<'a>(
    journal: &'a JournalReader,
    runs: &[RunNumber],
) -> Result<FileDifferences<'a>, JournalError> {
    let mut changes = Vec::new();
    for run in runs {
        changes.extend(journal.changes_of_run(*run)?);
    }
    Ok(FileDifferences { journal, files: by_path(changes).into_iter(), leaves_out_undone: true })
}

fn by_path(changes: Vec<RecordedChange>) -> BTreeMap<Vec<u8>, Vec<RecordedChange>> {
    let mut by_path: BTreeMap<Vec<u8>, Vec<RecordedChange>> = BTreeMap::new();
    for change in changes.into_iter().filter(|change| change.state != ChangeState::Conflicted) {
        by_path.entry(change.path.clone()).or_default().push(change);
    }
    by_path
}

/// The difference from the oldest side that is still kept to the newest; `None` if only a folder was changed.
fn of_path(
    journal: &JournalReader,
    path: &[u8],
    changes: &[RecordedChange],
) -> Result<Option<FileDifference>, JournalError> {
    let (Some(oldest), Some(newest)) = (changes.first(), changes.last()) else { return Ok(None) };
    let is_folder = |side: Option<Entry>| side.is_none_or(|entry| entry.kind == EntryKind::Folder);
    if changes.iter().all(|change| is_folder(change.before) && is_folder(change.after)) {
        return Ok(None);
    }
    let path = RelPath::from_bytes(path).unwrap_or_default().to_string();
    let mut first = None;
    for change in changes {
        if let Side::Kept(bytes) = side(journal, change.before)? {
            first = Some((change.number, bytes));
            break;
        }
    }
    let difference = |first: ChangeNumber, diff: UnifiedDiff, sides| FileDifference {
        path: path.clone(),
        diff: diff.text,
        lines_added: diff.lines_added,
        lines_removed: diff.lines_removed,
        first,
        last: newest.number,
        is_cut: first != oldest.number,
        sides,
    };
    let (Some((first, before)), Side::Kept(after)) = (first, side(journal, newest.after)?) else {
        let said = UnifiedDiff::said(&format!("what {path} held was too large to be kept, or is too old"));
        return Ok(Some(FileDifference { is_cut: true, ..difference(newest.number, said, [None, None]) }));
    };
    let diff = UnifiedDiff::between(&path, before.as_deref(), after.as_deref());
    Ok(Some(difference(first, diff, [before, after])))
}

/// One side of a change.
pub(super) enum Side {
    /// The bytes, `None` for a missing file.
    Kept(Option<Vec<u8>>),
    Gone,
}

pub(super) fn side(journal: &JournalReader, entry: Option<Entry>) -> Result<Side, JournalError> {
    let Some(entry) = entry.filter(|entry| entry.kind != EntryKind::Folder) else {
        return Ok(Side::Kept(None));
    };
    match entry.content.map(|hash| journal.content(&hash)) {
        Some(Ok(Some(bytes))) => Ok(Side::Kept(Some(bytes))),
        Some(Err(JournalError::ContentMissing { .. } | JournalError::ContentDamaged { .. }) | Ok(None))
        | None => Ok(Side::Gone),
        Some(Err(error)) => Err(error),
    }
}
