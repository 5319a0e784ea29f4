//! Owns folding the write-ahead log into the database, without delaying callers that wait for commits.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use crate::error::DatabaseFailure;
use crate::limits::JournalLimits;
use crate::store::connection::Location;

use crate::store::failure::Failure;

/// The factor by which the log may outgrow the usual size while readers are active. Beyond it, the writer
/// truncates the log itself.
const MOST_GROWTH: u64 = 16;

#[derive(Debug)]
pub(crate) struct Checkpointer {
    thread: Option<(SyncSender<()>, JoinHandle<()>)>,
    threshold_bytes: usize,
    pending_bytes: usize,
}

impl Checkpointer {
    /// Starts the background thread, if there is a log at all.
    pub(crate) fn start(location: &Location, limits: &JournalLimits) -> Result<Self, Failure> {
        let thread = match location {
            Location::Folder(_) => {
                let connection = location.connect_to_write()?;
                // One pending request is enough: a checkpoint folds everything that is committed when it
                // starts.
                let (requests, requested) = sync_channel::<()>(1);
                let handle = thread::Builder::new().name("journal-checkpoint".into()).spawn(move || {
                    while requested.recv().is_ok() {
                        fold(&connection, "PASSIVE");
                    }
                })?;
                Some((requests, handle))
            }
            Location::FrozenFolder(_) | Location::Memory(_) => None,
        };
        Ok(Self { thread, threshold_bytes: limits.checkpoint_bytes, pending_bytes: 0 })
    }

    /// Counts a commit of about `weight_bytes` and requests a checkpoint once enough bytes have accumulated.
    pub(crate) fn committed(&mut self, weight_bytes: usize, location: &Location, writer: &Connection) {
        // The smallest commit still writes some pages.
        self.pending_bytes += weight_bytes + 4 * 4096;
        let Some((requests, _)) = &self.thread else { return };
        if self.pending_bytes < self.threshold_bytes {
            return;
        }
        self.pending_bytes = 0;
        if location.log_bytes() > MOST_GROWTH * self.threshold_bytes as u64 {
            fold(writer, "TRUNCATE");
        } else {
            // A full channel means that a checkpoint is already requested.
            let _ = requests.try_send(());
        }
    }

    /// Waits for a running checkpoint and ends the thread.
    pub(crate) fn finish(self) {
        if let Some((requests, handle)) = self.thread {
            drop(requests);
            // The thread has reported its own panic, and the log stays valid without it.
            let _ = handle.join();
        }
    }
}

/// Folds all of the log into the database, syncs that and empties the log, so that nothing depends on the
/// content of the log's file or on its last sync.
///
/// It waits for active readers, none of which lasts long.
pub(crate) fn fold_all(connection: &Connection) -> Result<(), Failure> {
    let is_busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    match is_busy {
        true => Err(Failure::Database(DatabaseFailure { code: 0, text: "the log is in use" })),
        false => Ok(()),
    }
}

/// Folds the log in. A failure costs only space: the log stays valid and the next checkpoint retries.
fn fold(connection: &Connection, mode: &str) {
    let _ = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
}
