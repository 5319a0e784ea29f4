//! The threads that carry out calls: a bounded number, and a bounded queue in front of them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use wap_core::{Tool, ToolEffect};

/// How many quick calls are carried out at once.
const QUICK_THREADS: usize = 8;

/// How many commands run, or wait for their turn in the workspace, at once.
const COMMAND_THREADS: usize = 8;

/// How many calls may wait for a thread.
const MOST_WAITING: usize = 4_096;

/// After this long without work a thread ends.
const IDLE: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// The threads that carry out calls. Quick calls never wait behind commands. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct CallPool {
    quick: Arc<Lane>,
    commands: Arc<Lane>,
}

/// Too many calls wait already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Full;

impl CallPool {
    pub(crate) fn new() -> CallPool {
        CallPool {
            quick: Arc::new(Lane::new("call", QUICK_THREADS)),
            commands: Arc::new(Lane::new("command", COMMAND_THREADS)),
        }
    }

    /// Has a thread for this kind of tool do something, now or when one is free.
    pub(crate) fn run(&self, tool: Tool, job: Job) -> Result<(), Full> {
        match tool.effect() {
            ToolEffect::Runs => Lane::add(&self.commands, job),
            ToolEffect::Reads | ToolEffect::Changes => Lane::add(&self.quick, job),
        }
    }
}

#[derive(Debug)]
struct Lane {
    name: &'static str,
    most_threads: usize,
    state: Mutex<LaneState>,
    work: Condvar,
}

#[derive(Default)]
struct LaneState {
    waiting: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

impl std::fmt::Debug for LaneState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LaneState").field("waiting", &self.waiting.len()).finish_non_exhaustive()
    }
}

impl Lane {
    fn new(name: &'static str, most_threads: usize) -> Lane {
        Lane { name, most_threads, state: Mutex::default(), work: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, LaneState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(lane: &Arc<Lane>, job: Job) -> Result<(), Full> {
        let mut state = lane.lock();
        if state.waiting.len() >= MOST_WAITING {
            return Err(Full);
        }
        state.waiting.push_back(job);
        if state.idle >= state.waiting.len() || state.threads == lane.most_threads {
            drop(state);
            lane.work.notify_one();
            return Ok(());
        }
        let own = Arc::clone(lane);
        let started = thread::Builder::new().name(lane.name.to_owned()).spawn(move || own.work_off());
        match started {
            Ok(_) => state.threads += 1,
            // With one thread at least, the job only waits longer.
            Err(_) if state.threads > 0 => {}
            Err(_) => {
                state.waiting.pop_back();
                return Err(Full);
            }
        }
        Ok(())
    }

    fn work_off(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.waiting.pop_front() {
                drop(state);
                // A job that panics has told whoever waits for it by dropping what it holds.
                let _ = catch_unwind(AssertUnwindSafe(job));
                state = self.lock();
                continue;
            }
            state.idle += 1;
            let (after, waited) = self.work.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = after;
            state.idle -= 1;
            if waited.timed_out() && state.waiting.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }
}
