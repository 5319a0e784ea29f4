//! The slots of a host, and what a task finds in one: a repository of its own and a runner, prepared beforehand if possible.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use cocode_fleet::ExecuteError;
use cocode_runner::{BaseRepository, Launchers, Runner, RunnerConfig};
use sandbox_exec::remove_tree;

use crate::fleet::host_work::work_failed;
use crate::fleet::task_files::make_private_folder;

/// The branch of a task's repository from which the agent starts.
pub(super) const BRANCH: &str = "main";

/// The parts of a host that tasks have in common.
pub(crate) struct Workplaces {
    pub(crate) bases: BaseRepository,
    /// The folders of the slots. They exist as long as the host works, so that each is hidden from the agents of the others.
    pub(crate) slots: Slots,
    /// The configuration of runners; repository, state and worktrees are those of the task.
    pub(crate) config: RunnerConfig,
    /// Kept from one task to the next: the confinement is proved once for all.
    pub(crate) launchers: Launchers,
}

/// A repository for one task, with the runner that is open on it.
pub(super) struct Workplace {
    pub(super) runner: Runner,
    pub(super) repository: PathBuf,
    commit: String,
}

impl Workplaces {
    /// Makes a workplace at a commit in the empty folder of a slot.
    pub(super) fn prepare(&self, slot: &Path, commit: &str) -> Result<Workplace, ExecuteError> {
        // Beside the worktree, since everything else in the folders of slots is hidden from the agent.
        let visible = slot.join("work");
        let repository = visible.join("repository");
        make_private_folder(&visible).map_err(work_failed)?;
        self.bases.make_task_repository(&repository, commit, BRANCH).map_err(work_failed)?;
        let config = RunnerConfig {
            repository: repository.clone(),
            state_folder: slot.join("state"),
            worktrees: visible,
            ..self.config.clone()
        };
        let runner = Runner::open(config).map_err(work_failed)?.with_launchers(self.launchers.clone());
        Ok(Workplace { runner, repository, commit: commit.to_owned() })
    }

    /// Prepares a free slot for a task on the same commit, on a thread of its own. A failure is found again by the task.
    pub(super) fn prepare_next(self: &Arc<Workplaces>, commit: &str) {
        let Some(number) = self.slots.begin_preparing() else { return };
        let (shared, commit) = (Arc::clone(self), commit.to_owned());
        thread::spawn(move || {
            let ended = Preparing { slots: &shared.slots, number };
            let workplace = shared.prepare(&shared.slots.path(number), &commit).ok();
            if workplace.is_none() {
                let _ = clear(&shared.slots.path(number));
            }
            shared.slots.set(number, SlotState::Free(workplace.map(Box::new)));
            std::mem::forget(ended);
        });
    }
}

/// Frees a slot whose preparation panicked, so that nothing waits for it.
struct Preparing<'a> {
    slots: &'a Slots,
    number: usize,
}

impl Drop for Preparing<'_> {
    fn drop(&mut self) {
        self.slots.set(self.number, SlotState::Free(None));
    }
}

enum SlotState {
    /// Nothing runs in it; it may be prepared.
    Free(Option<Box<Workplace>>),
    /// It is being prepared.
    Preparing,
    /// A task has it.
    Taken,
    /// The host ends.
    Closed,
}

/// The folders of the slots, one for each agent that runs at once.
pub(crate) struct Slots {
    folder: PathBuf,
    states: Mutex<Vec<SlotState>>,
    changed: Condvar,
}

impl Slots {
    /// Makes the folders, empty.
    pub(crate) fn make(folder: PathBuf, count: usize) -> io::Result<Slots> {
        // What a process that was killed has left. The lock of the bases keeps others out.
        remove_tree(&folder)?;
        for number in 0..count {
            make_private_folder(&folder.join(number.to_string()))?;
        }
        let states = (0..count).map(|_| SlotState::Free(None)).collect();
        Ok(Slots { folder, states: Mutex::new(states), changed: Condvar::new() })
    }

    /// Returns the folder that holds those of the slots.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the number of slots.
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Takes a slot: one that is prepared for the commit if there is one, else an empty one. Waits for one that is being
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

    /// Marks an empty slot as being prepared, unless one is prepared or being prepared already.
    fn begin_preparing(&self) -> Option<usize> {
        let mut states = self.lock();
        let is_enough = |state: &SlotState| matches!(state, SlotState::Preparing | SlotState::Free(Some(_)));
        if states.iter().any(is_enough) {
            return None;
        }
        let number = states.iter().position(|state| matches!(state, SlotState::Free(None)))?;
        states[number] = SlotState::Preparing;
        Some(number)
    }

    fn set(&self, number: usize, state: SlotState) {
        self.lock()[number] = state;
        self.changed.notify_all();
    }

    fn path(&self, number: usize) -> PathBuf {
        self.folder.join(number.to_string())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SlotState>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the free slot that suits a task best: prepared for its commit, else empty, else prepared for another one.
fn best(states: &[SlotState], commit: &str) -> Option<usize> {
    let find = |is_it: &dyn Fn(&SlotState) -> bool| states.iter().position(is_it);
    find(&|state| matches!(state, SlotState::Free(Some(workplace)) if workplace.commit == commit))
        .or_else(|| find(&|state| matches!(state, SlotState::Free(None))))
        .or_else(|| find(&|state| matches!(state, SlotState::Free(_))))
}

/// A slot that is taken; its folder is emptied when it is dropped.
pub(super) struct Slot<'a> {
    slots: &'a Slots,
    number: usize,
    pub(super) folder: PathBuf,
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        // What stays prevents the next task from starting here, which that one says.
        let _ = clear(&self.folder);
        self.slots.set(self.number, SlotState::Free(None));
    }
}

fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        // Not by the standard library, which gives up at folders that an agent has closed or nested a thousand times.
        remove_tree(&entry?.path())?;
    }
    Ok(())
}
