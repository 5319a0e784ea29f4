//! Updates an index from its folder.
//!
//! The calling thread lists the folder, compares stamps and writes; two more threads read and parse the changed files. Files are
//! committed in batches, so an interrupted refresh keeps the earlier batches.

mod deadline;
pub(crate) mod folder_source;
pub(crate) mod follow;
pub(crate) mod prepare;

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rel_path::RelPath;
use wap_core::{CancelFlag, IndexError};

use crate::error::store_failed;
use crate::index::LocalIndex;
use crate::limits::IndexLimits;
use crate::refresh::folder_source::{FolderSource, ListedFile, written};
use crate::refresh::prepare::{Prepared, Preparer};
use crate::store::{self, Change, StampedFile, StoredStamp};

/// The number of threads that read and parse.
const WORKERS: usize = 2;
/// The most prepared files that wait to be written.
const QUEUE_FILES: usize = 64;
/// The most files of a batch, and the longest time of collecting one; readers see a batch when it is committed.
const UNIT_FILES: usize = 2_000;
const UNIT_TIME: Duration = Duration::from_millis(500);

/// The progress of a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of files read so far.
    pub done: u64,
    /// The number of files to read.
    pub total: u64,
}

/// The result of a refresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refreshed {
    /// New and changed files, which were read.
    pub read: u64,
    /// Removed files.
    pub removed: u64,
    /// Unchanged files.
    pub unchanged: u64,
    /// True if the folder was listed completely, and its files are within the limit.
    pub is_complete: bool,
}

impl LocalIndex {
    /// Compares the folder with the index and reads new and changed files. Calls `progress` after each batch.
    ///
    /// # Errors
    ///
    /// [`IndexError::Cancelled`], and [`IndexError::Failed`] if the folder no longer exists or the store fails. Files stored
    /// before the error stay. A damaged store is rebuilt, once.
    pub fn refresh(
        &self,
        cancel: &CancelFlag,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Refreshed, IndexError> {
        let _alone = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let refreshed = self.refresh_once(cancel, progress);
        self.or_rebuilt(refreshed, cancel, progress)
    }

    /// Rebuilds a store that turns out to be damaged, and reads all files again.
    fn or_rebuilt(
        &self,
        refreshed: Result<Refreshed, RefreshFailure>,
        cancel: &CancelFlag,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Refreshed, IndexError> {
        match refreshed {
            Err(RefreshFailure::Store(error)) if crate::error::is_damaged(&error) => {
                self.store.replace().map_err(|_| store_failed(&error))?;
                self.refresh_once(cancel, progress).map_err(IndexError::from)
            }
            other => other.map_err(IndexError::from),
        }
    }

    fn refresh_once(
        &self,
        cancel: &CancelFlag,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Refreshed, RefreshFailure> {
        let mut stored = self.store.stamped_files()?;
        let listing = self.source.list(&RelPath::root(), cancel).map_err(|_| RefreshFailure::FolderGone)?;
        if cancel.is_cancelled() {
            return Err(RefreshFailure::Cancelled);
        }
        let is_complete = listing.is_complete && listing.files.len() <= self.limits.files;
        let mut refreshed = Refreshed { is_complete, ..Refreshed::default() };
        let mut wanted = Vec::new();
        for file in listing.files.into_iter().take(self.limits.files) {
            let path = written(&file.path).unwrap_or_default();
            let is_unchanged =
                stored.remove(&path).is_some_and(|entry| entry.stamp == StoredStamp::from(file.stamp));
            if is_unchanged {
                refreshed.unchanged += 1;
            } else {
                wanted.push(file);
            }
        }
        // After an incomplete listing, a file that was not listed may still exist.
        let gone: Vec<i64> =
            if listing.is_complete { stored.values().map(|entry| entry.id).collect() } else { Vec::new() };
        self.carry_out(&wanted, &gone, cancel, progress, &mut refreshed)?;
        // A folder that vanishes during the refresh must not make the index complete.
        if !self.source.is_alive() {
            return Err(RefreshFailure::FolderGone);
        }
        let is_complete = refreshed.is_complete;
        self.store.write(|transaction| store::set_complete(transaction, is_complete))?;
        if refreshed.read + refreshed.removed > UNIT_FILES as u64 {
            self.store.reclaim_space()?;
        }
        Ok(refreshed)
    }

    /// Updates the index for changed paths: files, or folders with everything below them, existing or not. Paths that are not
    /// indexed are ignored. A changed `.gitignore` causes a refresh of the whole folder.
    ///
    /// # Errors
    ///
    /// As [`LocalIndex::refresh`].
    pub fn update(&self, changed: &[RelPath], cancel: &CancelFlag) -> Result<Refreshed, IndexError> {
        if changed.iter().any(|path| path.is_root() || path.file_name() == Some(b".gitignore")) {
            return self.refresh(cancel, &mut |_| {});
        }
        let _alone = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let refreshed = self.update_paths(changed, cancel);
        self.or_rebuilt(refreshed, cancel, &mut |_| {})
    }

    fn update_paths(&self, changed: &[RelPath], cancel: &CancelFlag) -> Result<Refreshed, RefreshFailure> {
        let mut refreshed = Refreshed { is_complete: true, ..Refreshed::default() };
        let (mut wanted, mut gone) = (Vec::new(), Vec::new());
        let mut ignores = self.source.ignores();
        for path in changed {
            let Some(text) = written(path) else { continue };
            let files = if !self.source.admits_by(path, &mut ignores) {
                Vec::new()
            } else if let Some(stamp) = self.source.stamp(path) {
                vec![ListedFile { path: path.clone(), stamp }]
            } else if self.source.is_folder(path) {
                let listing = self.source.list(path, cancel).map_err(|_| RefreshFailure::FolderGone)?;
                refreshed.is_complete &= listing.is_complete;
                listing.files
            } else {
                Vec::new()
            };
            let mut stored: std::collections::HashMap<String, StampedFile> =
                self.store.at_or_below(&text)?.into_iter().collect();
            for file in files {
                let entry = stored.remove(&written(&file.path).unwrap_or_default());
                if entry.is_some_and(|entry| entry.stamp == StoredStamp::from(file.stamp)) {
                    refreshed.unchanged += 1;
                } else {
                    wanted.push(file);
                }
            }
            gone.extend(stored.values().map(|entry| entry.id).filter(|_| refreshed.is_complete));
        }
        self.carry_out(&wanted, &gone, cancel, &mut |_| {}, &mut refreshed)?;
        Ok(refreshed)
    }

    /// Reads and stores the files `wanted`, and removes the entries `gone`.
    fn carry_out(
        &self,
        wanted: &[ListedFile],
        gone: &[i64],
        cancel: &CancelFlag,
        progress: &mut dyn FnMut(Progress),
        refreshed: &mut Refreshed,
    ) -> Result<(), RefreshFailure> {
        if !gone.is_empty() {
            self.store.write(|transaction| {
                let mut change = Change::default();
                for id in gone {
                    change += store::remove(transaction, *id)?;
                }
                store::note(transaction, change)
            })?;
            refreshed.removed += gone.len() as u64;
        }
        let total = wanted.len() as u64;
        // A single file is faster without starting threads.
        if let [file] = wanted {
            let mut preparer = Preparer::new(self.limits);
            if let Some(prepared) = read(&self.source, file, &self.limits, &mut preparer, cancel) {
                self.store.write(|transaction| {
                    let change = store::put(transaction, &prepared)?;
                    store::note(transaction, change)
                })?;
            }
        } else {
            self.read_all(wanted, cancel, progress)?;
        }
        if cancel.is_cancelled() {
            return Err(RefreshFailure::Cancelled);
        }
        refreshed.read += total;
        Ok(())
    }

    fn read_all(
        &self,
        wanted: &[ListedFile],
        cancel: &CancelFlag,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RefreshFailure> {
        let next = Mutex::new(wanted.iter());
        // Bounded, so that readers cannot fill the memory while the writer waits for the disk.
        let (send, receive) = mpsc::sync_channel::<Option<Prepared>>(QUEUE_FILES);
        let total = wanted.len() as u64;
        thread::scope(|scope| {
            for _ in 0..WORKERS.min(wanted.len()) {
                let (send, next) = (send.clone(), &next);
                scope.spawn(move || {
                    let mut preparer = Preparer::new(self.limits);
                    loop {
                        let file = next.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some(file) = file.filter(|_| !cancel.is_cancelled()) else { break };
                        // The receiver is dropped if the store fails.
                        if send.send(read(&self.source, file, &self.limits, &mut preparer, cancel)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(send);
            // Move it in, so that it is dropped with this closure and the workers end.
            let receive = receive;
            let mut done = 0;
            let mut is_open = true;
            while is_open {
                is_open = self.store.write(|transaction| {
                    let began = Instant::now();
                    let mut change = Change::default();
                    let mut is_open = true;
                    for _ in 0..UNIT_FILES {
                        match receive.recv_timeout(UNIT_TIME.saturating_sub(began.elapsed())) {
                            Ok(prepared) => {
                                done += 1;
                                if let Some(prepared) = prepared.filter(|_| !cancel.is_cancelled()) {
                                    change += store::put(transaction, &prepared)?;
                                }
                            }
                            Err(RecvTimeoutError::Timeout) => break,
                            Err(RecvTimeoutError::Disconnected) => {
                                is_open = false;
                                break;
                            }
                        }
                    }
                    store::note(transaction, change)?;
                    Ok(is_open)
                })?;
                progress(Progress { done, total });
            }
            Ok(())
        })
    }
}

/// Reads one file. `None` if it was removed in the meantime, which the next refresh detects.
fn read(
    source: &FolderSource,
    file: &ListedFile,
    limits: &IndexLimits,
    preparer: &mut Preparer,
    cancel: &CancelFlag,
) -> Option<Prepared> {
    let path = written(&file.path)?;
    if file.stamp.size_bytes > limits.file_bytes {
        return Some(Prepared { path, stamp: file.stamp, text: None });
    }
    let read = source.read(&file.path, limits.file_bytes)?;
    Some(preparer.prepare(&path, &read, source, cancel))
}

enum RefreshFailure {
    Cancelled,
    FolderGone,
    Store(rusqlite::Error),
}

impl From<rusqlite::Error> for RefreshFailure {
    fn from(error: rusqlite::Error) -> RefreshFailure {
        RefreshFailure::Store(error)
    }
}

impl From<RefreshFailure> for IndexError {
    fn from(failure: RefreshFailure) -> IndexError {
        match failure {
            RefreshFailure::Cancelled => IndexError::Cancelled,
            RefreshFailure::FolderGone => {
                IndexError::Failed { cause: "the folder is gone or cannot be read".to_owned() }
            }
            RefreshFailure::Store(error) => store_failed(&error),
        }
    }
}
