//! Owns the writes in the writer thread's queue: the work to apply in a transaction, and the reply to its
//! caller.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;

use rusqlite::{Connection, params};

use crate::error::JournalError;
use crate::open_runs::OpenRun;
use crate::store::rows::HashColumn;

/// The transaction that a write is applied in.
pub(crate) struct Write<'a> {
    pub(crate) connection: &'a Connection,
    /// The row of this opening of the journal.
    pub(crate) opening: i64,
    pub(crate) now_ms: i64,
}

impl Write<'_> {
    /// Inserts the run's row if it is missing: it is part of the first write of the run.
    pub(crate) fn ensure_run(&self, run: &OpenRun) -> Result<(), JournalError> {
        if run.written.load(Ordering::Acquire) {
            return Ok(());
        }
        Ok(insert_run(self.connection, run)?)
    }
}

/// Inserts the row of a run unless it exists.
pub(crate) fn insert_run(connection: &Connection, run: &OpenRun) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO run (number, conversation, sequence, content, began_at_ms) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (number) DO NOTHING",
    )?;
    let key = &run.key;
    let sequence = key.sequence.cast_signed();
    statement.execute(params![
        run.number,
        key.conversation,
        sequence,
        HashColumn(key.content),
        run.began_at_ms
    ])?;
    Ok(())
}

/// A write. It may be applied several times, each time after a rollback of the last attempt.
pub(crate) trait Work: Send + 'static {
    /// The result for the caller once the commit is on the disk.
    type Value: Send + 'static;

    fn apply(&self, write: &Write<'_>) -> Result<Self::Value, JournalError>;

    /// Returns about how many bytes it writes.
    fn weight_bytes(&self) -> usize {
        256
    }

    /// Returns whether, if no caller waits for it, every later write relies on it, so that none is committed
    /// without it.
    fn is_relied_on(&self) -> bool {
        false
    }

    /// Returns whether it may succeed only after every write that was queued before it.
    fn is_after_all(&self) -> bool {
        false
    }

    /// Returns the run whose row is part of this write.
    fn run(&self) -> Option<&Arc<OpenRun>> {
        None
    }
}

/// A write in the writer's queue.
pub(crate) trait Job: Send {
    fn apply(&mut self, write: &Write<'_>) -> Result<(), JournalError>;
    fn weight_bytes(&self) -> usize;
    /// Returns whether a caller waits for it. A write without a waiting caller is part of the next commit.
    fn is_awaited(&self) -> bool;
    /// Returns whether it is a lazy write without which no later write may be committed.
    fn is_relied_on(&self) -> bool;
    /// Returns whether it may succeed only after every write that was queued before it.
    fn is_after_all(&self) -> bool;
    /// Reports to the waiting caller that the write is on the disk, or the failure after which nothing of it
    /// was kept.
    fn answer(&mut self, failure: Option<JournalError>);
}

pub(crate) struct Queued<W: Work> {
    work: W,
    value: Option<W::Value>,
    reply: Option<SyncSender<Result<W::Value, JournalError>>>,
}

impl<W: Work> Queued<W> {
    /// Creates a write that reports to `reply`, or a lazy one without.
    pub(crate) fn new(work: W, reply: Option<SyncSender<Result<W::Value, JournalError>>>) -> Self {
        Self { work, value: None, reply }
    }
}

impl<W: Work> Job for Queued<W> {
    fn apply(&mut self, write: &Write<'_>) -> Result<(), JournalError> {
        // A retry follows a rollback, so the result of the earlier attempt must not survive.
        self.value = None;
        if let Some(run) = self.work.run() {
            write.ensure_run(run)?;
        }
        self.value = Some(self.work.apply(write)?);
        Ok(())
    }

    fn weight_bytes(&self) -> usize {
        self.work.weight_bytes()
    }

    fn is_awaited(&self) -> bool {
        self.reply.is_some()
    }

    fn is_relied_on(&self) -> bool {
        !self.is_awaited() && self.work.is_relied_on()
    }

    fn is_after_all(&self) -> bool {
        self.work.is_after_all()
    }

    fn answer(&mut self, failure: Option<JournalError>) {
        if failure.is_none()
            && let Some(run) = self.work.run()
        {
            // Only after the commit: a rollback takes the run's row with it.
            run.written.store(true, Ordering::Release);
        }
        if let Some(reply) = self.reply.take() {
            let answer = match failure {
                Some(error) => Err(error),
                None => {
                    Ok(self.value.take().expect("a write is answered without an error only once applied"))
                }
            };
            // The caller may have gone; the commit stays either way.
            let _ = reply.send(answer);
        }
    }
}

/// An empty write. Its reply means that everything before it is on the disk.
pub(crate) struct Flush;

impl Work for Flush {
    type Value = ();

    fn apply(&self, _: &Write<'_>) -> Result<(), JournalError> {
        Ok(())
    }

    fn is_after_all(&self) -> bool {
        true
    }
}
