//! Listing folders, and comparing the list with the disk.

use rel_path::MAX_COMPONENTS;
use sandbox_fs::{FileKind, FolderAt, FsError, OpenFolder};

use super::State;
use crate::context::IndexContext;
use crate::report::OffReason;
use crate::tree::{Child, FolderNumber, FolderState, LeafState};

/// The number of attempts to compare a folder that keeps changing.
const ATTEMPTS: usize = 4;

impl State {
    /// Watches a new folder and lists it. Returns the number of its entries.
    pub(super) fn list(&mut self, context: &IndexContext, folder: FolderNumber) -> usize {
        if self.tree.folders.get(folder).is_none_or(|node| node.state != FolderState::New) {
            return 0;
        }
        let structure = self.structure;
        let (state, entries) = match self.try_list(context, folder, structure) {
            Ok(entries) => (FolderState::Listed, entries),
            Err(state) => (state, 0),
        };
        if self.is_off() {
            return 0;
        }
        if self.structure != structure {
            // The path may have meant another folder during the listing.
            self.list_again(folder);
            return 0;
        }
        self.set_folder_state(folder, state);
        if self.has_listed
            && let Some(path) = self.tree.path(folder)
        {
            // Entries that appeared before the folder was watched caused no notice.
            self.feed.push(path);
        }
        let entries_in_all = self.tree.leaves.len() + self.tree.folders.len();
        // The check comes after each folder, so the limit is exceeded by one folder at most.
        if entries_in_all > context.limits.entries || self.tree.bytes() > context.limits.memory_bytes {
            self.turn_off(OffReason::TooManyFiles);
        }
        entries
    }

    fn list_again(&mut self, folder: FolderNumber) {
        let Some(node) = self.tree.folders.get_mut(folder) else { return };
        if let (Some(watch), Some(watcher)) = (node.watch.take(), &mut self.watcher) {
            watcher.forget(watch, folder);
        }
        self.new_folders.push_back(folder);
    }

    /// Lists a folder, and adds its children only if `structure` is unchanged.
    fn try_list(
        &mut self,
        context: &IndexContext,
        folder: FolderNumber,
        structure: u64,
    ) -> Result<usize, FolderState> {
        let path = self.tree.path(folder).ok_or(FolderState::Odd)?;
        if path.components().count() + 1 >= MAX_COMPONENTS {
            return Err(FolderState::Odd);
        }
        let open = match context.root.folder_at(&path) {
            Ok(FolderAt::Folder(open)) => open,
            Ok(FolderAt::Unreadable) => return Err(FolderState::Unreadable),
            Ok(FolderAt::Mount) => return Err(FolderState::Mount),
            Err(FsError::Io { .. }) if path.is_root() => {
                self.turn_off(OffReason::System);
                return Err(FolderState::Odd);
            }
            // If the folder is gone, a notice follows.
            Ok(_) | Err(_) => return Err(FolderState::Odd),
        };
        let inode = open.metadata().map_err(|_| FolderState::Odd)?.inode;
        let watcher = self.watcher.as_mut().ok_or(FolderState::Odd)?;
        // The watch comes before the listing, so that changes in between cause a notice.
        let (watch, before) = match watcher.watch(&open, folder) {
            Ok(watched) => watched,
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => {
                self.turn_off(OffReason::TooManyFolders);
                return Err(FolderState::Odd);
            }
            Err(_) => return Err(FolderState::Odd),
        };
        if let Some(node) = self.tree.folders.get_mut(folder) {
            (node.watch, node.inode) = (Some(watch), inode);
        }
        if let Some(before) = before {
            // The same folder was known under another name until now.
            self.unwatched(before);
        }
        let names = names(&open).ok_or(FolderState::Odd)?;
        // Notices that arrived during the listing may mean that the path led elsewhere.
        self.take_notices();
        if self.structure != structure {
            return Ok(0);
        }
        let count = names.len();
        let mut children = Vec::with_capacity(count);
        for (name, kind) in names {
            let path = path.child(&name).map_err(|_| FolderState::Odd)?;
            if !context.rules.hides(&path) {
                children.push(self.new_child(context, folder, &path, &name, kind));
            }
        }
        self.tree.set_children(folder, children);
        Ok(count)
    }

    /// Compares a folder with the disk, in case a change was not reported. Changed contents are read again;
    /// if an entry has appeared or disappeared, everything is listed again.
    pub(crate) fn compare(&mut self, context: &IndexContext, folder: FolderNumber) {
        // A difference may be a change whose notice is still on its way, so only a lasting one counts as a
        // loss.
        for attempt in 0..ATTEMPTS {
            if !self.refresh(context, usize::MAX) {
                return;
            }
            let Some(node) = self.tree.folders.get(folder) else { return };
            match node.state {
                FolderState::Listed => {}
                // The obstacle to listing it may be gone.
                FolderState::Odd => return self.touch_folder(folder),
                _ => return,
            }
            let Some(path) = self.tree.path(folder) else { return };
            let Ok(FolderAt::Folder(open)) = context.root.folder_at(&path) else { continue };
            if !open.metadata().is_ok_and(|now| now.inode == node.inode) {
                self.is_lost |= attempt + 1 == ATTEMPTS;
                continue;
            }
            let is_hidden = |name: &[u8]| path.child(name).is_ok_and(|path| context.rules.hides(&path));
            let Some(mut names) = names(&open) else { return };
            names.retain(|(name, _)| !is_hidden(name));
            names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            let is_same = names.len() == node.children.len()
                && names.iter().zip(&node.children).all(|((name, kind), child)| {
                    let listed_kind = match child {
                        Child::Folder(_) => FileKind::Folder,
                        Child::Leaf(leaf) => {
                            self.tree.leaves.get(*leaf).map_or(FileKind::Unknown, |leaf| leaf.kind)
                        }
                    };
                    *kind == listed_kind && **name == *self.tree.name(*child)
                });
            if is_same {
                return self.compare_contents(folder, &open);
            }
            self.is_lost |= attempt + 1 == ATTEMPTS;
        }
    }

    fn compare_contents(&mut self, folder: FolderNumber, open: &OpenFolder) {
        let Some(node) = self.tree.folders.get(folder) else { return };
        let mut changed = Vec::new();
        for child in &node.children {
            let Child::Leaf(number) = *child else { continue };
            let Some(leaf) = self.tree.leaves.get(number) else { continue };
            let is_known =
                matches!(leaf.state, LeafState::Text(_) | LeafState::Binary | LeafState::Undecodable);
            if is_known && open.entry(&leaf.name).ok().flatten().is_none_or(|now| stamp(&now) != leaf.stamp) {
                changed.push((number, leaf.name.clone()));
            }
        }
        for (number, name) in changed {
            self.push_change(folder, &name);
            self.set_unread(number);
        }
    }
}

/// Condenses the metadata of a file into one number. The link count enters it, because a file with a second
/// name can change without a notice.
pub(super) fn stamp(metadata: &sandbox_fs::Metadata) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hash = DefaultHasher::new();
    (metadata.stamp(), metadata.links > 1).hash(&mut hash);
    hash.finish()
}

/// Reads the names in a folder with their kinds; returns `None` if it cannot be read to its end.
fn names(open: &OpenFolder) -> Option<Vec<(Box<[u8]>, FileKind)>> {
    let mut names: Vec<(Box<[u8]>, FileKind)> = Vec::new();
    open.names(|name, kind| names.push((name.into(), kind))).ok()?;
    for (name, kind) in &mut names {
        if *kind == FileKind::Unknown {
            // If the entry is gone, a notice follows.
            *kind = open.entry(name).ok()?.map_or(FileKind::Unknown, |now| now.kind);
        }
    }
    Some(names)
}
