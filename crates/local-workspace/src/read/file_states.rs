//! The versions of files, determined without reading unchanged ones.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use change_journal::{ChangeNumber, ContentHash};
use rel_path::RelPath;
use sandbox_fs::{FileStamp, OpenFile};
use wap_core::{Call, FileState, FileStates, Moment, Retention, WapError};

use crate::change::held_versions::{HELD_FILE_BYTES, version};
use crate::change::present::CONTENT_LIMIT_BYTES;
use crate::engine::LocalWorkspace;
use crate::errors::journal_error;
use crate::git::credentials;

/// The number of files remembered by their stamps.
const REMEMBERED_FILES: usize = 4_096;

/// The longest tick of a file system's clock: a file that changes twice within one keeps its stamp.
const TICK_NANOSECONDS: i64 = 20_000_000;

/// The versions of files at the last read, with their stamps.
#[derive(Debug, Default)]
pub(crate) struct KnownStamps {
    files: Mutex<HashMap<RelPath, Remembered>>,
}

#[derive(Clone, Copy, Debug)]
struct Remembered {
    stamp: FileStamp,
    hash: ContentHash,
    /// True if the bytes are in the journal, for conversations that outlive the process.
    is_durable: bool,
}

impl KnownStamps {
    fn get(&self, path: &RelPath, stamp: FileStamp) -> Option<Remembered> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.get(path).filter(|remembered| remembered.stamp == stamp).copied()
    }

    fn put(&self, path: &RelPath, remembered: Remembered) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() >= REMEMBERED_FILES && !files.contains_key(path) {
            // Needed entries are read again.
            files.clear();
        }
        files.insert(path.clone(), remembered);
    }
}

impl LocalWorkspace {
    /// Returns the version of each file; see [`wap_core::Workspace::file_states`].
    pub(crate) fn states(
        &self,
        call: &Call<'_>,
        paths: &[String],
        since: Option<&Moment>,
    ) -> Result<FileStates, WapError> {
        // The moment is before the files are read: later changes count as after it.
        let latest = self.journal.reader().latest_changes(None, 1).map_err(journal_error)?;
        let change = latest.first().map_or(0, |change| change.number.0);
        let moment = Moment { clock_nanoseconds: now_nanoseconds(), change };
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            self.check_cancelled(call)?;
            files.push(self.state(call, path, since));
        }
        Ok(FileStates { moment, files })
    }

    /// `None` for what cannot be read as a file.
    fn state(&self, call: &Call<'_>, requested: &str, since: Option<&Moment>) -> Option<FileState> {
        let path = self.file_path(requested).ok()?;
        self.hidden.check(&path).ok()?;
        let file = self.root.open_file(&path).ok()?;
        self.hidden.check(file.path()).ok()?;
        let path = self.stored_path(file.path(), requested).ok()?;
        let changed = file.metadata().status_changed_nanoseconds;
        // Git's own files are not shown unchanged, so they have no version.
        let hash =
            if credentials::may_be_in(&path) { None } else { self.hash_of(call.origin.retention, &file) };
        let has_changed = since.is_some_and(|since| {
            (changed >= i128::from(since.clock_nanoseconds) || !file.has_local_times())
                && !self.is_change_before(&path, hash.as_ref(), since)
        });
        Some(FileState { path: path.to_string(), version: hash.as_ref().map(version), has_changed })
    }

    /// Checks whether the file is still the result of its last recorded change, and that change is older than a moment.
    fn is_change_before(&self, path: &RelPath, hash: Option<&ContentHash>, moment: &Moment) -> bool {
        let changes = self.journal.reader().changes_of_path(path.as_bytes(), 1).unwrap_or_default();
        let Some((change, hash)) = changes.first().zip(hash) else { return false };
        change.number <= ChangeNumber(moment.change)
            && change.after.as_ref().and_then(|after| after.content) == Some(*hash)
    }

    /// The hash of a file, whose bytes are held from now on if it is small enough.
    fn hash_of(&self, retention: Retention, file: &OpenFile) -> Option<ContentHash> {
        let metadata = *file.metadata();
        let is_small = metadata.size_bytes <= HELD_FILE_BYTES;
        // Elsewhere equal stamps prove little: the times come from another clock, or are coarse.
        let has_local_times = file.has_local_times();
        if has_local_times && let Some(remembered) = self.stamps.get(file.path(), metadata.stamp()) {
            let is_held = match retention {
                Retention::Durable => remembered.is_durable,
                Retention::Process => self.held.keeps(&remembered.hash),
            };
            if is_held || !is_small {
                return Some(remembered.hash);
            }
        }
        let began = now_nanoseconds();
        let bytes = file.read_to_end(CONTENT_LIMIT_BYTES).ok()?;
        let after = file.metadata_now().ok()?;
        let hash = ContentHash::of(&bytes);
        self.held.hold(hash, &bytes, retention);
        // A file that changes once more within the same tick keeps its stamp.
        let is_settled =
            i128::from(began.saturating_sub(TICK_NANOSECONDS)) > metadata.status_changed_nanoseconds;
        if has_local_times && is_settled && after.stamp() == metadata.stamp() {
            let remembered =
                Remembered { stamp: metadata.stamp(), hash, is_durable: retention == Retention::Durable };
            self.stamps.put(file.path(), remembered);
        }
        Some(hash)
    }
}

/// The clock of file times: later changes never have earlier times. Changes within the same tick may have the same
/// time.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn now_nanoseconds() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
}

/// The time a tick ago, because files may get times that are as old.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn now_nanoseconds() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    let now = i64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(i64::MAX);
    now.saturating_sub(TICK_NANOSECONDS)
}
