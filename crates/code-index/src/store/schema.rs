//! The tables of the store.
//!
//! Columns that are read for all files at once are separate from long ones.

use rusqlite::Connection;

use crate::language::Language;

/// Marks a database as an index of this crate: the bytes `cidx`.
pub(crate) const APPLICATION: i32 = 0x6369_6478;

/// The version of the tables, the word splitting, the exclusions from files, and the definitions of languages.
const FORMAT: i32 = 7;

/// The version of a store, whose last byte is the number of languages: a store has no definitions for files of a language that it
/// does not know. A store of another version is rebuilt from the files.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "checked at compile time")]
pub(crate) const VERSION: i32 = {
    let languages = Language::ALL.len();
    assert!(languages < 256);
    FORMAT << 8 | languages as i32
};

/// The size up to which full text is buffered before it is written: each write creates a segment that has to be merged.
const GATHERED_BYTES: u32 = 4 << 20;

/// The number of segments of one size that are merged: a smaller one merges more often, a larger one slows down
/// searches.
const MERGED_PARTS: u32 = 8;

/// Creates the tables in an empty database.
pub(crate) fn create(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.execute_batch(&format!(
        "BEGIN IMMEDIATE;
        CREATE TABLE folder (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE file (
            id INTEGER PRIMARY KEY,
            folder INTEGER NOT NULL,
            name TEXT NOT NULL,
            stamp INTEGER NOT NULL,
            size INTEGER NOT NULL,
            hash BLOB,
            language INTEGER,
            UNIQUE (folder, name)
        ) STRICT;
        CREATE TABLE outline (
            id INTEGER PRIMARY KEY,
            definitions BLOB NOT NULL,
            imports BLOB NOT NULL,
            declared TEXT NOT NULL
        ) STRICT;
        CREATE VIRTUAL TABLE words USING fts5 (
            body, often, definitions, path,
            content = '', contentless_delete = 1, tokenize = \"ascii tokenchars '_'\"
        );
        INSERT INTO words (words, rank) VALUES ('hashsize', {GATHERED_BYTES}), ('automerge', {MERGED_PARTS});
        CREATE VIRTUAL TABLE word_count USING fts5vocab (words, row);
        CREATE TABLE fact (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO fact (name, value) VALUES ('complete', 0), ('graph', 0), ('texts', 0);
        PRAGMA application_id = {APPLICATION};
        PRAGMA user_version = {VERSION};
        COMMIT;"
    ))
}

/// Returns true if a database is an index of this version.
pub(crate) fn is_current(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let pragma = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i32>(0));
    Ok(pragma("application_id")? == APPLICATION && pragma("user_version")? == VERSION)
}
