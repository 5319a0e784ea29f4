//! The state that home keeps of its unresolved tasks. All of it can be lost: journal and server have the truth.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, Semaphore, watch};

use super::HomeConfig;
use crate::connection::FleetConnection;
use crate::contract::{JudgeError, Notice, ResultJudge, SubmittedTask};
use crate::digest::BundleDigest;
use crate::names::{ClassName, HostName, TaskName};
use crate::task::{RunRecord, Task};

/// The longest deadline that a task may have.
const LONGEST_SECONDS: u64 = 3600;

/// The longest pause between two steps that fail.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Holders of a task that are remembered.
const HOLDERS: usize = 8;

/// The number of starts since home last published a task that have a separate deadline. A host raises the epoch with
/// each start, so without a limit it could renew its time forever.
const STARTS: u32 = 8;

/// The maximum number of epochs between one that home knows and one that it follows. Starts raise the epoch by one,
/// and in the 30 days that a record is kept there cannot be that many. A host that writes a higher one could exhaust
/// the epochs.
const EPOCH_LEAP: u64 = 1 << 20;

pub(super) struct HomeContext {
    pub(super) config: HomeConfig,
    pub(super) connection: FleetConnection,
    pub(super) judge: Arc<dyn ResultJudge>,
    pub(super) wake: Arc<Notify>,
    pub(super) publishing: Semaphore,
    pub(super) judging: Semaphore,
    /// One upload at a time: many tasks share a base. Contains the bundles that home has found on the server.
    pub(super) uploaded: tokio::sync::Mutex<HashSet<BundleDigest>>,
    /// The bundles that were uploaded because a host could not use them, with the last time.
    pub(super) repaired: tokio::sync::Mutex<HashMap<BundleDigest, Instant>>,
    /// Classes whose queue has its consumer.
    pub(super) classes: tokio::sync::Mutex<HashSet<ClassName>>,
    /// The number of the last event that was handled.
    pub(super) events_read: watch::Sender<u64>,
    /// Notified when the server has fewer events than were handled.
    pub(super) events_went_back: Notify,
    followed: Mutex<HashMap<TaskName, Followed>>,
}

/// An unresolved task.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// The journal's content; read on first use, and again when the journal has changed.
    pub(super) summary: Option<Summary>,
    /// The greatest epoch that home has written, read or noted in its journal; 0 before it was published.
    pub(super) epoch: u64,
    /// True while the message of its record's epoch is not accepted, for lack of room or of an answer.
    pub(super) is_unsent: bool,
    /// The hosts that have held it, with their epochs.
    pub(super) holders: Vec<(HostName, u64)>,
    /// The number of consecutive failed steps, and when the next one may run.
    failures: u32,
    not_before: Option<Instant>,
    /// The epoch of its record, and when home first saw it; none since home published it.
    held_since: Option<(u64, Instant)>,
    /// The epochs that home has seen in its record since home published it.
    starts: u32,
    /// True if hosts could take it, but none has for long: one may be withholding its message.
    is_withheld: bool,
    /// The last notice, which is not repeated.
    notice: Option<Notice>,
    is_busy: bool,
    is_due_again: bool,
}

impl Followed {
    pub(super) fn remember_holder(&mut self, host: HostName, epoch: u64) {
        if self.holders.len() == HOLDERS {
            self.holders.remove(0);
        }
        self.holders.push((host, epoch));
    }

    /// Returns how long the task's record has had an epoch, as far as this home has seen. After many epochs, the time
    /// no longer restarts.
    fn held_for(&mut self, epoch: u64) -> Duration {
        match self.held_since {
            Some((held, since)) if held == epoch || self.starts >= STARTS => since.elapsed(),
            _ => {
                self.held_since = Some((epoch, Instant::now()));
                self.starts += 1;
                Duration::ZERO
            }
        }
    }

    /// Records that home publishes the task under an epoch.
    pub(super) fn begin_publishing(&mut self, epoch: u64) {
        (self.epoch, self.is_unsent) = (epoch, true);
        (self.held_since, self.starts, self.is_withheld) = (None, 0, false);
    }
}

/// The part of a task that home keeps in memory: not its text.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    pub(super) generation: String,
    pub(super) class: ClassName,
    /// The task without its texts, to compare its needs with hosts.
    pub(super) needs: Task,
}

impl HomeContext {
    pub(super) fn new(
        config: HomeConfig,
        connection: FleetConnection,
        judge: Arc<dyn ResultJudge>,
        wake: Arc<Notify>,
    ) -> HomeContext {
        HomeContext {
            publishing: Semaphore::new(config.publishes.max(1)),
            judging: Semaphore::new(config.judges.max(1)),
            config,
            connection,
            judge,
            wake,
            uploaded: tokio::sync::Mutex::default(),
            repaired: tokio::sync::Mutex::default(),
            classes: tokio::sync::Mutex::default(),
            events_read: watch::channel(0).0,
            events_went_back: Notify::new(),
            followed: Mutex::default(),
        }
    }

    /// Follows exactly the tasks of the journal, and returns the newly followed ones.
    pub(super) fn follow_exactly(&self, names: &HashSet<TaskName>) -> Vec<TaskName> {
        let mut followed = self.lock();
        followed.retain(|name, task| task.is_busy || names.contains(name));
        let new: Vec<TaskName> = names.iter().filter(|name| !followed.contains_key(*name)).cloned().collect();
        followed.extend(new.iter().map(|name| (name.clone(), Followed::default())));
        new
    }

    pub(super) fn followed_names(&self) -> Vec<TaskName> {
        self.lock().keys().cloned().collect()
    }

    pub(super) fn is_followed(&self, name: &TaskName) -> bool {
        self.lock().contains_key(name)
    }

    pub(super) fn update(&self, name: &TaskName, change: impl FnOnce(&mut Followed)) {
        if let Some(task) = self.lock().get_mut(name) {
            change(task);
        }
    }

    pub(super) fn inspect<T>(&self, name: &TaskName, look: impl FnOnce(&Followed) -> T) -> Option<T> {
        self.lock().get(name).map(look)
    }

    /// Records the outcome of a step. After failures, the next comparisons skip the task for a while: a step may have
    /// fetched a large bundle.
    pub(super) fn count_step(&self, name: &TaskName, has_failed: bool) {
        let poll = self.connection.timings.poll;
        self.update(name, |task| {
            task.failures = if has_failed { (task.failures + 1).min(8) } else { 0 };
            let pause = (poll * (1 << task.failures)).min(LONGEST_PAUSE);
            task.not_before = has_failed.then(|| Instant::now() + pause);
        });
    }

    /// Returns whether a task is skipped for a while after failures.
    pub(super) fn is_resting(&self, name: &TaskName) -> bool {
        self.inspect(name, |task| task.not_before.is_some_and(|time| Instant::now() < time)) == Some(true)
    }

    /// Returns whether a record is far above the last epoch that home knows, which starts alone cannot reach.
    pub(super) fn leaps(&self, name: &TaskName, record: &RunRecord) -> bool {
        let newest = self.inspect(name, |task| task.epoch).unwrap_or(0);
        record.epoch > newest.saturating_add(EPOCH_LEAP)
    }

    /// Returns whether the record of a task has had its epoch for longer than allowed. Leases and progress are renewed
    /// by the host itself, so they alone would let it keep a task forever.
    pub(super) fn is_overdue(&self, name: &TaskName, epoch: u64) -> bool {
        let mut followed = self.lock();
        let Some(task) = followed.get_mut(name) else { return false };
        let Some(summary) = &task.summary else { return false };
        let deadline = Duration::from_secs(summary.needs.timeout_seconds.map_or(LONGEST_SECONDS, u64::from));
        task.held_for(epoch) > deadline + self.connection.timings.overtime
    }

    /// Makes the next step of a task publish it again: its message may be withheld by a host that does not take it.
    pub(super) fn withhold(&self, name: &TaskName) {
        self.update(name, |task| task.is_withheld = true);
    }

    /// Returns whether [`HomeContext::withhold`] was called since the task was published.
    pub(super) fn is_withheld(&self, name: &TaskName) -> bool {
        self.inspect(name, |task| task.is_withheld) == Some(true)
    }

    /// Marks a task as being worked on. Returns false if it already is, and then another step follows; or if it is not
    /// followed.
    pub(super) fn begin(&self, name: &TaskName) -> bool {
        let mut followed = self.lock();
        let Some(task) = followed.get_mut(name) else { return false };
        task.is_due_again = task.is_busy;
        !std::mem::replace(&mut task.is_busy, true)
    }

    /// Ends the work on a task. Returns whether another step is due.
    pub(super) fn end(&self, name: &TaskName) -> bool {
        let mut followed = self.lock();
        let Some(task) = followed.get_mut(name) else { return false };
        task.is_busy = task.is_due_again;
        std::mem::take(&mut task.is_due_again)
    }

    pub(super) fn forget(&self, name: &TaskName) {
        self.lock().remove(name);
    }

    /// Forgets the content of the journal, so that a new generation is seen.
    pub(super) fn forget_summaries(&self) {
        for task in self.lock().values_mut() {
            (task.summary, task.not_before) = (None, None);
        }
    }

    /// Reports a notice about a task, unless it equals the last one.
    pub(super) async fn notice(&self, name: &TaskName, notice: Notice) {
        let mut is_new = true;
        self.update(name, |task| {
            is_new = task.notice.as_ref() != Some(&notice);
            task.notice = Some(notice.clone());
        });
        if is_new {
            let name = name.clone();
            self.ask_judge(move |judge| judge.notice(&name, &notice)).await;
        }
    }

    /// Calls the judge on a thread that may block. None if it panicked.
    pub(super) async fn ask_judge<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn ResultJudge) -> T + Send + 'static,
    ) -> Option<T> {
        let judge = Arc::clone(&self.judge);
        tokio::task::spawn_blocking(move || call(&*judge)).await.ok()
    }

    pub(super) async fn submitted(&self, name: &TaskName) -> Result<SubmittedTask, JudgeError> {
        let wanted = name.clone();
        let panicked = || Err(JudgeError::Failed("reading the journal panicked".to_owned()));
        let reading = self.ask_judge(move |judge| Ok((judge.task(&wanted)?, judge.last_epoch(&wanted)?)));
        let (submitted, epoch) = reading.await.unwrap_or_else(panicked)?;
        let task = &submitted.task;
        let needs = Task { issue_body: String::new(), bases: Vec::new(), ..task.clone() };
        let summary = Summary { generation: task.generation.clone(), class: task.class.clone(), needs };
        self.update(name, |followed| {
            followed.summary = Some(summary);
            followed.epoch = followed.epoch.max(epoch);
        });
        Ok(submitted)
    }

    /// Returns the summary of a task, from the journal if necessary.
    pub(super) async fn summary(&self, name: &TaskName) -> Result<Summary, JudgeError> {
        if let Some(Some(summary)) = self.inspect(name, |followed| followed.summary.clone()) {
            return Ok(summary);
        }
        self.submitted(name).await?;
        let missing = || JudgeError::Failed("the task is not in the journal any more".to_owned());
        self.inspect(name, |followed| followed.summary.clone()).flatten().ok_or_else(missing)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskName, Followed>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reports the state of the connection on a thread that may block.
pub(super) async fn report_connection(judge: &Arc<dyn ResultJudge>, problem: Option<String>) {
    let judge = Arc::clone(judge);
    let reporting = tokio::task::spawn_blocking(move || judge.connection_changed(problem.as_deref()));
    let _ = reporting.await;
}
