//! Owns opening a journal's folder: inspecting it, repairing or replacing its database, and reporting that.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use crate::clock;
use crate::error::OpenError;
use crate::limits::JournalLimits;
use crate::store::connection::{self, DATABASE_NAME, Location, with_suffix};
use crate::store::failure::Failure;
use crate::store::set_aside::{self, SetAside};
use crate::store::{checkpoint, schema};

/// The state of a journal when it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenReport {
    /// A new, empty database was made.
    pub created: bool,
    /// Damaged databases, quarantined now or earlier, that are not acknowledged yet. Their record of
    /// completed runs is lost; if a kill interrupted the quarantine so that only a log was renamed, the latest
    /// part of it.
    pub set_aside: Vec<SetAside>,
    /// The last process that opened the journal did not close it.
    pub after_crash: bool,
    /// The machine restarted since the journal was last open, so files may be partial writes.
    pub after_restart: bool,
    /// The number of runs that were begun and never finished.
    pub unfinished_runs: u64,
    /// The number of changes that may still have to be redone.
    pub unsettled_changes: u64,
}

/// The state of the database in a journal's folder.
enum Inspection {
    Sound(Connection),
    Missing,
    Damaged,
}

/// A journal that is open to write.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    pub(crate) opening: i64,
    pub(crate) next_run: u64,
    pub(crate) report: OpenReport,
}

/// Creates the journal's folder if it is missing.
pub(crate) fn ensure_folder(folder: &Path) -> Result<(), OpenError> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Failure::from(error).into()),
    }
}

/// Opens the database in `folder`, whose lock the caller holds.
pub(crate) fn open_folder(folder: &Path, limits: &JournalLimits) -> Result<Opened, OpenError> {
    let location = Location::Folder(folder.to_owned());
    match inspect(folder, &location, limits)? {
        Inspection::Sound(connection) => {
            renew_log(&connection)?;
            set_aside::record(folder, &connection)?;
            register(connection, false)
        }
        Inspection::Missing => {
            create(folder)?;
            register(location.connect_to_write()?, true)
        }
        Inspection::Damaged => {
            set_aside::move_away(folder)?;
            create(folder)?;
            connection::clear_suspect(folder);
            register(location.connect_to_write()?, true)
        }
    }
}

/// Opens a private database in memory.
pub(crate) fn open_memory(location: &Location) -> Result<Opened, OpenError> {
    let connection = location.connect_to_write()?;
    schema::migrate(&connection, 0)?;
    register(connection, true)
}

/// Determines how the database in `folder` can be read.
pub(crate) fn location_to_read(folder: &Path) -> Result<Location, OpenError> {
    let database = folder.join(DATABASE_NAME);
    if fs::metadata(&database).map_err(Failure::from)?.len() == 0 {
        return Err(OpenError::Damaged);
    }
    let has_log = fs::metadata(with_suffix(&database, "-wal")).is_ok_and(|log| log.len() > 0);
    // Read-only media need, and allow, no shared index. Elsewhere a writer may start at any time.
    let is_frozen = OpenOptions::new()
        .append(true)
        .open(folder.join("lock"))
        .is_err_and(|error| error.kind() == io::ErrorKind::ReadOnlyFilesystem);
    let location = match is_frozen {
        true if has_log => return Err(OpenError::ReadOnly),
        true => Location::FrozenFolder(folder.to_owned()),
        false => Location::Folder(folder.to_owned()),
    };
    let version = schema::version(&location.connect_to_read()?)?;
    match version {
        1..=schema::SUPPORTED => Ok(location),
        _ => Err(OpenError::Newer { found: version, supported: schema::SUPPORTED }),
    }
}

fn inspect(folder: &Path, location: &Location, limits: &JournalLimits) -> Result<Inspection, OpenError> {
    let database = folder.join(DATABASE_NAME);
    let length = match fs::metadata(&database) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A log without its database is left over from a database that was removed.
            let orphaned = with_suffix(&database, "-wal").exists();
            return Ok(if orphaned { Inspection::Damaged } else { Inspection::Missing });
        }
        Err(error) => return Err(Failure::from(error).into()),
    };
    // A database is renamed into place once it is complete, so an empty one has lost its content.
    if length == 0 {
        return Ok(Inspection::Damaged);
    }
    match check(folder, location, length, limits) {
        Ok(connection) => return Ok(Inspection::Sound(connection)),
        Err(OpenError::Damaged) => {}
        Err(error) => return Err(error),
    }
    // A transient read error looks like damage, and quarantining a journal loses its record of what was done.
    // So the files must be readable and still fail the check.
    for name in [database.clone(), with_suffix(&database, "-wal")] {
        match File::open(name).and_then(|mut file| io::copy(&mut file, &mut io::sink())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Failure::from(error).into()),
            _ => {}
        }
    }
    match check(folder, location, length, limits) {
        Ok(connection) => Ok(Inspection::Sound(connection)),
        Err(OpenError::Damaged) => Ok(Inspection::Damaged),
        Err(error) => Err(error),
    }
}

fn check(
    folder: &Path,
    location: &Location,
    length: u64,
    limits: &JournalLimits,
) -> Result<Connection, OpenError> {
    let connection = location.connect_to_write()?;
    // Until the database proves to be a sound journal, closing it must not fold its log in.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(Failure::from)?;
    let version = schema::version(&connection)?;
    if version > schema::SUPPORTED {
        return Err(OpenError::Newer { found: version, supported: schema::SUPPORTED });
    }
    schema::migrate(&connection, version)?;
    // A large database is checked only if its pages may have been lost: a reader reported damage, or the
    // machine restarted while the journal was open.
    let suspect = connection::is_suspect(folder);
    if suspect || length <= limits.check_bytes || !closed_or_same_boot(&connection)? {
        let verdict: String =
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(Failure::from)?;
        if verdict != "ok" {
            return Err(OpenError::Damaged);
        }
        if suspect {
            connection::clear_suspect(folder);
        }
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(Failure::from)?;
    Ok(connection)
}

/// Renews the log of a journal that was not closed. A sync of that log may have failed, and the kernel then
/// returns bytes that it will never write; commits on top of them would be lost with them. So the whole log
/// is folded into the database, and a new log begins.
fn renew_log(connection: &Connection) -> Result<(), Failure> {
    if last_opening(connection)?.is_none_or(|(closed, _)| closed) {
        return Ok(());
    }
    match checkpoint::fold_all(connection) {
        Err(failure @ Failure::SyncLost(_)) => Err(failure),
        // Without space for that, or while a reader is active, the log stays unchanged.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Returns whether the last opening was closed, or at worst its process was killed without a restart of the
/// machine.
fn closed_or_same_boot(connection: &Connection) -> Result<bool, Failure> {
    let last = last_opening(connection)?;
    Ok(last.is_none_or(|(closed, boot_id)| closed || boot_id == clock::boot_id()))
}

fn last_opening(connection: &Connection) -> Result<Option<(bool, String)>, Failure> {
    let sql = "SELECT closed_at_ms IS NOT NULL, boot_id FROM opening ORDER BY number DESC LIMIT 1";
    Ok(connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Makes a complete database under a temporary name, then renames it into place.
fn create(folder: &Path) -> Result<(), OpenError> {
    let database = folder.join(DATABASE_NAME);
    let unfinished = with_suffix(&database, ".new");
    // A crash during an earlier creation may have left these files behind.
    for suffix in ["", "-wal", "-shm", "-journal"] {
        match fs::remove_file(with_suffix(&unfinished, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Failure::from(error).into());
            }
            _ => {}
        }
    }
    // SQLite gives its other files the mode of this one. Before-images must stay private to the user.
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished).map_err(Failure::from)?;
    let connection = connection::connect_file(&unfinished, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // This setting takes effect only in an empty database. It lets later removals return space to the disk.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(Failure::from)?;
    connection::configure(&connection)?;
    let made = schema::migrate(&connection, 0).and_then(|()| {
        set_aside::record(folder, &connection)?;
        connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        Ok(())
    });
    let closed = connection.close().map_err(|(_, error)| Failure::from(error));
    made.and(closed)?;
    fs::rename(&unfinished, &database)
        .and_then(|()| File::open(folder)?.sync_all())
        .map_err(|error| Failure::from(error).into())
}

/// Records that the journal is open now, which also proves that it can be written.
fn register(connection: Connection, created: bool) -> Result<Opened, OpenError> {
    let opened = connection.execute_batch("BEGIN IMMEDIATE").map_err(Failure::from).and_then(|()| {
        let last = last_opening(&connection)?;
        let boot_id = clock::boot_id();
        connection.execute(
            "INSERT INTO opening (opened_at_ms, boot_id, process_id) VALUES (?1, ?2, ?3)",
            params![clock::now_ms(), boot_id, std::process::id()],
        )?;
        let opening = connection.last_insert_rowid();
        let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let report = OpenReport {
            created,
            set_aside: set_aside::unacknowledged(&connection)?,
            after_crash: last.as_ref().is_some_and(|(closed, _)| !closed),
            after_restart: last.is_some_and(|(_, last_boot_id)| last_boot_id != boot_id),
            unfinished_runs: count("SELECT count(*) FROM run WHERE finished_at_ms IS NULL")?.cast_unsigned(),
            unsettled_changes: count("SELECT count(*) FROM change WHERE state IN ('intended', 'published')")?
                .cast_unsigned(),
        };
        let next_run = count("SELECT coalesce(max(number), 0) + 1 FROM run")?.cast_unsigned();
        connection.execute_batch("COMMIT")?;
        Ok((opening, next_run, report))
    });
    match opened {
        Ok((opening, next_run, report)) => Ok(Opened { connection, opening, next_run, report }),
        Err(failure) => Err(failure.into()),
    }
}
