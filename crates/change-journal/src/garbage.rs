//! Owns removing contents that are no longer needed, oldest first.

mod background;

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use rusqlite::{Connection, params};

use crate::change::RecordedAttributes;
use crate::error::JournalError;
use crate::journal::Journal;
use crate::reader::JournalReader;
use crate::run::RunNumber;
use crate::store::connection::Location;
use crate::store::rows::HashColumn;
use content_hash::ContentHash;

use crate::store::content_store::BlobFiles;
use crate::store::failure::Failure;
use crate::write::work::{Work, Write};

/// The rule that decides which contents are removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GarbageRule {
    /// The maximum number of bytes of contents to keep for changes, as far as the rest of the rule allows.
    pub limit_bytes: u64,
    /// Contents to keep although no change refers to them.
    pub needed: HashSet<ContentHash>,
    /// Conversations in progress: contents that their changes refer to stay.
    pub conversations: BTreeSet<String>,
}

/// The contents and files that a collection removed, and the space that is left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GarbageReport {
    /// The number of contents removed.
    pub contents_removed: u64,
    /// Their length in bytes.
    pub contents_bytes: u64,
    /// The number of changes that can no longer be undone, because the content before them was removed.
    pub changes_cut: u64,
    /// The number of files without a commit that were removed: leftovers of writes that failed or were
    /// interrupted.
    pub files_removed: u64,
    /// Their length in bytes.
    pub files_bytes: u64,
    /// The number of content files that the journal does not know and that stay, because a quarantined database
    /// next to it may refer to them. They are removed once its files are.
    pub files_kept: u64,
    /// Their length in bytes.
    pub files_kept_bytes: u64,
    /// The length of all contents that are left, in bytes.
    pub kept_bytes: u64,
    /// The bytes by which the database file shrank.
    pub database_bytes: u64,
}

impl Journal {
    /// Removes contents that are no longer needed, by the rule: first those that no change refers to, then,
    /// while the rest exceeds the limit, those whose newest change is the oldest. Contents of unsettled
    /// changes and of unfinished runs stay. No other caller may write to the journal in the meantime.
    ///
    /// Then it returns the space to the disk, as far as the disk has room to do so. Otherwise the space is
    /// reused, and the next collection returns it. While a quarantined database is in the journal's folder,
    /// the files of large contents stay, and the report counts them.
    ///
    /// # Errors
    ///
    /// Those of the disk. The contents are removed in one commit; leftover files are removed the next time.
    pub fn collect_garbage(&self, rule: &GarbageRule) -> Result<GarbageReport, JournalError> {
        self.flush_for_collection()?;
        let stray = || match self.blobs() {
            Some(blobs) => remove_stray_files(blobs, self.reader(), None),
            None => Ok(StrayFiles::default()),
        };
        let before = stray()?;
        let report = self.wait_for(CollectGarbage { rule: rule.clone() })?;
        // The files of the contents that were just removed are stray now, and already counted as removed.
        let after = stray()?;
        let database_bytes = match self.blobs() {
            // The contents stay removed even if their space cannot be returned now.
            Some(_) => give_back(self.reader().location()).unwrap_or(0),
            None => 0,
        };
        Ok(GarbageReport {
            files_removed: before.removed,
            files_bytes: before.removed_bytes,
            files_kept: after.kept,
            files_kept_bytes: after.kept_bytes,
            database_bytes,
            ..report
        })
    }

    /// Commits the lazy writes before a collection, which only sees committed rows, as far as the disk has
    /// space for them: making space is the purpose of a collection.
    fn flush_for_collection(&self) -> Result<(), JournalError> {
        match self.flush() {
            Err(JournalError::NoSpace) => Ok(()),
            flushed => flushed,
        }
    }
}

/// Removes contents from the database; the files of large ones are removed afterwards.
pub(crate) struct CollectGarbage {
    pub(crate) rule: GarbageRule,
}

/// A content and the runs that refer to it.
pub(crate) struct Candidate {
    pub(crate) hash: ContentHash,
    pub(crate) length_bytes: u64,
    /// The newest run with a change that refers to it; `None` if no change does.
    pub(crate) newest: Option<RunNumber>,
    /// `true` if all of these runs are finished and all of these changes settled.
    pub(crate) is_over: bool,
}

impl Work for CollectGarbage {
    type Value = GarbageReport;

    fn apply(&self, write: &Write<'_>) -> Result<GarbageReport, JournalError> {
        let mut candidates = candidates(write.connection)?;
        let mut report = GarbageReport {
            kept_bytes: candidates.iter().map(|candidate| candidate.length_bytes).sum(),
            ..GarbageReport::default()
        };
        let protected = protected_contents(&self.rule, write.connection)?;
        candidates.retain(|candidate| candidate.is_over && !protected.contains(&candidate.hash));
        // Contents without a change are removed first, and regardless of the limit.
        candidates.sort_by_key(|candidate| candidate.newest);
        for candidate in candidates {
            if candidate.newest.is_some() && report.kept_bytes <= self.rule.limit_bytes {
                break;
            }
            // The changes keep their hashes, so that a later undo can name the missing content.
            report.changes_cut += cut_changes(&candidate.hash, write)?;
            write
                .connection
                .prepare_cached("DELETE FROM content WHERE hash = ?1")?
                .execute([HashColumn(candidate.hash)])?;
            report.contents_removed += 1;
            report.contents_bytes += candidate.length_bytes;
            report.kept_bytes -= candidate.length_bytes;
        }
        Ok(report)
    }
}

/// Returns the contents that stay whatever their age.
pub(crate) fn protected_contents(
    rule: &GarbageRule,
    connection: &Connection,
) -> Result<HashSet<ContentHash>, JournalError> {
    let mut protected = rule.needed.clone();
    for conversation in &rule.conversations {
        protected.extend(contents_of(conversation, connection)?);
    }
    Ok(protected)
}

/// Returns all contents, each with the newest run that refers to it.
pub(crate) fn candidates(connection: &Connection) -> Result<Vec<Candidate>, JournalError> {
    let mut statement = connection.prepare_cached(
        "SELECT content.hash, content.length_bytes, max(run.number) AS newest,
             min(run.number IS NULL
                 OR (run.finished_at_ms IS NOT NULL AND change.state IN ('settled', 'conflicted'))) AS is_over
         FROM content
             LEFT JOIN change ON change.before_content = content.hash OR change.after_content = content.hash
                 OR change.before_attributes = content.hash OR change.after_attributes = content.hash
             LEFT JOIN run ON run.number = change.run
         GROUP BY content.hash",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(Candidate {
            hash: row.get::<_, HashColumn>(0)?.0,
            length_bytes: row.get::<_, i64>(1)?.cast_unsigned(),
            newest: row.get(2)?,
            is_over: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn contents_of(conversation: &str, connection: &Connection) -> Result<Vec<ContentHash>, JournalError> {
    let mut statement = connection.prepare_cached(
        "SELECT before_content, after_content, before_attributes, after_attributes FROM change JOIN run ON run.number = change.run
         WHERE run.conversation = ?1",
    )?;
    let attributes = |recorded: RecordedAttributes| match recorded {
        RecordedAttributes::Content(hash) => Some(hash),
        RecordedAttributes::Unknown | RecordedAttributes::None => None,
    };
    let hash = |column: Option<HashColumn>| column.map(|column| column.0);
    let rows = statement.query_map(params![conversation], |row| {
        Ok([hash(row.get(0)?), hash(row.get(1)?), attributes(row.get(2)?), attributes(row.get(3)?)])
    })?;
    let sides: Vec<[Option<ContentHash>; 4]> = rows.collect::<rusqlite::Result<_>>()?;
    Ok(sides.into_iter().flatten().flatten().collect())
}

/// Counts the changes that had this content before them.
pub(crate) fn cut_changes(hash: &ContentHash, write: &Write<'_>) -> Result<u64, JournalError> {
    let mut statement =
        write.connection.prepare_cached("SELECT count(*) FROM change WHERE before_content = ?1")?;
    Ok(statement.query_row([HashColumn(*hash)], |row| row.get::<_, i64>(0))?.cast_unsigned())
}

/// The stray files of a collection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StrayFiles {
    pub(crate) removed: u64,
    pub(crate) removed_bytes: u64,
    pub(crate) kept: u64,
    pub(crate) kept_bytes: u64,
}

/// Removes the files of contents that the journal does not know; with `unused_since`, only those last used
/// before that time. While a quarantined database exists, all contents stay: a rescue of that database needs them.
pub(crate) fn remove_stray_files(
    blobs: &BlobFiles,
    reader: &JournalReader,
    unused_since: Option<SystemTime>,
) -> Result<StrayFiles, JournalError> {
    let mut files = StrayFiles::default();
    let may_be_salvaged = blobs.are_next_to_quarantined()?;
    blobs.each_file(|path, name| {
        let hash = name.parse::<ContentHash>().ok();
        if let Some(hash) = hash
            && (blobs.is_in_flight(&hash) || reader.holds_content(&hash)?)
        {
            return Ok(());
        }
        // A file under another name is a write that was never completed, which no database refers to.
        if hash.is_some() && may_be_salvaged {
            files.kept += 1;
            files.kept_bytes += fs::symlink_metadata(path).map_or(0, |metadata| metadata.len());
            return Ok(());
        }
        let is_used = unused_since.is_some_and(|time| !was_unused(path, time));
        if !is_used && let Some(length) = remove(path)? {
            files.removed += 1;
            files.removed_bytes += length;
        }
        Ok(())
    })?;
    Ok(files)
}

/// Returns whether a file was last written or reused before this time; `false` if that cannot be determined.
fn was_unused(path: &Path, since: SystemTime) -> bool {
    fs::symlink_metadata(path).and_then(|metadata| metadata.modified()).is_ok_and(|modified| modified < since)
}

fn remove(path: &Path) -> Result<Option<u64>, JournalError> {
    let removed = fs::symlink_metadata(path).and_then(|metadata| {
        fs::remove_file(path)?;
        Ok(metadata.len())
    });
    match removed {
        Ok(length) => Ok(Some(length)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::from(error).into()),
    }
}

/// Returns the unused space of the database to the disk, and the number of bytes.
///
/// # Errors
///
/// Those of the disk; the database is then unchanged.
pub(crate) fn give_back(location: &Location) -> Result<u64, Failure> {
    let connection = location.connect_to_write()?;
    let number = |name: &str| -> Result<u64, Failure> {
        let value: i64 = connection.pragma_query_value(None, name, |row| row.get(0))?;
        Ok(value.cast_unsigned())
    };
    let before = number("page_count")?;
    if number("freelist_count")? == 0 {
        return Ok(0);
    }
    if number("auto_vacuum")? == 0 {
        // A database made before incremental vacuum is rewritten once, in a temporary file because it may not
        // fit in memory.
        connection.pragma_update(None, "temp_store", "FILE")?;
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.execute_batch("VACUUM")?;
    } else {
        // Each step of this statement frees one page.
        let mut statement = connection.prepare("PRAGMA incremental_vacuum")?;
        let mut steps = statement.query([])?;
        while steps.next()?.is_some() {}
    }
    // Folding the log in shortens the file. A reader that is active now only delays that.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(before.saturating_sub(number("page_count")?) * number("page_size")?)
}
