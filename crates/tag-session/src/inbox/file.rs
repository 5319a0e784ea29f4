//! A file in the inbox: the checks before it is read, and its text.

use drop_folder::{DroppedFile, NotText, TEXT_LIMIT_BYTES, decode_text};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot, FileStamp, FsError};
use serde::{Deserialize, Serialize};

use crate::folders::StateFolders;

/// The maximum length of a reply in bytes.
pub const REPLY_LIMIT_BYTES: u64 = TEXT_LIMIT_BYTES;

/// A readable reply in the inbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxFile {
    /// Its name within the inbox.
    pub name: RelPath,
    /// Its text.
    pub text: String,
    /// The file and its state at the time of reading.
    pub(crate) stamp: TakenStamp,
}

impl InboxFile {
    /// Checks whether the inbox still contains this reply under this name. An editor may have saved it twice, or its times may
    /// have been changed, so a file with another state is read again.
    pub(crate) fn is_still_there(&self, folders: &StateFolders) -> Result<bool, FsError> {
        let candidates = candidates(folders)?;
        let Some(candidate) = candidates.iter().find(|candidate| candidate.name == self.name) else {
            return Ok(false);
        };
        Ok(self.is_same(&folders.inbox, candidate))
    }

    /// Checks whether a file of a folder is this reply.
    pub(crate) fn is_same(&self, folder: &FileRoot, file: &DroppedFile) -> bool {
        let has_same_text = || matches!(read(folder, file), Ok(Some(now)) if now.text == self.text);
        TakenStamp::from(file.stamp) == self.stamp || has_same_text()
    }
}

/// The identity and state of a file that was read, to recognise it after a restart. The time of the last status change is not
/// included, because moving a file changes it.
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

/// The reason why a file in the inbox is not a reply. It stays there, unless the text says that it was quarantined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// It is empty.
    #[error("is empty: paste the reply into it and save it again")]
    Empty,
    /// It does not have the name of a reply.
    #[error("is not read, because its name does not end in .txt, in lower case: rename it if it is a reply")]
    Misnamed,
    /// It is not a regular file.
    #[error("is a {0}, which is not read: remove it and save the reply as an ordinary file")]
    NotAFile(FileKind),
    /// A program still has it open for writing.
    #[error("is still open in the program that writes it: it is read when the program closes it")]
    BeingWritten,
    /// It is write-protected, so it could not be moved to `processed/` after its execution.
    #[error(
        "is write-protected and could not be moved to inbox/processed/: allow changes, for instance with chmod u+w"
    )]
    WriteProtected,
    /// It is not readable.
    #[error("cannot be read: allow it, for instance with chmod u+r")]
    Unreadable,
    /// It is larger than any reply.
    #[error("has {bytes} bytes, and a reply has at most {REPLY_LIMIT_BYTES}: it was quarantined")]
    TooLarge {
        /// Its size in bytes.
        bytes: u64,
    },
    /// It is not text.
    #[error("cannot be a reply: {0}; it was quarantined")]
    NotText(#[from] NotText),
    /// It cannot be read for another reason.
    #[error("cannot be read: {0}")]
    Other(FsError),
}

impl Unusable {
    /// Checks whether the file is to be quarantined.
    #[must_use]
    pub(crate) fn is_set_aside(&self) -> bool {
        matches!(self, Unusable::TooLarge { .. } | Unusable::NotText(_))
    }
}

/// Lists the files with the name of a reply, oldest modification first.
pub(crate) fn candidates(folders: &StateFolders) -> Result<Vec<DroppedFile>, FsError> {
    let mut files = drop_folder::list(&folders.inbox)?;
    files.retain(|file| has_name_of_reply(&file.name));
    Ok(files)
}

/// Checks whether a name is the name of a reply: it ends in `.txt`, in lower case. With any case, the file system would decide
/// which names are the same file.
pub(crate) fn has_name_of_reply(name: &RelPath) -> bool {
    name.as_bytes().ends_with(b".txt")
}

/// Checks whether a file may be a reply despite its name. Temporary and backup files of editors and browsers are excluded.
pub(crate) fn may_be_misnamed(file: &DroppedFile) -> bool {
    const OF_PROGRAMS: [&[u8]; 9] =
        [b"~", b".bak", b".crdownload", b".download", b".part", b".partial", b".swp", b".temp", b".tmp"];
    let name = file.name.as_bytes().to_ascii_lowercase();
    let is_of_program = name.starts_with(b".") || name.starts_with(b"#");
    file.kind == FileKind::File
        && !is_of_program
        && !OF_PROGRAMS.iter().any(|end| name.ends_with(end))
        && !has_name_of_reply(&file.name)
}

/// Reads a seemingly complete candidate; `None` if it changed meanwhile.
pub(crate) fn read(folder: &FileRoot, candidate: &DroppedFile) -> Result<Option<InboxFile>, Unusable> {
    if candidate.kind != FileKind::File {
        return Err(Unusable::NotAFile(candidate.kind));
    }
    let bytes = drop_folder::read(folder, candidate, REPLY_LIMIT_BYTES).map_err(|error| match error {
        FsError::OsPermission { .. } => Unusable::Unreadable,
        FsError::TooLarge { bytes, .. } => Unusable::TooLarge { bytes },
        FsError::NotAFile { kind, .. } => Unusable::NotAFile(kind),
        FsError::IsLink { .. } => Unusable::NotAFile(FileKind::Link),
        other => Unusable::Other(other),
    })?;
    let Some(bytes) = bytes else { return Ok(None) };
    let text = decode_text(bytes)?;
    if text.trim_matches(|character: char| character.is_whitespace() || character == '\u{feff}').is_empty() {
        return Err(Unusable::Empty);
    }
    // A file that cannot be moved after its execution would be executed again by the next process.
    if candidate.mode & 0o222 == 0 {
        return Err(Unusable::WriteProtected);
    }
    Ok(Some(InboxFile { name: candidate.name.clone(), text, stamp: candidate.stamp.into() }))
}
