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

/// How many bytes their requests may hold together; a single one may hold more.
const MOST_WAITING_BYTES: usize = 64 << 20;

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

    /// Has a thread for this kind of tool do something, now or when one is free. `bytes` is about what the job holds meanwhile.
    pub(crate) fn run(&self, tool: Tool, bytes: usize, job: Job) -> Result<(), Full> {
        match tool.effect() {
            ToolEffect::Runs => Lane::add(&self.commands, bytes, job),
            ToolEffect::Reads | ToolEffect::Changes => Lane::add(&self.quick, bytes, job),
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
    waiting: VecDeque<(usize, Job)>,
    /// What the waiting jobs hold.
    bytes: usize,
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

    fn add(lane: &Arc<Lane>, bytes: usize, job: Job) -> Result<(), Full> {
        let mut state = lane.lock();
        let has_room = state.waiting.is_empty() || state.bytes.saturating_add(bytes) <= MOST_WAITING_BYTES;
        if state.waiting.len() >= MOST_WAITING || !has_room {
            return Err(Full);
        }
        state.waiting.push_back((bytes, job));
        state.bytes += bytes;
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
                state.bytes -= bytes;
                return Err(Full);
            }
        }
        Ok(())
    }

    fn work_off(&self) {
        let mut state = self.lock();
        loop {
            if let Some((bytes, job)) = state.waiting.pop_front() {
                state.bytes -= bytes;
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_waits_is_bounded_in_bytes() {
        let pool = CallPool::new();
        let (release, released) = channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let block = || {
            let released = Arc::clone(&released);
            Box::new(move || drop(released.lock().map(|released| released.recv()))) as Job
        };
        let tool = Tool::WriteFile;
        // All threads are busy with these, some of which may still wait for theirs.
        for _ in 0..QUICK_THREADS {
            pool.run(tool, 1, block()).expect("there is room");
        }
        let waiting = (0..).take_while(|_| pool.run(tool, 16 << 20, block()).is_ok()).take(100).count();
        assert!((3..=QUICK_THREADS + 5).contains(&waiting), "{waiting}");
        assert!(pool.run(tool, 1 << 30, block()).is_err());
        pool.run(Tool::ExecuteCommand, 1 << 30, Box::new(|| ()))
            .expect("another lane, and nothing waits there");
        drop(release);
    }
}
