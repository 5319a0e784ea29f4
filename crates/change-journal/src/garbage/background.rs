//! Owns removing contents beyond a limit while other threads read and write. Each commit removes a few
//! contents, and none that a caller may be about to refer to.

use std::thread;
use std::time::{Duration, SystemTime};

use rusqlite::{OptionalExtension, params};

use crate::error::JournalError;
use crate::garbage::{
    self, Candidate, GarbageReport, GarbageRule, candidates, cut_changes, protected_contents,
};
use crate::journal::Journal;
use crate::reader::JournalReader;
use crate::run::RunNumber;
use crate::store::rows::HashColumn;
use crate::write::work::{Work, Write};
use content_hash::ContentHash;

/// The number of contents removed in one commit.
const STEP_CONTENTS: usize = 16;

/// The pause between two commits, for other callers.
const PAUSE: Duration = Duration::from_millis(5);

/// The time for which a content stays although no change refers to it: a client that received it may soon
/// edit its lines.
const YOUNG: Duration = Duration::from_secs(24 * 60 * 60);

/// A file stays this long after it was last used: the commit that refers to it may be on its way.
const YOUNG_FILE: Duration = Duration::from_secs(10 * 60);

/// Removes a few contents, skipping those that came into use again.
struct RemoveSome {
    hashes: Vec<ContentHash>,
    /// The newest run at the time when the candidates were chosen; contents of later runs stay.
    last_run: RunNumber,
    /// Contents without a change stay if they were stored after this, in milliseconds since 1970.
    stored_before_ms: i64,
}

impl Work for RemoveSome {
    type Value = GarbageReport;

    fn apply(&self, write: &Write<'_>) -> Result<GarbageReport, JournalError> {
        // A content may have come into use since it was chosen, so each one is checked again inside the
        // transaction.
        let mut report = GarbageReport::default();
        for hash in &self.hashes {
            let Some(length_bytes) = self.length_if_removable(hash, write)? else { continue };
            report.changes_cut += cut_changes(hash, write)?;
            write
                .connection
                .prepare_cached("DELETE FROM content WHERE hash = ?1")?
                .execute([HashColumn(*hash)])?;
            report.contents_removed += 1;
            report.contents_bytes += length_bytes;
        }
        Ok(report)
    }
}

impl RemoveSome {
    fn length_if_removable(
        &self,
        hash: &ContentHash,
        write: &Write<'_>,
    ) -> Result<Option<u64>, JournalError> {
        // Recorded extended attributes are contents like any other, so all four columns count, as they do
        // when the candidates are chosen.
        let mut statement = write.connection.prepare_cached(
            "SELECT length_bytes FROM content WHERE hash = ?1
               AND (stored_at_ms < ?2 OR EXISTS (
                   SELECT 1 FROM change WHERE before_content = ?1 OR after_content = ?1
                       OR before_attributes = ?1 OR after_attributes = ?1))
               AND NOT EXISTS (
                   SELECT 1 FROM change JOIN run ON run.number = change.run
                   WHERE (change.before_content = ?1 OR change.after_content = ?1
                       OR change.before_attributes = ?1 OR change.after_attributes = ?1)
                     AND (run.finished_at_ms IS NULL OR change.state NOT IN ('settled', 'conflicted')
                         OR run.number > ?3))",
        )?;
        let parameters = params![HashColumn(*hash), self.stored_before_ms, self.last_run];
        let length_bytes: Option<i64> = statement.query_row(parameters, |row| row.get(0)).optional()?;
        Ok(length_bytes.map(i64::cast_unsigned))
    }
}

impl JournalReader {
    /// The length of all contents that are held, in bytes.
    pub fn held_bytes(&self) -> Result<u64, JournalError> {
        self.read(|connection| {
            let sum: i64 = connection
                .prepare_cached("SELECT coalesce(sum(length_bytes), 0) FROM content")?
                .query_row([], |row| row.get(0))?;
            Ok(sum.cast_unsigned())
        })
    }

    fn last_run(&self) -> Result<RunNumber, JournalError> {
        self.read(|connection| {
            let last: i64 = connection
                .prepare_cached("SELECT coalesce(max(number), 0) FROM run")?
                .query_row([], |row| row.get(0))?;
            Ok(RunNumber(last.cast_unsigned()))
        })
    }
}

impl Journal {
    /// Removes contents, those whose newest change is the oldest first, until at most `rule.limit_bytes` are
    /// left, as far as the rule allows. It does not block other callers: they read and write between the
    /// commits, each of which removes a few contents. It calls `goes_on` before each commit and stops when
    /// that returns `false`; contents removed until then stay removed.
    ///
    /// It keeps everything that [`collect_garbage`](Self::collect_garbage) keeps, and in addition contents of runs that
    /// began in the meantime, and, for a day, contents that no change refers to. The space in the database is reused,
    /// not returned to the disk.
    ///
    /// # Errors
    ///
    /// Those of the disk. Contents removed by earlier commits stay removed; stray files are removed the next
    /// time.
    pub fn collect_in_background(
        &self,
        rule: &GarbageRule,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<GarbageReport, JournalError> {
        self.flush_for_collection()?;
        let reader = self.reader();
        let mut report = GarbageReport { kept_bytes: reader.held_bytes()?, ..GarbageReport::default() };
        if report.kept_bytes <= rule.limit_bytes {
            return Ok(report);
        }
        // Contents of runs that begin from here on stay.
        let last_run = reader.last_run()?;
        let young_ms = i64::try_from(YOUNG.as_millis()).unwrap_or(i64::MAX);
        let stored_before_ms = crate::clock::now_ms().saturating_sub(young_ms);
        let mut removable: Vec<Candidate> = reader.read(|connection| {
            let protected = protected_contents(rule, connection)?;
            let mut removable = candidates(connection)?;
            removable.retain(|candidate| candidate.is_over && !protected.contains(&candidate.hash));
            Ok(removable)
        })?;
        removable.sort_by_key(|candidate| candidate.newest);
        let mut left = removable.into_iter();
        // Small commits with pauses keep the writer responsive to other callers.
        while report.kept_bytes > rule.limit_bytes && goes_on() {
            let hashes = few(&mut left, report.kept_bytes - rule.limit_bytes);
            if hashes.is_empty() {
                break;
            }
            let removed = self.wait_for(RemoveSome { hashes, last_run, stored_before_ms })?;
            report.contents_removed += removed.contents_removed;
            report.contents_bytes += removed.contents_bytes;
            report.changes_cut += removed.changes_cut;
            report.kept_bytes = report.kept_bytes.saturating_sub(removed.contents_bytes);
            thread::sleep(PAUSE);
        }
        if let Some(blobs) = self.blobs() {
            let before = SystemTime::now().checked_sub(YOUNG_FILE);
            let files = garbage::remove_stray_files(blobs, reader, before)?;
            (report.files_removed, report.files_bytes) = (files.removed, files.removed_bytes);
            (report.files_kept, report.files_kept_bytes) = (files.kept, files.kept_bytes);
        }
        Ok(report)
    }
}

/// Takes the next few contents, and stops once enough bytes are chosen.
fn few(left: &mut impl Iterator<Item = Candidate>, excess_bytes: u64) -> Vec<ContentHash> {
    let (mut hashes, mut bytes) = (Vec::new(), 0);
    while hashes.len() < STEP_CONTENTS && bytes < excess_bytes {
        let Some(next) = left.next() else { break };
        bytes += next.length_bytes;
        hashes.push(next.hash);
    }
    hashes
}
