//! The list at one moment.

use std::cmp::Ordering;
use std::fmt;
use std::sync::MutexGuard;

use rel_path::RelPath;
use sandbox_fs::{FileKind, Visit};

use crate::needle::Needle;
use crate::state::State;
use crate::tree::{Child, FolderNumber, FolderState, LeafState, ROOT};

/// The list as it is after everything that was done before it was asked for.
///
/// While it is held nothing is noticed, so it is held for a short time, and files are read afterwards.
pub struct View<'a> {
    state: MutexGuard<'a, State>,
}

/// One entry of the list.
#[derive(Debug)]
#[non_exhaustive]
pub struct ListEntry {
    /// Its canonical path.
    pub path: RelPath,
    /// What it is; a link is a link.
    pub kind: FileKind,
    /// What a search would find in it.
    pub content: ListedContent,
}

/// What a search would find in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedContent {
    /// Only reading it tells; of what is no file, nothing.
    Unknown,
    /// It is binary.
    Binary,
    /// It is not decodable.
    Undecodable,
}

/// What a walk of the list came by and did not give out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListSummary {
    /// Folders that cannot be read.
    pub unreadable: u64,
    /// Folders where something else is mounted.
    pub mounts: u64,
    /// Entries beyond those that were asked for.
    pub counted: u64,
}

/// Where to walk, and what to leave out.
pub struct ListWalk<'w> {
    /// The canonical path of the folder where it begins, which is not given out itself.
    pub start: &'w RelPath,
    /// How many levels beneath it are given out.
    pub depth: usize,
    /// Decides about every entry before it is given out and before anything beneath it.
    pub visitor: &'w mut dyn FnMut(&RelPath, FileKind) -> Visit,
    /// Whether the visitor is asked about folders only, and everything else is taken.
    pub takes_leaves: bool,
    /// How many entries are given out. The others are counted, which takes little time where nobody is asked about them.
    pub most: usize,
    /// Takes the entries, in the order of path bytes.
    pub each: &'w mut dyn FnMut(ListEntry),
}

/// Which children are walked.
struct Marks {
    folders: Vec<bool>,
    leaves: Vec<bool>,
}

struct Level<'s> {
    path: RelPath,
    children: std::iter::Peekable<std::slice::Iter<'s, Child>>,
    /// Folders that are still to be entered, the next one last.
    entering: Vec<(FolderNumber, RelPath)>,
}

impl<'a> View<'a> {
    pub(crate) fn new(state: MutexGuard<'a, State>) -> View<'a> {
        View { state }
    }

    /// Walks a folder as [`sandbox_fs::FileRoot::walk`] would.
    ///
    /// `None` if the walk comes to something that is not in the list: then it has to be walked. What was given out until
    /// then does not count.
    pub fn walk(&self, walk: ListWalk<'_>) -> Option<ListSummary> {
        self.walk_marked(walk, None)
    }

    /// Walks only to files in which a query may match, and to those that a search would skip.
    ///
    /// `None` as with [`View::walk`].
    pub fn candidates(&self, needle: &Needle, walk: ListWalk<'_>) -> Option<ListSummary> {
        let ListWalk { start, depth, visitor, takes_leaves, most, each: take } = walk;
        let mut each = |entry: ListEntry| {
            if entry.kind == FileKind::File {
                take(entry);
            }
        };
        let walk = ListWalk { start, depth, visitor: &mut *visitor, takes_leaves, most, each: &mut each };
        if !needle.is_selective() {
            return self.walk_marked(walk, None);
        }
        let tree = &self.state.tree;
        let mut marks = self.no_marks();
        self.state.signatures.candidates(needle, |leaf| marks.leaves[leaf as usize] = true);
        for (number, leaf) in tree.leaves.iter() {
            let marked = &mut marks.leaves[number as usize];
            *marked |= leaf.kind == FileKind::File && !matches!(leaf.state, LeafState::Text(_));
            if *marked {
                self.mark_folder(&mut marks, leaf.folder);
            }
        }
        self.walk_marked(walk, Some(&marks))
    }

    /// Walks only to entries with a name that is wanted.
    ///
    /// `None` as with [`View::walk`].
    pub fn named(&self, is_wanted: &dyn Fn(&[u8]) -> bool, walk: ListWalk<'_>) -> Option<ListSummary> {
        let ListWalk { start, depth, visitor, takes_leaves, most, each: take } = walk;
        let tree = &self.state.tree;
        let mut marks = self.no_marks();
        for (number, leaf) in tree.leaves.iter().filter(|(_, leaf)| is_wanted(&leaf.name)) {
            marks.leaves[number as usize] = true;
            self.mark_folder(&mut marks, leaf.folder);
        }
        for (number, _) in tree.folders.iter().filter(|(_, folder)| is_wanted(&folder.name)) {
            self.mark_folder(&mut marks, number);
        }
        // Folders on the way are given out by the walk too, so it cannot count.
        let (mut left, mut counted) = (most, 0);
        let mut each = |entry: ListEntry| {
            if !entry.path.file_name().is_some_and(is_wanted) {
                return;
            }
            match left.checked_sub(1) {
                Some(fewer) => {
                    left = fewer;
                    take(entry);
                }
                None => counted += 1,
            }
        };
        let most = usize::MAX;
        let walk = ListWalk { start, depth, visitor: &mut *visitor, takes_leaves, most, each: &mut each };
        let summary = self.walk_marked(walk, Some(&marks))?;
        Some(ListSummary { counted, ..summary })
    }

    /// Marks nothing but what a walk has to come by in any case.
    fn no_marks(&self) -> Marks {
        let tree = &self.state.tree;
        let mut marks =
            Marks { folders: vec![false; tree.folders.bound()], leaves: vec![false; tree.leaves.bound()] };
        for (number, _) in tree.folders.iter().filter(|(_, folder)| folder.state != FolderState::Listed) {
            self.mark_folder(&mut marks, number);
        }
        marks
    }

    /// Marks a folder and those that it is in.
    fn mark_folder(&self, marks: &mut Marks, folder: FolderNumber) {
        let mut at = folder;
        while !marks.folders[at as usize] {
            marks.folders[at as usize] = true;
            if at == ROOT {
                return;
            }
            let Some(found) = self.state.tree.folders.get(at) else { return };
            at = found.parent;
        }
    }

    fn walk_marked(&self, walk: ListWalk<'_>, marks: Option<&Marks>) -> Option<ListSummary> {
        let ListWalk { start, depth, visitor, takes_leaves, most, each } = walk;
        let tree = &self.state.tree;
        let mut summary = ListSummary::default();
        let mut left = most;
        let mut levels = vec![self.level(tree.find(start)?, start.clone())?];
        if depth == 0 {
            return Some(summary);
        }
        while let Some(level) = levels.last_mut() {
            let next = level.children.peek().copied().copied();
            let enters = match (level.entering.last(), next) {
                (Some((_, path)), Some(child)) => {
                    entering_order(path.file_name().unwrap_or_default(), tree.name(child)) == Ordering::Less
                }
                (entering, _) => entering.is_some(),
            };
            if enters && let Some((folder, path)) = level.entering.pop() {
                if levels.len() >= depth {
                    continue;
                }
                match tree.folders.get(folder)?.state {
                    FolderState::Listed => levels.push(self.level(folder, path)?),
                    FolderState::Unreadable => summary.unreadable += 1,
                    FolderState::Mount => summary.mounts += 1,
                    FolderState::New | FolderState::LeftOut | FolderState::Odd => return None,
                }
                continue;
            }
            let Some(child) = next else {
                levels.pop();
                continue;
            };
            level.children.next();
            let is_marked = marks.is_none_or(|marks| match child {
                Child::Folder(number) => marks.folders[number as usize],
                Child::Leaf(number) => marks.leaves[number as usize],
            });
            if !is_marked {
                continue;
            }
            let is_taken = takes_leaves && matches!(child, Child::Leaf(_));
            if is_taken && left == 0 {
                summary.counted += 1;
                continue;
            }
            let (kind, content) = match child {
                Child::Folder(_) => (FileKind::Folder, ListedContent::Unknown),
                Child::Leaf(number) => {
                    let leaf = tree.leaves.get(number)?;
                    let content = match leaf.state {
                        LeafState::Binary => ListedContent::Binary,
                        LeafState::Undecodable => ListedContent::Undecodable,
                        LeafState::Unread | LeafState::Unknown | LeafState::Text(_) => ListedContent::Unknown,
                    };
                    (leaf.kind, content)
                }
            };
            let path = level.path.child(tree.name(child)).ok()?;
            let visit = if is_taken { Visit::Take } else { visitor(&path, kind) };
            if let (Child::Folder(number), Visit::Take | Visit::Pass) = (child, visit) {
                let name = path.file_name().unwrap_or_default();
                let place = level.entering.partition_point(|(_, other)| {
                    let other = other.file_name().unwrap_or_default();
                    other.iter().chain(b"/").cmp(name.iter().chain(b"/")) == Ordering::Greater
                });
                level.entering.insert(place, (number, path.clone()));
            }
            if matches!(visit, Visit::Take | Visit::TakeOnly) {
                match left.checked_sub(1) {
                    Some(fewer) => {
                        left = fewer;
                        each(ListEntry { path, kind, content });
                    }
                    None => summary.counted += 1,
                }
            }
        }
        Some(summary)
    }

    fn level(&self, folder: FolderNumber, path: RelPath) -> Option<Level<'_>> {
        let found = self.state.tree.folders.get(folder)?;
        if found.state != FolderState::Listed {
            return None;
        }
        Some(Level { path, children: found.children.iter().peekable(), entering: Vec::new() })
    }
}

/// What is in the folder `entering` comes before the entry `name` or behind it, by the bytes of whole paths.
fn entering_order(entering: &[u8], name: &[u8]) -> Ordering {
    entering.iter().chain(b"/").cmp(name)
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("View").finish_non_exhaustive()
    }
}
