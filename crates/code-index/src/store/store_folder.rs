//! The folder in which the store lies: finding it sound, or making it anew.
//!
//! A folder of code that comes from elsewhere may bring a state folder along, with a store in it that means harm. So nothing in
//! the folder is followed that is no file of its own, and a store with anything in it that ours does not have is made anew
//! before anything of it is asked.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{OpenError, is_damaged};
use crate::store::schema;

/// The name of the store's file in its folder.
pub const DATABASE_NAME: &str = "index.db";

/// Stores up to this size are checked page by page when they are opened.
const CHECK_BYTES: u64 = 8 << 20;

/// The log is folded in when it has so many pages, of 4 KiB each. What is written often is folded in once.
const LOG_PAGES: u32 = 8_192;

/// A folder with a store.
#[derive(Debug)]
pub(crate) struct StoreFolder {
    database: PathBuf,
    lock: PathBuf,
    keeper: PathBuf,
}

/// What was found on opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundStore {
    Sound,
    Nothing,
    /// It was damaged or of another version, and was made anew.
    Replaced,
}

impl StoreFolder {
    /// Takes a folder, which is made if it is not there. A link in its place is refused.
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
        // Links above it are the user's own; below, none is followed.
        let folder = fs::canonicalize(folder).map_err(OpenError::Folder)?;
        let [database, lock, keeper] = [DATABASE_NAME, "lock", "keeper"].map(|name| folder.join(name));
        Ok(StoreFolder { database, lock, keeper })
    }

    /// Opens the store to write, and makes it anew if it cannot be used.
    pub(crate) fn open(&self) -> Result<(Connection, FoundStore), OpenError> {
        let _held = self.hold()?;
        self.clear_strange()?;
        let length = fs::metadata(&self.database).map_or(0, |found| found.len());
        if length > 0 {
            match self.check(length) {
                Ok(Some(connection)) => return Ok((connection, FoundStore::Sound)),
                Ok(None) => {}
                // What SQLite makes no sense of is no store either.
                Err(error) if is_damaged(&error) || is_senseless(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let found = if length > 0 { FoundStore::Replaced } else { FoundStore::Nothing };
        Ok((self.create()?, found))
    }

    /// Makes the store anew, whatever it is.
    pub(crate) fn replace(&self) -> Result<Connection, OpenError> {
        let _held = self.hold()?;
        self.create()
    }

    /// Opens the store to read.
    pub(crate) fn reader(&self) -> Result<Connection, rusqlite::Error> {
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }

    /// How many bytes the store has on the disk.
    pub(crate) fn bytes(&self) -> u64 {
        ["", "-wal"]
            .iter()
            .map(|ending| fs::metadata(self.beside(ending)).map_or(0, |found| found.len()))
            .sum()
    }

    /// One process at a time decides what becomes of a store.
    fn hold(&self) -> Result<File, OpenError> {
        let file = own_file(&self.lock).map_err(OpenError::Folder)?;
        file.lock().map_err(OpenError::Folder)?;
        Ok(file)
    }

    /// The right to keep the store up to date unasked, until the file is dropped; `None` if another process has it.
    pub(crate) fn lead(&self) -> Option<File> {
        let file = own_file(&self.keeper).ok()?;
        file.try_lock().ok()?;
        Some(file)
    }

    /// Takes away what is no file of the store's own.
    fn clear_strange(&self) -> Result<(), OpenError> {
        for ending in ["", "-wal", "-shm", "-journal"] {
            let path = self.beside(ending);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_file() && found.nlink() == 1 => {}
                Ok(_) => fs::remove_file(&path).map_err(OpenError::Folder)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(OpenError::Folder(error)),
            }
        }
        Ok(())
    }

    fn check(&self, length: u64) -> Result<Option<Connection>, rusqlite::Error> {
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // In this order: checking the pages already computes what tables ask for.
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
            match fs::remove_file(self.beside(ending)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(OpenError::Folder(error));
                }
                _ => {}
            }
        }
        // SQLite gives its other files the mode of this one. What stands in source code is nobody else's business.
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).open(&self.database).map_err(OpenError::Folder)?;
        let connection = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        schema::create(&connection)?;
        Ok(connection)
    }

    fn connect(&self, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&self.database, flags)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        if flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
            // In an empty database this has to come first; in any other it changes nothing.
            connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
            connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
            connection.query_row(&format!("PRAGMA wal_autocheckpoint = {LOG_PAGES}"), [], |_| Ok(()))?;
        }
        // A loss of power costs time at most: what is lost or damaged is read from the files again.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.pragma_update(None, "cell_size_check", true)?;
        connection.pragma_update(None, "cache_size", -32_768)?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(connection)
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.database.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    }
}

/// Opens a file of ours to lock it; what stands in its place and is none is taken away.
fn own_file(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => fs::remove_file(path)?,
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600).open(path)
}

/// Whether SQLite could do what it was asked to, but for what it has found.
fn is_senseless(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::Unknown)
}

/// More than this is in no store of ours, in tables, indexes and the like.
const MOST_OBJECTS: u32 = 100;

/// Whether a store has the tables that [`schema::create`] makes, and nothing else: no triggers, no views, no columns that are
/// computed.
fn has_only_our_tables(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let ours = Connection::open_in_memory()?;
    schema::create(&ours)?;
    Ok(objects(&ours)? == objects(connection)?)
}

/// Everything that is defined in a database: kind, name, table and text. What the query planner notes down is left out.
fn objects(connection: &Connection) -> Result<Vec<[Option<String>; 4]>, rusqlite::Error> {
    let sql = format!(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat_'
        ORDER BY type, name LIMIT {MOST_OBJECTS}"
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
    rows.collect()
}
