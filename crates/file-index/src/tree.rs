//! The list of files: folders and their entries, in memory.

use rel_path::RelPath;
use sandbox_fs::FileKind;

use crate::signatures::Slot;
use crate::slab::Slab;

pub(crate) type FolderNumber = u32;
pub(crate) type LeafNumber = u32;

/// The number of the root.
pub(crate) const ROOT: FolderNumber = 0;

/// About how many bytes an allocation takes beyond its requested size.
const ALLOCATION_BYTES: usize = 16;

/// Folders, and everything else as leaves.
#[derive(Debug)]
pub(crate) struct Tree {
    pub folders: Slab<Folder>,
    pub leaves: Slab<Leaf>,
    /// Bytes of names and of lists of children.
    bytes: usize,
}

#[derive(Debug)]
pub(crate) struct Folder {
    /// The folder that it is in; the root is in itself.
    pub parent: FolderNumber,
    pub name: Box<[u8]>,
    /// Ordered by name.
    pub children: Vec<Child>,
    pub state: FolderState,
    /// The inode when it was listed.
    pub inode: u64,
    /// The number of its watch, while it is watched.
    pub watch: Option<i32>,
}

/// The listing state of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FolderState {
    /// Not listed yet.
    New,
    /// Listed and watched.
    Listed,
    /// Excluded by the rules.
    LeftOut,
    /// A walk would count it as unreadable.
    Unreadable,
    /// A walk would not enter it.
    Mount,
    /// Unknown, and only a walk can determine it.
    Odd,
}

/// Anything but a folder.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub folder: FolderNumber,
    pub name: Box<[u8]>,
    pub kind: FileKind,
    pub state: LeafState,
    /// Changes with every notice about the leaf; unique across leaves.
    pub epoch: u64,
    /// The metadata of the file when it was read, as one number.
    pub stamp: u64,
}

/// The state of a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeafState {
    /// Not read, or changed since.
    Unread,
    /// Unknown, so that searches read it: it is large, or may change without a notice, or memory is short.
    Unknown,
    /// Text, with a signature.
    Text(Slot),
    Binary,
    Undecodable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Child {
    Folder(FolderNumber),
    Leaf(LeafNumber),
}

impl Tree {
    /// Creates a tree with an unlisted root.
    pub(crate) fn new() -> Tree {
        let mut tree = Tree { folders: Slab::default(), leaves: Slab::default(), bytes: 0 };
        let root = tree.folders.insert(Folder::new(ROOT, b"", FolderState::New));
        debug_assert_eq!(root, ROOT, "the first folder is the root");
        tree
    }

    pub(crate) fn name(&self, child: Child) -> &[u8] {
        match child {
            Child::Folder(number) => self.folders.get(number).map_or(b"", |folder| &*folder.name),
            Child::Leaf(number) => self.leaves.get(number).map_or(b"", |leaf| &*leaf.name),
        }
    }

    pub(crate) fn child(&self, folder: FolderNumber, name: &[u8]) -> Option<Child> {
        self.position(folder, name).map(|(_, child)| child)
    }

    /// Finds a child and its position among the children.
    fn position(&self, folder: FolderNumber, name: &[u8]) -> Option<(usize, Child)> {
        let children = &self.folders.get(folder)?.children;
        let position = children.binary_search_by(|child| self.name(*child).cmp(name)).ok()?;
        Some((position, *children.get(position)?))
    }

    /// Returns the path of a folder; `None` if the folder is gone, or its path too long.
    pub(crate) fn path(&self, folder: FolderNumber) -> Option<RelPath> {
        let mut names = Vec::new();
        let mut at = folder;
        while at != ROOT {
            let node = self.folders.get(at)?;
            names.push(&*node.name);
            at = node.parent;
        }
        names.reverse();
        if names.is_empty() { Some(RelPath::root()) } else { RelPath::from_bytes(&names.join(&b'/')).ok() }
    }

    /// Finds the folder at a canonical path.
    pub(crate) fn find(&self, path: &RelPath) -> Option<FolderNumber> {
        path.components().try_fold(ROOT, |folder, name| match self.child(folder, name)? {
            Child::Folder(number) => Some(number),
            Child::Leaf(_) => None,
        })
    }

    /// Inserts a new child in the order of names. The name must be free.
    pub(crate) fn insert(&mut self, folder: FolderNumber, child: Child) {
        let name = self.name(child);
        let Some(node) = self.folders.get(folder) else { return };
        let position = node.children.partition_point(|other| self.name(*other) < name);
        if let Some(node) = self.folders.get_mut(folder) {
            node.children.insert(position, child);
            self.bytes += size_of::<Child>();
        }
    }

    /// Sets all children of a folder at once.
    pub(crate) fn set_children(&mut self, folder: FolderNumber, mut children: Vec<Child>) {
        children.sort_unstable_by(|a, b| self.name(*a).cmp(self.name(*b)));
        children.shrink_to_fit();
        self.bytes += children.len() * size_of::<Child>();
        if let Some(node) = self.folders.get_mut(folder) {
            node.children = children;
        }
    }

    pub(crate) fn new_folder(
        &mut self,
        parent: FolderNumber,
        name: &[u8],
        state: FolderState,
    ) -> FolderNumber {
        self.bytes += name.len() + ALLOCATION_BYTES;
        self.folders.insert(Folder::new(parent, name, state))
    }

    pub(crate) fn new_leaf(
        &mut self,
        folder: FolderNumber,
        name: &[u8],
        kind: FileKind,
        epoch: u64,
    ) -> LeafNumber {
        self.bytes += name.len() + ALLOCATION_BYTES;
        self.leaves.insert(Leaf {
            folder,
            name: name.into(),
            kind,
            state: LeafState::Unread,
            epoch,
            stamp: 0,
        })
    }

    /// Removes a child with everything below it, and calls `gone` for each entry.
    pub(crate) fn remove(&mut self, folder: FolderNumber, name: &[u8], gone: &mut dyn FnMut(Gone)) {
        let Some((position, child)) = self.position(folder, name) else { return };
        if let Some(node) = self.folders.get_mut(folder) {
            node.children.remove(position);
            self.bytes -= size_of::<Child>();
        }
        // An explicit stack, because the depth of a tree is not under our control.
        let mut left = vec![child];
        while let Some(child) = left.pop() {
            match child {
                Child::Folder(number) => {
                    let Some(removed) = self.folders.remove(number) else { continue };
                    self.bytes -= removed.name.len() + ALLOCATION_BYTES;
                    self.bytes -= removed.children.len() * size_of::<Child>();
                    left.extend(&removed.children);
                    gone(Gone::Folder(number, removed));
                }
                Child::Leaf(number) => {
                    let Some(removed) = self.leaves.remove(number) else { continue };
                    self.bytes -= removed.name.len() + ALLOCATION_BYTES;
                    gone(Gone::Leaf(removed));
                }
            }
        }
    }

    /// Returns about how many bytes the list takes.
    pub(crate) fn bytes(&self) -> usize {
        self.folders.bytes() + self.leaves.bytes() + self.bytes
    }
}

/// A removed entry.
#[derive(Debug)]
pub(crate) enum Gone {
    Folder(FolderNumber, Folder),
    Leaf(Leaf),
}

impl Folder {
    fn new(parent: FolderNumber, name: &[u8], state: FolderState) -> Folder {
        Folder { parent, name: name.into(), children: Vec::new(), state, inode: 0, watch: None }
    }
}
