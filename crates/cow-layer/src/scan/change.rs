//! One path that is different in the layer.

use rel_path::RelPath;

use crate::access::OWN_FOLDER;
use crate::handle::{Entry, Kind};
use crate::scan::moment::Moment;

/// One path that is different in the layer from what it was in the workspace when the layer was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayerChange {
    /// The path, without links and `..`; the root itself if only its permissions changed.
    pub path: RelPath,
    /// What the workspace had there when the layer was looked at; `None` for nothing.
    pub before: Option<Side>,
    /// What the layer has there; `None` if the command removed it.
    pub after: Option<Side>,
    /// Whether somebody changed the path in the workspace since the layer was made, or may have: then it is not
    /// adopted. [`Layer::changes`](crate::Layer::changes) says what is seen.
    pub saved_meanwhile: bool,
    /// For a folder that is adopted with everything beneath it in one step, how much that is. The entries beneath are
    /// no changes of their own.
    pub tree: Option<TreeSize>,
    /// The permission bits that the path's folder has or gets, if its owner may not change what is in it.
    pub(crate) closed_parent: Option<u32>,
    pub(crate) before_stamp: Option<Stamp>,
    pub(crate) after_stamp: Option<Stamp>,
    /// When the layer was looked at.
    pub(crate) seen_at: Moment,
}

/// What is at a path, on one side of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Side {
    /// A regular file.
    File {
        /// Permission bits (`0o7777`); those of the layer without set-user and set-group bit, which are not adopted.
        mode: u32,
        /// How many bytes it has.
        size_bytes: u64,
    },
    /// A symbolic link.
    Symlink {
        /// Where it leads, as it is written.
        target: Vec<u8>,
    },
    /// A folder; what is in it are changes of their own, unless the change is one of a tree.
    Folder {
        /// Permission bits (`0o7777`); those of the layer without the set-user and set-group bits that it has neither
        /// from before nor from the workspace's folder around it.
        mode: u32,
    },
    /// A pipe, a socket or a device.
    Special,
}

impl Side {
    /// Whether this is a folder.
    pub fn is_folder(&self) -> bool {
        matches!(self, Side::Folder { .. })
    }
}

/// How much is beneath a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeSize {
    /// How many entries, folders included and the folder itself not.
    pub entries: u64,
    /// The bytes of all files.
    pub bytes: u64,
}

impl TreeSize {
    pub(crate) fn add(&mut self, other: TreeSize) {
        self.entries += other.entries;
        self.bytes += other.bytes;
    }
}

/// Which state of which file an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) inode: u64,
    pub(crate) mode: u32,
    pub(crate) size_bytes: u64,
    pub(crate) modified: i128,
    pub(crate) changed: i128,
}

impl Stamp {
    pub(crate) fn of(entry: &Entry) -> Stamp {
        Stamp {
            inode: entry.inode,
            mode: entry.mode,
            size_bytes: entry.size_bytes,
            modified: entry.modified,
            changed: entry.changed,
        }
    }

    /// Whether the entry is this one and nobody has touched it.
    pub(crate) fn is(&self, entry: &Entry) -> bool {
        *self == Stamp::of(entry)
    }

    /// Whether the entry is this one and nobody has written to it, though it may have been renamed since.
    pub(crate) fn is_renamed(&self, entry: &Entry) -> bool {
        // A folder's size and time change with what is adopted in it, and its owner may have opened it for that.
        let is_folder = entry.kind == Kind::Folder;
        self.inode == entry.inode
            && (self.mode == entry.mode || is_folder && self.mode | OWN_FOLDER == entry.mode)
            && (is_folder || (self.size_bytes, self.modified) == (entry.size_bytes, entry.modified))
    }
}
