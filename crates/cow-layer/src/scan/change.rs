//! One changed path of a layer.

use rel_path::RelPath;

use crate::access::OWN_FOLDER;
use crate::handle::{Entry, Kind};
use crate::scan::moment::Moment;

/// One path at which the layer differs from the workspace at the time of the scan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayerChange {
    /// The path, without links and `..`; the root itself if only its permissions changed.
    pub path: RelPath,
    /// The workspace's side at the time of the scan; `None` if the path did not exist.
    pub before: Option<Side>,
    /// The layer's side; `None` if the command removed the path.
    pub after: Option<Side>,
    /// `true` if another program changed the path in the workspace since the layer was made, or may have:
    /// then it is not adopted. [`Layer::changes`](crate::Layer::changes) documents which changes are
    /// detected.
    pub saved_meanwhile: bool,
    /// For a folder that is adopted with everything below it in one step, the size of its tree. The entries
    /// below it are not listed.
    pub tree: Option<TreeSize>,
    /// `true` if it is a file that has another name, or a tree with such files in it, until [`Layer::separate`](crate::Layer::separate)
    /// separates them.
    pub(crate) is_shared: bool,
    /// The permission bits that the path's folder has or gets, if its owner may not change its entries.
    pub(crate) closed_parent: Option<u32>,
    pub(crate) before_stamp: Option<Stamp>,
    pub(crate) after_stamp: Option<Stamp>,
    /// The time of the scan.
    pub(crate) seen_at: Moment,
}

/// One side of a change: an entry's kind and metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Side {
    /// A regular file.
    File {
        /// Permission bits (`0o7777`); those of the layer without set-user and set-group bit, which are not adopted.
        mode: u32,
        /// Its length in bytes.
        size_bytes: u64,
    },
    /// A symbolic link.
    Symlink {
        /// Its target, verbatim.
        target: Vec<u8>,
    },
    /// A folder. Its children are changes of their own, unless the change is a tree.
    Folder {
        /// Permission bits (`0o7777`); those of the layer without the set-user and set-group bits that it has neither
        /// from before nor from the workspace's folder around it.
        mode: u32,
    },
    /// A pipe, a socket or a device.
    Special,
}

impl LayerChange {
    /// Returns whether it would bring a name of a file that another name leads to, too: then it is not adopted. After
    /// [`Layer::separate`](crate::Layer::separate) these are the names for whose copies there was no room, and the trees that hold one.
    pub fn is_left_shared(&self) -> bool {
        self.is_shared
    }

    /// Returns whether adopting it moves the workspace's entry aside in the layer, instead of exchanging it with the command's.
    pub(crate) fn moves_out(&self) -> bool {
        self.after.as_ref().is_none_or(|after| after.is_folder() && self.tree.is_none())
    }
}

impl Side {
    /// Returns whether this is a folder.
    pub fn is_folder(&self) -> bool {
        matches!(self, Side::Folder { .. })
    }
}

/// The size of a folder's tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeSize {
    /// The number of entries, folders included, without the folder itself.
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

/// Identifies one state of one entry.
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

    /// Returns whether the entry is this one, untouched.
    pub(crate) fn is(&self, entry: &Entry) -> bool {
        *self == Stamp::of(entry)
    }

    /// Returns whether the entry is this one and was not written to; it may have been renamed since.
    pub(crate) fn is_renamed(&self, entry: &Entry) -> bool {
        // Adopting its children changes a folder's size and time, and its owner may have widened it for that.
        let is_folder = entry.kind == Kind::Folder;
        self.inode == entry.inode
            && (self.mode == entry.mode || is_folder && self.mode | OWN_FOLDER == entry.mode)
            && (is_folder || (self.size_bytes, self.modified) == (entry.size_bytes, entry.modified))
    }
}
