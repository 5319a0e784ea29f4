//! Trials of a whole reply on a layer, to be kept or dropped as a whole.

use std::path::{Path, PathBuf};

use change_journal::{ChangeRecord, RunNumber, StepKind, StepRecord};
use cow_layer::{Layer, LayerChange};
use sandbox_exec::{LayerKind, LayerMount};
use wap_core::{Call, ExecuteCommandResponse, Reason, WapError};

use crate::adopt::layer_effects::{KeepLimits, effects, list};
use crate::change::planned_change::PlannedChange;
use crate::change::present::PresentKind;
use crate::command::answer::{CommandOutcome, unrecorded};
use crate::command::effect::Effect;
use crate::command::effects::Recorded;
use crate::command::output_store::{OutputStore, output_name};
use crate::engine::LocalWorkspace;
use crate::errors::journal_error;
use crate::git::guard::in_git_folder;
use crate::git::version_control;
use crate::runs::{EngineRun, HeldRun};
use crate::step_record::encode;
use crate::turns::Turn;

/// The step that adopts a trial. Replies never have this many blocks.
pub const ADOPTION_STEP: u32 = 1 << 24;

const STEP: u32 = ADOPTION_STEP;

/// The description in the log.
const DESCRIPTION: &str = "(all that the reply did while it was tried out)";

/// A layer over the whole folder on which another process tries out a reply. Dropping it discards everything on it.
///
/// Meanwhile commands wait for their turn, and file tools work on the folder as usual.
#[derive(Debug)]
pub struct Trial<'w> {
    workspace: &'w LocalWorkspace,
    run: EngineRun<'w>,
    layers: TrialLayers,
    _turn: Turn<'w>,
}

/// A completed trial that waits for a decision. Commands run meanwhile. Dropping it discards everything on its layer.
#[derive(Debug)]
pub struct HeldTrial {
    run: HeldRun,
    layers: TrialLayers,
}

/// The layers of a trial, discarded when they are dropped.
#[derive(Debug)]
struct TrialLayers {
    whole: Option<Layer>,
    /// Build folders have separate layers, which are never adopted: their contents can be rebuilt.
    build_folders: Vec<(PathBuf, Layer)>,
}

/// The reason why a trial is not kept. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// Another program has saved these files, which the reply changes as well, in the meantime.
    #[error("saved by another program meanwhile: {}", paths.join(", "))]
    SavedMeanwhile {
        /// Their paths; a repository is one of them as a whole.
        paths: Vec<String>,
    },
    /// The reply was not completed: the outcome of a step is unknown.
    #[error("the reply was not carried out to its end")]
    Unfinished,
    /// It cannot be read or recorded.
    #[error(transparent)]
    Workspace(#[from] WapError),
}

impl LocalWorkspace {
    /// Makes a layer over the folder for the run that the call names.
    ///
    /// # Errors
    ///
    /// [`Reason::SandboxUnavailable`] with the cause if layers are impossible, [`Reason::ReadOnly`], and
    /// [`Reason::Cancelled`] if the call is cancelled before the turn comes.
    pub fn begin_trial(&self, call: &Call<'_>) -> Result<Trial<'_>, WapError> {
        if self.config.read_only {
            return Err(WapError::new(Reason::ReadOnly, "this workspace is read-only: nothing can be kept"));
        }
        let report = self.sandbox_report()?;
        let unavailable = |why: &str| {
            WapError::new(
                Reason::SandboxUnavailable,
                format!("there can be no copy-on-write layer here: {why}"),
            )
        };
        let shelf = match &self.layers {
            Err(why) => return Err(unavailable(why)),
            Ok(_) if report.layer != LayerKind::Overlay => return Err(unavailable(&report.to_string())),
            Ok(shelf) => shelf,
        };
        let turn = self.command_turn(call)?;
        let run = EngineRun::enter(&self.journal, call.origin)?;
        let failed = |error: cow_layer::LayerError| unavailable(&error.to_string());
        let _no_batch_meanwhile = self.lock_changes();
        let layer = shelf.create(run.number(), STEP).map_err(failed)?;
        let mut layers = TrialLayers { whole: Some(layer), build_folders: Vec::new() };
        for (index, folder) in self.uncovered().into_iter().enumerate() {
            let layer =
                shelf.create_passing(&format!("build-folder-{index}-{}", run.number())).map_err(failed)?;
            layers.build_folders.push((folder, layer));
        }
        Ok(Trial { workspace: self, run, layers, _turn: turn })
    }

    /// Resumes a held trial, to keep it.
    ///
    /// # Errors
    ///
    /// [`Reason::Cancelled`] if the call is cancelled before the turn comes; the trial is then discarded.
    pub fn take_up_trial(&self, held: HeldTrial, call: &Call<'_>) -> Result<Trial<'_>, WapError> {
        let turn = self.command_turn(call)?;
        let HeldTrial { run, layers } = held;
        Ok(Trial { workspace: self, run: EngineRun::take_up(&self.journal, run), layers, _turn: turn })
    }
}

impl Trial<'_> {
    /// Returns the mounts for the process that tries out the reply, in order.
    pub fn layers(&self) -> Vec<LayerMount> {
        let whole = self.layers.whole.iter().map(|layer| (layer.mount_spec().lower, layer));
        let build_folders = self.layers.build_folders.iter().map(|(folder, layer)| (folder.clone(), layer));
        let mount = |(lower, layer): (PathBuf, &Layer)| {
            let spec = layer.mount_spec();
            LayerMount::new(lower, spec.upper, spec.work)
        };
        whole.chain(build_folders).map(mount).collect()
    }

    /// Returns the changes on the layer, path by path. Repositories are one entry each, and so are new build folders.
    ///
    /// # Errors
    ///
    /// If reading the layer fails.
    pub fn changes(&self) -> Result<Vec<PlannedChange>, WapError> {
        let (_, effects) = self.effects()?;
        let protected = &self.workspace.root.policy().protected;
        let obeyed = |effect: &Effect| {
            let is_folder = effect.kind_after() == Some(PresentKind::Folder);
            version_control::reported(protected, &effect.path).filter(|_| !is_folder)
        };
        let mut planned: Vec<PlannedChange> = Vec::new();
        for effect in &effects {
            let change = match in_git_folder(&effect.path) {
                Some(part) => PlannedChange::said(&part.folder, "the repository is changed"),
                None => PlannedChange::of_effect(effect).obeyed_by(obeyed(effect)),
            };
            if planned.last() != Some(&change) {
                planned.push(change);
            }
        }
        Ok(planned)
    }

    /// Yields the turn to other commands while a person decides. The process that tried out the reply has ended.
    #[must_use]
    pub fn hold(self) -> HeldTrial {
        HeldTrial { run: self.run.into_held(), layers: self.layers }
    }

    /// Returns the number of the trial's run, which the copy of the journal has as well.
    #[must_use]
    pub fn run(&self) -> RunNumber {
        self.run.number()
    }

    /// Records the steps of the run from the journal at `journal_folder`, a copy of this workspace's, together with
    /// everything on the layer; then adopts that into the folder. Whole outputs are taken from `output_folder`.
    ///
    /// Afterwards the run is complete. Returns the notices for the user, such as paths that were not adopted.
    ///
    /// # Errors
    ///
    /// Each kind of [`KeepError`].
    pub fn keep(mut self, journal_folder: &Path, output_folder: &Path) -> Result<Vec<String>, KeepError> {
        let workspace = self.workspace;
        let number = self.run.number();
        let steps = self.steps(journal_folder)?;
        self.take_outputs(output_folder, number, steps.iter().map(|step| step.index));
        let _no_batch_meanwhile = workspace.lock_changes();
        // After taking the lock: until then a batch may still change the folder.
        let (saved_meanwhile, _) = self.effects()?;
        if !saved_meanwhile.is_empty() {
            return Err(KeepError::SavedMeanwhile { paths: saved_meanwhile });
        }
        let record = |outcome: CommandOutcome, changes: &[ChangeRecord<'_>]| {
            let adopted = encode(&outcome);
            let tried = steps.iter().map(|step| {
                let outcome = step.outcome.as_deref().unwrap_or_default();
                let record = StepRecord {
                    kind: step.kind,
                    description: &step.description,
                    outcome,
                    changes: Vec::new(),
                };
                (step.index, record)
            });
            let adoption = StepRecord {
                kind: StepKind::ShellCommand,
                description: DESCRIPTION,
                outcome: &adopted,
                changes: changes.to_vec(),
            };
            let all: Vec<_> = tried.chain([(STEP, adoption)]).collect();
            match workspace.journal.record_steps_at(number, all.iter().map(|(index, step)| (*index, step))) {
                Ok(numbers) => Recorded { outcome, numbers, is_recorded: true },
                Err(error) => Recorded {
                    outcome: Err(unrecorded(&error, &outcome)),
                    numbers: Vec::new(),
                    is_recorded: false,
                },
            }
        };
        let Some(layer) = self.layers.whole.take() else { return Err(KeepError::Unfinished) };
        let snapshot = workspace.look_at_layer(&layer);
        // Kept as a whole or not at all, so other calls must not change files meanwhile.
        let (outcome, is_needed) = workspace.take_over(
            Ok(nothing_to_say()),
            &layer,
            snapshot,
            (&record, &mut || {}),
            &mut Vec::new(),
        );
        if !is_needed {
            // Any rest is removed at the next opening.
            let _ = layer.discard();
        }
        Ok(outcome?.warnings)
    }

    /// The steps of this run that only the other journal has.
    fn steps(&self, journal_folder: &Path) -> Result<Vec<change_journal::RecordedStep>, KeepError> {
        let number = self.run.number();
        let damaged = |error: &dyn std::fmt::Display| {
            WapError::new(Reason::ReadError, format!("the trial cannot be read: {error}"))
        };
        let tried =
            change_journal::Journal::open_read_only(journal_folder).map_err(|error| damaged(&error))?;
        let recorded = self.workspace.journal.reader().steps(number).map_err(journal_error)?;
        let mut steps = tried.steps(number).map_err(|error| damaged(&error))?;
        steps.retain(|step| recorded.iter().all(|recorded| recorded.index != step.index));
        if steps.iter().any(|step| step.outcome.is_none() || step.index >= STEP) {
            return Err(KeepError::Unfinished);
        }
        Ok(steps)
    }

    fn take_outputs(&self, folder: &Path, run: RunNumber, steps: impl Iterator<Item = u32>) {
        // An unavailable output is reported like a removed one.
        let Ok(tried) = OutputStore::open(folder) else { return };
        for step in steps {
            let _ = self.workspace.outputs.take(&tried, &output_name(run, step));
        }
    }

    /// Returns the paths that the layer changes and that another program has saved since, and all effects.
    fn effects(&self) -> Result<(Vec<String>, Vec<Effect>), WapError> {
        let Some(layer) = &self.layers.whole else { return Ok((Vec::new(), Vec::new())) };
        let root = &self.workspace.root;
        let unreadable = |error: cow_layer::LayerError| {
            WapError::new(Reason::ReadError, format!("the changes cannot be read: {error}"))
        };
        let (changes, _) = list(layer, root, &root.policy().protected, &[]).map_err(unreadable)?;
        let name = |change: &LayerChange| {
            in_git_folder(&change.path)
                .map_or_else(|| change.path.to_string(), |part| part.folder.to_string())
        };
        let mut saved: Vec<String> =
            changes.iter().filter(|change| change.saved_meanwhile).map(name).collect();
        saved.dedup();
        Ok((saved, effects(layer, root, &changes, KeepLimits::default())))
    }
}

impl Drop for TrialLayers {
    fn drop(&mut self) {
        // Anything that cannot be removed now is removed at the next opening.
        let build_folders = self.build_folders.drain(..).map(|(_, layer)| layer);
        for layer in self.whole.take().into_iter().chain(build_folders) {
            let _ = layer.discard();
        }
    }
}

fn nothing_to_say() -> ExecuteCommandResponse {
    ExecuteCommandResponse {
        stdout: String::new(),
        stderr: String::new(),
        exit_code: 0,
        is_output_truncated: false,
        duration_ms: 0,
        signal: None,
        background: None,
        whole_output: None,
        sandbox: String::new(),
        warnings: Vec::new(),
        denied: Vec::new(),
    }
}
