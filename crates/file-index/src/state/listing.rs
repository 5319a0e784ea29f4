//! Listing folders, and comparing the list with what is there.

use rel_path::MAX_COMPONENTS;
use sandbox_fs::{FileKind, FolderAt, FsError, OpenFolder};

use super::State;
use crate::ground::Ground;
use crate::report::OffReason;
use crate::tree::{Child, FolderNumber, FolderState, LeafState};

/// How often a folder that keeps changing is compared.
const ATTEMPTS: usize = 4;

impl State {
    /// Watches a new folder and lists it. Answers how many entries it has.
    pub(super) fn list(&mut self, ground: &Ground, folder: FolderNumber) -> usize {
        if self.tree.folders.get(folder).is_none_or(|found| found.state != FolderState::New) {
            return 0;
        }
        let structure = self.structure;
        let (state, entries) = match self.try_list(ground, folder, structure) {
            Ok(entries) => (FolderState::Listed, entries),
            Err(state) => (state, 0),
        };
        if self.is_off() {
            return 0;
        }
        if self.structure != structure {
            // Its path meant another folder for a moment, perhaps just then.
            self.list_again(folder);
            return 0;
        }
        self.set_folder_state(folder, state);
        if self.has_listed
            && let Some(path) = self.tree.path(folder)
        {
            // What came into the folder before it was watched was not told.
            self.feed.push(path);
        }
        let entries_in_all = self.tree.leaves.len() + self.tree.folders.len();
        if entries_in_all > ground.limits.entries || self.tree.bytes() > ground.limits.memory_bytes {
            self.turn_off(OffReason::TooManyFiles);
        }
        entries
    }

    fn list_again(&mut self, folder: FolderNumber) {
        let Some(found) = self.tree.folders.get_mut(folder) else { return };
        if let (Some(watch), Some(watcher)) = (found.watch.take(), &mut self.watcher) {
            watcher.forget(watch, folder);
        }
        self.new_folders.push_back(folder);
    }

    /// Adds children only if `structure` is what it was.
    fn try_list(
        &mut self,
        ground: &Ground,
        folder: FolderNumber,
        structure: u64,
    ) -> Result<usize, FolderState> {
        let path = self.tree.path(folder).ok_or(FolderState::Odd)?;
        if path.components().count() + 1 >= MAX_COMPONENTS {
            return Err(FolderState::Odd);
        }
        let open = match ground.root.folder_at(&path) {
            Ok(FolderAt::Folder(open)) => open,
            Ok(FolderAt::Unreadable) => return Err(FolderState::Unreadable),
            Ok(FolderAt::Mount) => return Err(FolderState::Mount),
            Err(FsError::Io { .. }) if path.is_root() => {
                self.turn_off(OffReason::System);
                return Err(FolderState::Odd);
            }
            // If it is gone, that will be told.
            Ok(_) | Err(_) => return Err(FolderState::Odd),
        };
        let inode = open.metadata().map_err(|_| FolderState::Odd)?.inode;
        let watcher = self.watcher.as_mut().ok_or(FolderState::Odd)?;
        // First watched, then listed: what comes in between is told.
        let (watch, before) = match watcher.watch(&open, folder) {
            Ok(watched) => watched,
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {
                self.turn_off(OffReason::TooManyFolders);
                return Err(FolderState::Odd);
            }
            Err(_) => return Err(FolderState::Odd),
        };
        if let Some(found) = self.tree.folders.get_mut(folder) {
            (found.watch, found.inode) = (Some(watch), inode);
        }
        if let Some(before) = before {
            // The same folder had another name a moment ago.
            self.unwatched(before);
        }
        let names = names(&open).ok_or(FolderState::Odd)?;
        self.take_notices();
        if self.structure != structure {
            return Ok(0);
        }
        let count = names.len();
        let mut children = Vec::with_capacity(count);
        for (name, kind) in names {
            let path = path.child(&name).map_err(|_| FolderState::Odd)?;
            if !ground.rules.hides(&path) {
                children.push(self.new_child(ground, folder, &path, &name, kind));
            }
        }
        self.tree.set_children(folder, children);
        Ok(count)
    }

    /// Compares a folder with what is there, in case something was not told. Content that has changed is read again; if an
    /// entry has come or gone, everything is looked at anew.
    pub(crate) fn compare(&mut self, ground: &Ground, folder: FolderNumber) {
        for attempt in 0..ATTEMPTS {
            if !self.refresh(ground, usize::MAX) {
                return;
            }
            let Some(found) = self.tree.folders.get(folder) else { return };
            match found.state {
                FolderState::Listed => {}
                // What kept it from being listed may be over.
                FolderState::Odd => return self.touch_folder(folder),
                _ => return,
            }
            let Some(path) = self.tree.path(folder) else { return };
            let Ok(FolderAt::Folder(open)) = ground.root.folder_at(&path) else { continue };
            if !open.metadata().is_ok_and(|now| now.inode == found.inode) {
                self.is_lost |= attempt + 1 == ATTEMPTS;
                continue;
            }
            let is_hidden = |name: &[u8]| path.child(name).is_ok_and(|path| ground.rules.hides(&path));
            let Some(mut names) = names(&open) else { return };
            names.retain(|(name, _)| !is_hidden(name));
            names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            let is_same = names.len() == found.children.len()
                && names.iter().zip(&found.children).all(|((name, kind), child)| {
                    let known = match child {
                        Child::Folder(_) => FileKind::Folder,
                        Child::Leaf(leaf) => {
                            self.tree.leaves.get(*leaf).map_or(FileKind::Unknown, |leaf| leaf.kind)
                        }
                    };
                    *kind == known && **name == *self.tree.name(*child)
                });
            if is_same {
                return self.compare_contents(folder, &open);
            }
            self.is_lost |= attempt + 1 == ATTEMPTS;
        }
    }

    fn compare_contents(&mut self, folder: FolderNumber, open: &OpenFolder) {
        let Some(found) = self.tree.folders.get(folder) else { return };
        let mut changed = Vec::new();
        for child in &found.children {
            let Child::Leaf(number) = *child else { continue };
            let Some(leaf) = self.tree.leaves.get(number) else { continue };
            let is_known =
                matches!(leaf.state, LeafState::Text(_) | LeafState::Binary | LeafState::Undecodable);
            if is_known && open.entry(&leaf.name).ok().flatten().is_none_or(|now| stamp(&now) != leaf.stamp) {
                changed.push((number, leaf.name.clone()));
            }
        }
        for (number, name) in changed {
            self.tell(folder, &name);
            self.set_unread(number);
        }
    }
}

/// What the system says about a file, as one number. A file with another name elsewhere has none of its own.
pub(super) fn stamp(metadata: &sandbox_fs::Metadata) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hash = DefaultHasher::new();
    (metadata.stamp(), metadata.links > 1).hash(&mut hash);
    hash.finish()
}

/// The names in a folder with their kinds; `None` if it cannot be read to its end.
fn names(open: &OpenFolder) -> Option<Vec<(Box<[u8]>, FileKind)>> {
    let mut names: Vec<(Box<[u8]>, FileKind)> = Vec::new();
    open.names(|name, kind| names.push((name.into(), kind))).ok()?;
    for (name, kind) in &mut names {
        if *kind == FileKind::Unknown {
            // If it is gone, that will be told.
            *kind = open.entry(name).ok()?.map_or(FileKind::Unknown, |now| now.kind);
        }
    }
    Some(names)
}
