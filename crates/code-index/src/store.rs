//! The store of the index.

pub(crate) mod bag;
pub(crate) mod doc_id;
mod packed;
pub(crate) mod packed_outline;
mod repair;
mod schema;
pub(crate) mod store_folder;

use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use sandbox_fs::FileStamp;

use crate::error::OpenError;
use crate::language::Language;
use crate::refresh::prepare::{ContentHash, Prepared, PreparedText};
use crate::store::packed_outline::defined_names;
use crate::store::store_folder::{Connections, StoreFolder, StoreState};

/// The store, with one connection for writing and one for reading.
#[derive(Debug)]
pub(crate) struct Store {
    folder: StoreFolder,
    reader: Mutex<Connection>,
    writer: Mutex<Connection>,
}

impl Drop for Store {
    fn drop(&mut self) {
        // This only affects the size of the log: the next process that opens the store reads the log too.
        let _ = StoreFolder::checkpoint(&self.lock_writer());
    }
}

/// The id and stamp of a stored file.
#[derive(Clone, Debug)]
pub(crate) struct StampedFile {
    pub(crate) id: i64,
    pub(crate) stamp: StoredStamp,
}

/// The stored form of a stamp: a hash, since stamps are only compared for equality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredStamp(i64);

impl From<FileStamp> for StoredStamp {
    fn from(stamp: FileStamp) -> StoredStamp {
        let mut hasher = blake3::Hasher::new();
        for number in [stamp.device, stamp.inode, stamp.size_bytes] {
            hasher.update(&number.to_le_bytes());
        }
        for time in [stamp.modified_nanoseconds, stamp.status_changed_nanoseconds] {
            hasher.update(&time.to_le_bytes());
        }
        let mut number = [0; 8];
        hasher.finalize_xof().fill(&mut number);
        StoredStamp(i64::from_le_bytes(number))
    }
}

/// The stored entry of a file.
#[derive(Clone, Debug)]
pub(crate) struct StoredFile {
    pub(crate) path: String,
    /// `None` if it is not text.
    pub(crate) hash: Option<ContentHash>,
    pub(crate) language: Option<Language>,
    pub(crate) definitions: Vec<u8>,
}

/// The parts of a file's entry that resolving imports needs.
#[derive(Clone, Debug)]
pub(crate) struct ImportingFile {
    pub(crate) path: String,
    pub(crate) language: Option<Language>,
    pub(crate) imports: Vec<u8>,
    pub(crate) declared: String,
    pub(crate) definitions: Vec<u8>,
}

/// The size of the store's content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) files: u64,
    pub(crate) texts: u64,
    pub(crate) text_bytes: u64,
    pub(crate) is_complete: bool,
}

impl Store {
    pub(crate) fn open(folder: StoreFolder) -> Result<(Store, StoreState), OpenError> {
        let (Connections { reader, writer }, state) = folder.open()?;
        // Two connections: with a write-ahead log a reader does not wait for a writer.
        Ok((Store { folder, reader: Mutex::new(reader), writer: Mutex::new(writer) }, state))
    }

    /// Replaces the store with an empty one.
    pub(crate) fn replace(&self) -> Result<(), OpenError> {
        let mut writer = self.lock_writer();
        let mut reader = self.reader();
        // Close the old connections first, or they would write to deleted files.
        *reader = Connection::open_in_memory()?;
        *writer = Connection::open_in_memory()?;
        let replaced = self.folder.replace()?;
        (*reader, *writer) = (replaced.reader, replaced.writer);
        Ok(())
    }

    /// Returns the exclusive right to update the store in the background; `None` if another process has it.
    pub(crate) fn lead(&self) -> Option<std::fs::File> {
        self.folder.lead()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.folder.bytes()
    }

    pub(crate) fn reader(&self) -> MutexGuard<'_, Connection> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_writer(&self) -> MutexGuard<'_, Connection> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs changes in one transaction.
    pub(crate) fn write<T>(
        &self,
        change: impl FnOnce(&Transaction<'_>) -> Result<T, rusqlite::Error>,
    ) -> Result<T, rusqlite::Error> {
        let mut connection = self.lock_writer();
        // A deferred transaction could fail if its first write meets another writer, instead of waiting for it.
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let value = change(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }

    /// Frees disk space after large writes: releases empty pages, and truncates the log unless a reader uses it.
    pub(crate) fn reclaim_space(&self) -> Result<(), rusqlite::Error> {
        let writer = self.lock_writer();
        // Each row of the result frees a page.
        let mut statement = writer.prepare_cached("PRAGMA incremental_vacuum")?;
        let mut pages = statement.query([])?;
        while pages.next()?.is_some() {}
        writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }

    /// Returns every file with its stamp, by path.
    pub(crate) fn stamped_files(
        &self,
    ) -> Result<std::collections::HashMap<String, StampedFile>, rusqlite::Error> {
        let reader = self.reader();
        let sql = "SELECT path, name, file.id, stamp FROM folder JOIN file ON folder = folder.id";
        reader.prepare_cached(sql)?.query_map([], stamped_file)?.collect()
    }

    /// Returns the files at and below a path.
    pub(crate) fn at_or_below(&self, path: &str) -> Result<Vec<(String, StampedFile)>, rusqlite::Error> {
        let reader = self.reader();
        let (folder, name) = split(path);
        // Paths below a folder sort between its path with `/` and with `0`, the next character.
        let sql = "SELECT path, name, file.id, stamp FROM folder JOIN file ON folder = folder.id
                WHERE path = ?2 AND name = ?3
            UNION ALL SELECT path, name, file.id, stamp FROM folder JOIN file ON folder = folder.id
                WHERE path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0')";
        reader.prepare_cached(sql)?.query_map([path, folder, name], stamped_file)?.collect()
    }

    /// Returns the entry of a file.
    pub(crate) fn file(&self, path: &str) -> Result<Option<StoredFile>, rusqlite::Error> {
        let reader = self.reader();
        let (folder, name) = split(path);
        let sql = "SELECT path, name, hash, language, definitions
            FROM folder JOIN file ON folder = folder.id JOIN outline ON outline.id = file.id
            WHERE path = ?1 AND name = ?2";
        reader.prepare_cached(sql)?.query_row([folder, name], stored_file).optional()
    }

    /// Returns the entry of a file by its id.
    pub(crate) fn file_by_id(&self, id: i64) -> Result<Option<StoredFile>, rusqlite::Error> {
        let reader = self.reader();
        let sql = "SELECT path, name, hash, language, definitions
            FROM file JOIN folder ON folder.id = folder JOIN outline ON outline.id = file.id
            WHERE file.id = ?1";
        reader.prepare_cached(sql)?.query_row([id], stored_file).optional()
    }

    /// Returns every file with its imports, ordered by path.
    pub(crate) fn importing(&self) -> Result<Vec<ImportingFile>, rusqlite::Error> {
        let reader = self.reader();
        let sql = "SELECT path, name, language, imports, declared, definitions
            FROM file JOIN folder ON folder.id = folder JOIN outline ON outline.id = file.id";
        let mut statement = reader.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| {
            Ok(ImportingFile {
                path: path(row)?,
                language: language(row, 2)?,
                imports: row.get(3)?,
                declared: row.get(4)?,
                definitions: row.get(5)?,
            })
        })?;
        let mut files: Vec<ImportingFile> = rows.collect::<Result<_, _>>()?;
        // The rows come in the order of folders, which differs from that of whole paths.
        files.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        Ok(files)
    }

    pub(crate) fn totals(&self) -> Result<Totals, rusqlite::Error> {
        let reader = self.reader();
        let sql =
            "SELECT count(*), count(hash), coalesce(sum(size) FILTER (WHERE hash IS NOT NULL), 0) FROM file";
        let counts: [i64; 3] =
            reader.prepare_cached(sql)?.query_row([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
        let [files, texts, text_bytes] = counts.map(|count| u64::try_from(count).unwrap_or(0));
        Ok(Totals { files, texts, text_bytes, is_complete: fact(&reader, "complete")? != 0 })
    }

    /// Returns two flags: every file was read, and there is at least one text.
    pub(crate) fn state(&self) -> Result<(bool, bool), rusqlite::Error> {
        let reader = self.reader();
        Ok((fact(&reader, "complete")? != 0, fact(&reader, "texts")? > 0))
    }

    /// Returns a number that changes with every change that affects the resolution of imports.
    pub(crate) fn graph_number(&self) -> Result<i64, rusqlite::Error> {
        fact(&self.reader(), "graph")
    }
}

/// Reads a number about the whole index: `complete`, `graph` or `texts`.
pub(crate) fn fact(connection: &Connection, name: &str) -> Result<i64, rusqlite::Error> {
    let sql = "SELECT value FROM fact WHERE name = ?1";
    connection.prepare_cached(sql)?.query_row([name], |row| row.get(0))
}

pub(crate) fn set_complete(transaction: &Transaction<'_>, is_complete: bool) -> Result<(), rusqlite::Error> {
    let sql = "UPDATE fact SET value = ?1 WHERE name = 'complete'";
    transaction.prepare_cached(sql)?.execute([is_complete]).map(drop)
}

/// The effect of changes on the numbers about the whole index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// True if imports may resolve differently.
    graph: bool,
    /// The difference in the number of texts.
    texts: i64,
}

impl std::ops::AddAssign for Change {
    fn add_assign(&mut self, other: Change) {
        self.graph |= other.graph;
        self.texts += other.texts;
    }
}

/// Records the effect of changes, once for each transaction.
pub(crate) fn note(transaction: &Transaction<'_>, change: Change) -> Result<(), rusqlite::Error> {
    let mut add = transaction.prepare_cached("UPDATE fact SET value = value + ?2 WHERE name = ?1")?;
    if change.graph {
        add.execute(params!["graph", 1])?;
    }
    if change.texts != 0 {
        add.execute(params!["texts", change.texts])?;
    }
    Ok(())
}

fn stored_file(row: &Row<'_>) -> Result<StoredFile, rusqlite::Error> {
    Ok(StoredFile {
        path: path(row)?,
        hash: row.get(2)?,
        language: language(row, 3)?,
        definitions: row.get(4)?,
    })
}

fn stamped_file(row: &Row<'_>) -> Result<(String, StampedFile), rusqlite::Error> {
    Ok((path(row)?, StampedFile { id: row.get(2)?, stamp: StoredStamp(row.get(3)?) }))
}

/// Reads the path from the first two columns, folder and name.
fn path(row: &Row<'_>) -> Result<String, rusqlite::Error> {
    let (folder, name) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
    Ok(if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") })
}

/// Splits a path into its folder, empty for the root, and name. An absolute path gets the folder `/`, which never
/// exists.
fn split(path: &str) -> (&str, &str) {
    match path.rsplit_once('/') {
        None => ("", path),
        Some(("", name)) => ("/", name),
        Some(parts) => parts,
    }
}

fn language(row: &Row<'_>, column: usize) -> Result<Option<Language>, rusqlite::Error> {
    let number: Option<i64> = row.get(column)?;
    Ok(number.and_then(Language::of_number))
}

/// Stores a file, replacing its old entry. The caller records the returned change with [`note`].
///
/// Every statement here writes one row. A statement that may write several begins a savepoint, at which the
/// full-text index flushes its buffer.
pub(crate) fn put(transaction: &Transaction<'_>, file: &Prepared) -> Result<Change, rusqlite::Error> {
    let (folder, name) = split(&file.path);
    let folder = put_folder(transaction, folder)?;
    let sql = "SELECT id, hash IS NOT NULL FROM file WHERE folder = ?1 AND name = ?2";
    let stored = transaction
        .prepare_cached(sql)?
        .query_row(params![folder, name], |row| Ok((row.get(0)?, row.get(1)?)));
    let stored: Option<(i64, bool)> = stored.optional()?;
    let StoredStamp(stamp) = file.stamp.into();
    let text = file.text.as_ref();
    let sql = match stored {
        Some(_) => {
            "UPDATE file SET stamp = ?4, size = ?5, hash = ?6, language = ?7
            WHERE id = ?1 AND folder = ?2 AND name = ?3"
        }
        None => {
            "INSERT INTO file (id, folder, name, stamp, size, hash, language)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
        }
    };
    transaction.prepare_cached(sql)?.execute(params![
        stored.map(|(id, _)| id),
        folder,
        name,
        stamp,
        i64::try_from(file.stamp.size_bytes).unwrap_or(i64::MAX),
        text.map(|text| text.hash),
        text.and_then(|text| text.language).map(Language::number),
    ])?;
    let id = stored.map_or_else(|| transaction.last_insert_rowid(), |(id, _)| id);
    let changes_graph = put_outline(transaction, id, stored.is_some(), text)?;
    if let Some((_, true)) = stored {
        transaction.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([id])?;
    }
    if let Some(text) = text {
        let sql = "INSERT INTO words (rowid, body, often, definitions, path) VALUES (?1, ?2, ?3, ?4, ?5)";
        let PreparedText { body_words, often_words, definition_words, path_words, .. } = text;
        let values = params![id, body_words, often_words, definition_words, path_words];
        transaction.prepare_cached(sql)?.execute(values)?;
    }
    let was_text = stored.is_some_and(|(_, was_text)| was_text);
    Ok(Change {
        graph: changes_graph || crate::outline::manifests::is_manifest(&file.path),
        texts: i64::from(text.is_some()) - i64::from(was_text),
    })
}

/// Returns the id of a folder, and stores the folder if it is new.
fn put_folder(transaction: &Transaction<'_>, path: &str) -> Result<i64, rusqlite::Error> {
    let sql = "SELECT id FROM folder WHERE path = ?1";
    let stored = transaction.prepare_cached(sql)?.query_row([path], |row| row.get(0)).optional()?;
    if let Some(id) = stored {
        return Ok(id);
    }
    transaction.prepare_cached("INSERT INTO folder (path) VALUES (?1)")?.execute([path])?;
    Ok(transaction.last_insert_rowid())
}

/// Stores the outline of a file. Returns true if imports may resolve differently now.
fn put_outline(
    transaction: &Transaction<'_>,
    id: i64,
    is_stored: bool,
    text: Option<&PreparedText>,
) -> Result<bool, rusqlite::Error> {
    let (definitions, imports, declared): (&[u8], &[u8], &str) =
        text.map_or((&[], &[], ""), |text| (&text.definitions, &text.imports, &text.declared));
    if !is_stored {
        let sql = "INSERT INTO outline (id, definitions, imports, declared) VALUES (?1, ?2, ?3, ?4)";
        transaction.prepare_cached(sql)?.execute(params![id, definitions, imports, declared])?;
        return Ok(true);
    }
    let sql = "SELECT definitions, imports, declared FROM outline WHERE id = ?1";
    let is_same = transaction.prepare_cached(sql)?.query_row([id], |row| {
        let before: (Vec<u8>, Vec<u8>, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        // Only names affect imports. Lines change with every edit, and must not invalidate the graph.
        let has_same_names = defined_names(&before.0) == defined_names(definitions);
        Ok(has_same_names && before.1 == imports && before.2 == declared)
    })?;
    let sql = "UPDATE outline SET definitions = ?2, imports = ?3, declared = ?4 WHERE id = ?1";
    transaction.prepare_cached(sql)?.execute(params![id, definitions, imports, declared])?;
    Ok(!is_same)
}

/// Removes a file. The caller records the returned change with [`note`].
pub(crate) fn remove(transaction: &Transaction<'_>, id: i64) -> Result<Change, rusqlite::Error> {
    let sql = "SELECT hash IS NOT NULL, folder FROM file WHERE id = ?1";
    let stored = transaction.prepare_cached(sql)?.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)));
    let stored: Option<(bool, i64)> = stored.optional()?;
    let was_text = stored.map(|(was_text, _)| was_text);
    transaction.prepare_cached("DELETE FROM file WHERE id = ?1")?.execute([id])?;
    if let Some((_, folder)) = stored {
        let sql = "SELECT EXISTS (SELECT 1 FROM file WHERE folder = ?1)";
        if !transaction.prepare_cached(sql)?.query_row([folder], |row| row.get::<_, bool>(0))? {
            transaction.prepare_cached("DELETE FROM folder WHERE id = ?1")?.execute([folder])?;
        }
    }
    transaction.prepare_cached("DELETE FROM outline WHERE id = ?1")?.execute([id])?;
    if was_text == Some(true) {
        transaction.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([id])?;
    }
    Ok(Change { graph: was_text.is_some(), texts: -i64::from(was_text == Some(true)) })
}
