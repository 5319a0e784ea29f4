//! The files that a session or a run has changed and that still differ from before.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{
    ChangeState, Entry, EntryKind, JournalError, JournalReader, RecordedChange, RecordedRun, RunFilter,
};
use file_index::{FormerRules, GitIgnores};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootError, RootRules};

use crate::WorkspacePaths;
use crate::state::bookkeeping::{Bookkeeping, is_ignored};

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

/// The reason why touched files cannot be listed.
#[derive(Debug, thiserror::Error)]
pub enum TouchedError {
    /// The journal cannot be read.
    #[error("the journal cannot be read: {0}")]
    Journal(#[from] JournalError),
    /// The folder cannot be opened, so that git's rules in it are unknown.
    #[error("the workspace cannot be opened: {0}")]
    Workspace(#[from] RootError),
}

/// Returns the files that differ from how they were before the runs, sorted, relative to the workspace. Changes that other
/// runs made in between count as well.
///
/// Folders and bookkeeping do not count. Files of the `named` paths always count, even if git ignores them; and rules
/// that the runs have written themselves only apply to new folders: a command could hide its changes by its own
/// `.gitignore`.
///
/// # Errors
///
/// [`TouchedError`]
pub fn touched_paths(
    journal: &JournalReader,
    paths: &WorkspacePaths,
    by: TouchedBy<'_>,
    named: &[String],
) -> Result<Vec<String>, TouchedError> {
    let mut changes = match by {
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
    changes.retain(|change| change.state != ChangeState::Conflicted);
    let root = FileRoot::open(&paths.workspace, &RootRules::default(), FsPolicy::default())?;
    let mut judge = Bookkeeping::new(journal, GitIgnores::new(&root));
    let mut sides: BTreeMap<RelPath, Sides> = BTreeMap::new();
    for change in changes {
        let on_purpose = !judge.holds(&change)?;
        let RecordedChange { path, before, after, .. } = change;
        let path = RelPath::from_bytes(&path).unwrap_or_default();
        let side = sides.entry(path).or_insert(Sides { before, after: None, on_purpose: false });
        side.after = after;
        side.on_purpose |= on_purpose;
    }
    let mut earlier = EarlierRules::new(journal, &root, &sides)?;
    let touched = sides.iter().filter(|(path, side)| {
        side.differ()
            && !side.is_of_folder()
            && (side.on_purpose
                || named.iter().any(|name| name.as_bytes() == path.as_bytes())
                || !earlier.are_enough_for(path))
    });
    Ok(touched.map(|(path, _)| path.to_string()).collect())
}

/// An entry before the first change and after the last.
struct Sides {
    before: Option<Entry>,
    after: Option<Entry>,
    /// True if any of the changes is more than bookkeeping.
    on_purpose: bool,
}

impl Sides {
    fn differ(&self) -> bool {
        match (&self.before, &self.after) {
            (None, None) => false,
            // An unknown content may differ.
            (Some(before), Some(after)) => {
                (before.kind, before.content, before.mode) != (after.kind, after.content, after.mode)
                    || before.content.is_none()
            }
            _ => true,
        }
    }

    fn is_of_folder(&self) -> bool {
        let is_folder = |side: &Entry| side.kind == EntryKind::Folder;
        self.before.as_ref().or(self.after.as_ref()).is_some_and(is_folder)
    }

    fn is_new_folder(&self) -> bool {
        self.before.is_none() && self.is_of_folder()
    }
}

/// Git's rules as they were before the changes.
struct EarlierRules<'a> {
    ignores: GitIgnores<'a>,
    new_folders: BTreeSet<RelPath>,
}

impl<'a> EarlierRules<'a> {
    fn new(
        journal: &JournalReader,
        root: &'a FileRoot,
        sides: &BTreeMap<RelPath, Sides>,
    ) -> Result<EarlierRules<'a>, JournalError> {
        let mut former = BTreeMap::new();
        let has_rules = |path: &RelPath| {
            path.file_name() == Some(b".gitignore") || path.as_bytes() == b".git/info/exclude"
        };
        for (path, side) in sides.iter().filter(|(path, _)| has_rules(path)) {
            let rules = match &side.before {
                None => FormerRules::Absent,
                // Git does not follow a symlink to rules.
                Some(before) if before.kind != EntryKind::File => FormerRules::Absent,
                Some(before) => {
                    let kept = before.content.map(|hash| journal.content(&hash)).transpose()?.flatten();
                    kept.map_or(FormerRules::NotKept, FormerRules::Content)
                }
            };
            former.insert(path.clone(), rules);
        }
        let new_folders = sides.iter().filter(|(_, side)| side.is_new_folder());
        let new_folders = new_folders.map(|(path, _)| path.clone()).collect();
        Ok(EarlierRules { ignores: GitIgnores::as_before(root, former), new_folders })
    }

    /// Checks whether a file is git's own, was ignored by these rules, or is in a new folder, whose rules hide nothing
    /// that existed.
    fn are_enough_for(&mut self, path: &RelPath) -> bool {
        let mut above = std::iter::successors(path.parent(), RelPath::parent);
        path.components().any(|name| name == b".git")
            || above.any(|folder| self.new_folders.contains(&folder))
            || is_ignored(&mut self.ignores, path, false)
    }
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
