//! Layers that a crash has left: adoptions go on as far as only the layer can do it, the others are dropped.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{ChangeNumber, ChangeState, Journal, RunNumber};
use rel_path::RelPath;

use crate::adopt::layer_shelf::LayerShelf;
use crate::recover::recovery_path::is_redoable;

/// The outcome of recovering layers when the workspace was opened.
#[derive(Debug, Default)]
pub(crate) struct AdoptedFromLayers {
    by_change: BTreeMap<ChangeNumber, bool>,
    /// Steps of commands of whose effects nothing reached the workspace.
    pub untouched: BTreeSet<(RunNumber, u32)>,
    /// Layers that could be read no more, or not be adopted from.
    pub failed: Vec<String>,
}

impl AdoptedFromLayers {
    /// Returns true if a change is in place; `None` if no layer held it.
    pub(crate) fn outcome(&self, number: ChangeNumber) -> Option<bool> {
        self.by_change.get(&number).copied()
    }
}

/// Goes through the layers that are there. What the journal keeps is not done here: recovery does it from the journal.
pub(crate) fn resume(shelf: &LayerShelf, journal: &Journal) -> AdoptedFromLayers {
    let mut adopted = AdoptedFromLayers::default();
    for (run, step) in shelf.steps().unwrap_or_default() {
        let steps = journal.reader().steps(run).unwrap_or_default();
        match steps.iter().find(|recorded| recorded.index == step) {
            Some(recorded) if recorded.outcome.is_some() => {
                adopt_rest(shelf, journal, (run, step), &mut adopted)
            }
            // Nothing is adopted before the outcome is recorded.
            Some(_) => {
                adopted.untouched.insert((run, step));
            }
            None => {}
        }
        shelf.discard(run, step);
    }
    adopted
}

fn adopt_rest(
    shelf: &LayerShelf,
    journal: &Journal,
    (run, step): (RunNumber, u32),
    recovered: &mut AdoptedFromLayers,
) {
    let changes = journal.reader().changes_of_run(run).unwrap_or_default();
    let open: Vec<_> = changes
        .into_iter()
        .filter(|change| change.step == step && change.state == ChangeState::Intended && !is_redoable(change))
        .collect();
    if open.is_empty() {
        return;
    }
    let sealed = shelf.reopen(run, step).and_then(|layer| Ok((layer.sealed()?, layer)));
    let (layer, sealed) = match sealed {
        Ok((Some(sealed), layer)) => (layer, sealed),
        Ok((None, _)) => return,
        Err(error) => return recovered.failed.push(error.to_string()),
    };
    let of_path = |path: &RelPath| open.iter().find(|change| change.path == path.as_bytes());
    // In the order in which they can be adopted; all folders that they need are there, or are made first.
    let mut adopted = Vec::new();
    for change in sealed.in_adoption_order() {
        let Some(recorded) = of_path(&change.path) else {
            // A folder on the way to one of them.
            let is_needed = change.after.as_ref().is_some_and(cow_layer::Side::is_folder)
                && open.iter().any(|one| {
                    RelPath::from_bytes(&one.path).is_ok_and(|path| path.starts_with(&change.path))
                });
            if is_needed && layer.adopt(change).is_ok() {
                adopted.push(change);
            }
            continue;
        };
        // What the command removed may be the only copy of what could not be brought into its place.
        let may_go = change.after.is_some() || recovered.by_change.values().all(|is_in_place| *is_in_place);
        let is_in_place = may_go && layer.adopt(change).is_ok();
        recovered.by_change.insert(recorded.number, is_in_place);
        if is_in_place {
            adopted.push(change);
        }
    }
    if let Err(error) = layer.finish_folders(adopted) {
        recovered.failed.push(error.to_string());
    }
}
