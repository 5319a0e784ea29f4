//! The file in which a conversation is kept.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use codali_envelope::history::History;
use serde::{Deserialize, Serialize};

use crate::exit::{Exit, Failure};

/// The largest file that is read. A history is bounded by the agent's window.
const LIMIT_BYTES: u64 = 64 << 20;

/// The form of the file.
const VERSION: u32 = 1;

/// A conversation, and the file that it is kept in.
#[derive(Debug)]
pub(crate) struct HistoryFile {
    path: PathBuf,
    /// What the file was when it was read; `None` if it was not there.
    found: Option<Stamp>,
    pub(crate) history: History,
}

/// By what it shows that somebody else has written the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept<H> {
    version: u32,
    messages: H,
}

impl HistoryFile {
    /// Reads a conversation. A file that is not there, or is empty, is the beginning of one.
    pub(crate) fn read(path: &Path) -> Result<HistoryFile, Failure> {
        let cannot = |error: io::Error| {
            Failure::new(Exit::Failed, format!("the history {} cannot be read: {error}", path.display()))
        };
        // A link is the user's own; what it leads to is replaced, not the link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let found = stamp(&target).map_err(cannot)?;
        let mut history = History::new();
        if found.is_some() {
            let mut bytes = Vec::new();
            let file = fs::File::open(&target).map_err(cannot)?;
            file.take(LIMIT_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
            if !bytes.is_empty() {
                history = parse(&bytes).map_err(|why| damaged(path, &why))?;
            }
        }
        Ok(HistoryFile { path: target, found, history })
    }

    /// Writes the conversation in place of what the file was: beside it, synced, then renamed.
    pub(crate) fn write(&self) -> Result<(), Failure> {
        let cannot = |error: io::Error| {
            Failure::new(
                Exit::Failed,
                format!("the history {} cannot be written: {error}", self.path.display()),
            )
        };
        if stamp(&self.path).map_err(cannot)? != self.found {
            let why = format!("the history {} was written by somebody else meanwhile", self.path.display());
            return Err(Failure::new(Exit::Failed, why).advise("use a file of its own for each conversation"));
        }
        let kept = Kept { version: VERSION, messages: &self.history };
        let mut text = serde_json::to_vec_pretty(&kept).expect("a history has string keys");
        text.push(b'\n');
        let mut beside = self.path.clone().into_os_string();
        beside.push(format!(".{}.tmp", std::process::id()));
        let beside = PathBuf::from(beside);
        let written = (|| {
            // What was said holds source code, which is nobody else's business.
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create_new(true).mode(0o600).open(&beside)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&beside, &self.path)
        })();
        written.map_err(|error| {
            let _ = fs::remove_file(&beside);
            cannot(error)
        })
    }
}

fn stamp(path: &Path) -> io::Result<Option<Stamp>> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::other("it is no file")),
        Ok(found) => Ok(Some(Stamp {
            inode: found.ino(),
            bytes: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
        })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn parse(bytes: &[u8]) -> Result<History, String> {
    if bytes.len() as u64 > LIMIT_BYTES {
        return Err(format!("it has more than {LIMIT_BYTES} bytes"));
    }
    let kept: Kept<History> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if kept.version != VERSION {
        return Err(format!("it is of version {}, and this program knows {VERSION}", kept.version));
    }
    Ok(kept.messages)
}

fn damaged(path: &Path, why: &str) -> Failure {
    Failure::new(Exit::Usage, format!("{} is no history: {why}", path.display()))
        .advise("nothing was changed; name another file, or move this one away to begin anew")
}
