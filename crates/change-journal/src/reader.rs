//! Owns reading from a journal, concurrently with its writer or without one.

use std::fmt;
use std::fs::DirBuilder;
use std::io;
use std::ops::Range;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use crate::change::{ChangeNumber, RecordedChange};
use crate::clock;
use crate::document::{Document, DocumentHead};
use crate::error::{JournalError, OpenError};
use crate::run::{RecordedRun, RunFilter, RunNumber};
use crate::step::RecordedStep;
use crate::store::connection::{DATABASE_NAME, Location};
use crate::store::failure::Failure;
use crate::store::rows::HashColumn;
use crate::store::rows::{self, CHANGE_COLUMNS, DOCUMENT_COLUMNS, RUN_COLUMNS, STEP_COLUMNS};
use crate::store::{content_store, open};
use content_hash::ContentHash;

/// Reads a journal. It sees every acknowledged write, and never waits for the writer.
///
/// Cheap to clone; usable from any number of threads.
#[derive(Clone)]
pub struct JournalReader {
    shared: Arc<Shared>,
}

struct Shared {
    location: Location,
    boot_id: String,
    idle: Mutex<Vec<Connection>>,
}

impl fmt::Debug for JournalReader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("JournalReader").finish_non_exhaustive()
    }
}

impl JournalReader {
    /// Opens the journal in `folder` to read only, whether or not another process is writing it.
    ///
    /// # Errors
    ///
    /// `Missing` if there is no journal, `Newer` if its schema is not supported, `Damaged` if it cannot be
    /// read; a reader neither quarantines nor repairs.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        Ok(Self::new(open::location_to_read(folder)?))
    }

    pub(crate) fn new(location: Location) -> Self {
        let shared = Shared { location, boot_id: clock::boot_id(), idle: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    /// Lists the changes after number `after`, exclusive, oldest first, at most `limit` of them.
    pub fn changes(&self, after: ChangeNumber, limit: u32) -> Result<Vec<RecordedChange>, JournalError> {
        self.list_changes("WHERE number > ?2 ORDER BY number LIMIT ?3", params![self.boot_id(), after, limit])
    }

    /// Lists the changes before number `before`, exclusive, or all for `None`, newest first, at most `limit`
    /// of them.
    pub fn latest_changes(
        &self,
        before: Option<ChangeNumber>,
        limit: u32,
    ) -> Result<Vec<RecordedChange>, JournalError> {
        match before {
            None => self.list_changes("ORDER BY number DESC LIMIT ?2", params![self.boot_id(), limit]),
            Some(before) => self.list_changes(
                "WHERE number < ?2 ORDER BY number DESC LIMIT ?3",
                params![self.boot_id(), before, limit],
            ),
        }
    }

    /// Returns one change.
    pub fn change(&self, number: ChangeNumber) -> Result<Option<RecordedChange>, JournalError> {
        Ok(self.list_changes("WHERE number = ?2", params![self.boot_id(), number])?.pop())
    }

    /// Lists all changes of a run, oldest first.
    pub fn changes_of_run(&self, run: RunNumber) -> Result<Vec<RecordedChange>, JournalError> {
        self.list_changes("WHERE run = ?2 ORDER BY number", params![self.boot_id(), run])
    }

    /// Lists all changes that may still have to be redone, oldest first. Of several changes to one path, only
    /// the last one's after side is current.
    pub fn unsettled_changes(&self) -> Result<Vec<RecordedChange>, JournalError> {
        self.list_changes("WHERE state IN ('intended', 'published') ORDER BY number", params![self.boot_id()])
    }

    /// Lists the latest changes of a path, newest first, at most `limit` of them.
    pub fn changes_of_path(&self, path: &[u8], limit: u32) -> Result<Vec<RecordedChange>, JournalError> {
        self.list_changes(
            "WHERE path = ?2 ORDER BY number DESC LIMIT ?3",
            params![self.boot_id(), path, limit],
        )
    }

    /// Lists the changes that undid change `number`, oldest first.
    pub fn changes_undoing(&self, number: ChangeNumber) -> Result<Vec<RecordedChange>, JournalError> {
        self.list_changes("WHERE undoes = ?2 ORDER BY number", params![self.boot_id(), number])
    }

    /// Returns one run.
    pub fn run(&self, number: RunNumber) -> Result<Option<RecordedRun>, JournalError> {
        let sql = format!("SELECT {RUN_COLUMNS} FROM run WHERE number = ?1");
        self.read(|connection| {
            Ok(connection.prepare_cached(&sql)?.query_row([number], rows::run).optional()?)
        })
    }

    /// Lists the runs that pass `filter`, newest first, at most `limit` of them.
    pub fn runs(&self, filter: &RunFilter, limit: u32) -> Result<Vec<RecordedRun>, JournalError> {
        let sql = format!(
            "SELECT {RUN_COLUMNS} FROM run
             WHERE (?1 IS NULL OR conversation = ?1)
               AND (?2 IS NULL OR number < ?2)
               AND (NOT ?3 OR finished_at_ms IS NULL)
             ORDER BY number DESC LIMIT ?4"
        );
        self.list(&sql, params![filter.conversation, filter.before, filter.unfinished, limit], rows::run)
    }

    /// Lists all steps of a run, in order of their index.
    pub fn steps(&self, run: RunNumber) -> Result<Vec<RecordedStep>, JournalError> {
        let sql = format!("SELECT {STEP_COLUMNS} FROM step WHERE run = ?1 ORDER BY step_index");
        self.list(&sql, [run], rows::step)
    }

    /// Lists the steps of a run whose indexes (0-based) are in a range, in order of their index.
    pub fn steps_within(
        &self,
        run: RunNumber,
        indexes: Range<u32>,
    ) -> Result<Vec<RecordedStep>, JournalError> {
        let sql = format!(
            "SELECT {STEP_COLUMNS} FROM step
             WHERE run = ?1 AND step_index >= ?2 AND step_index < ?3 ORDER BY step_index"
        );
        self.list(&sql, params![run, indexes.start, indexes.end], rows::step)
    }

    /// Returns the bytes whose hash is `hash`, if they are held.
    ///
    /// # Errors
    ///
    /// `ContentDamaged` or `ContentMissing` if the database lists them and their file is damaged or missing.
    pub fn content(&self, hash: &ContentHash) -> Result<Option<Vec<u8>>, JournalError> {
        let bytes_column: Option<Option<Vec<u8>>> = self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT bytes FROM content WHERE hash = ?1")?;
            Ok(statement.query_row([HashColumn(*hash)], |row| row.get(0)).optional()?)
        })?;
        match (bytes_column, &self.shared.location) {
            (None, _) => Ok(None),
            (Some(Some(bytes)), _) if ContentHash::of(&bytes) == *hash => Ok(Some(bytes)),
            (Some(None), Location::Folder(folder) | Location::FrozenFolder(folder)) => {
                content_store::read_blob(folder, hash).map(Some)
            }
            (Some(_), _) => Err(JournalError::ContentDamaged { hash: *hash }),
        }
    }

    /// Returns whether the bytes whose hash is `hash` are held, without reading them.
    pub fn holds_content(&self, hash: &ContentHash) -> Result<bool, JournalError> {
        self.read(|connection| {
            Ok(connection
                .prepare_cached("SELECT 1 FROM content WHERE hash = ?1")?
                .exists([HashColumn(*hash)])?)
        })
    }

    /// Returns a document.
    pub fn document(&self, name: &str) -> Result<Option<Document>, JournalError> {
        let sql = format!("SELECT {DOCUMENT_COLUMNS}, bytes FROM document WHERE name = ?1");
        let document = self.read(|connection| {
            let read =
                |row: &Row<'_>| Ok(Document { head: rows::document_head(row)?, bytes: row.get("bytes")? });
            Ok(connection.prepare_cached(&sql)?.query_row([name], read).optional()?)
        })?;
        match document {
            Some(document) if ContentHash::of(&document.bytes) != document.head.hash => {
                Err(JournalError::ContentDamaged { hash: document.head.hash })
            }
            document => Ok(document),
        }
    }

    /// Lists the documents whose name starts with `prefix`, without their values, in order of their names.
    pub fn documents(&self, prefix: &str) -> Result<Vec<DocumentHead>, JournalError> {
        let sql = format!(
            "SELECT {DOCUMENT_COLUMNS} FROM document
             WHERE name >= ?1 AND substr(name, 1, length(?1)) = ?1 ORDER BY name"
        );
        self.list(&sql, [prefix], rows::document_head)
    }

    /// Writes a snapshot of the database into a new folder.
    pub(crate) fn copy_to(&self, folder: &Path) -> Result<(), JournalError> {
        DirBuilder::new().mode(0o700).create(folder).map_err(Failure::from)?;
        let copy = folder.join(DATABASE_NAME);
        let name =
            copy.to_str().ok_or_else(|| Failure::from(io::Error::from(io::ErrorKind::InvalidFilename)))?;
        let connection = self.shared.location.connect_to_read()?;
        // SQLite counts `VACUUM INTO` as a write, although it changes nothing here: the file itself is open
        // read-only.
        connection.pragma_update(None, "query_only", false)?;
        connection.execute("VACUUM INTO ?1", [name])?;
        Ok(())
    }

    pub(crate) fn location(&self) -> &Location {
        &self.shared.location
    }

    pub(crate) fn boot_id(&self) -> &str {
        &self.shared.boot_id
    }

    /// Closes the connections that are idle; later reads open new ones.
    pub(crate) fn close_idle(&self) {
        self.idle().clear();
    }

    /// Runs `query` on a separate connection.
    pub(crate) fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        // The lock is released before the query, so that readers do not wait for each other.
        let idle = self.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.shared.location.connect_to_read()?,
        };
        let answer = query(&connection);
        match &answer {
            Err(JournalError::Damaged) => self.shared.location.mark_suspect(),
            // A connection that reported damage is dropped instead of reused, so that later reads do not
            // build on its state.
            _ => self.idle().push(connection),
        }
        answer
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.shared.idle.lock().expect("no code panics while it holds the idle connections")
    }

    fn list_changes(&self, rest: &str, params: impl Params) -> Result<Vec<RecordedChange>, JournalError> {
        self.list(&format!("SELECT {CHANGE_COLUMNS} FROM change {rest}"), params, rows::change)
    }

    fn list<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, JournalError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map(params, read)?;
            Ok(rows.collect::<rusqlite::Result<Vec<T>>>()?)
        })
    }
}
