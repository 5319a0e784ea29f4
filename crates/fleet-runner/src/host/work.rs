//! A host's side of a fleet: each task has a separate repository, in which the runner runs one agent as usual.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cocode_env::{AgentState, PartName};
use cocode_fleet::{
    ClaimedState, ClassName, Confinement, EventSink, ExecuteError, HostOffer, StopReason, StopSignal, Task,
    TaskExecutor, TaskOutcome,
};
use cocode_runner::{
    AgentDefinition, AgentRecord, BUNDLE_LIMIT_BYTES, BaseError, BundleSource, RunEvent, RunLimits,
    RunObserver, RunRequest, StopFlag, error_chain,
};

use sandbox_exec::Level;

use super::workplaces::{BRANCH, Workplace, Workplaces};
use crate::levels::fleet_confinement;

/// The free space below which a host takes no tasks, in bytes.
const LEAST_FREE_BYTES: u64 = 1 << 30;

/// The offer of a host, and its work. When it is dropped, its slots are emptied.
pub struct HostWork {
    shared: Arc<Workplaces>,
    definitions: Vec<AgentDefinition>,
    labels: Vec<ClassName>,
    confinement: Confinement,
}

impl Drop for HostWork {
    fn drop(&mut self) {
        self.shared.slots.close();
    }
}

/// Prepares a free slot for the next task on a base when this one has ended.
struct Next<'a> {
    shared: &'a Arc<Workplaces>,
    commit: &'a str,
}

impl Drop for Next<'_> {
    fn drop(&mut self) {
        self.shared.prepare_next(self.commit);
    }
}

impl TaskExecutor for HostWork {
    fn offers(&self) -> HostOffer {
        let free = rustix::fs::statvfs(self.shared.slots.folder())
            .map_or(0, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        HostOffer {
            slots: self.shared.slots.count(),
            labels: self.labels.clone(),
            confinement: self.confinement,
            agents: self.definitions.iter().filter_map(|agent| agent.name.as_str().parse().ok()).collect(),
            free_disk_bytes: free,
            least_free_disk_bytes: LEAST_FREE_BYTES,
        }
    }

    fn has_base(&self, commit: &str) -> bool {
        self.shared.bases.has(commit).unwrap_or(false)
    }

    fn add_base(&self, bundle: &Path, tip: &str) -> Result<(), ExecuteError> {
        self.shared.bases.add(bundle, tip).map_err(|error| match error {
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
        let commit = &task.base_commit;
        // Dropped after the slot, which is then free.
        let _next = Next { shared: &self.shared, commit };
        let (slot, prepared) = self.shared.slots.take(commit)?;
        let workplace = prepared.map_or_else(|| self.shared.prepare(&slot.folder, commit), Ok)?;
        let request = self.request(task)?;
        let Workplace { runner, repository, .. } = workplace;
        let sink = Sink(Mutex::new(events));
        let flag = StopFlag::new();
        let raised = flag.clone();
        stop.on_raise(move |_| raised.raise());
        let record = runner.run(&request, &flag, &sink).map_err(work_failed)?.pop();
        let record = record.ok_or_else(|| ExecuteError::Failed("the agent left no record".to_owned()))?;
        drop(runner);
        let outcome = self.outcome(task, &record, stop.reason(), &repository, result_file);
        drop(slot);
        outcome
    }
}

impl HostWork {
    /// Makes the work of a host that has these definitions of agents, each confined as the host's options say, and these labels.
    /// `level` is the confinement that was proved when the host started.
    #[must_use]
    pub fn new(
        workplaces: Workplaces,
        definitions: Vec<AgentDefinition>,
        labels: Vec<ClassName>,
        level: Level,
    ) -> HostWork {
        HostWork { shared: Arc::new(workplaces), definitions, labels, confinement: fleet_confinement(level) }
    }

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
        // A failure to start says nothing about the task: another host may do better.
        if record.launched_at_ms.is_none() && stop.is_none() {
            let why = record.detail.clone().unwrap_or_else(|| "the agent could not be started".to_owned());
            return Err(ExecuteError::Failed(why));
        }
        // Nor does a failure of this machine to read or import the work, for instance on a full disk.
        if stop.is_none() && (record.import_failed || record.verdict.is_none()) {
            let reasons = record.warnings.iter().chain(&record.detail).map(String::as_str);
            let why =
                format!("its work could not be judged here: {}", reasons.collect::<Vec<_>>().join("; "));
            return Err(ExecuteError::Failed(why));
        }
        let head = record.head.clone().filter(|head| *head != task.base_commit);
        if let Some(head) = &head {
            let source = BundleSource::open(&self.shared.config.host, repository).map_err(work_failed)?;
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

/// Returns the host's verdict on uncommitted files; `None` if the definition does not ask for it.
fn is_clean(record: &AgentRecord) -> Option<bool> {
    let parts = &record.verdict.as_ref()?.parts;
    parts.iter().find(|part| part.name == PartName::CleanTree).map(|part| part.holds)
}

pub(super) fn work_failed<E: std::error::Error>(error: E) -> ExecuteError {
    ExecuteError::Failed(error_chain(&error))
}

/// Forwards the lines of an agent's log.
struct Sink<'a>(Mutex<&'a mut dyn EventSink>);

impl RunObserver for Sink<'_> {
    fn event(&self, event: &RunEvent) {
        if let RunEvent::Log { line, .. } = event {
            let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            sink.log_line(&line.message);
        }
    }
}
