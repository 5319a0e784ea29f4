//! The thread that keeps an index.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use crate::gram::GramCollector;
use crate::index::Shared;
use crate::state::State;

/// How many entries are looked at under one lock.
const ENTRIES_AT_ONCE: usize = 200;

/// How many files are read between two locks.
const FILES_AT_ONCE: usize = 32;

/// How long nothing is read after a change, so that a file which is written all the time is not read all the time.
const CALM: Duration = Duration::from_millis(300);

/// The least time between two beginnings after something was not told.
const RESTART_PAUSE: Duration = Duration::from_millis(500);

/// Lists, reads and watches until it is told to end.
pub(crate) struct Keeper {
    shared: Arc<Shared>,
    collector: GramCollector,
    /// When everything was compared with what is there.
    compared: Instant,
    /// When all of it was known for the first time since it was begun.
    whole_since: Option<Instant>,
}

impl Keeper {
    pub(crate) fn new(shared: Arc<Shared>) -> Keeper {
        Keeper { shared, collector: GramCollector::new(), compared: Instant::now(), whole_since: None }
    }

    pub(crate) fn run(mut self) {
        // Those who ask come first. Where it cannot be had, it is a thread like others.
        let _ = rustix::process::nice(19);
        while !self.ends() {
            let is_whole = self.work();
            let limits = &self.shared.ground.limits;
            let mut state = self.shared.lock();
            // What took long to be made is kept as long as what did not.
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

    /// Does what there is to do. Answers whether it came to an end.
    fn work(&mut self) -> bool {
        loop {
            if self.ends() {
                return false;
            }
            let mut state = self.shared.lock();
            if state.is_off() {
                return false;
            }
            if state.is_resting() {
                if !state.is_used_within(self.shared.ground.limits.rest_after) {
                    return false;
                }
                state.start(&self.shared.ground);
                self.whole_since = None;
                self.compared = Instant::now();
                continue;
            }
            if state.is_lost() {
                state.rest();
                drop(state);
                // Whatever overflows the queue is likely to go on.
                self.pause(RESTART_PAUSE);
                self.restart();
                continue;
            }
            state.refresh(&self.shared.ground, ENTRIES_AT_ONCE);
            if state.is_lost() || state.has_work() {
                continue;
            }
            let jobs = state.take_jobs(FILES_AT_ONCE);
            drop(state);
            if jobs.is_empty() {
                self.whole_since.get_or_insert_with(Instant::now);
                return true;
            }
            let ground = &self.shared.ground;
            let read = jobs.into_iter().map(|job| {
                let outcome = job.read(ground, &mut self.collector);
                (job, outcome)
            });
            let outcomes = read.collect();
            self.shared.lock().accept(ground, outcomes);
        }
    }

    fn restart(&mut self) {
        self.compared = Instant::now();
        self.shared.lock().restart(&self.shared.ground);
    }

    /// Compares everything with what is there.
    fn compare(&mut self) {
        let bound = self.shared.lock().tree.folders.bound();
        for folder in 0..bound {
            let mut state = self.shared.lock();
            if self.ends() || state.is_off() || state.is_resting() || state.is_lost() {
                break;
            }
            state.compare(&self.shared.ground, folder as u32);
        }
        self.compared = Instant::now();
    }

    /// Waits until something is noticed or the bell rings, and a little longer, so that more can come.
    fn wait(&self, longest: Option<Duration>) {
        let queue: Option<OwnedFd> = {
            let state: &State = &self.shared.lock();
            state.watcher().and_then(|watcher| watcher.queue().try_clone_to_owned().ok())
        };
        let mut asked = vec![PollFd::new(&self.shared.bell, PollFlags::IN)];
        if let Some(queue) = &queue {
            asked.push(PollFd::new(queue, PollFlags::IN));
        }
        let _ = rustix::event::poll(&mut asked, longest.and_then(timespec).as_ref());
        let is_rung = asked.first().is_some_and(|bell| bell.revents().contains(PollFlags::IN));
        drop(asked);
        if is_rung {
            let _ = rustix::io::read(&self.shared.bell, &mut [0_u8; 8]);
        } else {
            self.pause(self.shared.ground.limits.collect);
            self.shared.lock().refresh(&self.shared.ground, ENTRIES_AT_ONCE);
            self.pause(CALM.saturating_sub(self.shared.ground.limits.collect));
        }
    }

    /// Waits, unless the bell rings.
    fn pause(&self, time: Duration) {
        let mut asked = [PollFd::new(&self.shared.bell, PollFlags::IN)];
        let _ = rustix::event::poll(&mut asked, timespec(time).as_ref());
    }
}

fn timespec(time: Duration) -> Option<Timespec> {
    Timespec::try_from(time).ok()
}
