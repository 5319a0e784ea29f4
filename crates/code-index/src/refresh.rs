//! Bringing an index up to date.
//!
//! The calling thread lists the folder, compares stamps and writes; two more threads read and parse what is new. What is
//! stored is stored file by file within larger units, so that an interrupted refresh has not worked for nothing.

mod deadline;
pub(crate) mod folder_source;
pub(crate) mod follow;
pub(crate) mod prepare;

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rel_path::RelPath;
use wap_core::{CancelFlag, IndexError};

use crate::error::store_failed;
use crate::index::LocalIndex;
use crate::limits::IndexLimits;
use crate::refresh::folder_source::{FolderSource, FoundFile};
use crate::refresh::prepare::{Prepared, Preparer};
use crate::store::{self, Change, KnownFile, StoredStamp};

/// Threads that read and parse.
const WORKERS: usize = 2;
/// How many prepared files may wait for being written.
const QUEUE_FILES: usize = 64;
/// How many files are stored together at most, and for how long they are gathered: others see nothing before.
const UNIT_FILES: usize = 2_000;
const UNIT_TIME: Duration = Duration::from_millis(500);

/// How far a refresh is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Files that were read.
    pub done: u64,
    /// Files that have to be read.
    pub total: u64,
}

/// What a refresh has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refreshed {
    /// Files that were read because they are new or have changed.
    pub read: u64,
    /// Files that are gone.
    pub removed: u64,
    /// Files that were left as they are.
    pub unchanged: u64,
    /// Whether the folder was gone through to its end.
    pub is_complete: bool,
}

impl LocalIndex {
    /// Compares the folder with what is known and reads what is new. Tells `progress` now and then.
    ///
    /// # Errors
    ///
    /// [`IndexError::Cancelled`], and [`IndexError::Failed`] when the folder is gone or the store fails. What was stored
    /// before stays. A store that turns out to be damaged is made anew, once.
    pub fn refresh(
        &self,
        cancel: &CancelFlag,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Refreshed, IndexError> {
        let _alone = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        match self.refresh_once(cancel, progress) {
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
        let mut known = self.store.known()?;
        let listing = self.source.list(&RelPath::root(), cancel).map_err(|_| RefreshFailure::FolderGone)?;
        if cancel.is_cancelled() {
            return Err(RefreshFailure::Cancelled);
        }
        let mut refreshed = Refreshed { is_complete: listing.is_complete, ..Refreshed::default() };
        let mut wanted = Vec::new();
        for file in listing.files.into_iter().take(self.limits.files) {
            let path = file.path.to_str().unwrap_or_default();
            let is_known =
                known.remove(path).is_some_and(|known| known.stamp == StoredStamp::from(file.stamp));
            if is_known {
                refreshed.unchanged += 1;
            } else {
                wanted.push(file);
            }
        }
        // What a listing that was cut has not met may still be there.
        let gone: Vec<i64> =
            if listing.is_complete { known.values().map(|file| file.id).collect() } else { Vec::new() };
        self.carry_out(&wanted, &gone, cancel, progress, &mut refreshed)?;
        if !self.source.is_alive() {
            return Err(RefreshFailure::FolderGone);
        }
        let is_complete = refreshed.is_complete;
        self.store.write(|transaction| store::set_complete(transaction, is_complete))?;
        if refreshed.read + refreshed.removed > UNIT_FILES as u64 {
            self.store.give_space_back()?;
        }
        Ok(refreshed)
    }

    /// Takes in paths that somebody has seen changing: files, or folders for all that is beneath them, whether they are
    /// there or gone. Paths of files that are not indexed do no harm. A changed `.gitignore` makes the whole folder be
    /// looked at.
    ///
    /// # Errors
    ///
    /// As [`LocalIndex::refresh`].
    pub fn update(&self, changed: &[RelPath], cancel: &CancelFlag) -> Result<Refreshed, IndexError> {
        if changed.iter().any(|path| path.is_root() || path.file_name() == Some(b".gitignore")) {
            return self.refresh(cancel, &mut |_| {});
        }
        let _alone = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        self.update_paths(changed, cancel).map_err(IndexError::from)
    }

    fn update_paths(&self, changed: &[RelPath], cancel: &CancelFlag) -> Result<Refreshed, RefreshFailure> {
        let mut refreshed = Refreshed { is_complete: true, ..Refreshed::default() };
        let (mut wanted, mut gone) = (Vec::new(), Vec::new());
        for path in changed {
            let Some(text) = path.to_str() else { continue };
            let files = if !self.source.admits(path) {
                Vec::new()
            } else if let Some(stamp) = self.source.stamp(path) {
                vec![FoundFile { path: path.clone(), stamp }]
            } else if self.source.is_folder(path) {
                let listing = self.source.list(path, cancel).map_err(|_| RefreshFailure::FolderGone)?;
                refreshed.is_complete &= listing.is_complete;
                listing.files
            } else {
                Vec::new()
            };
            let mut known: std::collections::HashMap<String, KnownFile> =
                self.store.beneath(text)?.into_iter().collect();
            for file in files {
                let known = known.remove(file.path.to_str().unwrap_or_default());
                if known.is_some_and(|known| known.stamp == StoredStamp::from(file.stamp)) {
                    refreshed.unchanged += 1;
                } else {
                    wanted.push(file);
                }
            }
            gone.extend(known.values().map(|file| file.id).filter(|_| refreshed.is_complete));
        }
        self.carry_out(&wanted, &gone, cancel, &mut |_| {}, &mut refreshed)?;
        Ok(refreshed)
    }

    /// Reads files and stores them, and forgets others.
    fn carry_out(
        &self,
        wanted: &[FoundFile],
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
        // One file is done sooner than a thread is started.
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
        wanted: &[FoundFile],
        cancel: &CancelFlag,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RefreshFailure> {
        let next = Mutex::new(wanted.iter());
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
                        // Nobody listens any more when storing has failed.
                        if send.send(read(&self.source, file, &self.limits, &mut preparer, cancel)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(send);
            // Dropped at the end of this closure at the latest, which lets the workers go.
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

/// Reads one file. `None` if it is gone meanwhile: the next look sees that.
fn read(
    source: &FolderSource,
    file: &FoundFile,
    limits: &IndexLimits,
    preparer: &mut Preparer,
    cancel: &CancelFlag,
) -> Option<Prepared> {
    let path = file.path.to_str()?;
    if file.stamp.size_bytes > limits.file_bytes {
        return Some(Prepared { path: path.to_owned(), stamp: file.stamp, text: None });
    }
    let read = source.read(&file.path, limits.file_bytes)?;
    Some(preparer.prepare(path, read.stamp, &read.content, cancel))
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
