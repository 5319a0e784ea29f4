//! Owns opening a journal's folder: what is found there, what is made of it, and what is said about it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use crate::clock;
use crate::error::OpenError;
use crate::limits::JournalLimits;
use crate::store::checkpoint;
use crate::store::connection::{self, DATABASE_NAME, Place, with_suffix};
use crate::store::failure::Failure;
use crate::store::schema;
use crate::store::set_aside::{self, SetAside};

/// What an opening found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenReport {
    /// A new, empty database was made.
    pub created: bool,
    /// Databases that were found damaged, now or earlier, and that nobody has acknowledged yet: what they
    /// knew is lost, and with it the knowledge of what was already done.
    pub set_aside: Vec<SetAside>,
    /// The last process that had the journal open did not close it.
    pub after_crash: bool,
    /// The machine was started anew since the journal was last open, so files may be torn.
    pub after_restart: bool,
    /// How many runs were begun and never finished.
    pub unfinished_runs: u64,
    /// How many changes may still have to be redone.
    pub unsettled_changes: u64,
}

/// What lies in a journal's folder.
enum Found {
    Sound(Connection),
    Nothing,
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

/// Makes the journal's folder if it is not there.
pub(crate) fn ensure_folder(folder: &Path) -> Result<(), OpenError> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Failure::from(error).into()),
    }
}

/// Opens the database in `folder`, whose lock the caller holds.
pub(crate) fn open_folder(folder: &Path, limits: &JournalLimits) -> Result<Opened, OpenError> {
    let place = Place::Folder(folder.to_owned());
    match inspect(folder, &place, limits)? {
        Found::Sound(connection) => {
            renew_log(&connection)?;
            register(connection, false)
        }
        Found::Nothing => {
            create(folder, &set_aside::names(folder)?)?;
            register(place.connect_to_write()?, true)
        }
        Found::Damaged => {
            set_aside::move_away(folder)?;
            create(folder, &set_aside::names(folder)?)?;
            connection::clear_suspect(folder);
            register(place.connect_to_write()?, true)
        }
    }
}

/// Opens a database of its own in memory.
pub(crate) fn open_memory(place: &Place) -> Result<Opened, OpenError> {
    let connection = place.connect_to_write()?;
    schema::migrate(&connection, 0)?;
    register(connection, true)
}

/// Finds out how the database in `folder` can be read.
pub(crate) fn place_to_read(folder: &Path) -> Result<Place, OpenError> {
    let database = folder.join(DATABASE_NAME);
    if fs::metadata(&database).map_err(Failure::from)?.len() == 0 {
        return Err(OpenError::Damaged);
    }
    let has_log = fs::metadata(with_suffix(&database, "-wal")).is_ok_and(|log| log.len() > 0);
    // Media that cannot change need, and allow, no shared index. Elsewhere a writer may come at any time.
    let is_frozen = OpenOptions::new()
        .append(true)
        .open(folder.join("lock"))
        .is_err_and(|error| error.kind() == io::ErrorKind::ReadOnlyFilesystem);
    let place = match is_frozen {
        true if has_log => return Err(OpenError::ReadOnly),
        true => Place::FrozenFolder(folder.to_owned()),
        false => Place::Folder(folder.to_owned()),
    };
    let found = schema::version(&place.connect_to_read()?)?;
    match found {
        1..=schema::SUPPORTED => Ok(place),
        _ => Err(OpenError::Newer { found, supported: schema::SUPPORTED }),
    }
}

fn inspect(folder: &Path, place: &Place, limits: &JournalLimits) -> Result<Found, OpenError> {
    let database = folder.join(DATABASE_NAME);
    let length = match fs::metadata(&database) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A log without its database is what is left of one that was taken away.
            let orphaned = with_suffix(&database, "-wal").exists();
            return Ok(if orphaned { Found::Damaged } else { Found::Nothing });
        }
        Err(error) => return Err(Failure::from(error).into()),
    };
    // A database only gets its name once it is complete, so an empty one has lost everything.
    if length == 0 {
        return Ok(Found::Damaged);
    }
    match check(folder, place, length, limits) {
        Ok(connection) => return Ok(Found::Sound(connection)),
        Err(OpenError::Damaged) => {}
        Err(error) => return Err(error),
    }
    // A page that could not be read for a moment looks like a damaged one, and a journal that is set aside is lost to
    // whoever asks what was done. So it has to be readable and damaged all the same.
    for name in [database.clone(), with_suffix(&database, "-wal")] {
        match File::open(name).and_then(|mut file| io::copy(&mut file, &mut io::sink())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Failure::from(error).into()),
            _ => {}
        }
    }
    match check(folder, place, length, limits) {
        Ok(connection) => Ok(Found::Sound(connection)),
        Err(OpenError::Damaged) => Ok(Found::Damaged),
        Err(error) => Err(error),
    }
}

fn check(folder: &Path, place: &Place, length: u64, limits: &JournalLimits) -> Result<Connection, OpenError> {
    let connection = place.connect_to_write()?;
    // Until it is known to be ours and sound, closing it must not fold its log in.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(Failure::from)?;
    let found = schema::version(&connection)?;
    if found > schema::SUPPORTED {
        return Err(OpenError::Newer { found, supported: schema::SUPPORTED });
    }
    schema::migrate(&connection, found)?;
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

/// After a process that did not close the journal, nothing says that its log ever reached the disk: a sync may have
/// failed, and the kernel then shows bytes that it no longer means to write. Commits on top of them would be lost with
/// them. So all of it is written once more, into the database, and the log begins anew.
fn renew_log(connection: &Connection) -> Result<(), Failure> {
    if last_opening(connection)?.is_none_or(|(closed, _)| closed) {
        return Ok(());
    }
    match checkpoint::fold_all(connection) {
        Err(failure @ Failure::SyncLost(_)) => Err(failure),
        // Without the space for it, or beside a reader that is in the way, the log stays as it is.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Whether nothing worse than the end of a process has happened to the journal since it was last open.
fn closed_or_same_boot(connection: &Connection) -> Result<bool, Failure> {
    let last = last_opening(connection)?;
    Ok(last.is_none_or(|(closed, boot_id)| closed || boot_id == clock::boot_id()))
}

fn last_opening(connection: &Connection) -> Result<Option<(bool, String)>, Failure> {
    let sql = "SELECT closed_at_ms IS NOT NULL, boot_id FROM opening ORDER BY number DESC LIMIT 1";
    Ok(connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Makes a complete database under another name and only then gives it the real one.
fn create(folder: &Path, set_aside: &[String]) -> Result<(), OpenError> {
    let database = folder.join(DATABASE_NAME);
    let unfinished = with_suffix(&database, ".new");
    for suffix in ["", "-wal", "-shm", "-journal"] {
        match fs::remove_file(with_suffix(&unfinished, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Failure::from(error).into());
            }
            _ => {}
        }
    }
    // SQLite gives its other files the mode of this one. Before-images are nobody else's business.
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished).map_err(Failure::from)?;
    let connection = connection::connect_file(&unfinished, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Only before anything is in it: what is removed later can then be given back to the disk.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(Failure::from)?;
    connection::configure(&connection)?;
    let made = schema::migrate(&connection, 0).and_then(|()| {
        for name in set_aside {
            let row = params![name, clock::now_ms()];
            connection.execute("INSERT INTO set_aside (name, found_at_ms) VALUES (?1, ?2)", row)?;
        }
        connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        Ok(())
    });
    let closed = connection.close().map_err(|(_, error)| Failure::from(error));
    made.and(closed)?;
    fs::rename(&unfinished, &database)
        .and_then(|()| File::open(folder)?.sync_all())
        .map_err(|error| Failure::from(error).into())
}

/// Writes down that the journal is open now, which also proves that it can be written.
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
