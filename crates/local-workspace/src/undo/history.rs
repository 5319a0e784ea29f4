//! The changes in force, given that changes can revert each other.

use change_journal::{ChangeNumber, ChangeState, JournalError, JournalReader, RecordedChange};

/// The length of a chain of undos of undos past which older undos are not followed.
const LONGEST_CHAIN: u32 = 10_000;

/// Returns the change that reverts change `number`, unless that is itself reverted.
///
/// # Errors
///
/// Only if the journal cannot be read.
pub fn undone_by(
    journal: &JournalReader,
    number: ChangeNumber,
) -> Result<Option<ChangeNumber>, JournalError> {
    // Follows the newest undo of the newest undo and so on; the parity of that chain decides.
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

/// The changes of one path that are in force, oldest first.
///
/// A reverted change and the one that reverted it are a pair without effect. The pair stays in the list, because the
/// second of the two can be reverted in turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct InForce(Vec<Item>);

#[derive(Clone, Debug)]
enum Item {
    Change(Box<Layer>),
    Pair {
        layer: Box<Layer>,
        undo: Box<RecordedChange>,
        /// The pairs between the two.
        inner: Vec<Item>,
    },
}

/// A change that is, or was, in force.
#[derive(Clone, Debug)]
struct Layer {
    /// The change that first made it, and each one that redid it after an undo.
    numbers: Vec<ChangeNumber>,
    /// The change as it was recorded last.
    change: RecordedChange,
}

/// The steps to revert chosen changes of one path.
#[derive(Debug)]
pub(crate) struct WayBack {
    /// The changes to revert, newest first, with the numbers by which they were chosen.
    pub back: Vec<(ChangeNumber, RecordedChange)>,
    /// The newest chosen change that cannot be reverted, because another is on top of it.
    pub buried: Option<RecordedChange>,
    /// The change on top of it.
    pub later: Option<ChangeNumber>,
}

impl InForce {
    /// Determines the changes in force among a path's changes, oldest first.
    pub(crate) fn of(changes: Vec<RecordedChange>) -> InForce {
        let mut items = InForce::default();
        for change in changes.into_iter().filter(|change| change.state != ChangeState::Conflicted) {
            if !change.undoes.is_some_and(|undone| items.take_back(undone, &change)) {
                items.0.push(Item::Change(Box::new(Layer { numbers: vec![change.number], change })));
            }
        }
        items
    }

    /// Records that `change` has reverted change `undone`; returns `false` if `undone` was not in force.
    fn take_back(&mut self, undone: ChangeNumber, change: &RecordedChange) -> bool {
        let newest = self.0.iter().rposition(|item| matches!(item, Item::Change(_)));
        if let Some(index) = newest
            && let Item::Change(layer) = &self.0[index]
            && layer.numbers.contains(&undone)
        {
            let layer = layer.clone();
            let inner = self.0.drain(index..).skip(1).collect();
            self.0.push(Item::Pair { layer, undo: Box::new(change.clone()), inner });
            return true;
        }
        let pairs = newest.map_or(0, |index| index + 1);
        let is_it = |item: &Item| matches!(item, Item::Pair { undo, .. } if undo.number == undone);
        let Some(index) = self.0[pairs..].iter().position(is_it) else { return false };
        if let Item::Pair { mut layer, inner, .. } = self.0.remove(pairs + index) {
            layer.numbers.push(change.number);
            layer.change = change.clone();
            self.0.push(Item::Change(layer));
            self.0.extend(inner);
        }
        true
    }

    /// Determines how to revert the chosen changes.
    pub(crate) fn way_back(mut self, is_chosen: &dyn Fn(ChangeNumber) -> bool) -> WayBack {
        let mut back = Vec::new();
        let later = loop {
            match self.0.pop() {
                None => break None,
                Some(Item::Change(layer)) => match layer.chosen(is_chosen) {
                    Some(number) => back.push((number, layer.change)),
                    None => break Some(layer.change.number),
                },
                Some(Item::Pair { layer, undo, inner }) => {
                    // A change chosen together with its undo has no effect already.
                    if is_chosen(undo.number) && layer.chosen(is_chosen).is_none() {
                        back.push((undo.number, *undo));
                        self.0.push(Item::Change(layer));
                        self.0.extend(inner);
                    } else if let Some(buried) = newest_chosen(&inner, is_chosen) {
                        return WayBack { back, buried: Some(buried), later: Some(undo.number) };
                    }
                }
            }
        };
        WayBack { back, buried: newest_chosen(&self.0, is_chosen), later }
    }
}

impl Layer {
    /// The number by which this change was chosen, the newest if there are several.
    fn chosen(&self, is_chosen: &dyn Fn(ChangeNumber) -> bool) -> Option<ChangeNumber> {
        self.numbers.iter().rev().copied().find(|number| is_chosen(*number))
    }
}

/// The newest change among `items` that is chosen and in force.
fn newest_chosen(items: &[Item], is_chosen: &dyn Fn(ChangeNumber) -> bool) -> Option<RecordedChange> {
    items.iter().rev().find_map(|item| match item {
        Item::Change(layer) => layer.chosen(is_chosen).map(|_| layer.change.clone()),
        Item::Pair { layer, undo, inner } => {
            let is_in_force = is_chosen(undo.number) && layer.chosen(is_chosen).is_none();
            if is_in_force { Some((**undo).clone()) } else { newest_chosen(inner, is_chosen) }
        }
    })
}
