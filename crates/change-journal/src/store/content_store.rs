//! Owns the bytes that are kept by hash: small contents are part of a commit, large ones become files.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use rusqlite::params;

use crate::error::JournalError;
use crate::store::counters::Counters;
use crate::store::failure::Failure;
use crate::store::in_flight::{ContentsInFlight, InFlight};
use crate::store::set_aside;
use crate::write::work::Work;
use content_hash::ContentHash;

/// The folder of large contents in the journal's folder.
const BLOBS_NAME: &str = "blobs";

/// A content on its way into a commit.
#[derive(Debug)]
pub(crate) struct ContentRow {
    pub(crate) hash: ContentHash,
    pub(crate) length_bytes: usize,
    pub(crate) bytes: ContentBytes,
}

/// The bytes of a content on its way into a commit.
#[derive(Debug)]
pub(crate) enum ContentBytes {
    /// They are part of the commit.
    Inline(Vec<u8>),
    /// They are a synced file, which stays as long as this write may still be committed.
    File(#[expect(dead_code, reason = "held for its end, with the write")] InFlight),
}

impl ContentRow {
    /// The bytes that are part of the commit.
    pub(crate) fn inline(&self) -> Option<&[u8]> {
        match &self.bytes {
            ContentBytes::Inline(bytes) => Some(bytes),
            ContentBytes::File(_) => None,
        }
    }

    /// Inserts the content unless the database has it.
    pub(crate) fn insert(&self, write: &crate::write::work::Write<'_>) -> Result<(), JournalError> {
        let mut statement = write.connection.prepare_cached(
            "INSERT INTO content (hash, length_bytes, stored_at_ms, bytes) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (hash) DO NOTHING",
        )?;
        statement.execute(params![
            self.hash.as_bytes(),
            self.length_bytes as i64,
            write.now_ms,
            self.inline()
        ])?;
        Ok(())
    }
}

/// Stores a content that no change refers to.
pub(crate) struct KeepContent {
    pub(crate) row: ContentRow,
}

impl Work for KeepContent {
    type Value = ();

    fn apply(&self, write: &crate::write::work::Write<'_>) -> Result<(), JournalError> {
        self.row.insert(write)
    }

    fn weight_bytes(&self) -> usize {
        self.row.inline().map_or(0, <[u8]>::len) + 256
    }
}

/// The files of large contents.
#[derive(Debug)]
pub(crate) struct BlobFiles {
    folder: PathBuf,
    counters: Arc<Counters>,
    in_flight: ContentsInFlight,
    /// Admits one writer at a time, so that a file under its final name is complete and synced. Holds the
    /// folders whose own names this process has synced: the process that made an existing folder may have
    /// died before it synced that name.
    writing: Mutex<HashSet<PathBuf>>,
}

impl BlobFiles {
    pub(crate) fn new(journal_folder: &Path, counters: Arc<Counters>) -> Self {
        let (in_flight, writing) = (ContentsInFlight::default(), Mutex::default());
        Self { folder: journal_folder.join(BLOBS_NAME), counters, in_flight, writing }
    }

    /// Ensures that a synced file holds `bytes`, and that it stays until the returned value is dropped.
    /// `has_commit` returns whether a commit already refers to it.
    ///
    /// # Errors
    ///
    /// Those of the disk and of `has_commit`. A file that another write relies on stays.
    pub(crate) fn keep(
        &self,
        hash: &ContentHash,
        bytes: &[u8],
        has_commit: impl FnOnce() -> Result<bool, JournalError>,
    ) -> Result<InFlight, JournalError> {
        let mut synced = self.writing.lock().expect("no code panics while it writes a blob");
        let path = path_of(&self.folder, hash);
        // Two hex digits as the folder keep every folder small.
        let shelf = path.parent().expect("a blob is in a subfolder of the blobs' folder");
        let complete = is_file_of(&path, bytes.len()).map_err(Failure::from)?;
        if complete {
            // `remove_stray_files` in the background judges by this time. A failure only makes the file look old.
            let _ =
                File::options().write(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        }
        // The row is looked up under the lock, and after the set: the commit of another caller may be on its way
        // until then, and its content leaves the set only once it has a row.
        let is_relied_on = self.in_flight.contains(hash) || has_commit()?;
        if complete && is_relied_on {
            return Ok(self.in_flight.add(*hash));
        }
        let mut is_new = false;
        let kept = self
            .make_folders(shelf, &mut synced)
            .and_then(|()| {
                if !complete {
                    self.write(shelf, &path, bytes)?;
                    is_new = true;
                }
                Ok(())
            })
            // A complete file without a commit may come from a process that died before it synced the folder.
            .and_then(|()| self.sync_folder(shelf));
        if kept.is_err() && (is_new || !is_relied_on) {
            // If the file stayed, the next call would only sync its folder again, which proves nothing after
            // a failed sync.
            let _ = fs::remove_file(&path);
        }
        kept.map_err(Failure::from)?;
        Ok(self.in_flight.add(*hash))
    }

    /// Returns whether a write that carries this content may still be committed. A commit comes before the end
    /// of its write, so a caller that also looks up the row has to ask this first.
    pub(crate) fn is_in_flight(&self, hash: &ContentHash) -> bool {
        self.in_flight.contains(hash)
    }

    /// Returns whether a quarantined database, which may refer to these files, is next to them.
    pub(crate) fn are_next_to_quarantined(&self) -> Result<bool, JournalError> {
        let journal_folder = self.folder.parent().expect("the blobs' folder is in the journal's folder");
        Ok(!set_aside::names(journal_folder)?.is_empty())
    }

    /// Calls `each` with the path and the name of every file, while no content is being written.
    pub(crate) fn each_file(
        &self,
        mut each: impl FnMut(&Path, &str) -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        let _writing = self.writing.lock().expect("no code panics while it writes a blob");
        for shelf in entries(&self.folder).map_err(Failure::from)? {
            for file in entries(&shelf).map_err(Failure::from)? {
                let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                each(&file, name)?;
            }
        }
        Ok(())
    }

    /// Makes the folders of a blob where they are missing, and syncs their names.
    fn make_folders(&self, shelf: &Path, synced: &mut HashSet<PathBuf>) -> io::Result<()> {
        for folder in [self.folder.as_path(), shelf] {
            match DirBuilder::new().mode(0o700).create(folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Ok(()) => {}
                Err(_) if synced.contains(folder) => continue,
                Err(_) => {}
            }
            let parent = folder.parent().expect("a folder in the journal's folder");
            if let Err(error) = self.sync_folder(parent) {
                // Without the folder, the next attempt makes it again and has a name to sync.
                let _ = fs::remove_dir(folder);
                return Err(error);
            }
            synced.insert(folder.to_owned());
        }
        Ok(())
    }

    fn write(&self, shelf: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let unfinished = shelf.join("unfinished");
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&unfinished)
            .and_then(|mut file| {
                file.write_all(bytes)?;
                Counters::add(&self.counters.file_syncs);
                file.sync_all()
            })
            // The final name appears only once the content is synced, so a file under it is always complete.
            .and_then(|()| fs::rename(&unfinished, path));
        if written.is_err() {
            // A partial file only wastes space; the next write truncates it if it cannot be removed.
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        Counters::add(&self.counters.file_syncs);
        File::open(folder)?.sync_all()
    }
}

/// Returns whether a file of this length exists. An error is not an answer: a file that is mistaken for
/// missing would be rewritten, and removed if that fails.
fn is_file_of(path: &Path, length_bytes: usize) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len() == length_bytes as u64),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the entries of a folder, or none if it does not exist or is not a folder.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    entries.map(|entry| entry.map(|entry| entry.path())).collect()
}

/// Reads a large content and verifies it against its hash.
pub(crate) fn read_blob(journal_folder: &Path, hash: &ContentHash) -> Result<Vec<u8>, JournalError> {
    match fs::read(path_of(&journal_folder.join(BLOBS_NAME), hash)) {
        Ok(bytes) if ContentHash::of(&bytes) == *hash => Ok(bytes),
        Ok(_) => Err(JournalError::ContentDamaged { hash: *hash }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(JournalError::ContentMissing { hash: *hash })
        }
        Err(error) => Err(Failure::from(error).into()),
    }
}

fn path_of(blobs: &Path, hash: &ContentHash) -> PathBuf {
    let name = hash.to_string();
    blobs.join(&name[..2]).join(name)
}
