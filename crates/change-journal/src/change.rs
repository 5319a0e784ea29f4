//! Owns the words for changes: what one path was and becomes, and how far the change has come.

use std::fmt;
use std::time::SystemTime;

use crate::hash::ContentHash;
use crate::run::RunNumber;

/// The number of a change in one journal. Later changes have larger numbers; none is ever used twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeNumber(pub u64);

impl fmt::Display for ChangeNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file; its content is its bytes.
    File,
    /// A symbolic link; its content is its target.
    Symlink,
    /// A folder; its content is empty.
    Folder,
}

/// A content, as it is handed to the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// These bytes, to be kept.
    Bytes(&'a [u8]),
    /// Bytes that the journal already holds. Recording fails if it does not.
    Held(ContentHash),
    /// Bytes that are not kept, with their hash if that is known: the change cannot be undone or redone.
    NotKept(Option<ContentHash>),
}

/// The extended attributes of one side of a change, as they are handed to the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attributes<'a> {
    /// Nobody has looked.
    #[default]
    Unknown,
    /// These bytes, to be kept; empty where there are no attributes.
    Bytes(&'a [u8]),
    /// Attributes as they read back from the journal.
    Recorded(RecordedAttributes),
}

/// The extended attributes of one side of a change, as they read back from the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordedAttributes {
    /// Nobody has looked.
    #[default]
    Unknown,
    /// There were none.
    None,
    /// Those of this content, if it is still held.
    Content(ContentHash),
}

/// One side of a change, as it is handed to the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryRecord<'a> {
    /// What the path leads to.
    pub kind: EntryKind,
    /// Its content.
    pub content: Content<'a>,
    /// Its permission bits, where they matter.
    pub mode: Option<u32>,
    /// Its extended attributes.
    pub attributes: Attributes<'a>,
}

impl<'a> EntryRecord<'a> {
    /// A regular file with `bytes` in it, its mode and attributes left open.
    pub fn file(bytes: &'a [u8]) -> Self {
        Self {
            kind: EntryKind::File,
            content: Content::Bytes(bytes),
            mode: None,
            attributes: Attributes::Unknown,
        }
    }
}

/// A change to one path, as it is handed to the journal.
///
/// `before` is `None` where nothing is there yet, `after` where nothing is left. Not both may be `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeRecord<'a> {
    /// The path beneath the workspace's root, in the workspace's own bytes.
    pub path: &'a [u8],
    /// What is there now.
    pub before: Option<EntryRecord<'a>>,
    /// What shall be there.
    pub after: Option<EntryRecord<'a>>,
    /// How far the change has come already; [`ChangeState::Intended`] unless it is recorded afterwards.
    pub state: ChangeState,
    /// The earlier change that this one takes back.
    pub undoes: Option<ChangeNumber>,
}

impl<'a> ChangeRecord<'a> {
    /// An intended change of `path`.
    pub fn intended(path: &'a [u8], before: Option<EntryRecord<'a>>, after: Option<EntryRecord<'a>>) -> Self {
        Self { path, before, after, state: ChangeState::Intended, undoes: None }
    }
}

/// How far a change has come. It only ever moves downwards in this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeState {
    /// It is decided. The path may hold either side, or a torn mix after a loss of power.
    Intended,
    /// The path was seen to hold the after side, but nothing has been synced.
    Published,
    /// The path and its folder have been synced: nothing is left to redo.
    Settled,
    /// Somebody else changed the path in between: theirs stayed, the after side is kept as content only.
    Conflicted,
}

/// One side of a change, as it reads back from the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// What the path leads to.
    pub kind: EntryKind,
    /// The hash of its content, if it was known. Whether the bytes are held, the content store tells.
    pub content: Option<ContentHash>,
    /// The length of its content in bytes, if the bytes were handed in.
    pub length_bytes: Option<u64>,
    /// Its permission bits, where they matter.
    pub mode: Option<u32>,
    /// Its extended attributes.
    pub attributes: RecordedAttributes,
}

impl Entry {
    /// Whether the content was handed to the journal when this was recorded. It may be gone since.
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
    /// The path beneath the workspace's root.
    pub path: Vec<u8>,
    /// What was there.
    pub before: Option<Entry>,
    /// What is there after it.
    pub after: Option<Entry>,
    /// How far it has come.
    pub state: ChangeState,
    /// The earlier change that it takes back.
    pub undoes: Option<ChangeNumber>,
    /// When it was recorded, to the millisecond.
    pub recorded_at: SystemTime,
    /// Whether it was recorded since the machine last started. Files of an earlier start may be torn.
    pub this_boot: bool,
}
