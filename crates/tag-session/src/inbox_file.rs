//! One file in the inbox: whether it may be read, and its text.

use rel_path::RelPath;
use sandbox_fs::{FileKind, FileStamp, FsError};
use serde::{Deserialize, Serialize};

use crate::decode::{REPLY_LIMIT_BYTES, ReplyTextError, decode_reply};
use crate::folders::StateFolders;

/// A reply in the inbox that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxFile {
    /// Its name within the inbox.
    pub name: RelPath,
    /// Its text.
    pub text: String,
    /// Which state of which file was read.
    pub(crate) stamp: TakenStamp,
}

/// Which state of which file was read, so that it is known again after a restart. The time of the last change of status
/// is left out: moving a file changes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TakenStamp {
    device: u64,
    inode: u64,
    size_bytes: u64,
    modified_nanoseconds: i128,
}

impl From<FileStamp> for TakenStamp {
    fn from(stamp: FileStamp) -> TakenStamp {
        let FileStamp { device, inode, size_bytes, modified_nanoseconds, .. } = stamp;
        TakenStamp { device, inode, size_bytes, modified_nanoseconds }
    }
}

/// Why a file in the inbox is no reply. It stays where it is, except where the text says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// Nothing is in it.
    #[error("is empty: paste the reply into it and save it again")]
    Empty,
    /// It is not a regular file.
    #[error("is a {0}, which is not read: save the reply as an ordinary file")]
    NotAFile(FileKind),
    /// It may not be read.
    #[error("cannot be read: allow it, for instance with chmod u+r")]
    Unreadable,
    /// It is larger than any reply.
    #[error("has {bytes} bytes, and a reply has at most {REPLY_LIMIT_BYTES}: it was set aside")]
    TooLarge {
        /// Its size in bytes.
        bytes: u64,
    },
    /// It is not text.
    #[error("cannot be a reply: {0}; it was set aside")]
    NotText(#[from] ReplyTextError),
    /// It cannot be read for another reason.
    #[error("cannot be read: {0}")]
    Other(FsError),
}

impl Unusable {
    /// Whether the file is to be moved out of the way.
    #[must_use]
    pub(crate) fn is_set_aside(&self) -> bool {
        matches!(self, Unusable::TooLarge { .. } | Unusable::NotText(_))
    }
}

/// A name that ends in `.txt`, as the inbox shows it before anything is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub name: RelPath,
    pub kind: FileKind,
    pub stamp: FileStamp,
}

/// Lists the candidates, oldest modification first.
pub(crate) fn candidates(folders: &StateFolders) -> Result<Vec<Candidate>, FsError> {
    let entries = folders.inbox.list(&RelPath::root())?;
    let mut candidates: Vec<_> = entries
        .into_iter()
        .filter(|entry| entry.path.as_bytes().ends_with(b".txt") && entry.kind != FileKind::Folder)
        .filter_map(|entry| {
            let stamp = entry.metadata?.stamp();
            Some(Candidate { name: entry.path, kind: entry.kind, stamp })
        })
        .collect();
    candidates.sort_by_key(|candidate| (candidate.stamp.modified_nanoseconds, candidate.name.clone()));
    Ok(candidates)
}

/// Reads a candidate whose size is stable.
pub(crate) fn read(folders: &StateFolders, candidate: &Candidate) -> Result<InboxFile, Unusable> {
    if candidate.kind != FileKind::File {
        return Err(Unusable::NotAFile(candidate.kind));
    }
    let bytes = folders
        .inbox
        .open_file(&candidate.name)
        .and_then(|file| file.read_to_end(REPLY_LIMIT_BYTES))
        .map_err(|error| match error {
            FsError::OsPermission { .. } => Unusable::Unreadable,
            FsError::TooLarge { bytes, .. } => Unusable::TooLarge { bytes },
            FsError::NotAFile { kind, .. } => Unusable::NotAFile(kind),
            FsError::IsLink { .. } => Unusable::NotAFile(FileKind::Link),
            other => Unusable::Other(other),
        })?;
    let text = decode_reply(bytes)?;
    if text.trim_matches(|character: char| character.is_whitespace() || character == '\u{feff}').is_empty() {
        return Err(Unusable::Empty);
    }
    Ok(InboxFile { name: candidate.name.clone(), text, stamp: candidate.stamp.into() })
}
