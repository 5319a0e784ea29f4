//! Owns the writer thread: it groups waiting writes into commits and includes lazy ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use rusqlite::{Connection, params};

use crate::clock;
use crate::error::JournalError;
use crate::limits::JournalLimits;
use crate::store::checkpoint::{self, Checkpointer};
use crate::store::connection::Location;

use crate::store::counters::Counters;
use crate::store::failure::Failure;
use crate::write::work::{Job, Write};

/// The largest number of lazy writes that wait for another commit, whatever the delay.
const LAZY_WRITES: usize = 1024;

/// The limits on lazy writes that are kept while they cannot be committed. Later ones are lost, as they would
/// be in a crash; documents, which later writes rely on, are refused instead.
const MOST_LAZY_BYTES: usize = 64 << 20;
const MOST_LAZY_WRITES: usize = 16 * LAZY_WRITES;

/// The number of times that the log is renewed for one group of writes. After that they fail, and the next
/// group tries again.
const RENEWALS: u32 = 3;

pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) location: Location,
    pub(crate) opening: i64,
    pub(crate) limits: JournalLimits,
    pub(crate) counters: Arc<Counters>,
    pub(crate) checkpointer: Checkpointer,
    /// Writes for which no caller waits, until a commit includes them or the delay ends.
    pub(crate) lazy: Vec<Box<dyn Job>>,
    /// The deadline for committing the oldest lazy write.
    pub(crate) lazy_due: Option<Instant>,
    /// Set while so many lazy writes are held back that later ones are lost, or refused if others rely on them.
    pub(crate) is_full: Arc<AtomicBool>,
    /// Set while nothing can be committed.
    pub(crate) stopped: Option<Stop>,
}

/// The reason why a writer commits nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The database is damaged, which only the next opening can handle.
    Damaged,
    /// The synced part of the log is unknown until the log is renewed.
    SyncLost,
}

impl Writer {
    /// Commits writes until the queue closes, then commits the rest and closes the journal.
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
        // A write that failed must not come back at the next opening, so the log is renewed before the
        // journal closes.
        let _ = self.ensure_writable(&mut 1);
        self.close();
    }

    /// Takes the writes that already wait, as far as they fit into one commit.
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
        self.write_all(RENEWALS);
    }

    fn write_lazy(&mut self) {
        self.write_all(1);
    }

    /// Commits all writes that wait, together if possible.
    fn write_all(&mut self, mut renewals: u32) {
        let mut batch = std::mem::take(&mut self.lazy);
        self.lazy_due = None;
        if batch.is_empty() {
            return;
        }
        let kept = match self.commit_renewing(&mut batch, &mut renewals) {
            Ok(()) => Vec::new(),
            // One write may have made the whole group fail.
            Err(_) => self.commit_one_by_one(batch, &mut renewals),
        };
        self.hold_back(kept);
    }

    /// Commits `jobs` and replies to them, or keeps nothing of any and replies to none. If the log cannot be
    /// synced, it is renewed and the commit retried.
    pub(super) fn commit_renewing(
        &mut self,
        jobs: &mut [Box<dyn Job>],
        renewals: &mut u32,
    ) -> Result<(), JournalError> {
        loop {
            self.ensure_writable(renewals)?;
            match self.commit(jobs) {
                Err(_) if self.stopped == Some(Stop::SyncLost) && *renewals > 0 => {}
                ended => return ended,
            }
        }
    }

    /// Keeps lazy writes for a later commit. If there are too many, the oldest ones stay, and those that later
    /// writes rely on.
    fn hold_back(&mut self, mut lazy: Vec<Box<dyn Job>>) {
        let (mut count, mut bytes) = (0, 0);
        lazy.retain(|job| {
            count += 1;
            bytes += job.weight_bytes();
            count <= MOST_LAZY_WRITES && bytes <= MOST_LAZY_BYTES || job.is_relied_on()
        });
        let is_full = count > MOST_LAZY_WRITES || bytes > MOST_LAZY_BYTES;
        self.is_full.store(is_full, Ordering::Relaxed);
        // A damaged database no longer accepts writes, so nothing has to wait.
        if self.stopped == Some(Stop::Damaged) || lazy.is_empty() {
            return;
        }
        self.lazy_due = Some(Instant::now() + self.limits.lazy_delay);
        self.lazy = lazy;
    }

    /// Ensures that commits are possible, renewing the log if necessary.
    ///
    /// After a failed sync, syncing the same file again proves nothing, because the kernel may have dropped
    /// its pages. The log is therefore renewed, as long as `renewals` are left.
    fn ensure_writable(&mut self, renewals: &mut u32) -> Result<(), JournalError> {
        match self.stopped {
            None => Ok(()),
            Some(Stop::Damaged) => Err(JournalError::Damaged),
            Some(Stop::SyncLost) if *renewals == 0 => Err(JournalError::NotSynced),
            Some(Stop::SyncLost) => {
                *renewals -= 1;
                let renewed = self.renew();
                if let Err(Failure::Damaged) = renewed {
                    self.location.mark_suspect();
                    self.stopped = Some(Stop::Damaged);
                }
                renewed.map_err(|failure| match failure {
                    Failure::Damaged => JournalError::Damaged,
                    _ => JournalError::NotSynced,
                })
            }
        }
    }

    /// Continues with a fresh connection and an empty log.
    ///
    /// Committed writes are folded from the log into the database, which is synced; a write whose sync failed
    /// is not valid and vanishes with the log. Its bytes could come back if the truncation of the log is lost
    /// in a power failure, but the commit at the end makes them invalid: it begins the next generation of the
    /// log.
    fn renew(&mut self) -> Result<(), Failure> {
        let fresh = self.location.connect_to_write()?;
        // This query attaches the new connection to the log's shared index, which records the valid writes,
        // before the old connection releases it.
        fresh.query_row("SELECT max(number) FROM opening", [], |_| Ok(()))?;
        drop(std::mem::replace(&mut self.connection, fresh));
        checkpoint::fold_all(&self.connection)?;
        let same = "UPDATE opening SET process_id = process_id WHERE number = ?1";
        if self.connection.execute(same, [self.opening])? != 1 {
            return Err(Failure::Damaged);
        }
        self.stopped = None;
        Ok(())
    }

    /// Commits `jobs` once.
    fn commit(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<(), JournalError> {
        match self.apply_all(jobs) {
            Ok(refusals) => {
                let Counters { commits, background_commits, .. } = &*self.counters;
                let is_awaited = jobs.iter().any(|job| job.is_awaited());
                Counters::add(if is_awaited { commits } else { background_commits });
                // Before the replies: a caller that learns of this commit may write lazily again.
                self.is_full.store(false, Ordering::Relaxed);
                let weight_bytes = jobs.iter().map(|job| job.weight_bytes()).sum();
                for (job, refusal) in jobs.iter_mut().zip(refusals) {
                    job.answer(refusal);
                }
                self.checkpointer.committed(weight_bytes, &self.location, &self.connection);
                Ok(())
            }
            Err(failure) => {
                // A connection that cannot even roll back is in an unknown state, and is replaced like one
                // after a failed sync.
                if !self.connection.is_autocommit() && self.connection.execute_batch("ROLLBACK").is_err() {
                    self.stopped = Some(Stop::SyncLost);
                }
                match &failure {
                    Failure::Damaged => {
                        self.location.mark_suspect();
                        self.stopped = Some(Stop::Damaged);
                    }
                    Failure::SyncLost(_) => self.stopped = Some(Stop::SyncLost),
                    _ => {}
                }
                Err(failure.into())
            }
        }
    }

    /// Applies each of `jobs` in one transaction. A refused one leaves no trace and does not affect the
    /// others.
    fn apply_all(&self, jobs: &mut [Box<dyn Job>]) -> Result<Vec<Option<JournalError>>, Failure> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let write = Write { connection: &self.connection, opening: self.opening, now_ms: clock::now_ms() };
        let mut refusals = Vec::with_capacity(jobs.len());
        for job in jobs.iter_mut() {
            // A savepoint for each write lets a refused one be undone without losing the others of the group.
            self.run_cached("SAVEPOINT job")?;
            let refusal = match job.apply(&write) {
                Ok(()) => None,
                Err(JournalError::Damaged) => return Err(Failure::Damaged),
                Err(JournalError::NoSpace) => return Err(Failure::NoSpace),
                Err(JournalError::ReadOnly) => return Err(Failure::ReadOnly),
                Err(JournalError::Database(failure)) if !failure.is_constraint() => {
                    return Err(Failure::Database(failure));
                }
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
            // Neither is needed for safety: without them the next opening counts as one after a crash, and
            // folds the log in.
            let closing = params![clock::now_ms(), opening];
            let _ = connection.execute("UPDATE opening SET closed_at_ms = ?1 WHERE number = ?2", closing);
            let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
    }
}
