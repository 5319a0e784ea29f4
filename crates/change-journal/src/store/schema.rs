//! Owns the database's schema: its versions, and the migration from each to the next.

use rusqlite::Connection;

use crate::store::failure::Failure;

/// Distinguishes a journal from any other SQLite database.
const APPLICATION_ID: i32 = 0x6167_6a6c;

/// The step from each version to the next; the first one starts from nothing.
const MIGRATIONS: &[&str] =
    &[include_str!("../../migrations/0001.sql"), include_str!("../../migrations/0002.sql")];

/// The newest version that this program writes and reads.
pub(crate) const SUPPORTED: u32 = MIGRATIONS.len() as u32;

/// The version of an existing database; anything that is not a journal counts as damaged.
pub(crate) fn version(connection: &Connection) -> Result<u32, Failure> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if application != APPLICATION_ID || version == 0 {
        return Err(Failure::Damaged);
    }
    Ok(version)
}

/// Presents a database of an earlier schema to a read-only connection as one of the newest: values that it
/// did not record yet read as unknown. Such a database may be on read-only media, so it cannot be migrated.
pub(crate) fn show_as_newest(connection: &Connection) -> Result<(), Failure> {
    let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == 1 {
        // If a writer migrates the database in the meantime, the table's own columns take precedence.
        connection.execute_batch(
            "CREATE TEMP VIEW change AS
                 SELECT *, NULL AS before_attributes, NULL AS after_attributes FROM main.change",
        )?;
    }
    Ok(())
}

/// Brings a database from version `from` to [`SUPPORTED`], each step in a separate transaction.
pub(crate) fn migrate(connection: &Connection, from: u32) -> Result<(), Failure> {
    for (index, migration) in MIGRATIONS.iter().enumerate().skip(from as usize) {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let applied = connection.execute_batch(migration).and_then(|()| {
            connection.pragma_update(None, "application_id", APPLICATION_ID)?;
            connection.pragma_update(None, "user_version", index as u32 + 1)?;
            connection.execute_batch("COMMIT")
        });
        if let Err(error) = applied {
            if !connection.is_autocommit() {
                connection.execute_batch("ROLLBACK")?;
            }
            return Err(error.into());
        }
    }
    Ok(())
}
