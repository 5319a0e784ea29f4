//! Home's side of a fleet: the records of agents are its journal, and the runner judges what hosts deliver.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cocode_env::{AgentState, LogLine};
use cocode_fleet::{
    BaseFile, ClaimedState, Delivered, HostName, JudgeError, Notice, ResultJudge, RunName, SubmittedTask,
    TaskName,
};
use cocode_runner::{
    AgentRecord, AgentsFile, Delivery, DeliveryError, DeliveryLimits, ElsewhereLog, RunEvent, RunObserver,
    Runner, RunnerError, StopFlag, error_chain,
};

use super::base_chain::BaseChain;
use super::git_failures::GitFailures;
use super::task_files::TaskFiles;

/// The journal of one repository's tasks: the records of its runner, and the files of the tasks.
pub struct HomeJournal<O> {
    runner: Arc<Runner>,
    tasks: TaskFiles,
    chain: BaseChain,
    definitions: AgentsFile,
    stop: StopFlag,
    observer: O,
    logs: Mutex<HashMap<TaskName, ElsewhereLog>>,
    /// The keys of the records, so that an event of a task reads one of them rather than all.
    keys: Mutex<HashMap<TaskName, String>>,
    /// The last failures of resubmitting a task.
    retry_failures: Mutex<HashMap<TaskName, String>>,
    /// The runs whose tasks this process has submitted, so that a server may have them.
    sent: Mutex<HashSet<RunName>>,
    git_failures: GitFailures,
}

/// An observer of task events, in addition to the events of their agents.
pub trait FleetObserver: RunObserver + Send + Sync + 'static {
    /// The task of an agent is in the queue of the server.
    fn queued(&self, agent: &str);

    /// Another event of an agent's task; `text` is a line for a person.
    fn say(&self, agent: &str, text: &str);

    /// The server can be reached, or cannot because of a problem. A persistent problem is repeated.
    fn connection(&self, problem: Option<&str>);
}

impl<O: FleetObserver> HomeJournal<O> {
    /// Makes the journal over the records of a runner.
    ///
    /// The check of an agent gets the variables of its definition in `definitions`. `stop` ends a running judgement,
    /// which can be repeated.
    #[must_use]
    pub fn new(
        runner: Arc<Runner>,
        tasks: TaskFiles,
        chain: BaseChain,
        definitions: AgentsFile,
        stop: StopFlag,
        observer: O,
    ) -> HomeJournal<O> {
        HomeJournal {
            runner,
            tasks,
            chain,
            definitions,
            stop,
            observer,
            logs: Mutex::default(),
            keys: Mutex::default(),
            retry_failures: Mutex::default(),
            sent: Mutex::default(),
            git_failures: GitFailures::default(),
        }
    }

    /// Sets the time after which a delivery is no longer believed if this machine has failed to judge it each time,
    /// such as for lack of space [default: an hour]. Until then it is judged again. For other failures of git, a
    /// quarter of that time is used.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> HomeJournal<O> {
        self.git_failures.patience = patience;
        self
    }

    /// Returns the tasks.
    #[must_use]
    pub fn tasks(&self) -> &TaskFiles {
        &self.tasks
    }

    /// Returns the observer.
    #[must_use]
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// Cancels a task that no server has, without a server, and returns true; its agent's name is then free. Returns
    /// false, and does nothing, if a server may have a task of the run: then only the server can cancel it. `record` is
    /// that of the task.
    ///
    /// # Errors
    ///
    /// [`JudgeError::Failed`] if the task's file cannot be removed, or the record not be written. A task without a file
    /// is never submitted, whatever its record says.
    pub fn withdraw(&self, name: &TaskName, record: &AgentRecord) -> Result<bool, JudgeError> {
        // Held to the end, so that the task is not submitted in the meantime.
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if sent.contains(&name.run) || !self.tasks.is_unsent(&name.run) {
            return Ok(false);
        }
        self.tasks.remove(name).map_err(|error| JudgeError::Failed(error.to_string()))?;
        let epoch = record.elsewhere.as_ref().map_or(0, |elsewhere| elsewhere.epoch);
        let (state, detail) = (AgentState::Cancelled, Some("withdrawn: no server had it"));
        let record = self.runner.set_elsewhere_state(record, state, None, epoch, detail).map_err(failed)?;
        drop(sent);
        self.observer.event(&RunEvent::Ended { record: Box::new(record) });
        Ok(true)
    }

    /// Records that a server may receive tasks of a run from here on.
    fn mark_sent(&self, run: &RunName) -> std::io::Result<()> {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if !sent.contains(run) {
            self.tasks.mark_sent(run)?;
            sent.insert(run.clone());
        }
        Ok(())
    }

    /// Returns the record of a task.
    fn record(&self, name: &TaskName) -> Result<Option<AgentRecord>, RunnerError> {
        let key = self.keys.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        let Some(key) = key else { return Ok(None) };
        let record = self.runner.record(&key)?;
        Ok(record.filter(|record| record.run == name.run.as_str() && record.elsewhere.is_some()))
    }

    fn open_record(&self, name: &TaskName) -> Result<AgentRecord, JudgeError> {
        let missing = || JudgeError::Failed(format!("there is no record of the task {name}"));
        self.record(name).map_err(failed)?.ok_or_else(missing)
    }

    fn set_state(
        &self,
        name: &TaskName,
        state: AgentState,
        (host, epoch): (Option<&str>, u64),
        detail: Option<&str>,
    ) {
        let Ok(Some(record)) = self.record(name) else { return };
        // A report of an earlier start, or about work that is already judged: the record stays unchanged.
        let _ = self.runner.set_elsewhere_state(&record, state, host, epoch, detail);
    }

    /// Makes a given-up task wait again, if its retry is requested, under a new generation, for which the earlier one
    /// does not count. After a failure, or in the next process if this one is killed, it starts again.
    fn give_out_again(&self, name: &TaskName, record: &AgentRecord) -> Result<bool, JudgeError> {
        let broken = |error: std::io::Error| JudgeError::Failed(error.to_string());
        if !self.tasks.begin_retry(name).map_err(broken)? {
            return Ok(false);
        }
        let Some(mut task) = self.tasks.get(name).map_err(broken)? else { return Ok(false) };
        task.generation = uuid::Uuid::new_v4().simple().to_string();
        self.tasks.put(&task).map_err(broken)?;
        let epoch = record.elsewhere.as_ref().map_or(0, |elsewhere| elsewhere.epoch);
        let state = AgentState::Pending;
        self.runner.set_elsewhere_state(record, state, None, epoch, None).map_err(failed)?;
        // Last, so that a failure before this does not lose a request. A leftover is removed with the next reading of
        // the journal.
        let _ = self.tasks.end_retry(name);
        self.retry_failures.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        Ok(true)
    }

    /// Reports that a task could not be resubmitted. The next reading of the journal retries, and the same reason is
    /// not reported twice.
    fn report_retry(&self, name: &TaskName, error: &JudgeError) {
        let reason = error.to_string();
        let mut failures = self.retry_failures.lock().unwrap_or_else(PoisonError::into_inner);
        let last = failures.insert(name.clone(), reason.clone());
        drop(failures);
        if last.as_ref() != Some(&reason) {
            self.say(name, &format!("cannot be given out again, this is repeated: {reason}"));
        }
    }

    fn say(&self, name: &TaskName, text: &str) {
        self.observer.say(name.agent.as_str(), text);
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
fn failed(error: RunnerError) -> JudgeError {
    JudgeError::Failed(error_chain(&error))
}

impl<O: FleetObserver> ResultJudge for HomeJournal<O> {
    fn unresolved(&self) -> Result<Vec<TaskName>, JudgeError> {
        let broken = |error: std::io::Error| JudgeError::Failed(error.to_string());
        let records = self.runner.records().map_err(failed)?;
        let names = self.tasks.names().map_err(broken)?;
        let records: HashMap<(&str, &str), &AgentRecord> =
            records.iter().map(|record| ((&*record.run, record.agent.as_str()), record)).collect();
        let mut open = Vec::new();
        for name in names {
            let record = records.get(&(name.run.as_str(), name.agent.as_str())).copied();
            if let Some(record) = record {
                let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
                keys.insert(name.clone(), record.key());
            }
            match record {
                Some(record) if !record.state.is_final() => {
                    // A killed process has resubmitted it without recording that: later steps are not a retry.
                    let _ = self.tasks.end_retry(&name);
                    open.push(name);
                }
                // Given up or cancelled, it can be retried. A failure must not delay the others.
                Some(record) if record.verdict.is_none() => match self.give_out_again(&name, record) {
                    Ok(true) => open.push(name),
                    Ok(false) => {}
                    Err(error) => self.report_retry(&name, &error),
                },
                // A judged or manually removed task needs no file.
                _ => {
                    let _ = self.tasks.remove(&name);
                }
            }
        }
        Ok(open)
    }

    fn task(&self, name: &TaskName) -> Result<SubmittedTask, JudgeError> {
        let broken = |error: std::io::Error| JudgeError::Failed(error.to_string());
        // Before the file is read: a task withdrawn until then is no longer here.
        self.mark_sent(&name.run).map_err(broken)?;
        let task = self.tasks.get(name).map_err(broken)?;
        let task = task.ok_or_else(|| JudgeError::Failed(format!("the task {name} is not here any more")))?;
        let files = task.bases.iter();
        let bases = files.map(|base| BaseFile { path: self.chain.path(&base.bundle), base: base.clone() });
        Ok(SubmittedTask { bases: bases.collect(), task })
    }

    fn last_epoch(&self, name: &TaskName) -> Result<u64, JudgeError> {
        let record = self.record(name).map_err(failed)?;
        Ok(record.and_then(|record| record.elsewhere).map_or(0, |elsewhere| elsewhere.epoch))
    }

    fn notice(&self, name: &TaskName, notice: &Notice) {
        match notice {
            Notice::Queued { .. } => self.observer.queued(name.agent.as_str()),
            Notice::QueueFull { waiting } => {
                self.say(name, &format!("the queue is full, {waiting} are waiting; it is queued later"));
            }
            Notice::Running { host, epoch } => {
                self.set_state(name, AgentState::Running, (Some(host.as_str()), *epoch), None);
                self.say(name, &format!("runs on {host}"));
            }
            Notice::Delivered { host, .. } => self.say(name, &format!("{host} has delivered; judging")),
            Notice::NotBelieved { host, epoch, reason } => {
                let host = host.as_ref().map_or("a host", |host| host.as_str());
                self.say(name, &format!("{host} was not believed, it is given out again: {reason}"));
                self.set_state(name, AgentState::Pending, (None, *epoch), None);
            }
            Notice::PublishedAgain { epoch } => {
                self.set_state(name, AgentState::Pending, (None, *epoch), None);
                self.say(name, "the server has lost it, it is queued again");
            }
            Notice::BaseUploadedAgain { reason } => {
                self.say(name, &format!("its base is sent again: {reason}"))
            }
            Notice::NoHostFits { hosts } if hosts.is_empty() => self.say(name, "waits: no host has joined"),
            Notice::NoHostFits { hosts } => {
                let lacks = hosts.iter().take(5).map(|(host, unmet)| {
                    let unmet: Vec<String> = unmet.iter().map(ToString::to_string).collect();
                    format!("{host}: {}", unmet.join(", "))
                });
                self.say(name, &format!("waits: no host fits ({})", lacks.collect::<Vec<_>>().join("; ")));
            }
            Notice::LateUnused { host, reason } => {
                self.say(name, &format!("{host} was late, its work is not used: {reason}"));
            }
            Notice::AttemptFailed { host, reason } => {
                self.say(name, &format!("could not be run by {host}: {reason}"));
            }
            Notice::Unpublishable { reason } => {
                self.say(name, &format!("cannot be given out: {reason}"));
            }
            _ => {}
        }
    }

    fn log_lines(&self, name: &TaskName, _: &HostName, lines: &[String], left_out: u64) {
        let Ok(Some(record)) = self.record(name) else { return };
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        if !logs.contains_key(name)
            && let Ok(log) = self.runner.elsewhere_log(&record)
        {
            logs.insert(name.clone(), log);
        }
        let left_out = (left_out > 0).then(|| format!("({left_out} lines were left out)"));
        for line in left_out.iter().chain(lines) {
            if let Some(log) = logs.get_mut(name) {
                log.add(line);
            }
            let line = LogLine::parse(line);
            self.observer.event(&RunEvent::Log { agent: record.agent.clone(), line });
        }
    }

    fn judge(&self, delivered: &Delivered) -> Result<(), JudgeError> {
        let name = &delivered.task.name;
        let record = self.open_record(name)?;
        let definition = delivered.task.definition.as_str().parse().ok();
        let definition = definition.and_then(|name| self.definitions.agents.get(&name));
        let claim = &delivered.claim;
        let delivery = Delivery {
            bundle: delivered.bundle.clone(),
            head: claim.head.clone(),
            exit_code: claim.exit_code,
            state: match claim.state {
                ClaimedState::Ready => AgentState::Ready,
                ClaimedState::Completed => AgentState::Completed,
                ClaimedState::Failed => AgentState::Failed,
                ClaimedState::TimedOut => AgentState::TimedOut,
                ClaimedState::Cancelled => AgentState::Cancelled,
            },
            is_clean: claim.is_clean,
            detail: Some(claim.detail.clone()).filter(|detail| !detail.is_empty()),
            host: delivered.host.to_string(),
            epoch: delivered.epoch,
            environment: definition.map(|definition| definition.environment.clone()).unwrap_or_default(),
            limits: DeliveryLimits::default(),
        };
        match self.runner.judge_delivery(&record, &delivery, &self.stop, &self.observer) {
            Ok(_) => {}
            // It was resolved differently in the meantime.
            Err(RunnerError::Delivery { source: DeliveryError::Over { .. }, .. }) => {}
            Err(RunnerError::Delivery { ref source, agent: _ }) if source.is_about_delivery() => {
                self.git_failures.forget(name);
                return Err(JudgeError::NotBelieved(error_chain(source)));
            }
            Err(error) if self.git_failures.are_the_deliverys(name, delivered.epoch, &error) => {
                self.git_failures.forget(name);
                let reason = format!("its delivery could not be judged each time: {}", error_chain(&error));
                return Err(JudgeError::NotBelieved(reason));
            }
            // The stopped run ends the task, or a later one judges it.
            Err(error @ RunnerError::Delivery { source: DeliveryError::Stopped, .. }) => {
                return Err(failed(error));
            }
            Err(error) => {
                if self.git_failures.is_news(name, delivered.epoch, &error) {
                    let reason = error_chain(&error);
                    self.say(name, &format!("cannot be judged yet: {reason}; it is tried again"));
                }
                return Err(failed(error));
            }
        }
        self.git_failures.forget(name);
        self.logs.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        // A leftover is removed with the next reading of the journal.
        let _ = self.tasks.remove(name);
        Ok(())
    }

    fn ended(&self, name: &TaskName, end: &Notice) -> Result<(), JudgeError> {
        let record = self.open_record(name)?;
        if !record.state.is_final() {
            let (state, detail) = match end {
                Notice::Cancelled => {
                    let is_delivered = record.elsewhere.as_ref().is_some_and(|one| one.delivered.is_some());
                    let detail = "its delivered work was not judged".to_owned();
                    (AgentState::Cancelled, is_delivered.then_some(detail))
                }
                Notice::Dead { reasons } => {
                    (AgentState::Failed, Some(format!("given up: {}", reasons.join("; "))))
                }
                // No other notice ends a task today; the record is for people, and states only what is certain.
                _ => (AgentState::Failed, Some("the fleet gave it up without a reason".to_owned())),
            };
            let elsewhere = record.elsewhere.as_ref();
            let (host, epoch) = elsewhere.map_or((None, 0), |one| (one.host.as_deref(), one.epoch));
            let record = self
                .runner
                .set_elsewhere_state(&record, state, host, epoch, detail.as_deref())
                .map_err(failed)?;
            self.observer.event(&RunEvent::Ended { record: Box::new(record) });
        }
        self.git_failures.forget(name);
        self.logs.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        Ok(())
    }

    fn connection_changed(&self, problem: Option<&str>) {
        self.observer.connection(problem);
    }
}
