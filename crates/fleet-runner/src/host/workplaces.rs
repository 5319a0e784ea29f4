//! The contents of a slot: a repository of its own for a task, and a runner, prepared beforehand if possible.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use cocode_fleet::ExecuteError;
use cocode_runner::{BaseRepository, Launchers, Runner, RunnerConfig};

use super::slots::{SlotState, Slots, clear};
use super::work::work_failed;
use crate::private_folder::make_private_folder;

/// The branch of a task's repository from which the agent starts.
pub(super) const BRANCH: &str = "main";

/// The parts of a host that tasks have in common.
pub struct Workplaces {
    pub(super) bases: BaseRepository,
    pub(super) slots: Slots,
    pub(super) config: RunnerConfig,
    launchers: Launchers,
}

/// A repository for one task, with the runner that is open on it.
pub(super) struct Workplace {
    pub(super) runner: Runner,
    pub(super) repository: PathBuf,
    pub(super) commit: String,
}

impl Workplaces {
    /// Joins the commits that tasks start from, the slots, and what all runners have in common.
    ///
    /// Of `config`, repository, state folder and worktrees are replaced by those of each task. `launchers` are kept from one task to
    /// the next, so that the confinement is proved once for all.
    #[must_use]
    pub fn new(
        bases: BaseRepository,
        slots: Slots,
        config: RunnerConfig,
        launchers: Launchers,
    ) -> Workplaces {
        Workplaces { bases, slots, config, launchers }
    }

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
