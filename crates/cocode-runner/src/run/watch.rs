//! The thread that enforces deadlines, forwards cancellations and reports commits.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cocode_env::{AgentName, AgentState};
use sandbox_exec::Killer;

use crate::repository::Repository;
use crate::repository::head_log::{HeadEntry, HeadFollower, made_commits};
use crate::run::event::{RunEvent, RunObserver};
use crate::run::stop::{StopFlag, StopNote, StopReason};

/// The polling interval.
pub(crate) const INTERVAL: Duration = Duration::from_millis(50);

/// The time that an agent has to end after the request.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// One agent that is running.
pub(crate) struct Watched {
    pub(crate) agent: AgentName,
    pub(crate) killer: Killer,
    pub(crate) deadline: Instant,
    /// The file whose existence requests its cancellation.
    pub(crate) cancel_file: PathBuf,
    /// Its log of commits; `None` if the follower of its branch reports them.
    pub(crate) log: Option<HeadFollower>,
    /// The repository to which it adds them.
    pub(crate) repository: Repository,
    pub(crate) note: Arc<StopNote>,
    /// The time of the request to end.
    pub(crate) stopping_since: Option<Instant>,
}

/// Watches the agents of one run.
#[derive(Default)]
pub(crate) struct Watch {
    running: Mutex<Vec<Watched>>,
    is_over: AtomicBool,
}

impl Watch {
    pub(crate) fn add(&self, watched: Watched) {
        self.lock().push(watched);
    }

    /// Removes an agent that has ended, and reports its last commits.
    pub(crate) fn remove(&self, agent: &AgentName, observer: &dyn RunObserver) {
        let mut running = self.lock();
        if let Some(index) = running.iter().position(|one| one.agent == *agent) {
            let mut watched = running.swap_remove(index);
            // An observer may be slow, and the deadlines of the others need the lock.
            drop(running);
            watched.report_commits(observer);
        }
    }

    /// Ends [`Watch::run`].
    pub(crate) fn finish(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    /// Watches until [`Watch::finish`].
    pub(crate) fn run(&self, stop: &StopFlag, observer: &dyn RunObserver) {
        while !self.is_over.load(Ordering::Acquire) {
            for watched in self.lock().iter_mut() {
                watched.look(stop, observer);
            }
            thread::sleep(INTERVAL);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Watched>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    fn look(&mut self, stop: &StopFlag, observer: &dyn RunObserver) {
        self.report_commits(observer);
        let now = Instant::now();
        match self.stopping_since {
            Some(stopping_since) if now >= stopping_since + GRACE => self.killer.cancel(),
            Some(_) => {}
            None => {
                let is_cancelled = stop.is_raised() || self.cancel_file.exists();
                // An agent past its deadline has timed out, even if it is also cancelled in this moment.
                let reason = match (now >= self.deadline, is_cancelled) {
                    (true, _) => StopReason::Deadline,
                    (false, true) => StopReason::Cancelled,
                    (false, false) => return,
                };
                // It has ended meanwhile, and is about to be removed from the list.
                if !self.note.set(reason) {
                    return;
                }
                self.stopping_since = Some(now);
                let state = match reason {
                    StopReason::Deadline => AgentState::TimedOut,
                    StopReason::Cancelled => AgentState::Cancelled,
                };
                observer.event(&RunEvent::Stopping { agent: self.agent.clone(), state });
                self.killer.terminate();
            }
        }
    }

    fn report_commits(&mut self, observer: &dyn RunObserver) {
        if let Some(log) = &mut self.log {
            report_commits(&self.agent, &self.repository, &log.new_commits(), observer);
        }
    }
}

/// Reports the commits of a log that exist in the repository. Without git's answer there is no report.
pub(crate) fn report_commits(
    agent: &AgentName,
    repository: &Repository,
    entries: &[HeadEntry],
    observer: &dyn RunObserver,
) {
    for (commit, subject) in made_commits(repository, entries).unwrap_or_default() {
        observer.event(&RunEvent::Commit { agent: agent.clone(), commit, subject });
    }
}
