//! The slots of a host.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use cocode_fleet::ExecuteError;
use sandbox_exec::remove_tree;

use super::work::work_failed;
use super::workplaces::Workplace;
use crate::private_folder::make_private_folder;

pub(super) enum SlotState {
    /// Nothing runs in it; it may be prepared.
    Free(Option<Box<Workplace>>),
    /// It is being prepared.
    Preparing,
    /// A task has it.
    Taken,
    /// The host ends.
    Closed,
}

/// The folders of the slots, one for each agent that runs at once. They exist as long as the host works, so that each is hidden from
/// the agents of the others.
pub struct Slots {
    folder: PathBuf,
    states: Mutex<Vec<SlotState>>,
    changed: Condvar,
}

impl Slots {
    /// Makes `count` empty folders in a folder, removing everything else there. Only one process at a time may have the
    /// folder, which the lock of the [`BaseRepository`](cocode_runner::BaseRepository) ensures.
    ///
    /// # Errors
    ///
    /// If a folder cannot be made, or something there cannot be removed.
    pub fn make(folder: PathBuf, count: usize) -> io::Result<Slots> {
        // Leftovers of a killed process.
        remove_tree(&folder)?;
        for number in 0..count {
            make_private_folder(&folder.join(number.to_string()))?;
        }
        let states = (0..count).map(|_| SlotState::Free(None)).collect();
        Ok(Slots { folder, states: Mutex::new(states), changed: Condvar::new() })
    }

    /// Returns the parent folder of the slots.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the number of slots.
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Takes a slot: one prepared for the commit if there is one, otherwise an empty one. Waits for one that is being
    /// prepared, which does not take long.
    pub(super) fn take(&self, commit: &str) -> Result<(Slot<'_>, Option<Workplace>), ExecuteError> {
        let mut states = self.lock();
        let number = loop {
            if let Some(number) = best(&states, commit) {
                break number;
            }
            if !states.iter().any(|state| matches!(state, SlotState::Preparing)) {
                return Err(ExecuteError::Failed("every slot is taken".to_owned()));
            }
            states = self.changed.wait(states).unwrap_or_else(PoisonError::into_inner);
        };
        let state = std::mem::replace(&mut states[number], SlotState::Taken);
        drop(states);
        let slot = Slot { slots: self, number, folder: self.path(number) };
        match state {
            SlotState::Free(Some(workplace)) if workplace.commit == commit => Ok((slot, Some(*workplace))),
            state => {
                drop(state);
                clear(&slot.folder).map_err(work_failed)?;
                Ok((slot, None))
            }
        }
    }

    /// Ends the preparations, and empties all slots in which no task runs.
    pub(super) fn close(&self) {
        let mut states = self.lock();
        while states.iter().any(|state| matches!(state, SlotState::Preparing)) {
            states = self.changed.wait(states).unwrap_or_else(PoisonError::into_inner);
        }
        for (number, state) in states.iter_mut().enumerate() {
            if matches!(state, SlotState::Free(_)) {
                drop(std::mem::replace(state, SlotState::Closed));
                let _ = clear(&self.path(number));
            }
        }
    }

    /// Marks an empty slot as being prepared, unless one is already prepared or being prepared.
    pub(super) fn begin_preparing(&self) -> Option<usize> {
        let mut states = self.lock();
        let is_enough = |state: &SlotState| matches!(state, SlotState::Preparing | SlotState::Free(Some(_)));
        if states.iter().any(is_enough) {
            return None;
        }
        let number = states.iter().position(|state| matches!(state, SlotState::Free(None)))?;
        states[number] = SlotState::Preparing;
        Some(number)
    }

    pub(super) fn set(&self, number: usize, state: SlotState) {
        self.lock()[number] = state;
        self.changed.notify_all();
    }

    pub(super) fn path(&self, number: usize) -> PathBuf {
        self.folder.join(number.to_string())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SlotState>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the free slot that suits a task best: prepared for its commit, otherwise empty, otherwise prepared for
/// another commit.
fn best(states: &[SlotState], commit: &str) -> Option<usize> {
    let find = |is_it: &dyn Fn(&SlotState) -> bool| states.iter().position(is_it);
    find(&|state| matches!(state, SlotState::Free(Some(workplace)) if workplace.commit == commit))
        .or_else(|| find(&|state| matches!(state, SlotState::Free(None))))
        .or_else(|| find(&|state| matches!(state, SlotState::Free(_))))
}

/// A taken slot; its folder is emptied when it is dropped.
pub(super) struct Slot<'a> {
    slots: &'a Slots,
    number: usize,
    pub(super) folder: PathBuf,
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        // Leftovers prevent the next task from starting here, which reports it.
        let _ = clear(&self.folder);
        self.slots.set(self.number, SlotState::Free(None));
    }
}

/// Empties a folder.
pub(super) fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        // Not with the standard library, which fails at folders that an agent has closed or nested a thousand times.
        remove_tree(&entry?.path())?;
    }
    Ok(())
}
