//! Owns what happens to a damaged database: it is renamed, never deleted, and remembered until acknowledged.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use rusqlite::Connection;

use crate::clock::time_of;
use crate::store::connection::{DATABASE_NAME, with_suffix};
use crate::store::failure::Failure;

/// What stands between the database's name and a number in the name of a damaged one.
const MARK: &str = ".damaged-";

/// A damaged database that was renamed so that a fresh one could take its place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAside {
    /// Its name in the journal's folder now.
    pub name: String,
    /// When it was found, to the millisecond.
    pub found_at: SystemTime,
}

/// Renames the database and its log to the next free name.
pub(crate) fn move_away(folder: &Path) -> Result<(), Failure> {
    let database = folder.join(DATABASE_NAME);
    let free = (1_u32..)
        .map(|number| with_suffix(&database, &format!("{MARK}{number}")))
        .find(|path| !path.exists() && !with_suffix(path, "-wal").exists())
        .expect("the numbers outlast the names in a folder");
    // The log goes first: a fresh database must never meet the log of another one.
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

/// The names of all databases that were ever set aside and still lie in `folder`, without their logs' names.
///
/// A process may end between renaming a damaged database and making the fresh one, so the folder itself is
/// asked and not the memory of one process.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    let start = format!("{DATABASE_NAME}{MARK}");
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
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

/// What nobody has acknowledged yet.
pub(crate) fn unacknowledged(connection: &Connection) -> Result<Vec<SetAside>, Failure> {
    let mut statement = connection.prepare(
        "SELECT name, found_at_ms FROM set_aside WHERE acknowledged_at_ms IS NULL ORDER BY number",
    )?;
    let rows =
        statement.query_map([], |row| Ok(SetAside { name: row.get(0)?, found_at: time_of(row.get(1)?) }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
