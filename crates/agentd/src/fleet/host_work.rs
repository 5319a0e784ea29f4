//! A host's side of a fleet: each task is a repository of its own, in which the runner runs one agent as everywhere.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cocode_env::{AgentState, PartName};
use cocode_fleet::{
    ClaimedState, ClassName, Confinement, EventSink, ExecuteError, HostOffer, StopReason, StopSignal, Task,
    TaskExecutor, TaskOutcome,
};
use cocode_runner::{
    AgentDefinition, AgentRecord, BUNDLE_LIMIT_BYTES, BaseError, BaseRepository, BundleSource, Launchers,
    RunEvent, RunLimits, RunObserver, RunRequest, Runner, RunnerConfig, StopFlag,
};

use sandbox_exec::remove_tree;

use crate::commands::cocode::failure::error_chain;
use crate::fleet::task_files::make_private_folder;

/// The free space below which a host takes no tasks, in bytes.
const LEAST_FREE_BYTES: u64 = 1 << 30;

/// The branch of a task's repository from which the agent starts.
const BRANCH: &str = "main";

/// The offer of a host, and its work.
pub(crate) struct HostWork {
    pub(crate) bases: BaseRepository,
    /// The folders of the slots. They exist as long as the host works, so that each is hidden from the agents of the others.
    pub(crate) slots: Slots,
    /// The configuration of runners; repository, state and worktrees are those of the task.
    pub(crate) config: RunnerConfig,
    /// Kept from one task to the next: the confinement is proved once for all.
    pub(crate) launchers: Launchers,
    /// The definitions that this host has, each confined as its options say.
    pub(crate) definitions: Vec<AgentDefinition>,
    pub(crate) labels: Vec<ClassName>,
    /// The level that was proved when the host started.
    pub(crate) confinement: Confinement,
}

impl TaskExecutor for HostWork {
    fn offers(&self) -> HostOffer {
        let free = rustix::fs::statvfs(&self.slots.folder)
            .map_or(0, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        HostOffer {
            slots: self.slots.count,
            labels: self.labels.clone(),
            confinement: self.confinement,
            agents: self.definitions.iter().filter_map(|agent| agent.name.as_str().parse().ok()).collect(),
            free_disk_bytes: free,
            least_free_disk_bytes: LEAST_FREE_BYTES,
        }
    }

    fn has_base(&self, commit: &str) -> bool {
        self.bases.has(commit).unwrap_or(false)
    }

    fn add_base(&self, bundle: &Path, tip: &str) -> Result<(), ExecuteError> {
        self.bases.add(bundle, tip).map_err(|error| match error {
            BaseError::Refused(_) => ExecuteError::BaseUnusable(error_chain(&error)),
            error => ExecuteError::Failed(error_chain(&error)),
        })
    }

    fn execute(
        &self,
        task: &Task,
        stop: &StopSignal,
        events: &mut dyn EventSink,
        result_file: &Path,
    ) -> Result<TaskOutcome, ExecuteError> {
        let slot = self.slots.take()?;
        // Beside the worktree, since everything else in the folders of slots is hidden from the agent.
        let visible = slot.folder.join("work");
        let repository = visible.join("repository");
        make_private_folder(&visible).map_err(work_failed)?;
        self.bases.make_task_repository(&repository, &task.base_commit, BRANCH).map_err(work_failed)?;
        let request = self.request(task)?;
        let config = RunnerConfig {
            repository: repository.clone(),
            state_folder: slot.folder.join("state"),
            worktrees: visible,
            ..self.config.clone()
        };
        let runner = Runner::open(config).map_err(work_failed)?.with_launchers(self.launchers.clone());
        let sink = Sink(Mutex::new(events));
        let flag = StopFlag::new();
        let raised = flag.clone();
        stop.on_raise(move |_| raised.raise());
        let record = runner.run(&request, &flag, &sink).map_err(work_failed)?.pop();
        let record = record.ok_or_else(|| ExecuteError::Failed("the agent left no record".to_owned()))?;
        drop(runner);
        self.outcome(task, &record, stop.reason(), &repository, result_file)
    }
}

impl HostWork {
    fn request(&self, task: &Task) -> Result<RunRequest, ExecuteError> {
        let unusable = |what: &str, why: String| ExecuteError::Failed(format!("the task's {what}: {why}"));
        let definition =
            self.definitions.iter().find(|agent| agent.name.as_str() == task.definition.as_str());
        let definition = definition.ok_or_else(|| {
            ExecuteError::Failed(format!("there is no definition of the agent {} here", task.definition))
        })?;
        let name = task.name.agent.as_str().parse().map_err(|error| unusable("agent", format!("{error}")))?;
        let timeout = task.timeout_seconds.map(|seconds| Duration::from_secs(seconds.into()));
        let agent = AgentDefinition {
            name,
            // Home runs its own check; this one would decide nothing.
            check: None,
            clean_tree: definition.clean_tree || task.clean_tree,
            timeout: timeout.or(definition.timeout),
            ..definition.clone()
        };
        let issue = task.issue_number.to_string();
        Ok(RunRequest {
            issue: issue.parse().map_err(|error| unusable("issue", format!("{error}")))?,
            issue_url: Some(task.issue_url.parse().map_err(|error| unusable("address", format!("{error}")))?),
            body: task.issue_body.clone(),
            agents: vec![agent],
            base: Some(BRANCH.to_owned()),
            continues: None,
            marker: task.marker.parse().map_err(|error| unusable("marker", format!("{error}")))?,
            limits: RunLimits::default(),
        })
    }

    fn outcome(
        &self,
        task: &Task,
        record: &AgentRecord,
        stop: Option<StopReason>,
        repository: &Path,
        result_file: &Path,
    ) -> Result<TaskOutcome, ExecuteError> {
        // One that could not be started says nothing about the task: another host may do better.
        if record.launched_at_ms.is_none() && stop.is_none() {
            let why = record.detail.clone().unwrap_or_else(|| "the agent could not be started".to_owned());
            return Err(ExecuteError::Failed(why));
        }
        let head = record.head.clone().filter(|head| *head != task.base_commit);
        if let Some(head) = &head {
            let source = BundleSource::open(&self.config.host, repository).map_err(work_failed)?;
            let prerequisites = [task.base_commit.clone()];
            source.write(head, &prerequisites, result_file, BUNDLE_LIMIT_BYTES).map_err(work_failed)?;
        }
        Ok(TaskOutcome {
            state: match record.state {
                AgentState::Ready => ClaimedState::Ready,
                AgentState::Completed => ClaimedState::Completed,
                AgentState::TimedOut => ClaimedState::TimedOut,
                AgentState::Cancelled => ClaimedState::Cancelled,
                _ => ClaimedState::Failed,
            },
            exit_code: record.exit_code,
            is_clean: is_clean(record),
            has_bundle: head.is_some(),
            head,
            detail: record.detail.clone().unwrap_or_default(),
        })
    }
}

/// Returns what the host's verdict says of uncommitted files; `None` if the definition does not ask for it.
fn is_clean(record: &AgentRecord) -> Option<bool> {
    let parts = &record.verdict.as_ref()?.parts;
    parts.iter().find(|part| part.name == PartName::CleanTree).map(|part| part.holds)
}

fn work_failed<E: std::error::Error>(error: E) -> ExecuteError {
    ExecuteError::Failed(error_chain(&error))
}

/// The folders of the slots, one for each agent that runs at once.
pub(crate) struct Slots {
    folder: PathBuf,
    count: usize,
    taken: Mutex<Vec<bool>>,
}

impl Slots {
    /// Makes the folders, empty.
    pub(crate) fn make(folder: PathBuf, count: usize) -> io::Result<Slots> {
        // What a process that was killed has left. The lock of the bases keeps others out.
        remove_tree(&folder)?;
        for number in 0..count {
            make_private_folder(&folder.join(number.to_string()))?;
        }
        Ok(Slots { folder, count, taken: Mutex::new(vec![false; count]) })
    }

    fn take(&self) -> Result<Slot<'_>, ExecuteError> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let number = taken.iter().position(|is_taken| !is_taken);
        let number = number.ok_or_else(|| ExecuteError::Failed("every slot is taken".to_owned()))?;
        taken[number] = true;
        let slot = Slot { slots: self, number, folder: self.folder.join(number.to_string()) };
        slot.clear().map_err(work_failed)?;
        Ok(slot)
    }
}

/// A slot that is taken; its folder is emptied when it is dropped.
struct Slot<'a> {
    slots: &'a Slots,
    number: usize,
    folder: PathBuf,
}

impl Slot<'_> {
    fn clear(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            // Not by the standard library, which gives up at folders that an agent has closed or nested a thousand times.
            remove_tree(&entry?.path())?;
        }
        Ok(())
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        // What stays prevents the next task from starting here, which that one says.
        let _ = self.clear();
        let mut taken = self.slots.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken[self.number] = false;
    }
}

/// Sends the lines of an agent's log on.
struct Sink<'a>(Mutex<&'a mut dyn EventSink>);

impl RunObserver for Sink<'_> {
    fn event(&self, event: &RunEvent) {
        if let RunEvent::Log { line, .. } = event {
            let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            sink.log_line(&line.message);
        }
    }
}
