//! A view of the list at one moment.

use std::cmp::Ordering;
use std::fmt;
use std::sync::MutexGuard;

use rel_path::{RelPath, Shortlist};
use sandbox_fs::{FileKind, Visit};

use crate::needle::Needle;
use crate::state::State;
use crate::tree::{Child, FolderNumber, FolderState, LeafState, ROOT};

/// The list, up to date with every change made before it was requested.
///
/// Holding it blocks the thread, so it is held briefly, and files are read afterwards.
pub struct View<'a> {
    state: MutexGuard<'a, State>,
}

/// One entry of the list.
#[derive(Debug)]
#[non_exhaustive]
pub struct ListEntry {
    /// Its canonical path.
    pub path: RelPath,
    /// Its kind; links are not followed.
    pub kind: FileKind,
    /// Its treatment by searches.
    pub content: ListedContent,
}

/// The treatment of a file by searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedContent {
    /// Unknown until it is read; also for entries other than files.
    Unknown,
    /// It is binary.
    Binary,
    /// It is not decodable.
    Undecodable,
}

/// The entries that a walk of the list skipped or only counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListSummary {
    /// Folders that cannot be read.
    pub unreadable: u64,
    /// Folders that are mount points.
    pub mounts: u64,
    /// Entries beyond the requested number.
    pub counted: u64,
}

/// The scope of a walk and its callbacks.
pub struct ListWalk<'w> {
    /// The canonical path of the folder to walk, which is not listed itself.
    pub start: &'w RelPath,
    /// The number of levels below it that are listed.
    pub depth: usize,
    /// Called for every entry, before the entry is listed and before anything below it.
    pub visitor: &'w mut dyn FnMut(&RelPath, FileKind) -> Visit,
    /// Set if the visitor is called for folders only, and every other entry is taken.
    pub takes_leaves: bool,
    /// The number of entries to list, which [`Shortlist`] chooses; `usize::MAX` lists all as the walk reaches them. The
    /// others are counted, which is cheap where the visitor is not called for them.
    pub most: usize,
    /// Receives the entries, in the order of path bytes.
    pub each: &'w mut dyn FnMut(ListEntry),
}

/// The children to walk.
struct Marks {
    folders: Vec<bool>,
    leaves: Vec<bool>,
}

struct Level<'s> {
    path: RelPath,
    children: std::iter::Peekable<std::slice::Iter<'s, Child>>,
    /// The position of the folder.
    position: usize,
    /// The entries so far that were not skipped.
    visited: usize,
    /// Folders still to be entered, the next one last, each with its position.
    entering: Vec<(FolderNumber, RelPath, usize)>,
}

impl<'a> View<'a> {
    pub(crate) fn new(state: MutexGuard<'a, State>) -> View<'a> {
        View { state }
    }

    /// Walks a folder as [`sandbox_fs::FileRoot::walk`] would.
    ///
    /// Returns `None` if the walk reaches a folder that is not listed: then the caller has to walk the disk,
    /// and discards the entries listed so far.
    pub fn walk(&self, walk: ListWalk<'_>) -> Option<ListSummary> {
        self.walk_marked(walk, None)
    }

    /// Walks only to files in which a query may match, and to those whose content is unknown or not text.
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
        // Files without a signature may match, so they are candidates too.
        for (number, leaf) in tree.leaves.iter() {
            let marked = &mut marks.leaves[number as usize];
            *marked |= leaf.kind == FileKind::File && !matches!(leaf.state, LeafState::Text(_));
            if *marked {
                self.mark_folder(&mut marks, leaf.folder);
            }
        }
        self.walk_marked(walk, Some(&marks))
    }

    /// Walks only to entries whose name `is_wanted` accepts.
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
        // The walk also lists the folders on the way, so its own count would be too high.
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

    /// Marks only the folders that a walk has to visit in any case.
    fn no_marks(&self) -> Marks {
        let tree = &self.state.tree;
        let mut marks =
            Marks { folders: vec![false; tree.folders.bound()], leaves: vec![false; tree.leaves.bound()] };
        for (number, _) in tree.folders.iter().filter(|(_, folder)| folder.state != FolderState::Listed) {
            self.mark_folder(&mut marks, number);
        }
        marks
    }

    /// Marks a folder and its ancestors.
    fn mark_folder(&self, marks: &mut Marks, folder: FolderNumber) {
        let mut at = folder;
        while !marks.folders[at as usize] {
            marks.folders[at as usize] = true;
            if at == ROOT {
                return;
            }
            let Some(node) = self.state.tree.folders.get(at) else { return };
            at = node.parent;
        }
    }

    fn walk_marked(&self, walk: ListWalk<'_>, marks: Option<&Marks>) -> Option<ListSummary> {
        let ListWalk { start, depth, visitor, takes_leaves, most, each } = walk;
        let tree = &self.state.tree;
        let mut summary = ListSummary::default();
        let mut shortlist = (most < usize::MAX).then(|| Shortlist::new(most));
        let mut levels = vec![self.level(tree.find(start)?, start.clone(), 0)?];
        if depth == 0 {
            return Some(summary);
        }
        loop {
            let level_depth = levels.len();
            let Some(level) = levels.last_mut() else { break };
            let next = level.children.peek().copied().copied();
            // The order is that of whole paths, where `/` sorts between other bytes: the content of `a` comes
            // after `a-b`, so entering a folder waits for its turn among its siblings.
            let enters = match (level.entering.last(), next) {
                (Some((_, path, _)), Some(child)) => {
                    entering_order(path.file_name().unwrap_or_default(), tree.name(child)) == Ordering::Less
                }
                (entering, _) => entering.is_some(),
            };
            if enters && let Some((folder, path, position)) = level.entering.pop() {
                // The folder itself is listed, but is at the greatest requested depth.
                if level_depth >= depth {
                    continue;
                }
                match tree.folders.get(folder)?.state {
                    FolderState::Listed => levels.push(self.level(folder, path, position)?),
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
            let position = level.position.max(level.visited);
            // Counting needs no path, which makes the rest of a long list cheap.
            if is_taken
                && shortlist.as_ref().is_some_and(|shortlist| !shortlist.has_room(level_depth, position))
            {
                level.visited += 1;
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
            level.visited += usize::from(visit != Visit::Skip);
            if let (Child::Folder(number), Visit::Take | Visit::Pass) = (child, visit) {
                let name = path.file_name().unwrap_or_default();
                let index = level.entering.partition_point(|(_, other, _)| {
                    let other = other.file_name().unwrap_or_default();
                    other.iter().chain(b"/").cmp(name.iter().chain(b"/")) == Ordering::Greater
                });
                level.entering.insert(index, (number, path.clone(), position));
            }
            if matches!(visit, Visit::Take | Visit::TakeOnly) {
                let entry = ListEntry { path, kind, content };
                match &mut shortlist {
                    Some(shortlist) => shortlist.offer(level_depth, position, || entry),
                    None => each(entry),
                }
            }
        }
        if let Some(shortlist) = shortlist {
            let offered = shortlist.offered();
            let chosen = shortlist.into_values();
            summary.counted += offered - chosen.len() as u64;
            chosen.into_iter().for_each(each);
        }
        Some(summary)
    }

    fn level(&self, folder: FolderNumber, path: RelPath, position: usize) -> Option<Level<'_>> {
        let node = self.state.tree.folders.get(folder)?;
        if node.state != FolderState::Listed {
            return None;
        }
        let children = node.children.iter().peekable();
        Some(Level { path, children, position, visited: 0, entering: Vec::new() })
    }
}

/// Compares the entries of the folder `entering` with the entry `name`, by the bytes of whole paths.
fn entering_order(entering: &[u8], name: &[u8]) -> Ordering {
    entering.iter().chain(b"/").cmp(name)
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("View").finish_non_exhaustive()
    }
}
