//! Owns the types that describe changes: both sides of a path, and the progress of the change.

use std::fmt;
use std::time::SystemTime;

use crate::run::RunNumber;
use content_hash::ContentHash;

/// The number of a change in one journal. Later changes have larger numbers, and no number is reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeNumber(pub u64);

impl fmt::Display for ChangeNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The kind of entry at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file; its content is its bytes.
    File,
    /// A symbolic link; its content is its target.
    Symlink,
    /// A folder; its content is empty.
    Folder,
}

/// A content, as it is passed to the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// These bytes, to be kept.
    Bytes(&'a [u8]),
    /// Bytes that the journal already holds. Recording fails if it does not.
    Held(ContentHash),
    /// Bytes that are not kept, with their hash if that is known: the change cannot be undone or redone.
    NotKept(Option<ContentHash>),
}

/// The extended attributes of one side of a change, as they are passed to the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attributes<'a> {
    /// Not read.
    #[default]
    Unknown,
    /// These bytes, to be kept; empty for no attributes.
    Bytes(&'a [u8]),
    /// Attributes as they read back from the journal.
    Recorded(RecordedAttributes),
}

/// The extended attributes of one side of a change, as they read back from the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordedAttributes {
    /// Not read.
    #[default]
    Unknown,
    /// No attributes.
    None,
    /// Those of this content, if it is still held.
    Content(ContentHash),
}

/// One side of a change, as it is passed to the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryRecord<'a> {
    /// The kind of entry at the path.
    pub kind: EntryKind,
    /// Its content.
    pub content: Content<'a>,
    /// Its permission bits, where they matter.
    pub mode: Option<u32>,
    /// Its extended attributes.
    pub attributes: Attributes<'a>,
}

impl<'a> EntryRecord<'a> {
    /// Describes a regular file with `bytes` in it, without mode and attributes.
    pub fn file(bytes: &'a [u8]) -> Self {
        Self {
            kind: EntryKind::File,
            content: Content::Bytes(bytes),
            mode: None,
            attributes: Attributes::Unknown,
        }
    }
}

/// A change to one path, as it is passed to the journal.
///
/// `before` is `None` for a path that does not exist yet, `after` for one that is removed. At most one of
/// them is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeRecord<'a> {
    /// The path below the workspace's root, in the workspace's own bytes.
    pub path: &'a [u8],
    /// The path's current entry.
    pub before: Option<EntryRecord<'a>>,
    /// The path's intended entry.
    pub after: Option<EntryRecord<'a>>,
    /// The progress of the change so far; [`ChangeState::Intended`] unless it is recorded afterwards.
    pub state: ChangeState,
    /// The earlier change that this one undoes.
    pub undoes: Option<ChangeNumber>,
}

impl<'a> ChangeRecord<'a> {
    /// Describes an intended change of `path`.
    pub fn intended(path: &'a [u8], before: Option<EntryRecord<'a>>, after: Option<EntryRecord<'a>>) -> Self {
        Self { path, before, after, state: ChangeState::Intended, undoes: None }
    }
}

/// The progress of a change. It only moves downwards in this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeState {
    /// The change is decided. The path may hold either side, or a partial write after a loss of power.
    Intended,
    /// The path was observed to hold the after side, but nothing has been synced.
    Published,
    /// The path and its folder have been synced: nothing is left to redo.
    Settled,
    /// Another program changed the path in between: its version stayed, and the after side is kept as content
    /// only.
    Conflicted,
}

/// One side of a change, as it reads back from the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The kind of entry at the path.
    pub kind: EntryKind,
    /// The hash of its content, if known.
    /// [`JournalReader::holds_content`](crate::JournalReader::holds_content) says whether the bytes are still
    /// held.
    pub content: Option<ContentHash>,
    /// The length of its content in bytes, if the bytes were passed in.
    pub length_bytes: Option<u64>,
    /// Its permission bits, where they matter.
    pub mode: Option<u32>,
    /// Its extended attributes.
    pub attributes: RecordedAttributes,
}

impl Entry {
    /// Returns whether the content was passed to the journal when this was recorded. It may have been removed
    /// since.
    pub fn was_kept(&self) -> bool {
        self.length_bytes.is_some() || self.kind == EntryKind::Folder && self.content.is_some()
    }
}

/// A change as it reads back from the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedChange {
    /// Its number.
    pub number: ChangeNumber,
    /// The run that made it.
    pub run: RunNumber,
    /// The step that made it, 0-based.
    pub step: u32,
    /// The path below the workspace's root.
    pub path: Vec<u8>,
    /// The path's entry before the change.
    pub before: Option<Entry>,
    /// The path's entry after the change.
    pub after: Option<Entry>,
    /// The progress of the change.
    pub state: ChangeState,
    /// The earlier change that it undoes.
    pub undoes: Option<ChangeNumber>,
    /// The time at which it was recorded, to the millisecond.
    pub recorded_at: SystemTime,
    /// `true` if it was recorded since the machine last started. Files changed before that may be partial
    /// writes.
    pub this_boot: bool,
}
