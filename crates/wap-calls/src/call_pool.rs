//! The threads that carry out calls: a bounded number of each kind, and a bounded queue in front of them.
//!
//! Changes of files and commands occupy their threads while they wait for their turn in the workspace. So each kind has its own
//! threads, and calls that only read are answered no matter how many of the others wait. A call that is cancelled in the queue is
//! answered at once by the readers' threads, since no work is started for it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use wap_core::{CancelFlag, CancelGuard, Tool, ToolEffect};

/// The bound on concurrent calls that only read.
const READING_THREADS: usize = 8;

/// The bound on concurrent changes of files, running or waiting for their turn in the workspace.
const CHANGING_THREADS: usize = 4;

/// The bound on concurrent commands, running or waiting for their turn in the workspace.
const COMMAND_THREADS: usize = 8;

/// The bound on calls that wait for a thread.
const MOST_WAITING: usize = 4_096;

/// The bound on the total bytes of all waiting requests; a single request may exceed it.
const MOST_WAITING_BYTES: usize = 64 << 20;

/// The time without work after which a thread ends.
const IDLE: Duration = Duration::from_secs(10);

/// The work of a call.
pub type Job = Box<dyn FnOnce() + Send>;

/// A call that waits for a thread.
struct Waiting {
    number: u64,
    /// The approximate size of the job in bytes.
    bytes: usize,
    job: Job,
    /// Moves the call to the readers' queue when it is cancelled; `None` until it is registered, and after it has run.
    on_cancel: Option<CancelGuard>,
}

/// The threads that carry out calls. Reads never wait for other calls, and changes never wait for commands. Clones share
/// the threads.
#[derive(Clone, Debug)]
pub struct CallPool {
    reading: Arc<Lane>,
    changing: Arc<Lane>,
    commands: Arc<Lane>,
}

/// The refusal of a call because too many calls are waiting.
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

    /// Runs a job on a thread for this kind of tool, now or when one is free. A job that is cancelled before it starts moves to
    /// the readers' threads, and is expected to check the flag and end immediately. `bytes` is the approximate size of the job
    /// while it waits.
    ///
    /// # Errors
    ///
    /// [`Full`] if the queue has no room; the job is dropped.
    pub fn run(&self, tool: Tool, bytes: usize, cancel: &CancelFlag, job: Job) -> Result<(), Full> {
        let lane = match tool.effect() {
            ToolEffect::Reads => return Lane::add(&self.reading, bytes, job).map(drop),
            ToolEffect::Changes => &self.changing,
            ToolEffect::Runs => &self.commands,
        };
        let number = Lane::add(lane, bytes, job)?;
        // Weak, because the queue of this same lane keeps the guard: a strong reference would never be freed.
        let (of_kind, reading) = (Arc::downgrade(lane), Arc::clone(&self.reading));
        let guard = cancel.on_cancel(Box::new(move || {
            let Some(waiting) = of_kind.upgrade().and_then(|lane| lane.take(number)) else { return };
            let Waiting { number, bytes, job, on_cancel } = waiting;
            drop(on_cancel);
            // If even the readers' queue is full, the call returns to its previous queue and waits there.
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
    /// The approximate total size of the waiting jobs in bytes.
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

    /// Removes a waiting call from the queue.
    fn take(&self, number: u64) -> Option<Waiting> {
        let mut state = self.lock();
        let position = state.waiting.iter().position(|waiting| waiting.number == number)?;
        let waiting = state.waiting.remove(position)?;
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

    /// Stores the guard of a call while the call is in the queue.
    fn keep_guard(&self, number: u64, guard: CancelGuard) {
        let mut state = self.lock();
        if let Some(waiting) = state.waiting.iter_mut().find(|waiting| waiting.number == number) {
            waiting.on_cancel = Some(guard);
            return;
        }
        // The call has left the queue. Dropping a guard waits for its hook, which takes this lock.
        drop(state);
        drop(guard);
    }

    /// Queues a call and returns its number in the queue.
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
        // Compare with the queue and not with zero: several calls may be queued before an idle thread wakes up.
        if state.idle >= state.waiting.len() || state.threads == lane.most_threads {
            drop(state);
            lane.work.notify_one();
            return Ok(number);
        }
        let worker = Arc::clone(lane);
        let started = thread::Builder::new().name(lane.name.to_owned()).spawn(move || worker.work_off());
        match started {
            Ok(_) => state.threads += 1,
            // With at least one thread, the job only waits longer.
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
                // Drop the guard without the lock: the drop waits for a running hook, and the hook takes the lock.
                drop(on_cancel);
                // A job that panics drops its sender, which notifies the caller.
                let _ = catch_unwind(AssertUnwindSafe(job));
                state = self.lock();
                continue;
            }
            state.idle += 1;
            let (after, waited) = self.work.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = after;
            state.idle -= 1;
            // A job may arrive between the time-out and the lock; its sender relies on this thread.
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
    fn waiting_requests_are_bounded_in_bytes() {
        let (pool, cancel) = (CallPool::new(), CancelFlag::new());
        let (release, released) = channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let block = || {
            let released = Arc::clone(&released);
            Box::new(move || drop(released.lock().map(|released| released.recv()))) as Job
        };
        let tool = Tool::WriteFile;
        // These keep all threads busy, and some may still wait for a thread.
        for _ in 0..CHANGING_THREADS {
            pool.run(tool, 1, &cancel, block()).expect("there is room");
        }
        let waiting =
            (0..).take_while(|_| pool.run(tool, 16 << 20, &cancel, block()).is_ok()).take(100).count();
        assert!((3..=CHANGING_THREADS + 5).contains(&waiting), "{waiting}");
        assert!(pool.run(tool, 1 << 30, &cancel, block()).is_err());
        pool.run(Tool::ExecuteCommand, 1 << 30, &cancel, Box::new(|| ()))
            .expect("another lane has an empty queue");
        drop(release);
    }
}
