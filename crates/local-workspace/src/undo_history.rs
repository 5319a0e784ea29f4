//! Which changes are in force, given that changes can take each other back.

use std::collections::HashMap;

use change_journal::{ChangeNumber, ChangeState, JournalError, JournalReader, RecordedChange};

/// How long a chain of undos of undos may be before its older end is taken as it is.
const LONGEST_CHAIN: u32 = 10_000;

/// Returns the change that takes back change `number`, unless that one is taken back itself.
///
/// # Errors
///
/// Only if the journal cannot be read.
pub fn undone_by(
    journal: &JournalReader,
    number: ChangeNumber,
) -> Result<Option<ChangeNumber>, JournalError> {
    // Follows the newest undo of the newest undo and so on; whether that chain is even or odd decides.
    let mut newest_first = Vec::new();
    let mut at = number;
    while newest_first.len() < LONGEST_CHAIN as usize {
        let undoing = journal.changes_undoing(at)?;
        let Some(next) = undoing.iter().rev().find(|change| change.state != ChangeState::Conflicted) else {
            break;
        };
        newest_first.push(next.number);
        at = next.number;
    }
    Ok(if newest_first.len() % 2 == 1 { newest_first.first().copied() } else { None })
}

/// Changes of one path that are in force, oldest first.
///
/// A change that was taken back is not in force, and neither is the one that took it back; taking that one back in turn
/// puts the first in force again.
#[derive(Debug, Default)]
pub(crate) struct InForce(Vec<Layer>);

/// A change that is in force.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// The change that first did it, and each one that did it again after an undo.
    numbers: Vec<ChangeNumber>,
    /// It, as it was recorded the last time that it was done.
    pub change: RecordedChange,
}

impl Layer {
    /// The number out of `chosen` by which this change was asked for, the newest if there are several.
    pub(crate) fn chosen(&self, mut is_chosen: impl FnMut(ChangeNumber) -> bool) -> Option<ChangeNumber> {
        self.numbers.iter().rev().copied().find(|number| is_chosen(*number))
    }
}

impl InForce {
    /// Works out which of a path's changes, oldest first, are in force.
    pub(crate) fn of(changes: Vec<RecordedChange>) -> InForce {
        let mut layers: Vec<Layer> = Vec::new();
        let mut taken_back: HashMap<ChangeNumber, Layer> = HashMap::new();
        for change in changes.into_iter().filter(|change| change.state != ChangeState::Conflicted) {
            if let Some(undone) = change.undoes {
                if let Some(layer) = layers.pop_if(|layer| layer.numbers.contains(&undone)) {
                    taken_back.insert(change.number, layer);
                    continue;
                }
                if let Some(mut layer) = taken_back.remove(&undone) {
                    layer.numbers.push(change.number);
                    layer.change = change;
                    layers.push(layer);
                    continue;
                }
            }
            layers.push(Layer { numbers: vec![change.number], change });
        }
        InForce(layers)
    }

    /// The newest change in force, taken off.
    pub(crate) fn pop(&mut self) -> Option<Layer> {
        self.0.pop()
    }

    /// The newest change in force.
    pub(crate) fn newest(&self) -> Option<&Layer> {
        self.0.last()
    }

    /// All of them, oldest first.
    pub(crate) fn layers(&self) -> &[Layer] {
        &self.0
    }
}
