//! The list of files: folders and what is in them, in memory.

use rel_path::RelPath;
use sandbox_fs::FileKind;

use crate::signatures::Slot;
use crate::slab::Slab;

pub(crate) type FolderNumber = u32;
pub(crate) type LeafNumber = u32;

/// The number of the root.
pub(crate) const ROOT: FolderNumber = 0;

/// What an allocation takes beyond what was asked for, about.
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
    /// The number of its inode when it was listed.
    pub inode: u64,
    /// By which number its events come, while they do.
    pub watch: Option<i32>,
}

/// What is known about what is in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FolderState {
    /// Nothing yet.
    New,
    /// Everything, and changes are noticed.
    Listed,
    /// Nothing, because that was asked for.
    LeftOut,
    /// A walk would count it as unreadable.
    Unreadable,
    /// A walk would not enter it.
    Mount,
    /// Nothing, and only a walk can tell.
    Odd,
}

/// Anything but a folder.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub folder: FolderNumber,
    pub name: Box<[u8]>,
    pub kind: FileKind,
    pub state: LeafState,
    /// Changes whenever something may have happened to it; never the same for two leaves.
    pub epoch: u64,
    /// What the system said about the file when it was read, as one number.
    pub stamp: u64,
}

/// What is known about the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeafState {
    /// Nothing, or nothing any more.
    Unread,
    /// Nothing that would spare reading it: it is large, or may change without notice, or there is no room.
    Unknown,
    /// It is text, and its grams are known.
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
    /// A tree with a root about which nothing is known.
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
        let children = &self.folders.get(folder)?.children;
        let place = children.binary_search_by(|child| self.name(*child).cmp(name)).ok()?;
        children.get(place).copied()
    }

    /// The path of a folder; `None` if it is no longer there, or too long.
    pub(crate) fn path(&self, folder: FolderNumber) -> Option<RelPath> {
        let mut names = Vec::new();
        let mut at = folder;
        while at != ROOT {
            let found = self.folders.get(at)?;
            names.push(&*found.name);
            at = found.parent;
        }
        names.reverse();
        if names.is_empty() { Some(RelPath::root()) } else { RelPath::from_bytes(&names.join(&b'/')).ok() }
    }

    /// The folder at a canonical path.
    pub(crate) fn find(&self, path: &RelPath) -> Option<FolderNumber> {
        path.components().try_fold(ROOT, |folder, name| match self.child(folder, name)? {
            Child::Folder(number) => Some(number),
            Child::Leaf(_) => None,
        })
    }

    /// Puts a new child in its place. There must be none of that name.
    pub(crate) fn insert(&mut self, folder: FolderNumber, child: Child) {
        let name = self.name(child);
        let Some(found) = self.folders.get(folder) else { return };
        let place = found.children.partition_point(|other| self.name(*other) < name);
        if let Some(found) = self.folders.get_mut(folder) {
            found.children.insert(place, child);
            self.bytes += size_of::<Child>();
        }
    }

    /// Gives a folder all of its children at once.
    pub(crate) fn set_children(&mut self, folder: FolderNumber, mut children: Vec<Child>) {
        children.sort_unstable_by(|a, b| self.name(*a).cmp(self.name(*b)));
        children.shrink_to_fit();
        self.bytes += children.len() * size_of::<Child>();
        if let Some(found) = self.folders.get_mut(folder) {
            found.children = children;
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

    /// Takes a child out with everything beneath it, which `gone` is told of.
    pub(crate) fn remove(&mut self, folder: FolderNumber, name: &[u8], gone: &mut dyn FnMut(Gone)) {
        let Some(child) = self.child(folder, name) else { return };
        if let Some(found) = self.folders.get_mut(folder) {
            found.children.retain(|other| *other != child);
            self.bytes -= size_of::<Child>();
        }
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

    /// How many bytes the list takes, about.
    pub(crate) fn bytes(&self) -> usize {
        self.folders.bytes() + self.leaves.bytes() + self.bytes
    }
}

/// Something that was taken out.
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
