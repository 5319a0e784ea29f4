//! The contents of a slot: a separate repository for a task, and a runner, prepared in advance if possible.

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
    /// Combines the commits that tasks start from, the slots, and the shared configuration of all runners.
    ///
    /// The repository, state folder and worktrees in `config` are replaced by those of each task. `launchers` are kept
    /// from one task to the next, so that the confinement is proved once for all.
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
        // Next to the worktree, since everything else in the folders of slots is hidden from the agent.
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

    /// Prepares a free slot for a task on the same commit, on a separate thread. A failure is found again by the task.
    pub(super) fn prepare_next(self: &Arc<Workplaces>, commit: &str) {
        self.prepare_next_on(thread::Builder::new(), commit);
    }

    fn prepare_next_on(self: &Arc<Workplaces>, thread: thread::Builder, commit: &str) {
        let Some(number) = self.slots.begin_preparing() else { return };
        let preparing = Preparing { shared: Arc::clone(self), number, workplace: None };
        let commit = commit.to_owned();
        // At the limit of processes no thread starts. The slot is then dropped with the closure, and its next task
        // prepares it.
        let _ = thread.spawn(move || preparing.run(&commit));
    }
}

/// A slot that is being prepared. It is free once this is dropped: also if the preparation panics, or its thread does
/// not start, so that waiters are never stuck.
struct Preparing {
    shared: Arc<Workplaces>,
    number: usize,
    workplace: Option<Box<Workplace>>,
}

impl Preparing {
    fn run(mut self, commit: &str) {
        let folder = self.shared.slots.path(self.number);
        self.workplace = self.shared.prepare(&folder, commit).ok().map(Box::new);
        if self.workplace.is_none() {
            let _ = clear(&folder);
        }
    }
}

impl Drop for Preparing {
    fn drop(&mut self) {
        self.shared.slots.set(self.number, SlotState::Free(self.workplace.take()));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cocode_runner::{BaseLimits, Host};
    use rel_path::ProtectedNames;
    use sandbox_exec::{Level, SpawnerProgram};

    use super::*;

    fn workplaces(root: &Path) -> Arc<Workplaces> {
        let own_path = std::env::var_os("PATH").unwrap_or_default();
        let variables = BTreeMap::from([("PATH".into(), own_path.clone())]);
        let host = Host { variables, home: root.to_owned(), own_path };
        let bases = BaseRepository::open(&root.join("bases"), &host, BaseLimits::default()).unwrap();
        let slots = Slots::make(root.join("slots"), 1).unwrap();
        let config = RunnerConfig {
            repository: root.to_owned(),
            state_folder: root.to_owned(),
            worktrees: root.to_owned(),
            homes: None,
            private: Vec::new(),
            names: ProtectedNames::default(),
            host,
            spawner: SpawnerProgram::at("/nonexistent".into()),
            scratch: root.to_owned(),
            least_level: Level::None,
            highest_level: Level::Full,
        };
        Arc::new(Workplaces::new(bases, slots, config, Launchers::new()))
    }

    #[test]
    fn a_slot_whose_preparing_thread_does_not_start_is_free() {
        // No address space has room for this stack, so the system refuses the thread as it does at the limit of processes.
        let refused = || thread::Builder::new().stack_size(1 << 60);
        refused().spawn(|| ()).unwrap_err();
        let folder = tempfile::tempdir().unwrap();
        let shared = workplaces(folder.path());
        shared.prepare_next_on(refused(), &"1".repeat(40));
        // None while a slot is being prepared: the control.
        let number = shared.slots.begin_preparing().unwrap();
        assert_eq!(shared.slots.begin_preparing(), None);
        shared.slots.set(number, SlotState::Free(None));
        let (slot, prepared) = shared.slots.take("any").ok().unwrap();
        assert!(prepared.is_none());
        drop(slot);
        shared.slots.close();
    }
}
