//! Owns the location of the database and the setup of every connection to it.
//!
//! Nothing in this crate may open the database file by other means while a connection lives: closing any
//! descriptor of it would drop the locks that SQLite holds through the others.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::store::failure::Failure;
use crate::store::schema;

/// The database's file in the journal's folder.
pub(crate) const DATABASE_NAME: &str = "journal.db";

/// A file that requests a check of every page by the next opening.
const SUSPECT_NAME: &str = "suspect";

/// The location of a journal's database.
#[derive(Clone, Debug)]
pub(crate) enum Location {
    /// In this folder.
    Folder(PathBuf),
    /// In this folder on read-only media, which cannot even hold SQLite's shared index.
    FrozenFolder(PathBuf),
    /// In memory, under this name.
    Memory(String),
}

impl Location {
    /// Returns a location in memory that no other journal uses.
    pub(crate) fn memory() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self::Memory(format!("change-journal-{}", NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// Opens a connection that may write.
    pub(crate) fn connect_to_write(&self) -> Result<Connection, Failure> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match self {
            Self::Folder(folder) => connect_file(&folder.join(DATABASE_NAME), flags)?,
            Self::FrozenFolder(_) => return Err(Failure::ReadOnly),
            Self::Memory(name) => {
                let flags = flags | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_URI;
                Connection::open_with_flags(format!("file:/{name}?vfs=memdb"), flags)?
            }
        };
        configure(&connection)?;
        Ok(connection)
    }

    /// Opens a connection that only reads.
    pub(crate) fn connect_to_read(&self) -> Result<Connection, Failure> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = match self {
            Self::Folder(folder) => connect_file(&folder.join(DATABASE_NAME), flags)?,
            Self::FrozenFolder(folder) => {
                let uri = format!("file:{}?immutable=1", percent_encode(&folder.join(DATABASE_NAME)));
                Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?
            }
            Self::Memory(_) => self.connect_to_write()?,
        };
        configure(&connection)?;
        schema::show_as_newest(&connection)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }

    /// Returns the current length of the write-ahead log in bytes.
    pub(crate) fn log_bytes(&self) -> u64 {
        match self {
            Self::Folder(folder) => {
                fs::metadata(with_suffix(&folder.join(DATABASE_NAME), "-wal")).map_or(0, |log| log.len())
            }
            Self::FrozenFolder(_) | Self::Memory(_) => 0,
        }
    }

    /// Requests a check of every page by the next opening, if the disk still accepts the request.
    pub(crate) fn mark_suspect(&self) {
        if let Self::Folder(folder) = self {
            // A failure changes nothing that could still be done here: the caller reports the damage itself.
            let _ = fs::write(folder.join(SUSPECT_NAME), b"");
        }
    }
}

/// Returns whether an earlier process requested a check of every page.
pub(crate) fn is_suspect(folder: &Path) -> bool {
    folder.join(SUSPECT_NAME).exists()
}

/// Withdraws the request for a check after the check.
pub(crate) fn clear_suspect(folder: &Path) {
    // If it cannot be removed, the next opening merely checks again.
    let _ = fs::remove_file(folder.join(SUSPECT_NAME));
}

/// Returns `path` with `suffix` appended to its last name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Opens the database at `path` without SQLite's interpretation of special names.
pub(crate) fn connect_file(path: &Path, flags: OpenFlags) -> Result<Connection, Failure> {
    let uri = format!("file:{}", percent_encode(path));
    Ok(Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?)
}

/// Sets what every connection needs. `synchronous` belongs to the connection and not to the file.
pub(crate) fn configure(connection: &Connection) -> Result<(), Failure> {
    // FULL syncs the log on every commit, and DEFENSIVE keeps SQL from damaging the file: both are part of
    // the promise that an acknowledged write survives.
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Otherwise, SQLite replans a statement whenever a value of its limit is bound, which takes longer than running it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // These settings return a row, so `pragma_update` would fail.
    for setting in ["mmap_size = 0", "wal_autocheckpoint = 0", "journal_size_limit = 16777216"] {
        connection.query_row(&format!("PRAGMA {setting}"), [], |_| Ok(())).or_else(no_row_is_fine)?;
    }
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Accepts a setting that returns no row, as `mmap_size` does on a virtual file system without memory
/// mapping.
fn no_row_is_fine(error: rusqlite::Error) -> Result<(), rusqlite::Error> {
    match error {
        rusqlite::Error::QueryReturnedNoRows => Ok(()),
        other => Err(other),
    }
}

/// Encodes a path so that SQLite's URI parser returns the same bytes.
fn percent_encode(path: &Path) -> String {
    let mut text = String::new();
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => text.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    /// The number of times that a statement is replanned while values are bound to it.
    fn plans_anew(connection: &Connection) -> i32 {
        connection.execute_batch("CREATE TABLE change (number INTEGER PRIMARY KEY)").unwrap();
        let mut statement =
            connection.prepare("SELECT number FROM change ORDER BY number DESC LIMIT ?1").unwrap();
        for limit in 1..=3 {
            assert_eq!(statement.query_map([limit], |row| row.get::<_, i64>(0)).unwrap().count(), 0);
        }
        statement.get_status(StatementStatus::RePrepare)
    }

    #[test]
    fn a_statement_is_planned_once_whatever_is_bound() {
        let connection = Connection::open_in_memory().unwrap();
        assert_ne!(plans_anew(&connection), 0, "without the setting, SQLite would plan anew");
        let connection = Connection::open_in_memory().unwrap();
        configure(&connection).unwrap();
        assert_eq!(plans_anew(&connection), 0);
    }
}
