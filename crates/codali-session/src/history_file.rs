//! The file of a conversation.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use codali_envelope::history::History;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The largest file that is read. A history is bounded by the agent's window.
const LIMIT_BYTES: u64 = 64 << 20;

/// The version of the file format.
const VERSION: u32 = 1;

/// A conversation and its file.
#[derive(Debug)]
pub struct HistoryFile {
    /// The messages of the conversation.
    pub history: History,
    path: PathBuf,
    /// The state of the file when it was read; `None` if it did not exist.
    read_stamp: Option<Stamp>,
}

/// A history file that cannot be used. The messages name the file by the caller's path.
#[derive(Debug, thiserror::Error)]
pub enum HistoryFileError {
    /// The file exists but cannot be read.
    #[error("the history {path} cannot be read: {error}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The file cannot be written; the old one is still there.
    #[error("the history {path} cannot be written: {error}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// Another program wrote the file after it was read.
    #[error("the history {path} was changed by another program in the meantime", path = path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file does not hold a history.
    #[error("{path} is not a history: {cause}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The first fault in it.
        cause: String,
    },
}

impl HistoryFileError {
    /// Returns advice for the user about the error; `None` if there is none.
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Read { .. } | Self::Write { .. } => None,
            Self::Changed { .. } => Some("use a separate file for each conversation"),
            Self::Damaged { .. } => {
                Some("nothing was changed; name another file, or move this one away to start over")
            }
        }
    }
}

/// Identifies one state of the file: another program that writes it changes this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored<H> {
    version: u32,
    /// The messages that were left out so far.
    #[serde(default, skip_serializing_if = "is_none")]
    left_out: u64,
    messages: H,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl HistoryFile {
    /// Reads a conversation. A missing or empty file begins a new one.
    ///
    /// # Errors
    ///
    /// [`HistoryFileError::Read`] and [`HistoryFileError::Damaged`].
    pub fn read(path: &Path) -> Result<HistoryFile, HistoryFileError> {
        let failed = |error| HistoryFileError::Read { path: path.to_owned(), error };
        // A symbolic link belongs to the user: the target is replaced later, and the link stays.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let read_stamp = stamp(&target).map_err(failed)?;
        let mut history = History::new();
        if read_stamp.is_some() {
            let mut bytes = Vec::new();
            let file = fs::File::open(&target).map_err(failed)?;
            file.take(LIMIT_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
            if !bytes.is_empty() {
                history = parse(&bytes)
                    .map_err(|cause| HistoryFileError::Damaged { path: path.to_owned(), cause })?;
            }
        }
        Ok(HistoryFile { history, path: target, read_stamp })
    }

    /// Replaces the file by the conversation: a temporary file next to it is synced, then renamed.
    ///
    /// # Errors
    ///
    /// [`HistoryFileError::Write`], and [`HistoryFileError::Changed`] if another program wrote the file since it
    /// was read.
    ///
    /// # Panics
    ///
    /// Never: a history can be written as JSON.
    pub fn write(&mut self) -> Result<(), HistoryFileError> {
        let failed = |error| HistoryFileError::Write { path: self.path.clone(), error };
        // Two programs with the same history would each drop the messages of the other.
        if stamp(&self.path).map_err(failed)? != self.read_stamp {
            return Err(HistoryFileError::Changed { path: self.path.clone() });
        }
        let stored = Stored { version: VERSION, left_out: self.history.left_out(), messages: &self.history };
        let mut text = serde_json::to_vec_pretty(&stored).expect("a history has string keys");
        text.push(b'\n');
        let mut temporary = self.path.clone().into_os_string();
        // Do not use the process id: a restarted process in a container may have the same one.
        temporary.push(format!(".{}.tmp", Uuid::new_v4()));
        let temporary = PathBuf::from(temporary);
        let written = (|| {
            // The messages quote source code: only the user may read them.
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create_new(true).mode(0o600).open(&temporary)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&temporary, &self.path)?;
            stamp(&self.path)
        })();
        self.read_stamp = written.map_err(|error| {
            let _ = fs::remove_file(&temporary);
            HistoryFileError::Write { path: self.path.clone(), error }
        })?;
        Ok(())
    }
}

fn stamp(path: &Path) -> io::Result<Option<Stamp>> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(io::Error::other("it is not a file")),
        Ok(metadata) => Ok(Some(Stamp {
            inode: metadata.ino(),
            bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn parse(bytes: &[u8]) -> Result<History, String> {
    if bytes.len() as u64 > LIMIT_BYTES {
        return Err(format!("it has more than {LIMIT_BYTES} bytes"));
    }
    let stored: Stored<History> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if stored.version != VERSION {
        return Err(format!("it is of version {}, and this program knows {VERSION}", stored.version));
    }
    Ok(stored.messages.with_left_out(stored.left_out))
}
