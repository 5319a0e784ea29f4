//! Owns quarantining a damaged database: it is renamed, never deleted, and reported until acknowledged.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use rusqlite::{Connection, params};

use crate::clock::{self, time_of};
use crate::store::connection::{DATABASE_NAME, with_suffix};
use crate::store::failure::Failure;

/// The separator between the database's name and the number of a quarantined one.
const MARK: &str = ".damaged-";

/// A quarantined database: damaged, and renamed so that a new one could be created. If the process ended in
/// between, only its log may be renamed, and the journal's database then lacks the commits in that log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAside {
    /// Its name in the journal's folder now.
    pub name: String,
    /// The time at which the damage was detected, to the millisecond.
    pub found_at: SystemTime,
}

/// Renames the database and its log to the next free number.
pub(crate) fn move_away(folder: &Path) -> Result<(), Failure> {
    let database = folder.join(DATABASE_NAME);
    let free = (1_u32..)
        .map(|number| with_suffix(&database, &format!("{MARK}{number}")))
        .find(|path| !path.exists() && !with_suffix(path, "-wal").exists())
        .expect("the numbers outlast the names in a folder");
    // The log is renamed first: a new database must never meet the log of another one.
    for suffix in ["-wal", ""] {
        match fs::rename(with_suffix(&database, suffix), with_suffix(&free, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    match fs::remove_file(with_suffix(&database, "-shm")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    File::open(folder)?.sync_all()?;
    Ok(())
}

/// Lists the names of all quarantined databases in `folder`, without the names of their logs.
///
/// The list comes from the folder, because a process may end between renaming a damaged database and
/// recording that in the new one.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    let start = format!("{DATABASE_NAME}{MARK}");
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        // A log may remain without its database, so both names count.
        if let Ok(name) = entry?.file_name().into_string()
            && let Some(number) = name.strip_prefix(&start)
            && number.trim_end_matches("-wal").parse::<u32>().is_ok()
        {
            names.push(name.trim_end_matches("-wal").to_owned());
        }
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Records the quarantined databases in `folder` that `connection` does not know yet, so that they are reported.
///
/// A sound database may lack one: if the process ends after a damaged database's log was renamed, the database
/// without that log may pass the check, and lacks the commits in it.
pub(crate) fn record(folder: &Path, connection: &Connection) -> Result<(), Failure> {
    let names = names(folder)?;
    // Once the user has removed the files of an acknowledged one, its name can be reused.
    let mut statement =
        connection.prepare("SELECT name FROM set_aside WHERE acknowledged_at_ms IS NOT NULL")?;
    let acknowledged: Vec<String> =
        statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for name in acknowledged.iter().filter(|name| !names.contains(name)) {
        connection.execute("DELETE FROM set_aside WHERE name = ?1", [name])?;
    }
    for name in names {
        connection.execute(
            "INSERT INTO set_aside (name, found_at_ms) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING",
            params![name, clock::now_ms()],
        )?;
    }
    Ok(())
}

/// Lists the quarantined databases that are not acknowledged yet.
pub(crate) fn unacknowledged(connection: &Connection) -> Result<Vec<SetAside>, Failure> {
    let mut statement = connection.prepare(
        "SELECT name, found_at_ms FROM set_aside WHERE acknowledged_at_ms IS NULL ORDER BY number",
    )?;
    let rows =
        statement.query_map([], |row| Ok(SetAside { name: row.get(0)?, found_at: time_of(row.get(1)?) }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
