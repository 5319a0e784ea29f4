//! Taking changes back, by a commit and exchanges like any other change.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{
    ChangeNumber, ChangeState, EntryKind, RecordedChange, RunFilter, RunNumber, StepKind, StepRecord,
};
use rel_path::RelPath;
use sandbox_fs::FileRoot;
use serde::{Deserialize, Serialize};
use wap_core::{Call, ConversationId, Reason, WapError};

use crate::engine::LocalWorkspace;
use crate::errors::{fs_error, journal_error};
use crate::present::{Present, PresentKind};
use crate::publish::{publish_file, restoring_root};
use crate::runs::{EngineRun, Known};
use crate::step_record::{decode, encode};
use crate::undo_error::{ObstacleKind, UndoError, UndoObstacle};
use crate::undo_history::undone_by;
use crate::undo_plan::{Side, UndoGround, UndoPath, UndoPlan, with_made_folders};

/// What to take back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undo {
    /// These changes, each of which must be in force. Folders that were made for a file go with it.
    Changes(Vec<ChangeNumber>),
    /// All changes of a run that are in force: those of a reply, or those of an undo.
    Run(RunNumber),
    /// All changes of a conversation that are in force.
    Conversation(ConversationId),
}

/// What was taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Undone {
    /// The number of the run that did it: [`Undo::Run`] with it takes the undo back.
    pub run: u64,
    /// The paths, in the order in which they were brought back.
    pub paths: Vec<UndonePath>,
    /// Folders that were made and stay, because something else is in them.
    pub kept_folders: Vec<String>,
    /// Commands of the same runs. What they did to files is not recorded and was not undone.
    pub commands: Vec<String>,
}

/// One path that was brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UndonePath {
    /// The path.
    pub path: String,
    /// What happened to it.
    pub effect: UndoEffect,
    /// The numbers of the changes that were taken back, newest first.
    pub undoes: Vec<u64>,
}

/// What an undo did to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndoEffect {
    /// It holds again what it held.
    Restored,
    /// It is there again.
    BroughtBack,
    /// It is gone again.
    Removed,
}

/// What the journal keeps as the outcome of an undo. It has the shape of every outcome of file changes, because recovery
/// puts a conflict into its place.
#[derive(Serialize, Deserialize)]
struct UndoRecord {
    outcome: Result<Undone, WapError>,
}

impl LocalWorkspace {
    /// Takes changes back: each path holds again what it held before them.
    ///
    /// It is one commit, and all paths or none: if somebody saves one of them in the very moment, what was brought back
    /// already is taken back in turn. The undo itself can be undone. What commands did to files is not recorded and stays.
    ///
    /// Asked for again with the same origin, it answers from its record.
    ///
    /// # Errors
    ///
    /// Each kind of [`UndoError`]; nothing is undone then.
    pub fn undo(&self, call: &Call<'_>, what: &Undo) -> Result<Undone, UndoError> {
        self.check_cancelled(call).map_err(UndoError::Workspace)?;
        let _one_batch_at_a_time = self.lock_changes();
        if self.config.read_only {
            let error = WapError::new(Reason::ReadOnly, "this workspace is read-only");
            return Err(UndoError::Workspace(error));
        }
        let run = EngineRun::enter(&self.journal, call.origin).map_err(UndoError::Workspace)?;
        let step = call.origin.step;
        match run.recall(step, StepKind::FileChange).map_err(UndoError::Workspace)? {
            Known::Finished(recorded) => {
                let record: UndoRecord = decode(recorded).map_err(UndoError::Workspace)?;
                return record.outcome.map_err(UndoError::Workspace);
            }
            Known::NotStarted | Known::Unknown => {}
        }
        let (chosen, commands) = self.chosen(what)?;
        let root = restoring_root(&self.root).map_err(|error| UndoError::Workspace(fs_error(&error, "")))?;
        let failures = match self.take_back(&run, step, &root, &chosen, what, commands)? {
            Taken::All(undone) => return Ok(undone),
            Taken::Partly { published, failures } => {
                self.journal.flush()?;
                if !published.is_empty() {
                    let again = Undo::Changes(published.keys().copied().collect());
                    // Whatever does not go back now was changed by somebody else within the last moments, and stays.
                    let _ = self.take_back(&run, step + 1, &root, &published, &again, Vec::new());
                }
                failures
            }
        };
        Err(UndoError::Obstacles(failures))
    }

    /// The changes that are asked for, and the commands of the same runs.
    fn chosen(
        &self,
        what: &Undo,
    ) -> Result<(BTreeMap<ChangeNumber, RecordedChange>, Vec<String>), UndoError> {
        let journal = self.journal.reader();
        let runs = match what {
            Undo::Changes(numbers) => {
                let changes: Result<Vec<_>, _> =
                    numbers.iter().map(|number| self.change_in_force(*number)).collect();
                return Ok((with_made_folders(journal, &changes?)?, Vec::new()));
            }
            Undo::Run(run) => vec![*run],
            Undo::Conversation(conversation) => {
                let filter = RunFilter { conversation: Some(conversation.0.clone()), ..RunFilter::default() };
                journal.runs(&filter, u32::MAX)?.into_iter().map(|run| run.number).collect()
            }
        };
        let (mut chosen, mut commands) = (BTreeMap::new(), Vec::new());
        for run in runs.into_iter().rev() {
            let changes = journal.changes_of_run(run)?;
            chosen.extend(changes.into_iter().map(|change| (change.number, change)));
            let steps = journal.steps(run)?.into_iter().filter(|step| step.kind == StepKind::ShellCommand);
            commands.extend(steps.map(|step| step.description));
        }
        Ok((chosen, commands))
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

    /// Plans, commits and brings back.
    fn take_back(
        &self,
        run: &EngineRun<'_>,
        step: u32,
        root: &FileRoot,
        chosen: &BTreeMap<ChangeNumber, RecordedChange>,
        what: &Undo,
        commands: Vec<String>,
    ) -> Result<Taken, UndoError> {
        let ground = UndoGround { root, hidden: &self.hidden, journal: self.journal.reader() };
        let paths = chosen.values().map(|change| change.path.clone()).collect();
        let numbers: BTreeSet<_> = chosen.keys().copied().collect();
        let plan = UndoPlan::of(&ground, &numbers, paths)?;
        let undone = Undone {
            run: run.number().0,
            paths: plan.paths.iter().map(undone_path).collect(),
            kept_folders: plan.kept_folders.iter().map(RelPath::to_string).collect(),
            commands,
        };
        let recorded = self.commit_undo(run, step, what, &plan, &undone)?;
        let mut published = Vec::new();
        let mut failures = Vec::new();
        for (path, numbers) in plan.paths.iter().zip(&recorded) {
            if let Err(failure) = self.bring_back(root, path) {
                failures.push((failure, numbers.clone()));
            } else {
                published.extend(numbers.iter().map(|number| (*number, path.path.clone())));
            }
        }
        let published_numbers: Vec<_> = published.iter().map(|(number, _)| *number).collect();
        // As with every change, it only spares recovery a doubt.
        let _ = self.journal.publish_changes(&published_numbers);
        self.checkpoint.add(published);
        if failures.is_empty() {
            return Ok(Taken::All(undone));
        }
        let failed: Vec<_> = failures.iter().map(|(failure, _)| failure.clone()).collect();
        let error = WapError::new(Reason::Conflict, UndoError::Obstacles(failed.clone()).to_string());
        for number in failures.iter().flat_map(|(_, numbers)| numbers) {
            // If even this fails, recovery comes to the same finding.
            let outcome = encode(&UndoRecord { outcome: Err(error.clone()) });
            let _ = self.journal.conflict_change(*number, &outcome);
        }
        let published = self.journal.reader().changes_of_run(run.number())?;
        let published = published
            .into_iter()
            .filter(|change| published_numbers.contains(&change.number))
            .map(|change| (change.number, change))
            .collect();
        Ok(Taken::Partly { published, failures: failed })
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

    fn bring_back(&self, root: &FileRoot, path: &UndoPath) -> Result<(), UndoObstacle> {
        let obstacle = |why| UndoObstacle { path: path.path.to_string(), why, diff: String::new() };
        let wanted = match &path.wanted {
            None => None,
            Some(side) => Some(self.recorded(side).ok_or_else(|| obstacle(ObstacleKind::NotKept))?),
        };
        let done = publish_file(root, &path.path, path.now.as_ref(), wanted.as_ref());
        match done {
            Ok(()) => Ok(()),
            // Somebody has put something into the folder meanwhile, or has removed it: it is theirs now.
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

    fn recorded(&self, side: &Side) -> Option<Present> {
        if side.kind == EntryKind::Folder {
            return Some(Present::folder());
        }
        let bytes = self.journal.reader().content(&side.content?).ok().flatten()?;
        Some(Present::recorded(side.kind, bytes, side.mode))
    }
}

enum Taken {
    All(Undone),
    /// Some paths failed; the changes that brought back the others.
    Partly {
        published: BTreeMap<ChangeNumber, RecordedChange>,
        failures: Vec<UndoObstacle>,
    },
}

fn undone_path(path: &UndoPath) -> UndonePath {
    let effect = match (&path.now, &path.wanted) {
        (_, None) => UndoEffect::Removed,
        (None, Some(_)) => UndoEffect::BroughtBack,
        (Some(_), Some(_)) => UndoEffect::Restored,
    };
    let undoes = path.back.iter().filter_map(|step| step.undoes).map(|number| number.0).collect();
    UndonePath { path: path.path.to_string(), effect, undoes }
}

/// One line for the log.
fn describe(what: &Undo) -> String {
    match what {
        Undo::Changes(numbers) => match &numbers[..] {
            [number] => format!("undo change {number}"),
            numbers => format!("undo {} changes", numbers.len()),
        },
        Undo::Run(run) => format!("undo run {run}"),
        Undo::Conversation(conversation) => format!("undo session {}", conversation.0),
    }
}
