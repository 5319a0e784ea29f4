//! What a path holds: the one side or the other of a change.

use std::sync::Arc;

use change_journal::{Content, ContentHash, Entry, EntryKind, EntryRecord};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot, FsError};

/// The largest content, before or after, that a change may have; larger files are refused for changes.
pub(crate) const CONTENT_LIMIT_BYTES: u64 = 64 << 20;

/// What a path holds. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Present {
    pub kind: PresentKind,
    /// The content of a file, the target of a link.
    pub bytes: Arc<[u8]>,
    pub hash: ContentHash,
    /// Permission bits, where they are known.
    pub mode: Option<u32>,
}

/// What kind of thing a path holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PresentKind {
    File,
    /// A link or special file, which can only be deleted.
    Other,
}

impl Present {
    pub(crate) fn file(bytes: Vec<u8>, mode: Option<u32>) -> Present {
        Present { kind: PresentKind::File, hash: ContentHash::of(&bytes), bytes: bytes.into(), mode }
    }

    /// Looks at a canonical path.
    pub(crate) fn on_disk(root: &FileRoot, path: &RelPath) -> Result<Option<Present>, FsError> {
        let metadata = match root.metadata(path) {
            Ok(metadata) => metadata,
            Err(FsError::NotFound { .. } | FsError::ParentMissing { .. } | FsError::NotAFolder { .. }) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        match metadata.kind {
            FileKind::File => {
                let bytes = root.open_file(path)?.read_to_end(CONTENT_LIMIT_BYTES)?;
                Ok(Some(Present::file(bytes, Some(metadata.mode & 0o7777))))
            }
            FileKind::Folder => Err(FsError::NotAFile { path: path.clone(), kind: FileKind::Folder }),
            _ => {
                let bytes = root.link_target(path)?.unwrap_or_default();
                let hash = ContentHash::of(&bytes);
                Ok(Some(Present { kind: PresentKind::Other, hash, bytes: bytes.into(), mode: None }))
            }
        }
    }

    /// The hash as the file system layer knows it.
    pub(crate) fn fs_hash(&self) -> sandbox_fs::ContentHash {
        sandbox_fs::ContentHash::from_bytes(*self.hash.as_bytes())
    }

    /// How the journal is told.
    pub(crate) fn entry(&self) -> EntryRecord<'_> {
        EntryRecord { kind: self.kind.entry_kind(), content: Content::Bytes(&self.bytes), mode: self.mode }
    }

    /// Whether this is what the journal has recorded, permission bits aside.
    pub(crate) fn is(&self, entry: &Entry) -> bool {
        entry.kind == self.kind.entry_kind() && entry.content == Some(self.hash)
    }
}

impl PresentKind {
    fn entry_kind(self) -> EntryKind {
        match self {
            PresentKind::File => EntryKind::File,
            PresentKind::Other => EntryKind::Symlink,
        }
    }
}
