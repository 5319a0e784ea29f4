//! The thread that keeps an index up to date.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use crate::gram::GramCollector;
use crate::index::Shared;
use crate::state::State;

/// The number of entries that are checked while the lock is held once.
const ENTRIES_AT_ONCE: usize = 200;

/// The number of files that are read between two locks.
const FILES_AT_ONCE: usize = 32;

/// The pause after a change before contents are read, so that a file which is written all the time is not
/// read all the time.
const CALM: Duration = Duration::from_millis(300);

/// The least time between two restarts after changes were lost.
const RESTART_PAUSE: Duration = Duration::from_millis(500);

/// The thread's work: lists, reads and watches until the index is dropped.
pub(crate) struct Keeper {
    shared: Arc<Shared>,
    collector: GramCollector,
    /// The time of the last full comparison of the list with the disk.
    compared: Instant,
    /// The time at which the list and all contents were first complete.
    whole_since: Option<Instant>,
}

impl Keeper {
    pub(crate) fn new(shared: Arc<Shared>) -> Keeper {
        Keeper { shared, collector: GramCollector::new(), compared: Instant::now(), whole_since: None }
    }

    pub(crate) fn run(mut self) {
        // Callers come first. If the priority cannot be lowered, the thread runs with the usual one.
        let _ = rustix::process::nice(19);
        while !self.ends() {
            // All work happens in small pieces under the lock, so that callers get in between.
            let is_whole = self.work();
            let limits = &self.shared.context.limits;
            let mut state = self.shared.lock();
            // A list that took long to make is kept as long as any other.
            let is_new = self.whole_since.is_some_and(|since| since.elapsed() < limits.rest_after);
            if !state.is_resting() && !state.is_used_within(limits.rest_after) && !is_new {
                state.rest();
            }
            let is_done = state.is_resting() || state.is_off();
            drop(state);
            let compares = !is_done && self.compared.elapsed() >= limits.compare_every;
            if compares && is_whole {
                self.compare();
                continue;
            }
            let next = limits.compare_every.saturating_sub(self.compared.elapsed());
            let pause = if is_done { None } else { Some(next.min(limits.rest_after)) };
            self.wait(pause.map(|pause| pause.max(Duration::from_millis(100))));
        }
    }

    fn ends(&self) -> bool {
        self.shared.ends.load(Ordering::SeqCst)
    }

    /// Works until everything is processed; returns whether it got there.
    fn work(&mut self) -> bool {
        // True once all files were read: those that then wait have changed meanwhile.
        let mut is_caught_up = false;
        loop {
            if self.ends() {
                return false;
            }
            let mut state = self.shared.lock();
            if state.is_off() {
                return false;
            }
            if state.is_resting() {
                // Without requests there is nothing to keep up to date, so the thread sleeps until the bell
                // rings.
                if !state.is_used_within(self.shared.context.limits.rest_after) {
                    return false;
                }
                state.start(&self.shared.context);
                self.whole_since = None;
                self.compared = Instant::now();
                continue;
            }
            if state.is_lost() {
                state.rest();
                drop(state);
                // The writes that overflowed the queue are likely to continue.
                self.pause(RESTART_PAUSE);
                self.restart();
                continue;
            }
            state.refresh(&self.shared.context, ENTRIES_AT_ONCE);
            if state.is_lost() || state.has_work() {
                continue;
            }
            if is_caught_up && state.has_unread() {
                drop(state);
                self.pause(CALM);
                is_caught_up = false;
                continue;
            }
            // Files are read without the lock; `accept` drops results that became stale meanwhile.
            let jobs = state.take_jobs(FILES_AT_ONCE);
            drop(state);
            if jobs.is_empty() {
                self.whole_since.get_or_insert_with(Instant::now);
                return true;
            }
            let context = &self.shared.context;
            let read = jobs.into_iter().map(|job| {
                let outcome = job.read(context, &mut self.collector);
                (job, outcome)
            });
            let outcomes = read.collect();
            let mut state = self.shared.lock();
            let is_accepted = state.accept(context, outcomes);
            is_caught_up = !state.has_unread();
            drop(state);
            if !is_accepted {
                // All of them were written meanwhile, and the same is likely to happen again.
                self.pause(CALM);
            }
        }
    }

    fn restart(&mut self) {
        self.compared = Instant::now();
        self.shared.lock().restart(&self.shared.context);
    }

    /// Compares the whole list with the disk.
    fn compare(&mut self) {
        // Numbers up to the bound cover every folder; one that appears later has been listed recently anyway.
        let bound = self.shared.lock().tree.folders.bound();
        for folder in 0..bound {
            let mut state = self.shared.lock();
            if self.ends() || state.is_off() || state.is_resting() || state.is_lost() {
                break;
            }
            state.compare(&self.shared.context, folder as u32);
        }
        self.compared = Instant::now();
    }

    /// Waits for a notice or the bell, and then a little longer, so that further notices arrive.
    fn wait(&self, longest: Option<Duration>) {
        // A pause may have taken the last ring. One after this look stays in the bell.
        if self.ends() {
            return;
        }
        // The queue is duplicated, so that the lock is free while this thread waits for it.
        let queue: Option<OwnedFd> = {
            let state: &State = &self.shared.lock();
            state.watcher().and_then(|watcher| watcher.queue().try_clone_to_owned().ok())
        };
        let mut polled = vec![PollFd::new(&self.shared.bell, PollFlags::IN)];
        if let Some(queue) = &queue {
            polled.push(PollFd::new(queue, PollFlags::IN));
        }
        let _ = rustix::event::poll(&mut polled, longest.and_then(timespec).as_ref());
        let is_rung = polled.first().is_some_and(|bell| bell.revents().contains(PollFlags::IN));
        drop(polled);
        if is_rung {
            let _ = rustix::io::read(&self.shared.bell, &mut [0_u8; 8]);
        } else if !self.pause(self.shared.context.limits.collect) {
            self.shared.lock().refresh(&self.shared.context, ENTRIES_AT_ONCE);
            self.pause(CALM.saturating_sub(self.shared.context.limits.collect));
        }
    }

    /// Waits, unless the bell rings; returns whether it did. Each ring shortens one pause: one that stayed would shorten all pauses
    /// until the work is done, and with a file that is written all the time it never is.
    fn pause(&self, time: Duration) -> bool {
        let mut polled = [PollFd::new(&self.shared.bell, PollFlags::IN)];
        let is_rung = rustix::event::poll(&mut polled, timespec(time).as_ref()).is_ok_and(|ready| ready > 0);
        if is_rung {
            let _ = rustix::io::read(&self.shared.bell, &mut [0_u8; 8]);
        }
        is_rung
    }
}

fn timespec(time: Duration) -> Option<Timespec> {
    Timespec::try_from(time).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use rel_path::RelPath;
    use sandbox_fs::{FileRoot, FsPolicy, RootRules};

    use super::*;
    use crate::context::IndexContext;
    use crate::{ContentKind, IndexLimits, IndexRules};

    /// Longer than the thread takes to end.
    const GUARD: Duration = Duration::from_secs(60);

    struct Rules;

    impl IndexRules for Rules {
        fn hides(&self, _: &RelPath) -> bool {
            false
        }

        fn leaves_out(&self, _: &RelPath) -> bool {
            false
        }

        fn content_kind(&self, _: &RelPath, _: &[u8]) -> ContentKind {
            ContentKind::Text
        }
    }

    #[test]
    fn a_pause_that_has_taken_the_last_ring_does_not_keep_the_thread() {
        let folder = tempfile::tempdir().unwrap();
        let root = FileRoot::open(folder.path(), &RootRules::none(), FsPolicy::default()).unwrap();
        let context =
            IndexContext { root: Arc::new(root), rules: Box::new(Rules), limits: IndexLimits::default() };
        let shared = Arc::new(Shared::new(context).unwrap());
        let keeper = Keeper::new(Arc::clone(&shared));
        let (ended, has_ended) = channel();
        shared.ends.store(true, Ordering::SeqCst);
        shared.ring();
        assert!(keeper.pause(GUARD), "as while it works");
        let waiting = thread::spawn(move || {
            keeper.wait(None);
            ended.send(()).unwrap();
        });
        let in_time = has_ended.recv_timeout(GUARD);
        shared.ring();
        waiting.join().unwrap();
        in_time.unwrap();
    }
}
