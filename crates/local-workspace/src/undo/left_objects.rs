//! Objects that earlier undos have left in a repository that is now removed.
//!
//! An undo leaves stored objects in place if the repository stays. They do not count as the user's work when the change
//! that made the repository is undone in turn, and are removed with it.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{ChangeNumber, ChangeState, RecordedChange, RunNumber};
use rel_path::RelPath;
use sandbox_fs::FileKind;

use crate::git::guard::in_git_folder;
use crate::git::stored_names::store_around;
use crate::undo::error::UndoError;
use crate::undo::history::undone_by;
use crate::undo::path::{is_about_folder, plan_path};
use crate::undo::plan::{UndoContext, UndoPlan};

impl UndoPlan {
    /// Adds the removal of objects that undone changes have left in removed repositories.
    pub(super) fn add_left_objects(&mut self, context: &UndoContext<'_>) -> Result<(), UndoError> {
        let removed: Vec<RelPath> = self
            .paths
            .iter()
            .filter(|path| path.wanted.is_none() && path.now.is_some())
            .filter(|path| in_git_folder(&path.path).is_some_and(|part| part.names == [b"HEAD"]))
            .filter_map(|path| path.path.parent())
            .collect();
        let planned: BTreeSet<RelPath> = match removed.is_empty() {
            true => return Ok(()),
            false => self.paths.iter().map(|path| path.path.clone()).collect(),
        };
        for repository in removed {
            let mut undone = UndoneSteps { context, repository: &repository, steps: BTreeMap::new() };
            let mut open: Vec<RelPath> = repository.child(b"objects").into_iter().collect();
            while let Some(folder) = open.pop() {
                for entry in context.root.list(&folder).unwrap_or_default() {
                    let is_folder = entry.kind == FileKind::Folder;
                    let is_left =
                        !planned.contains(&entry.path) && (is_folder || store_around(&entry.path).is_some());
                    if is_left {
                        let chosen = undone.changes(&entry.path)?;
                        let path = plan_path(context, &chosen, &entry.path)?.ok().flatten();
                        self.paths.extend(path.filter(|path| path.wanted.is_none()));
                    }
                    open.extend(is_folder.then_some(entry.path));
                }
            }
        }
        Ok(())
    }
}

/// The steps whose work in a repository is undone, except for objects.
struct UndoneSteps<'a> {
    context: &'a UndoContext<'a>,
    repository: &'a RelPath,
    steps: BTreeMap<(RunNumber, u32), bool>,
}

impl UndoneSteps<'_> {
    /// Returns the changes of a path by such steps.
    fn changes(&mut self, path: &RelPath) -> Result<BTreeSet<ChangeNumber>, UndoError> {
        let mut chosen = BTreeSet::new();
        for change in self.context.journal.changes_of_path(path.as_bytes(), u32::MAX)? {
            if change.state != ChangeState::Conflicted && self.is_undone(&change)? {
                chosen.insert(change.number);
            }
        }
        Ok(chosen)
    }

    fn is_undone(&mut self, change: &RecordedChange) -> Result<bool, UndoError> {
        let step = (change.run, change.step);
        if let Some(is_undone) = self.steps.get(&step) {
            return Ok(*is_undone);
        }
        let mut is_undone = false;
        for other in self.context.journal.changes_of_run(change.run)? {
            let Ok(path) = RelPath::from_bytes(&other.path) else { continue };
            let is_work = other.step == change.step
                && other.state != ChangeState::Conflicted
                && path.starts_with(self.repository)
                && store_around(&path).is_none()
                && !is_about_folder(&other);
            if !is_work {
                continue;
            }
            is_undone = undone_by(self.context.journal, other.number)?.is_some();
            if !is_undone {
                break;
            }
        }
        self.steps.insert(step, is_undone);
        Ok(is_undone)
    }
}
