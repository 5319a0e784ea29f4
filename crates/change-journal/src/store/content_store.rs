//! Owns the bytes that are kept by hash: which ride in a commit and which become files of their own.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use rusqlite::params;

use crate::error::JournalError;
use crate::hash::ContentHash;
use crate::store::counters::Counters;
use crate::store::failure::Failure;
use crate::write::work::Work;

/// The folder of large contents in the journal's folder.
const BLOBS_NAME: &str = "blobs";

/// A content on its way into a commit.
#[derive(Debug)]
pub(crate) struct ContentRow {
    pub(crate) hash: ContentHash,
    pub(crate) length_bytes: usize,
    /// `None` when the bytes are already a synced file.
    pub(crate) bytes: Option<Vec<u8>>,
}

impl ContentRow {
    /// Makes sure that the content is in the database.
    pub(crate) fn insert(&self, write: &crate::write::work::Write<'_>) -> Result<(), JournalError> {
        let mut statement = write.connection.prepare_cached(
            "INSERT INTO content (hash, length_bytes, stored_at_ms, bytes) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (hash) DO NOTHING",
        )?;
        statement.execute(params![self.hash, self.length_bytes as i64, write.now_ms, self.bytes])?;
        Ok(())
    }
}

/// Keeps a content that no change refers to.
pub(crate) struct KeepContent {
    pub(crate) row: ContentRow,
}

impl Work for KeepContent {
    type Value = ();

    fn apply(&self, write: &crate::write::work::Write<'_>) -> Result<(), JournalError> {
        self.row.insert(write)
    }

    fn weight_bytes(&self) -> usize {
        self.row.bytes.as_ref().map_or(0, Vec::len) + 256
    }
}

/// The files of large contents.
#[derive(Debug)]
pub(crate) struct BlobFiles {
    folder: PathBuf,
    counters: Arc<Counters>,
    /// One writer at a time, so that a file that is found under its final name is complete and synced. Holds the folders
    /// whose own names this process has synced: one that is there may have been made by a process that died before that.
    writing: Mutex<HashSet<PathBuf>>,
}

impl BlobFiles {
    pub(crate) fn new(journal_folder: &Path, counters: Arc<Counters>) -> Self {
        Self { folder: journal_folder.join(BLOBS_NAME), counters, writing: Mutex::default() }
    }

    /// Makes sure that a synced file holds `bytes`. `known` says that a commit already refers to it.
    pub(crate) fn keep(&self, hash: &ContentHash, bytes: &[u8], known: bool) -> Result<(), JournalError> {
        let mut synced = self.writing.lock().expect("no code panics while it writes a blob");
        let path = path_of(&self.folder, hash);
        let shelf = path.parent().expect("a blob lies in a folder of the blobs' folder");
        let complete = fs::metadata(&path).is_ok_and(|found| found.len() == bytes.len() as u64)
            // Found useful: whoever removes files that no commit refers to leaves it until this commit is there.
            && File::options().write(true).open(&path).is_ok_and(|file| file.set_modified(SystemTime::now()).is_ok());
        if complete && known {
            return Ok(());
        }
        let kept = self
            .make_folders(shelf, &mut synced)
            .and_then(|()| if complete { Ok(()) } else { self.write(shelf, &path, bytes) })
            // A complete file without a commit may be the work of a process that died before it synced the folder.
            .and_then(|()| self.sync_folder(shelf));
        if kept.is_err() && !known {
            // Were it found here the next time, its folder would be synced once more, which proves nothing after a failure.
            let _ = fs::remove_file(&path);
        }
        Ok(kept.map_err(Failure::from)?)
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

    /// Makes the folders on the way to a blob where they are missing, and sees to it that their names are on the disk.
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
                // An empty one is made anew the next time, so that there is something to sync then.
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
            .and_then(|()| fs::rename(&unfinished, path));
        if written.is_err() {
            // The space is needed more than the half of a content; a failure here changes nothing.
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        Counters::add(&self.counters.file_syncs);
        File::open(folder)?.sync_all()
    }
}

/// What lies in a folder; nothing if it is not there or is none.
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

/// Reads a large content back and proves that it is what its name says.
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
