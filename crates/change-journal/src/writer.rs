//! Owns the one thread that writes: it lets waiting writes share a commit and carries lazy ones along.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use rusqlite::{Connection, params};

use crate::checkpoint::Checkpointer;
use crate::clock;
use crate::connection::Place;
use crate::counters::Counters;
use crate::error::JournalError;
use crate::failure::Failure;
use crate::limits::JournalLimits;
use crate::work::{Job, Write};

/// The largest number of lazy writes that are held back, whatever the delay.
const LAZY_WRITES: usize = 1024;

pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) place: Place,
    pub(crate) opening: i64,
    pub(crate) limits: JournalLimits,
    pub(crate) counters: Arc<Counters>,
    pub(crate) checkpointer: Checkpointer,
    /// Writes that nobody waits for, until a commit takes them along or the delay is over.
    pub(crate) lazy: Vec<Box<dyn Job>>,
    /// When the oldest lazy write shall be on the disk.
    pub(crate) lazy_due: Option<Instant>,
    /// Set when it is no longer known what is on the disk.
    pub(crate) stopped: Option<Stop>,
}

/// Why a writer takes no more writes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    Damaged,
    SyncLost,
}

impl Writer {
    /// Writes until the queue is closed, then writes what is left and closes the journal.
    pub(crate) fn run(mut self, queue: &Receiver<Box<dyn Job>>) {
        loop {
            let received = match self.lazy_due {
                None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => queue.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            match received {
                Ok(first) => self.write(self.gather(first, queue)),
                Err(RecvTimeoutError::Timeout) => self.write_lazy(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.write_lazy();
        self.close();
    }

    /// Takes what already waits, as far as it fits into one commit.
    fn gather(&self, first: Box<dyn Job>, queue: &Receiver<Box<dyn Job>>) -> Vec<Box<dyn Job>> {
        let mut weight_bytes = first.weight_bytes();
        let mut jobs = vec![first];
        while jobs.len() < self.limits.group_writes && weight_bytes < self.limits.group_bytes {
            let Ok(job) = queue.try_recv() else { break };
            weight_bytes += job.weight_bytes();
            jobs.push(job);
        }
        jobs
    }

    fn write(&mut self, jobs: Vec<Box<dyn Job>>) {
        // Lazy writes keep their order before the writes that came after them.
        self.lazy.extend(jobs);
        if !self.lazy.iter().any(|job| job.is_awaited()) {
            if self.lazy.len() >= LAZY_WRITES {
                return self.write_lazy();
            }
            self.lazy_due.get_or_insert_with(|| Instant::now() + self.limits.lazy_delay);
            return;
        }
        let mut batch = std::mem::take(&mut self.lazy);
        self.lazy_due = None;
        if let Some(stop) = self.stopped {
            return batch.iter_mut().for_each(|job| job.answer(Some(stop.error())));
        }
        if self.commit(&mut batch, |counters| &counters.commits).is_ok() {
            return;
        }
        // One write may have been too much for all: each gets its own try, and the lazy ones wait further.
        let (awaited, lazy): (Vec<_>, Vec<_>) = batch.into_iter().partition(|job| job.is_awaited());
        self.hold_back(lazy);
        for job in awaited {
            let mut alone = [job];
            if let Err(failure) = self.commit(&mut alone, |counters| &counters.commits) {
                let [mut job] = alone;
                job.answer(Some(failure));
            }
        }
    }

    fn write_lazy(&mut self) {
        let mut batch = std::mem::take(&mut self.lazy);
        self.lazy_due = None;
        if batch.is_empty() || self.stopped.is_some() {
            return;
        }
        if self.commit(&mut batch, |counters| &counters.background_commits).is_err() {
            self.hold_back(batch);
        }
    }

    fn hold_back(&mut self, lazy: Vec<Box<dyn Job>>) {
        if !lazy.is_empty() && self.stopped.is_none() {
            self.lazy_due = Some(Instant::now() + self.limits.lazy_delay);
            self.lazy = lazy;
        }
    }

    /// Commits `jobs` and answers them, or keeps nothing of any and answers none.
    fn commit(
        &mut self,
        jobs: &mut [Box<dyn Job>],
        counter: impl Fn(&Counters) -> &AtomicU64,
    ) -> Result<(), JournalError> {
        if let Some(stop) = self.stopped {
            return Err(stop.error());
        }
        match self.apply_all(jobs) {
            Ok(refusals) => {
                Counters::add(counter(&self.counters));
                let weight_bytes = jobs.iter().map(|job| job.weight_bytes()).sum();
                for (job, refusal) in jobs.iter_mut().zip(refusals) {
                    job.answer(refusal);
                }
                self.checkpointer.committed(weight_bytes, &self.place, &self.connection);
                Ok(())
            }
            Err(failure) => {
                if !self.connection.is_autocommit() && self.connection.execute_batch("ROLLBACK").is_err() {
                    self.stopped = Some(Stop::SyncLost);
                }
                match &failure {
                    Failure::Damaged => {
                        self.place.mark_suspect();
                        self.stopped = Some(Stop::Damaged);
                    }
                    Failure::SyncLost(_) => self.stopped = Some(Stop::SyncLost),
                    _ => {}
                }
                Err(failure.into())
            }
        }
    }

    /// Applies each of `jobs` in one transaction. A refused one leaves no trace and does not hinder the others.
    fn apply_all(&self, jobs: &mut [Box<dyn Job>]) -> Result<Vec<Option<JournalError>>, Failure> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let write = Write { connection: &self.connection, opening: self.opening, now_ms: clock::now_ms() };
        let mut refusals = Vec::with_capacity(jobs.len());
        for job in jobs.iter_mut() {
            self.run_cached("SAVEPOINT job")?;
            let refusal = match job.apply(&write) {
                Ok(()) => None,
                Err(JournalError::Damaged) => return Err(Failure::Damaged),
                Err(JournalError::NoSpace) => return Err(Failure::NoSpace),
                Err(JournalError::ReadOnly) => return Err(Failure::ReadOnly),
                Err(JournalError::Database(failure)) => return Err(Failure::Database(failure)),
                Err(refusal) => {
                    self.run_cached("ROLLBACK TO job")?;
                    Some(refusal)
                }
            };
            self.run_cached("RELEASE job")?;
            refusals.push(refusal);
        }
        self.connection.execute_batch("COMMIT")?;
        Ok(refusals)
    }

    fn run_cached(&self, sql: &str) -> Result<(), Failure> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    fn close(self) {
        let Self { connection, checkpointer, opening, stopped, .. } = self;
        checkpointer.finish();
        if stopped.is_none() {
            // Neither is needed for safety: the next opening then says that this one was not closed, and the
            // log is folded in later.
            let closing = params![clock::now_ms(), opening];
            let _ = connection.execute("UPDATE opening SET closed_at_ms = ?1 WHERE number = ?2", closing);
            let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }
}

impl Stop {
    fn error(self) -> JournalError {
        match self {
            Self::Damaged => JournalError::Damaged,
            Self::SyncLost => JournalError::MustReopen,
        }
    }
}
