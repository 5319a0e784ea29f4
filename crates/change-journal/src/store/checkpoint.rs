//! Owns folding the write-ahead log into the database, away from those who wait for commits.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use crate::error::DatabaseFailure;
use crate::limits::JournalLimits;
use crate::store::connection::Place;
use crate::store::failure::Failure;

/// A log that has grown to this many times the usual size never found a quiet moment: the writer makes one.
const PATIENCE: u64 = 16;

#[derive(Debug)]
pub(crate) struct Checkpointer {
    thread: Option<(SyncSender<()>, JoinHandle<()>)>,
    threshold_bytes: usize,
    pending_bytes: usize,
}

impl Checkpointer {
    /// Starts the background thread, where there is a log at all.
    pub(crate) fn start(place: &Place, limits: &JournalLimits) -> Result<Self, Failure> {
        let thread = match place {
            Place::Folder(_) => {
                let connection = place.connect_to_write()?;
                let (asked, asks) = sync_channel::<()>(1);
                let handle = thread::Builder::new().name("journal-checkpoint".into()).spawn(move || {
                    while asks.recv().is_ok() {
                        fold(&connection, "PASSIVE");
                    }
                })?;
                Some((asked, handle))
            }
            Place::FrozenFolder(_) | Place::Memory(_) => None,
        };
        Ok(Self { thread, threshold_bytes: limits.checkpoint_bytes, pending_bytes: 0 })
    }

    /// Notes a commit of about `weight_bytes` and asks for a checkpoint when enough have come together.
    pub(crate) fn committed(&mut self, weight_bytes: usize, place: &Place, writer: &Connection) {
        // The smallest commit still writes some pages.
        self.pending_bytes += weight_bytes + 4 * 4096;
        let Some((asked, _)) = &self.thread else { return };
        if self.pending_bytes < self.threshold_bytes {
            return;
        }
        self.pending_bytes = 0;
        if place.log_bytes() > PATIENCE * self.threshold_bytes as u64 {
            fold(writer, "TRUNCATE");
        } else {
            // A full channel means that one is asked for already.
            let _ = asked.try_send(());
        }
    }

    /// Waits for a checkpoint that is under way and ends the thread.
    pub(crate) fn finish(self) {
        if let Some((asked, handle)) = self.thread {
            drop(asked);
            // A panic there has been reported by the thread itself and concerns nobody else.
            let _ = handle.join();
        }
    }
}

/// Folds all of the log into the database, syncs that and empties the log, so that nothing depends any more on what the
/// log's file holds, or on whether that has reached the disk.
///
/// A reader that is in the way, which nothing here is for long, is waited for.
pub(crate) fn fold_all(connection: &Connection) -> Result<(), Failure> {
    let is_in_use: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    match is_in_use {
        true => Err(Failure::Database(DatabaseFailure { code: 0, text: "the log is in use" })),
        false => Ok(()),
    }
}

/// Folds the log in. Failure costs nothing but space: the log stays valid and the next time tries again.
fn fold(connection: &Connection, mode: &str) {
    let _ = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
}
