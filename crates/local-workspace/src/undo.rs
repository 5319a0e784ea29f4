//! Reverting changes, by a commit and exchanges like any other change.

mod checked_out;
pub(crate) mod differences;
pub(crate) mod error;
pub(crate) mod history;
mod interrupted;
pub(crate) mod kept_commits;
mod kept_repositories;
mod left_branch;
mod left_objects;
pub(crate) mod line_origins;
mod moved_checkouts;
mod path;
mod plan;
mod put_back;
pub(crate) mod record;
mod restored_repositories;
mod reverted;
pub(crate) mod unified_diff;
mod used_repositories;

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{
    ChangeNumber, ChangeState, EntryKind, JournalReader, RecordedChange, RecordedStep, RunFilter, RunNumber,
    StepKind, StepRecord,
};
use rel_path::RelPath;
use sandbox_fs::FileRoot;
use wap_core::{Call, ConversationId, Reason, WapError};

use crate::change::folder_modes::FolderModes;
use crate::change::present::{Present, PresentKind, kept_attributes};
use crate::change::publish::{open_root, publish_and_hold, restoring_root};
use crate::command::answer::{CommandOutcome, has_known_effects};
use crate::engine::LocalWorkspace;
use crate::errors::{fs_error, journal_error};
use crate::recover::recovery_path::is_redoable;
use crate::runs::{EngineRun, StepState};
use crate::step_record::{decode, encode};
use crate::undo::error::{ObstacleKind, UndoError, UndoObstacle, obstacles_text};
use crate::undo::history::undone_by;
use crate::undo::kept_commits::{KeptCommits, kept_commits};
use crate::undo::path::{Side, UndoPath, diffs_since, unread};
use crate::undo::plan::{UndoContext, UndoPlan, with_what_belongs};
use crate::undo::put_back::{is_lost, lost_path, stays_of};
pub use crate::undo::record::{UndoEffect, Undone, UndonePath};
use crate::undo::record::{UndoRecord, describe, undone_path};

/// The scope of an undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undo {
    /// These changes, each of which must be in force. Folders that were made for a file are removed with it.
    Changes(Vec<ChangeNumber>),
    /// All changes of a run that are in force: those of a reply, or those of an undo.
    Run(RunNumber),
    /// All changes of a conversation that are in force.
    Conversation(ConversationId),
}

impl LocalWorkspace {
    /// Reverts changes: each path is restored to its state before them.
    ///
    /// It is one commit, for all paths or none: if another program saves one of them concurrently, the paths restored
    /// so far are reverted. The undo itself can be undone. Effects of commands are undone as well, as far as the
    /// journal keeps the contents before them.
    ///
    /// A repetition with the same origin is answered from the record.
    ///
    /// # Errors
    ///
    /// Each kind of [`UndoError`]; nothing is undone then.
    pub fn undo(&self, call: &Call<'_>, what: &Undo) -> Result<Undone, UndoError> {
        self.undo_what(call, |_| Ok(what.clone()), None)
    }

    /// Reverts the changes that `choose` returns, once it is clear that the call was not carried out before.
    ///
    /// "The last change" is a different one after an undo: a call that is repeated because its outcome is unknown
    /// must not choose again.
    ///
    /// `view` masks a path or a whole text for a reader that may not see all of it: then a refusal also has a
    /// difference for that reader.
    ///
    /// # Errors
    ///
    /// Those of [`undo`](Self::undo) and of `choose`; nothing is undone then.
    pub fn undo_what<E: From<UndoError>>(
        &self,
        call: &Call<'_>,
        choose: impl FnOnce(&JournalReader) -> Result<Undo, E>,
        view: Option<&dyn Fn(&str) -> String>,
    ) -> Result<Undone, E> {
        // Without the turn, because the call is cancelled, it is answered from the record, and nothing is started.
        let turn = self.lock_changes_for(call);
        let run = EngineRun::enter(&self.journal, call.origin).map_err(UndoError::Workspace)?;
        if let Some(outcome) = recorded_outcome(&run, call.origin.step)? {
            return Ok(outcome?);
        }
        self.check_cancelled(call).map_err(UndoError::Workspace)?;
        if self.config.read_only {
            let error = WapError::new(Reason::ReadOnly, "this workspace is read-only");
            return Err(UndoError::Workspace(error).into());
        }
        let what = choose(self.journal.reader())?;
        let undone = self.carry_out_undo(&run, call.origin.step, &what);
        // No other call waits while the differences of a refusal are computed.
        drop(turn);
        Ok(undone.map_err(|error| self.with_differences(error, view))?)
    }

    /// Adds to a refusal the differences between the obstructing files and the state that the changes have left.
    fn with_differences(&self, error: UndoError, view: Option<&dyn Fn(&str) -> String>) -> UndoError {
        let UndoError::Obstacles(mut obstacles) = error else { return error };
        for obstacle in &mut obstacles {
            let Some(left) = obstacle.left.take() else { continue };
            if let Ok(path) = RelPath::parse(&obstacle.path) {
                let now = Present::of_any_kind(&self.root, &path).ok().flatten();
                let left = left.0.as_ref();
                let differences = diffs_since(self.journal.reader(), &path, left, now.as_ref(), view);
                (obstacle.diff, obstacle.visible_diff) =
                    (differences.0.into(), differences.1.map(Into::into));
            }
        }
        UndoError::Obstacles(obstacles)
    }

    /// Reports whether an undo would currently succeed; nothing is undone.
    #[must_use]
    pub fn can_undo(&self, what: &Undo) -> bool {
        let is_planned = || -> Result<(), UndoError> {
            let workspace_error = |error| UndoError::Workspace(fs_error(&error, ""));
            let root = restoring_root(&self.root).map_err(workspace_error)?;
            let open = open_root(&self.root).map_err(workspace_error)?;
            self.plan_of((&root, &open), &self.chosen(what)?).map(drop)
        };
        is_planned().is_ok()
    }

    fn context<'a>(
        &'a self,
        (root, open_root): (&'a FileRoot, &'a FileRoot),
        chosen: &'a Chosen,
    ) -> UndoContext<'a> {
        let (hidden, journal, unkept) = (&self.hidden, self.journal.reader(), &chosen.unkept);
        UndoContext { root, open_root, hidden, journal, workspace: self.root.path(), unkept }
    }

    fn plan_of(&self, roots: (&FileRoot, &FileRoot), chosen: &Chosen) -> Result<UndoPlan, UndoError> {
        let paths = chosen.changes.values().map(|change| change.path.clone()).collect();
        let numbers: BTreeSet<_> = chosen.changes.keys().copied().collect();
        UndoPlan::of(&self.context(roots, chosen), &numbers, paths)
    }

    fn carry_out_undo(&self, run: &EngineRun<'_>, step: u32, what: &Undo) -> Result<Undone, UndoError> {
        let chosen = self.chosen(what)?;
        let workspace_error = |error| UndoError::Workspace(fs_error(&error, ""));
        let root = restoring_root(&self.root).map_err(workspace_error)?;
        let open = open_root(&self.root).map_err(workspace_error)?;
        let failures = match self.take_back(run, step, (&root, &open), &chosen, what)? {
            Taken::All(undone) => return Ok(undone),
            Taken::Later { lost } => {
                let _ = self.journal.flush();
                return Err(UndoError::Workspace(WapError::new(Reason::WriteError, obstacles_text(&lost))));
            }
            Taken::Partly { published, failed, failures, lost } => {
                let put_back = self.put_back(run, step + 1, (&root, &open), &published);
                if let Err(stays) = put_back.and_then(|()| stays_of(lost)) {
                    return Err(self.left_in_parts(stays, &failed, failures));
                }
                failures
            }
        };
        // From now on the step gives the answer given here. If that cannot be recorded, recovery reaches the same
        // result.
        let _ = self.journal.flush();
        Err(UndoError::Obstacles(failures))
    }

    /// The requested changes, with the notices about commands of the same runs.
    fn chosen(&self, what: &Undo) -> Result<Chosen, UndoError> {
        let journal = self.journal.reader();
        let runs = match what {
            Undo::Changes(numbers) => {
                let changes: Result<Vec<_>, _> =
                    numbers.iter().map(|number| self.change_in_force(*number)).collect();
                let changes = with_what_belongs(&changes?, |run| journal.changes_of_run(run))?;
                return Ok(Chosen { changes, ..Chosen::default() }.without_unkept());
            }
            Undo::Run(run) => vec![*run],
            Undo::Conversation(conversation) => {
                let filter = RunFilter { conversation: Some(conversation.0.clone()), ..RunFilter::default() };
                journal.runs(&filter, u32::MAX)?.into_iter().map(|run| run.number).collect()
            }
        };
        let mut chosen = Chosen::default();
        for run in runs.into_iter().rev() {
            let changes = journal.changes_of_run(run)?;
            chosen.changes.extend(changes.into_iter().map(|change| (change.number, change)));
            let is_unknown =
                |step: &RecordedStep| step.kind == StepKind::ShellCommand && !effects_are_recorded(step);
            let steps = journal.steps(run)?.into_iter().filter(is_unknown);
            chosen.commands.extend(steps.map(|step| step.description));
        }
        Ok(chosen.without_unkept())
    }

    fn change_in_force(&self, number: ChangeNumber) -> Result<RecordedChange, UndoError> {
        let journal = self.journal.reader();
        let change = journal.change(number)?.ok_or(UndoError::Unknown { number })?;
        if change.state == ChangeState::Conflicted {
            let path = RelPath::from_bytes(&change.path).unwrap_or_default().to_string();
            return Err(UndoError::NeverHappened { number, path });
        }
        match undone_by(journal, number)? {
            Some(by) => Err(UndoError::AlreadyUndone { number, by }),
            None => Ok(change),
        }
    }

    /// Plans, commits and restores.
    fn take_back(
        &self,
        run: &EngineRun<'_>,
        step: u32,
        (root, open_root): (&FileRoot, &FileRoot),
        chosen: &Chosen,
        what: &Undo,
    ) -> Result<Taken, UndoError> {
        let plan = match self.plan_of((root, open_root), chosen) {
            Err(UndoError::Nothing) if !chosen.unkept.is_empty() => {
                let obstacle = |path: &String| UndoObstacle::new(path.clone(), ObstacleKind::NotKept);
                return Err(UndoError::Obstacles(chosen.unkept.iter().map(obstacle).collect()));
            }
            other => other?,
        };
        let kept_repositories = plan.kept_repositories.keys().map(RelPath::to_string);
        let changed_since = plan.kept_repositories.iter().filter(|(_, has_changed)| **has_changed);
        let context = self.context((root, open_root), chosen);
        let commits = |repository: &RelPath| KeptCommits {
            other_checkout: plan.other_checkouts.get(repository).cloned(),
            is_back: plan.returned.contains(repository),
            ..kept_commits(&context, &chosen.changes, repository, &plan.paths)
        };
        let undone = Undone {
            run: run.number().0,
            paths: plan.paths.iter().map(undone_path).collect(),
            kept_folders: plan.kept_folders.iter().map(RelPath::to_string).collect(),
            commands: chosen.commands.clone(),
            not_undoable: chosen.unkept.iter().cloned().chain(kept_repositories).collect(),
            changed_since: changed_since.clone().map(|(repository, _)| repository.to_string()).collect(),
            kept_commits: changed_since.map(|(repository, _)| commits(repository)).collect(),
            already_as_before: plan.already_as_before.iter().map(RelPath::to_string).collect(),
            was_interrupted: false,
        };
        let recorded = self.commit_undo(run, step, what, &plan, &undone)?;
        let mut published = Vec::new();
        let (mut failures, mut lost) = (Vec::new(), Vec::new());
        let modes = folder_modes(&plan);
        modes.open(open_root);
        for (path, numbers) in plan.paths.iter().zip(&recorded) {
            let root_of_path = if path.needs_open_root { open_root } else { root };
            match self.bring_back(run, root_of_path, path) {
                // Its changes stay intended, and recovery makes them.
                Err(failure) if is_lost(root, path, &failure) => lost.push(lost_path(failure)),
                Err(failure) => failures.push((failure, numbers.clone())),
                Ok(()) => published.extend(numbers.iter().map(|number| (*number, path.path.clone()))),
            }
        }
        // Failing to set the permission bits of a folder does not justify reverting everything.
        let _ = modes.close(open_root);
        let published_numbers: Vec<_> = published.iter().map(|(number, _)| *number).collect();
        // As with every change, it only spares recovery a doubt.
        let _ = self.journal.publish_changes(&published_numbers);
        self.checkpoint.add(published.clone());
        if failures.is_empty() {
            return Ok(if lost.is_empty() { Taken::All(undone) } else { Taken::Later { lost } });
        }
        let (failures, failed): (Vec<_>, Vec<_>) = failures.into_iter().unzip();
        let failed = failed.concat();
        // If even this fails, recovery reaches the same result.
        let _ = self.journal.conflict_changes(&failed, &encode(&UndoRecord::refused(&failures)));
        Ok(Taken::Partly { published, failed, failures, lost })
    }

    /// Records the whole undo as one step. Returns the numbers of each path's changes.
    fn commit_undo(
        &self,
        run: &EngineRun<'_>,
        step: u32,
        what: &Undo,
        plan: &UndoPlan,
        undone: &Undone,
    ) -> Result<Vec<Vec<ChangeNumber>>, UndoError> {
        let journal = self.journal.reader();
        let is_held = |hash: &change_journal::ContentHash| journal.holds_content(hash).unwrap_or(false);
        let records: Vec<_> = plan.paths.iter().map(|path| path.records(is_held)).collect();
        let outcome = encode(&UndoRecord { outcome: Ok(undone.clone()) });
        let record = StepRecord {
            kind: StepKind::FileChange,
            description: &describe(what),
            outcome: &outcome,
            changes: records.iter().flatten().copied().collect(),
        };
        let numbers = self
            .journal
            .record_steps(run.number(), step, &[record])
            .map_err(|error| UndoError::Workspace(journal_error(error)))?;
        let mut numbers = numbers.into_iter();
        Ok(records.iter().map(|records| numbers.by_ref().take(records.len()).collect()).collect())
    }

    fn bring_back(&self, run: &EngineRun<'_>, root: &FileRoot, path: &UndoPath) -> Result<(), UndoObstacle> {
        if path.is_as_wanted() {
            return Ok(());
        }
        let obstacle = |why| UndoObstacle::new(path.path.to_string(), why);
        let wanted = match &path.wanted {
            None => None,
            Some(side) => Some(self.recorded(side).map_err(obstacle)?),
        };
        let done = publish_and_hold(root, &path.path, path.now.as_ref(), wanted.as_ref());
        match done {
            Ok(replaced) => {
                if let (Some(replaced), Some(now)) = (replaced, &path.now) {
                    let conversation = run.conversation();
                    self.late_writes.watch(path.path.clone(), conversation, replaced, now.hash);
                }
                Ok(())
            }
            // Another process has put something into the folder in the meantime, or has removed it: it is no longer
            // ours.
            Err(_)
                if wanted.is_none()
                    && path.now.as_ref().is_some_and(|now| now.kind == PresentKind::Folder) =>
            {
                Ok(())
            }
            Err(error) => {
                let error = fs_error(&error, &path.path.to_string());
                Err(obstacle(match error.reason() {
                    Reason::Conflict | Reason::FileExists | Reason::FileNotFound => {
                        ObstacleKind::ChangedSince
                    }
                    _ => ObstacleKind::Closed(error),
                }))
            }
        }
    }

    fn recorded(&self, side: &Side) -> Result<Present, ObstacleKind> {
        if side.kind == EntryKind::Folder {
            let folder = Present { mode: side.mode, ..Present::folder() };
            return Ok(folder.with_attributes(kept_attributes(self.journal.reader(), side.attributes)));
        }
        let hash = side.content.ok_or(ObstacleKind::NotKept)?;
        let bytes = self.journal.reader().content(&hash).map_err(unread)?.ok_or(ObstacleKind::NotKept)?;
        let attributes = kept_attributes(self.journal.reader(), side.attributes);
        Ok(Present::recorded(side.kind, bytes, side.mode).with_attributes(attributes))
    }
}

/// Returns the recorded outcome of an undo.
fn recorded_outcome(run: &EngineRun<'_>, step: u32) -> Result<Option<Result<Undone, UndoError>>, UndoError> {
    match run.recall(step, StepKind::FileChange).map_err(UndoError::Workspace)? {
        StepState::Finished(recorded) => {
            let record: UndoRecord = decode(recorded).map_err(UndoError::Workspace)?;
            Ok(Some(record.outcome.map_err(UndoError::Workspace)))
        }
        StepState::NotStarted | StepState::Unknown => Ok(None),
    }
}

/// The changes that an undo covers.
#[derive(Debug, Default)]
struct Chosen {
    changes: BTreeMap<ChangeNumber, RecordedChange>,
    /// Commands whose effects are unknown.
    commands: Vec<String>,
    /// Paths whose contents were not kept.
    unkept: Vec<String>,
}

impl Chosen {
    /// Excludes the paths for which the journal never had one of the versions.
    fn without_unkept(mut self) -> Chosen {
        let is_unkept = |change: &&RecordedChange| {
            change.state != ChangeState::Conflicted && !is_redoable(change) && change.undoes.is_none()
        };
        let unkept: BTreeSet<Vec<u8>> =
            self.changes.values().filter(is_unkept).map(|change| change.path.clone()).collect();
        self.changes.retain(|_, change| !unkept.contains(&change.path));
        let rendered = |path: &Vec<u8>| RelPath::from_bytes(path).unwrap_or_default().to_string();
        self.unkept.extend(unkept.iter().map(rendered));
        self
    }
}

/// Returns whether the effects of a command are recorded: those of a command with an unknown outcome are not, unless
/// they were dropped.
pub fn effects_are_recorded(step: &RecordedStep) -> bool {
    let Some(outcome) = &step.outcome else { return false };
    let outcome: Result<CommandOutcome, _> = decode(outcome);
    outcome.as_ref().map_or(true, has_known_effects)
}

/// The folders whose permission bits change, or obstruct the undo.
fn folder_modes(plan: &UndoPlan) -> FolderModes {
    let mut modes = FolderModes::default();
    for path in &plan.paths {
        let has = path.now.as_ref().filter(|now| now.kind == PresentKind::Folder).and_then(|now| now.mode);
        let wanted =
            path.wanted.filter(|wanted| wanted.kind == EntryKind::Folder).and_then(|wanted| wanted.mode);
        modes.add(&path.path, has, wanted);
    }
    modes
}

enum Taken {
    All(Undone),
    /// The other paths are restored, and recovery restores these, which are now empty.
    Later {
        lost: Vec<UndoObstacle>,
    },
    /// Some paths failed; the changes that restored the others.
    Partly {
        published: Vec<(ChangeNumber, RelPath)>,
        failed: Vec<ChangeNumber>,
        failures: Vec<UndoObstacle>,
        /// Paths that are now empty; recovery restores them.
        lost: Vec<UndoObstacle>,
    },
}
