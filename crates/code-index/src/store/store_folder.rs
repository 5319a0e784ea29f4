//! The folder of the store: checks an existing store, or creates a new one.
//!
//! A downloaded folder of code may contain a state folder with a malicious store. So only plain files in the
//! folder are opened, and a store whose schema differs from ours is rebuilt before any of its data is read.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{OpenError, is_damaged};
use crate::store::schema;

/// The name of the store's file in its folder.
pub const DATABASE_NAME: &str = "index.db";

/// The size up to which a store is checked page by page when it is opened.
const CHECK_BYTES: u64 = 8 << 20;

/// The number of pages, of 4 KiB each, from which the write-ahead log is checkpointed.
const LOG_PAGES: u32 = 8_192;

/// The longest wait for another process that uses the store, which may be suspended.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The pause between two attempts to lock the folder.
const LOCK_POLL: Duration = Duration::from_millis(5);

/// A folder with a store.
#[derive(Debug)]
pub(crate) struct StoreFolder {
    database: PathBuf,
    lock: PathBuf,
    leader: PathBuf,
}

/// A store that is open for writing and for reading.
pub(crate) struct Connections {
    pub(crate) reader: Connection,
    pub(crate) writer: Connection,
}

/// The state of the store on opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreState {
    Sound,
    Missing,
    /// It was damaged or of another version, and was rebuilt.
    Replaced,
}

impl StoreFolder {
    /// Uses a folder, and creates it if needed. A link is refused.
    pub(crate) fn new(folder: &Path) -> Result<StoreFolder, OpenError> {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(OpenError::Folder(error));
            }
            _ => {}
        }
        if !fs::symlink_metadata(folder).map_err(OpenError::Folder)?.is_dir() {
            return Err(OpenError::Folder(io::ErrorKind::NotADirectory.into()));
        }
        // Links above the folder belong to the user; none is followed below it.
        let folder = fs::canonicalize(folder).map_err(OpenError::Folder)?;
        let [database, lock, leader] = [DATABASE_NAME, "lock", "leader"].map(|name| folder.join(name));
        Ok(StoreFolder { database, lock, leader })
    }

    /// Opens the store for writing and for reading, and rebuilds it if it is unusable.
    pub(crate) fn open(&self) -> Result<(Connections, StoreState), OpenError> {
        let _held = self.hold()?;
        let (writer, state) = self.open_writer()?;
        // Open both under the same lock: if another process replaced the store in between, they would be different stores.
        Ok((Connections { reader: self.reader()?, writer }, state))
    }

    fn open_writer(&self) -> Result<(Connection, StoreState), OpenError> {
        self.remove_foreign()?;
        let length = fs::metadata(&self.database).map_or(0, |metadata| metadata.len());
        if length > 0 {
            match self.check(length) {
                Ok(Some(connection)) => return Ok((connection, StoreState::Sound)),
                Ok(None) => {}
                // A file that SQLite cannot interpret is not a store either.
                Err(error) if is_damaged(&error) || is_unreadable(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let state = if length > 0 { StoreState::Replaced } else { StoreState::Missing };
        Ok((self.create()?, state))
    }

    /// Rebuilds the store in any state.
    pub(crate) fn replace(&self) -> Result<Connections, OpenError> {
        let _held = self.hold()?;
        let writer = self.create()?;
        Ok(Connections { reader: self.reader()?, writer })
    }

    fn reader(&self) -> Result<Connection, rusqlite::Error> {
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.pragma_update(None, "query_only", true)?;
        // The first query opens the log by its name, which must still be that of the same store.
        schema::is_current(&connection)?;
        Ok(connection)
    }

    /// Moves the log into the store and empties it, unless another connection prevents that. SQLite does not do this on closing;
    /// see [`StoreFolder::connect`].
    pub(crate) fn checkpoint(writer: &Connection) -> Result<(), rusqlite::Error> {
        writer.busy_timeout(Duration::ZERO)?;
        writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }

    /// Returns the size of the store on disk in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        ["", "-wal"]
            .iter()
            .map(|ending| fs::metadata(self.sibling(ending)).map_or(0, |metadata| metadata.len()))
            .sum()
    }

    /// Locks the store against other processes while it is checked or rebuilt.
    fn hold(&self) -> Result<File, OpenError> {
        let file = own_file(&self.lock).map_err(OpenError::Folder)?;
        let deadline = Instant::now() + LONGEST_WAIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(LOCK_POLL),
                Err(TryLockError::WouldBlock) => {
                    let cause = "another process holds it; end that process, or try again later";
                    return Err(OpenError::Folder(io::Error::new(io::ErrorKind::TimedOut, cause)));
                }
                Err(TryLockError::Error(error)) => return Err(OpenError::Folder(error)),
            }
        }
    }

    /// Returns the exclusive right to update the store in the background, held until the file is dropped; `None`
    /// if another process has it.
    pub(crate) fn lead(&self) -> Option<File> {
        let file = own_file(&self.leader).ok()?;
        file.try_lock().ok()?;
        Some(file)
    }

    /// Removes links, hard-linked and special files with the names of the store's files.
    fn remove_foreign(&self) -> Result<(), OpenError> {
        for ending in ["", "-wal", "-shm", "-journal"] {
            let path = self.sibling(ending);
            match fs::symlink_metadata(&path) {
                // Writing to a file with a second name would change a file outside of the folder.
                Ok(metadata) if metadata.is_file() && metadata.nlink() == 1 => {}
                Ok(_) => fs::remove_file(&path).map_err(OpenError::Folder)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(OpenError::Folder(error)),
            }
        }
        Ok(())
    }

    fn check(&self, length: u64) -> Result<Option<Connection>, rusqlite::Error> {
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // Check in this order: the page check evaluates expressions of the schema, which must be ours.
        if !schema::is_current(&connection)? || !has_only_our_tables(&connection)? {
            return Ok(None);
        }
        if length <= CHECK_BYTES {
            let verdict: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
            if verdict != "ok" {
                return Ok(None);
            }
        }
        Ok(Some(connection))
    }

    fn create(&self) -> Result<Connection, OpenError> {
        for ending in ["", "-wal", "-shm", "-journal"] {
            match fs::remove_file(self.sibling(ending)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(OpenError::Folder(error));
                }
                _ => {}
            }
        }
        // SQLite's other files inherit the mode of this one. Other users must not read the source code in it.
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).open(&self.database).map_err(OpenError::Folder)?;
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        schema::create(&connection)?;
        Ok(connection)
    }

    fn connect(&self, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&self.database, flags)?;
        connection.busy_timeout(LONGEST_WAIT)?;
        // The store may be forged: no writes to SQLite's own tables, no unsafe functions in its schema.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        // Make plans independent of bound values, so that a cached statement is not planned again.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        // After a checkpoint on closing, SQLite deletes the log by its name, which may be a newer store's log.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        if flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
            // Must come first in an empty database; has no effect in any other.
            connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
            connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
            connection.query_row(&format!("PRAGMA wal_autocheckpoint = {LOG_PAGES}"), [], |_| Ok(()))?;
        }
        // A power failure only costs time: a lost or damaged store is rebuilt from the files.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.pragma_update(None, "cell_size_check", true)?;
        connection.pragma_update(None, "cache_size", -32_768)?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(connection)
    }

    fn sibling(&self, ending: &str) -> PathBuf {
        let mut name = self.database.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    }
}

/// Opens a lock file; removes anything with its name that is not a regular file.
fn own_file(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_file() => fs::remove_file(path)?,
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600).open(path)
}

/// Returns true if SQLite failed because of the store's content rather than the system.
fn is_unreadable(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::Unknown)
}

/// The most schema objects that are compared; our store has fewer.
const MOST_OBJECTS: u32 = 100;

/// Returns true if a store has exactly the tables of [`schema::create`]: no triggers, no views, no computed
/// columns.
fn has_only_our_tables(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let ours = Connection::open_in_memory()?;
    schema::create(&ours)?;
    Ok(objects(&ours)? == objects(connection)?)
}

/// Returns the schema of a database: kind, name, table and text, without the query planner's statistics.
fn objects(connection: &Connection) -> Result<Vec<[Option<String>; 4]>, rusqlite::Error> {
    let sql = format!(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat_'
        ORDER BY type, name LIMIT {MOST_OBJECTS}"
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
    rows.collect()
}
