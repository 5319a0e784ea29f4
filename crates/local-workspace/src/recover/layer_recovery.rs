//! Layers left by a crash: adoptions that need the layer are resumed, other layers are discarded.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{ChangeNumber, ChangeState, Journal, JournalError, RecordedChange, RunNumber, RunState};
use cow_layer::{AdoptError, Layer, LayerChange, LayerError};
use rel_path::RelPath;

use crate::adopt::layer_shelf::LayerShelf;
use crate::command::answer::{CommandOutcome, outcome_dropped};
use crate::recover::recovery_path::is_redoable;
use crate::step_record::encode;

/// The outcome of recovering layers when the workspace was opened.
#[derive(Debug, Default)]
pub(crate) struct AdoptedFromLayers {
    by_change: BTreeMap<ChangeNumber, LayerOutcome>,
    /// Steps of commands without effects on the workspace, whose outcome could not be recorded.
    pub untouched: BTreeSet<(RunNumber, u32)>,
    /// Versions of other programs that were in a layer, by their current paths in the workspace.
    pub kept: Vec<String>,
    /// Paths and layers that could not be recovered, each with the reason.
    pub failed: Vec<(String, String)>,
    /// The reason why layers could not be read; `None` if all could. Then a change that only a layer holds stays open.
    unread: Option<String>,
}

/// The outcome of one change that a layer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LayerOutcome {
    /// It is in the workspace.
    Adopted,
    /// It is not, and will not be.
    GivenUp,
    /// It could not be adopted now, for this reason. The layer stays for the next opening.
    Later(String),
}

impl AdoptedFromLayers {
    /// Returns the outcome for a workspace whose layers are unusable now.
    pub(crate) fn unread(why: &str) -> AdoptedFromLayers {
        AdoptedFromLayers { unread: Some(why.to_owned()), ..AdoptedFromLayers::default() }
    }

    /// Returns the outcome of a change; `None` if no layer held it.
    pub(crate) fn outcome(&self, change: &RecordedChange) -> Option<LayerOutcome> {
        let is_up_to_layer = change.state == ChangeState::Intended && !is_redoable(change);
        let unread = self.unread.as_ref().filter(|_| is_up_to_layer);
        self.by_change.get(&change.number).cloned().or_else(|| unread.cloned().map(LayerOutcome::Later))
    }

    fn is_all_adopted(&self) -> bool {
        self.by_change.values().all(|outcome| *outcome == LayerOutcome::Adopted)
    }
}

/// Processes the existing layers. Contents in the journal are not handled here: recovery restores them from the
/// journal.
///
/// A layer may hold the only copy of something, so it is discarded only once the journal was read and everything in it
/// has an outcome.
pub(crate) fn resume(shelf: &LayerShelf, journal: &Journal) -> AdoptedFromLayers {
    let mut adopted = AdoptedFromLayers::default();
    let steps = match shelf.steps() {
        Ok(steps) => steps,
        Err(error) => return AdoptedFromLayers::unread(&error.to_string()),
    };
    for (run, step) in steps {
        match resume_one(shelf, journal, (run, step), &mut adopted) {
            Ok(Rest::Nothing) => shelf.discard(run, step),
            Ok(Rest::ForLater) => {}
            Err(error) => adopted.unread = Some(error),
        }
    }
    adopted
}

/// The rest of a layer whose adoption was resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// It may be discarded.
    Nothing,
    /// The next opening tries again, or the layer was quarantined.
    ForLater,
}

fn resume_one(
    shelf: &LayerShelf,
    journal: &Journal,
    (run, step): (RunNumber, u32),
    adopted: &mut AdoptedFromLayers,
) -> Result<Rest, String> {
    let steps = journal.reader().steps(run).map_err(|error| error.to_string())?;
    match steps.iter().find(|recorded| recorded.index == step) {
        Some(recorded) if recorded.outcome.is_some() => {
            let changes = journal.reader().changes_of_run(run).map_err(|error| error.to_string())?;
            let is_open = |change: &RecordedChange| {
                change.step == step && change.state == ChangeState::Intended && !is_redoable(change)
            };
            let open: Vec<_> = changes.into_iter().filter(is_open).collect();
            Ok(adopt_rest(shelf, (run, step), &open, adopted))
        }
        // Nothing is adopted before the outcome is recorded.
        Some(_) => {
            // Recorded before the layer is removed: otherwise a later opening would not know that the command had no
            // effect.
            if !record_dropped(journal, run, step).map_err(|error| error.to_string())? {
                adopted.untouched.insert((run, step));
            }
            Ok(Rest::Nothing)
        }
        None => Ok(Rest::Nothing),
    }
}

/// Records for a command without an outcome that its changes were dropped. Returns false if its run is over.
fn record_dropped(journal: &Journal, run: RunNumber, step: u32) -> Result<bool, JournalError> {
    let Some(recorded) = journal.reader().run(run)? else { return Ok(false) };
    let RunState::Resumed { run, .. } = journal.begin_run(&recorded.key)? else { return Ok(false) };
    let outcome: CommandOutcome = Err(outcome_dropped());
    journal.finish_step(run.number(), step, &encode(&outcome), &[])?;
    Ok(true)
}

fn adopt_rest(
    shelf: &LayerShelf,
    (run, step): (RunNumber, u32),
    open: &[RecordedChange],
    recovered: &mut AdoptedFromLayers,
) -> Rest {
    if open.is_empty() {
        return Rest::Nothing;
    }
    let sealed = shelf.reopen(run, step).and_then(|layer| Ok((layer.sealed()?, layer)));
    let (layer, sealed) = match sealed {
        Ok((Some(sealed), layer)) => (layer, sealed),
        // Without its list, nothing of it was adopted.
        Ok((None, _)) => return Rest::Nothing,
        Err(LayerError::Incomplete) => {
            let name = shelf.quarantine(run, step);
            let name = name.map_or_else(|_| format!("{}-{step}", run.0), |name| name.to_string());
            let why = format!(
                "the layer of its command is damaged: what is left is in `layers/{name}` of the state folder"
            );
            let failed =
                |change: &RecordedChange| (String::from_utf8_lossy(&change.path).into_owned(), why.clone());
            recovered.failed.extend(open.iter().map(failed));
            return Rest::ForLater;
        }
        Err(error) => {
            let later = |change: &RecordedChange| (change.number, LayerOutcome::Later(error.to_string()));
            recovered.by_change.extend(open.iter().map(later));
            return Rest::ForLater;
        }
    };
    let of_path = |path: &RelPath| open.iter().find(|change| change.path == path.as_bytes());
    let mut rest = Rest::Nothing;
    // In adoption order; all folders that they need exist, or are made first.
    let mut adopted = Vec::new();
    for change in sealed.in_adoption_order() {
        let Some(recorded) = of_path(&change.path) else {
            // A parent folder of one of them.
            let is_needed = change.after.as_ref().is_some_and(cow_layer::Side::is_folder)
                && open.iter().any(|one| {
                    RelPath::from_bytes(&one.path).is_ok_and(|path| path.starts_with(&change.path))
                });
            if is_needed && layer.adopt(change).is_ok() {
                adopted.push(change);
            }
            continue;
        };
        // Removed files may be the only copy of content that could not be adopted.
        let may_go = change.after.is_some() || recovered.is_all_adopted();
        let outcome = if may_go {
            adopt_again(&layer, change, &mut rest, recovered)
        } else if rest == Rest::ForLater {
            LayerOutcome::Later("another file has to be written first".to_owned())
        } else {
            LayerOutcome::GivenUp
        };
        if outcome == LayerOutcome::Adopted {
            adopted.push(change);
        }
        recovered.by_change.insert(recorded.number, outcome);
    }
    if let Err(error) = layer.finish_folders(adopted) {
        recovered.failed.push(("the permissions of a folder".to_owned(), error.to_string()));
    }
    rest
}

/// Adopts a change whose adoption a crash may have interrupted.
fn adopt_again(
    layer: &Layer,
    change: &LayerChange,
    rest: &mut Rest,
    recovered: &mut AdoptedFromLayers,
) -> LayerOutcome {
    match layer.adopt(change) {
        Ok(_) => LayerOutcome::Adopted,
        Err(AdoptError::LeftInLayer { .. }) => {
            match layer.return_displaced(change) {
                Ok(kept) => recovered.kept.extend(kept.map(|kept| kept.to_string())),
                Err(error) => {
                    *rest = Rest::ForLater;
                    let name = layer.quarantine().unwrap_or_else(|_| layer.name().clone());
                    let why = format!(
                        "a version that another program saved is in `layers/{name}` of the state folder: {error}"
                    );
                    recovered.failed.push((change.path.to_string(), why));
                }
            }
            LayerOutcome::GivenUp
        }
        Err(
            error @ (AdoptError::OsPermission { .. }
            | AdoptError::NoSpace { .. }
            | AdoptError::Workspace(_)
            | AdoptError::System { .. }),
        ) => {
            *rest = Rest::ForLater;
            LayerOutcome::Later(error.to_string())
        }
        Err(_) => LayerOutcome::GivenUp,
    }
}
