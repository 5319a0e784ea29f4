//! The state of a path, before or after a change.

use std::sync::Arc;

use change_journal::{
    Attributes, Content, ContentHash, Entry, EntryKind, EntryRecord, JournalError, JournalReader,
    RecordedAttributes,
};
use rel_path::RelPath;
use sandbox_fs::{FileAttributes, FileKind, FileRoot, FsError};

/// The largest content, before or after, of a change; changes of larger files are refused.
pub(crate) const CONTENT_LIMIT_BYTES: u64 = 64 << 20;

/// The state of a path. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Present {
    pub kind: PresentKind,
    /// The content of a file, or the target of a symlink.
    pub bytes: Arc<[u8]>,
    pub hash: ContentHash,
    /// The permission bits, if known.
    pub mode: Option<u32>,
    /// Extended attributes as [`FileAttributes::to_bytes`] writes them, empty if there are none; `None` if they were
    /// not read.
    pub attributes: Option<Arc<[u8]>>,
}

/// The kind of entry at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PresentKind {
    File,
    /// A symlink or special file, which can only be deleted.
    Other,
    /// A folder, regardless of its entries.
    Folder,
}

impl Present {
    pub(crate) fn file(bytes: Vec<u8>, mode: Option<u32>) -> Present {
        Present {
            kind: PresentKind::File,
            hash: ContentHash::of(&bytes),
            bytes: bytes.into(),
            mode,
            attributes: None,
        }
    }

    /// The same with these attributes, if they are known.
    pub(crate) fn with_attributes(self, attributes: Option<Arc<[u8]>>) -> Present {
        Present { attributes, ..self }
    }

    /// Reads the state of a canonical path.
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
                // Content and attributes come from one handle, so that they belong to the same file.
                let file = root.open_file(path)?;
                let bytes = file.read_to_end(CONTENT_LIMIT_BYTES)?;
                let present = Present::file(bytes, Some(metadata.mode & 0o7777));
                Ok(Some(present.with_attributes(Some(attribute_bytes(&file.attributes()?)))))
            }
            FileKind::Folder => Err(FsError::NotAFile { path: path.clone(), kind: FileKind::Folder }),
            _ => {
                let bytes = root.link_target(path)?.unwrap_or_default();
                let hash = ContentHash::of(&bytes);
                Ok(Some(Present {
                    kind: PresentKind::Other,
                    hash,
                    bytes: bytes.into(),
                    mode: None,
                    attributes: None,
                }))
            }
        }
    }

    /// Reads the state of a recorded path at which a change has left `left`. An entry that only responds to this name,
    /// but is listed in another spelling, is a different file, unless it equals `left`: some file systems normalize
    /// names.
    pub(crate) fn where_left(
        root: &FileRoot,
        path: &RelPath,
        left: Option<&Entry>,
    ) -> Result<Option<Present>, FsError> {
        let Some(now) = Present::of_any_kind(root, path)? else { return Ok(None) };
        let is_left = left.is_some_and(|left| now.is(left));
        Ok(if is_left || !root.is_stored_otherwise(path)? { Some(now) } else { None })
    }

    /// Reads the state of a recorded path, which may also be a folder. An entry reached through a symlink has another
    /// path, so then nothing is here.
    pub(crate) fn of_any_kind(root: &FileRoot, path: &RelPath) -> Result<Option<Present>, FsError> {
        if is_under_symlink(root, path) {
            return Ok(None);
        }
        match Present::on_disk(root, path) {
            Err(FsError::NotAFile { kind: FileKind::Folder, .. }) => {
                let mode = root.metadata(path).ok().map(|metadata| metadata.mode & 0o7777);
                let attributes = root.attributes(path).ok().map(|attributes| attribute_bytes(&attributes));
                Ok(Some(Present { mode, attributes, ..Present::folder() }))
            }
            other => other,
        }
    }

    /// Builds a state from a record in the journal.
    pub(crate) fn recorded(kind: EntryKind, bytes: Vec<u8>, mode: Option<u32>) -> Present {
        let kind = match kind {
            EntryKind::File => PresentKind::File,
            EntryKind::Symlink => PresentKind::Other,
            EntryKind::Folder => PresentKind::Folder,
        };
        Present { kind, ..Present::file(bytes, mode) }
    }

    /// A folder.
    pub(crate) fn folder() -> Present {
        Present { kind: PresentKind::Folder, ..Present::file(Vec::new(), None) }
    }

    /// The content to compare and show.
    pub(crate) fn content(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the entry to record in the journal.
    pub(crate) fn entry(&self) -> EntryRecord<'_> {
        let attributes = self.attributes.as_deref().map_or(Attributes::Unknown, Attributes::Bytes);
        EntryRecord {
            kind: self.kind.entry_kind(),
            content: Content::Bytes(&self.bytes),
            mode: self.mode,
            attributes,
        }
    }

    /// Checks whether this equals the recorded entry, ignoring permission bits.
    pub(crate) fn is(&self, entry: &Entry) -> bool {
        entry.kind == self.kind.entry_kind() && entry.content == Some(self.hash)
    }
}

/// Attributes as they are recorded.
pub(crate) fn attribute_bytes(attributes: &FileAttributes) -> Arc<[u8]> {
    if attributes.is_empty() { Arc::new([]) } else { attributes.to_bytes().into() }
}

/// Attributes recorded in the journal, if it still holds them.
pub(crate) fn kept_attributes(journal: &JournalReader, recorded: RecordedAttributes) -> Option<Arc<[u8]>> {
    read_attributes(journal, recorded).ok().flatten()
}

/// The same; a journal that cannot be read is an error.
pub(crate) fn read_attributes(
    journal: &JournalReader,
    recorded: RecordedAttributes,
) -> Result<Option<Arc<[u8]>>, JournalError> {
    Ok(match recorded {
        RecordedAttributes::Unknown => None,
        RecordedAttributes::None => Some(Arc::new([])),
        RecordedAttributes::Content(hash) => journal.content(&hash)?.map(Arc::from),
    })
}

/// Attributes from their recorded form; `None` if unknown.
pub(crate) fn recorded_attributes(bytes: Option<&[u8]>) -> Option<FileAttributes> {
    match bytes? {
        [] => Some(FileAttributes::default()),
        bytes => FileAttributes::from_bytes(bytes),
    }
}

/// Checks whether a symlink is among the parents of a path.
pub(crate) fn is_under_symlink(root: &FileRoot, path: &RelPath) -> bool {
    path.parent().is_some_and(|folder| is_led_elsewhere(root, &folder))
}

/// Returns the topmost symlink among the parents of a path.
pub(crate) fn link_above(root: &FileRoot, path: &RelPath) -> Option<RelPath> {
    let above = std::iter::successors(path.parent(), RelPath::parent);
    // Every folder beneath a symlink is led elsewhere, too.
    above.take_while(|folder| is_led_elsewhere(root, folder)).last()
}

/// Returns whether a folder is, or is beneath, a symlink.
fn is_led_elsewhere(root: &FileRoot, folder: &RelPath) -> bool {
    if folder.is_root() {
        return false;
    }
    match root.canonical_path(folder) {
        Ok(canonical) => canonical != *folder,
        Err(FsError::Escape { .. } | FsError::LinkLoop { .. } | FsError::IsLink { .. }) => true,
        // It is missing, or a file.
        Err(_) => false,
    }
}

impl PresentKind {
    pub(crate) fn entry_kind(self) -> EntryKind {
        match self {
            PresentKind::File => EntryKind::File,
            PresentKind::Other => EntryKind::Symlink,
            PresentKind::Folder => EntryKind::Folder,
        }
    }
}
