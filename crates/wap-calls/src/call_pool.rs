//! The threads that carry out calls: a bounded number of each kind, and a bounded queue in front of them.
//!
//! Changes of files and commands wait for their turns in the workspace, with their threads. So each kind has threads of its
//! own: however many of them wait, calls that only read are answered. A call that is cancelled while it waits in a queue
//! waits no longer: the readers' threads answer it, since nothing is begun for it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use wap_core::{CancelFlag, CancelGuard, Tool, ToolEffect};

/// How many calls that only read are carried out at once.
const READING_THREADS: usize = 8;

/// How many changes of files are carried out, or wait for their turn in the workspace, at once.
const CHANGING_THREADS: usize = 4;

/// How many commands run, or wait for their turn in the workspace, at once.
const COMMAND_THREADS: usize = 8;

/// How many calls may wait for a thread.
const MOST_WAITING: usize = 4_096;

/// How many bytes their requests may hold together; a single one may hold more.
const MOST_WAITING_BYTES: usize = 64 << 20;

/// After this long without work a thread ends.
const IDLE: Duration = Duration::from_secs(10);

/// The work of a call.
pub type Job = Box<dyn FnOnce() + Send>;

/// A call that waits for a thread.
struct Waiting {
    number: u64,
    /// What the job holds, about.
    bytes: usize,
    job: Job,
    /// Takes it out of the queue when it is cancelled.
    on_cancel: Option<CancelGuard>,
}

/// The threads that carry out calls. Those that read wait for no others, changes for no commands. Clones share them.
#[derive(Clone, Debug)]
pub struct CallPool {
    reading: Arc<Lane>,
    changing: Arc<Lane>,
    commands: Arc<Lane>,
}

/// Too many calls wait already.
#[derive(Clone, Copy, Debug)]
pub struct Full;

impl Default for CallPool {
    fn default() -> CallPool {
        CallPool::new()
    }
}

impl CallPool {
    /// Returns a pool without threads; calls start them.
    #[must_use]
    pub fn new() -> CallPool {
        CallPool {
            reading: Arc::new(Lane::new("call", READING_THREADS)),
            changing: Arc::new(Lane::new("change", CHANGING_THREADS)),
            commands: Arc::new(Lane::new("command", COMMAND_THREADS)),
        }
    }

    /// Has a thread for this kind of tool do something, now or when one is free. Once it is cancelled it does not wait for
    /// one of those: it is expected to see that and to end at once. `bytes` is about what the job holds meanwhile.
    pub fn run(&self, tool: Tool, bytes: usize, cancel: &CancelFlag, job: Job) -> Result<(), Full> {
        let lane = match tool.effect() {
            ToolEffect::Reads => return Lane::add(&self.reading, bytes, job).map(drop),
            ToolEffect::Changes => &self.changing,
            ToolEffect::Runs => &self.commands,
        };
        let number = Lane::add(lane, bytes, job)?;
        let (of_kind, reading) = (Arc::downgrade(lane), Arc::clone(&self.reading));
        let guard = cancel.on_cancel(Box::new(move || {
            let Some(waiting) = of_kind.upgrade().and_then(|lane| lane.take(number)) else { return };
            let Waiting { number, bytes, job, on_cancel } = waiting;
            drop(on_cancel);
            // If even the readers' queue is full, it is put back to where it was, and waits.
            if let Err(job) = Lane::try_add(&reading, bytes, job)
                && let Some(lane) = of_kind.upgrade()
            {
                lane.put_back(Waiting { number, bytes, job, on_cancel: None });
            }
        }));
        lane.keep_guard(number, guard);
        Ok(())
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
    waiting: VecDeque<Waiting>,
    /// What the waiting jobs hold.
    bytes: usize,
    next_number: u64,
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

    /// Takes a call that still waits out of the queue.
    fn take(&self, number: u64) -> Option<Waiting> {
        let mut state = self.lock();
        let place = state.waiting.iter().position(|waiting| waiting.number == number)?;
        let waiting = state.waiting.remove(place)?;
        state.bytes -= waiting.bytes;
        Some(waiting)
    }

    fn put_back(&self, waiting: Waiting) {
        let mut state = self.lock();
        state.bytes += waiting.bytes;
        state.waiting.push_front(waiting);
        drop(state);
        self.work.notify_one();
    }

    /// Keeps what takes a call out of the queue for as long as it is there.
    fn keep_guard(&self, number: u64, guard: CancelGuard) {
        let mut state = self.lock();
        if let Some(waiting) = state.waiting.iter_mut().find(|waiting| waiting.number == number) {
            waiting.on_cancel = Some(guard);
            return;
        }
        // A guard waits for its hook, which takes this lock.
        drop(state);
        drop(guard);
    }

    /// Queues a call and answers with the number by which it is known there.
    fn add(lane: &Arc<Lane>, bytes: usize, job: Job) -> Result<u64, Full> {
        Lane::try_add(lane, bytes, job).map_err(|_| Full)
    }

    fn try_add(lane: &Arc<Lane>, bytes: usize, job: Job) -> Result<u64, Job> {
        let mut state = lane.lock();
        let has_room = state.waiting.is_empty() || state.bytes.saturating_add(bytes) <= MOST_WAITING_BYTES;
        if state.waiting.len() >= MOST_WAITING || !has_room {
            return Err(job);
        }
        let number = state.next_number;
        state.next_number += 1;
        state.waiting.push_back(Waiting { number, bytes, job, on_cancel: None });
        state.bytes += bytes;
        if state.idle >= state.waiting.len() || state.threads == lane.most_threads {
            drop(state);
            lane.work.notify_one();
            return Ok(number);
        }
        let own = Arc::clone(lane);
        let started = thread::Builder::new().name(lane.name.to_owned()).spawn(move || own.work_off());
        match started {
            Ok(_) => state.threads += 1,
            // With one thread at least, the job only waits longer.
            Err(_) if state.threads > 0 => {}
            Err(_) => {
                state.bytes -= bytes;
                return state.waiting.pop_back().map_or(Ok(number), |waiting| Err(waiting.job));
            }
        }
        Ok(number)
    }

    fn work_off(&self) {
        let mut state = self.lock();
        loop {
            if let Some(Waiting { bytes, job, on_cancel, .. }) = state.waiting.pop_front() {
                state.bytes -= bytes;
                drop(state);
                // Outside of the lock, because a hook that runs just now is waited for, and takes it.
                drop(on_cancel);
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
        let (pool, cancel) = (CallPool::new(), CancelFlag::new());
        let (release, released) = channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let block = || {
            let released = Arc::clone(&released);
            Box::new(move || drop(released.lock().map(|released| released.recv()))) as Job
        };
        let tool = Tool::WriteFile;
        // All threads are busy with these, some of which may still wait for theirs.
        for _ in 0..CHANGING_THREADS {
            pool.run(tool, 1, &cancel, block()).expect("there is room");
        }
        let waiting =
            (0..).take_while(|_| pool.run(tool, 16 << 20, &cancel, block()).is_ok()).take(100).count();
        assert!((3..=CHANGING_THREADS + 5).contains(&waiting), "{waiting}");
        assert!(pool.run(tool, 1 << 30, &cancel, block()).is_err());
        pool.run(Tool::ExecuteCommand, 1 << 30, &cancel, Box::new(|| ()))
            .expect("another lane, and nothing waits there");
        drop(release);
    }
}
