//! A host's side of a fleet: each task is a repository of its own, in which the runner runs one agent as everywhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cocode_env::AgentState;
use cocode_fleet::{
    ClaimedState, ClassName, Confinement, EventSink, ExecuteError, HostOffer, StopReason, StopSignal, Task,
    TaskExecutor, TaskOutcome,
};
use cocode_runner::{
    AgentDefinition, AgentRecord, BUNDLE_LIMIT_BYTES, BaseError, BaseRepository, BundleSource, RunEvent,
    RunLimits, RunObserver, RunRequest, Runner, RunnerConfig, StopFlag,
};

use crate::commands::cocode::failure::error_chain;

/// The free space below which a host takes no tasks, in bytes.
const LEAST_FREE_BYTES: u64 = 1 << 30;

/// The branch of a task's repository from which the agent starts.
const BRANCH: &str = "main";

/// The interval at which a running agent is asked whether it has to stop.
const INTERVAL: Duration = Duration::from_millis(200);

/// The offer of a host, and its work.
pub(crate) struct HostWork {
    pub(crate) bases: BaseRepository,
    /// The folder for the repositories of tasks.
    pub(crate) folder: PathBuf,
    /// The configuration of runners; repository, state and worktrees are those of the task.
    pub(crate) config: RunnerConfig,
    /// The definitions that this host has, each confined as its options say.
    pub(crate) definitions: Vec<AgentDefinition>,
    pub(crate) slots: usize,
    pub(crate) labels: Vec<ClassName>,
    /// The level that was proved when the host started.
    pub(crate) confinement: Confinement,
}

impl TaskExecutor for HostWork {
    fn offers(&self) -> HostOffer {
        let free =
            rustix::fs::statvfs(&self.folder).map_or(0, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        HostOffer {
            slots: self.slots,
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
        // A name of its own: the same task may come again while an earlier start is still being removed.
        let folder = self.folder.join(format!("{}-{}", task.name.agent, uuid::Uuid::new_v4().simple()));
        let task_folder = TaskFolder::make(folder)?;
        let repository = task_folder.0.join("repository");
        self.bases.make_task_repository(&repository, &task.base_commit, BRANCH).map_err(work_failed)?;
        let request = self.request(task)?;
        let config = RunnerConfig {
            repository: repository.clone(),
            state_folder: task_folder.0.join("state"),
            worktrees: task_folder.0.join("worktrees"),
            ..self.config.clone()
        };
        let runner = Runner::open(config).map_err(work_failed)?;
        let sink = Sink(Mutex::new(events));
        let (flag, has_ended) = (StopFlag::new(), AtomicBool::new(false));
        let records = thread::scope(|scope| {
            scope.spawn(|| {
                while !has_ended.load(Ordering::Acquire) {
                    if stop.wait(INTERVAL).is_some() {
                        return flag.raise();
                    }
                }
            });
            let records = runner.run(&request, &flag, &sink);
            has_ended.store(true, Ordering::Release);
            records
        });
        let record = records.map_err(work_failed)?.pop();
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
            has_bundle: head.is_some(),
            head,
            detail: record.detail.clone().unwrap_or_default(),
        })
    }
}

fn work_failed<E: std::error::Error>(error: E) -> ExecuteError {
    ExecuteError::Failed(error_chain(&error))
}

/// The folder of one task, removed when it is dropped.
struct TaskFolder(PathBuf);

impl TaskFolder {
    fn make(folder: PathBuf) -> Result<TaskFolder, ExecuteError> {
        crate::fleet::task_files::make_private_folder(&folder)
            .map_err(|error| ExecuteError::Failed(format!("the folder of a task cannot be made: {error}")))?;
        Ok(TaskFolder(folder))
    }
}

impl Drop for TaskFolder {
    fn drop(&mut self) {
        // An agent can leave folders that it has closed to its own user; what stays is removed at the next start of the host.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Sends the lines of an agent's log on.
struct Sink<'a>(Mutex<&'a mut dyn EventSink>);

impl RunObserver for Sink<'_> {
    fn event(&self, event: &RunEvent) {
        if let RunEvent::Log { line, .. } = event {
            let mut sink = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            sink.log_line(&line.message);
        }
    }
}
