//! The list, the watches and the signatures, kept in step.
//!
//! What has been noticed is first written down, then looked at: an entry that may have changed is asked about by name, a new
//! folder is watched and then listed. Whatever happens after an entry was looked at is noticed again, so when all notices
//! until some moment have been looked at, the list is what was there at that moment or later.

mod content;
mod listing;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Instant;

use rel_path::RelPath;
use sandbox_fs::{FileKind, FolderAt, Metadata, OpenFolder};

use crate::feed::Feed;
use crate::ground::Ground;
use crate::report::{IndexPhase, IndexReport, OffReason};
use crate::signatures::Signatures;
use crate::tree::{Child, Folder, FolderNumber, FolderState, Gone, LeafNumber, LeafState, ROOT, Tree};
use crate::watcher::{Notice, Watcher, is_told_of_changes};

/// Names that were noticed, each with whether a folder of that name is to be looked at anew in any case.
type Touched = HashMap<Box<[u8]>, bool>;

/// The list, the watches and the signatures.
#[derive(Debug)]
pub(crate) struct State {
    pub tree: Tree,
    pub signatures: Signatures,
    pub feed: Feed,
    /// When somebody asked last.
    pub last_used: Option<Instant>,
    watcher: Option<Watcher>,
    off: Option<OffReason>,
    /// What was noticed and not looked at yet.
    touched: BTreeMap<FolderNumber, Touched>,
    new_folders: VecDeque<FolderNumber>,
    /// Leaves that became unread; some may be gone, or be another leaf now.
    unread: VecDeque<LeafNumber>,
    /// Whether something may have happened anywhere.
    is_lost: bool,
    /// Whether all folders have been listed once.
    has_listed: bool,
    /// Changes whenever a known folder may have got another name, so that paths through it mean something else.
    structure: u64,
    next_epoch: u64,
    restarts: u64,
}

impl State {
    pub(crate) fn new() -> State {
        State {
            tree: Tree::new(),
            signatures: Signatures::default(),
            feed: Feed::default(),
            last_used: None,
            watcher: None,
            off: None,
            touched: BTreeMap::new(),
            new_folders: VecDeque::new(),
            unread: VecDeque::new(),
            is_lost: false,
            has_listed: false,
            structure: 0,
            next_epoch: 0,
            restarts: 0,
        }
    }

    /// Forgets everything and begins to list.
    pub(crate) fn start(&mut self, ground: &Ground) {
        self.rest();
        if !is_told_of_changes(&ground.root) {
            self.turn_off(OffReason::FileSystem);
            return;
        }
        match Watcher::new(&ground.root) {
            Ok(watcher) => {
                self.watcher = Some(watcher);
                self.new_folders.push_back(ROOT);
            }
            Err(_) => self.turn_off(OffReason::System),
        }
    }

    /// Begins anew after something was not told.
    pub(crate) fn restart(&mut self, ground: &Ground) {
        self.restarts += 1;
        self.start(ground);
    }

    /// Gives everything back.
    pub(crate) fn rest(&mut self) {
        let mut feed = std::mem::take(&mut self.feed);
        feed.restart();
        *self = State {
            feed,
            off: self.off,
            last_used: self.last_used,
            structure: self.structure + 1,
            next_epoch: self.next_epoch,
            restarts: self.restarts,
            ..State::new()
        };
    }

    /// Whether somebody has asked within that time.
    pub(crate) fn is_used_within(&self, time: std::time::Duration) -> bool {
        self.last_used.is_some_and(|last| last.elapsed() < time)
    }

    pub(crate) fn turn_off(&mut self, reason: OffReason) {
        self.rest();
        self.off = Some(reason);
    }

    pub(crate) fn is_off(&self) -> bool {
        self.off.is_some()
    }

    pub(crate) fn is_resting(&self) -> bool {
        self.watcher.is_none()
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost
    }

    pub(crate) fn has_listed(&self) -> bool {
        self.has_listed
    }

    pub(crate) fn watcher(&self) -> Option<&Watcher> {
        self.watcher.as_ref()
    }

    /// Takes what has been noticed, and looks at as much of it as `budget` entries allow. Answers whether everything that
    /// was done before the call has been looked at, folders apart that are still new.
    pub(crate) fn refresh(&mut self, ground: &Ground, mut budget: usize) -> bool {
        self.take_notices();
        while budget > 0 && !self.is_lost {
            if let Some((folder, names)) = self.touched.pop_first() {
                budget = budget.saturating_sub(names.len());
                self.look_at(ground, folder, names);
            } else if let Some(folder) = self.new_folders.pop_front() {
                budget = budget.saturating_sub(1 + self.list(ground, folder));
            } else {
                break;
            }
        }
        if self.touched.is_empty() && self.new_folders.is_empty() {
            self.has_listed = !self.is_resting();
        }
        !self.is_resting() && !self.is_lost && self.touched.is_empty()
    }

    /// Whether there are folders to be listed or entries to be looked at.
    pub(crate) fn has_work(&self) -> bool {
        !self.touched.is_empty() || !self.new_folders.is_empty()
    }

    /// Whether there are files to be read.
    pub(crate) fn has_unread(&self) -> bool {
        !self.unread.is_empty()
    }

    /// Writes down what has been noticed.
    fn take_notices(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        for notice in watcher.take() {
            match notice {
                Notice::Entry(folder, name) => self.touch(folder, name, false),
                Notice::Rights(folder, name) => self.touch(folder, name, true),
                Notice::Content(folder, name) => match self.tree.child(folder, &name) {
                    Some(Child::Leaf(leaf)) => {
                        self.tell(folder, &name);
                        self.set_unread(leaf);
                    }
                    _ => self.touch(folder, name, false),
                },
                Notice::Unwatched(folder) => self.unwatched(folder),
                Notice::Lost => self.is_lost = true,
            }
        }
    }

    fn touch(&mut self, folder: FolderNumber, name: Box<[u8]>, is_thorough: bool) {
        if matches!(self.tree.child(folder, &name), Some(Child::Folder(_))) {
            self.structure += 1;
        }
        let is_watched = |found: &Folder| match found.state {
            FolderState::Listed => true,
            // It is being listed right now.
            FolderState::New => found.watch.is_some(),
            FolderState::LeftOut | FolderState::Unreadable | FolderState::Mount | FolderState::Odd => false,
        };
        if self.tree.folders.get(folder).is_some_and(is_watched) {
            *self.touched.entry(folder).or_default().entry(name).or_default() |= is_thorough;
        }
    }

    /// The folder is to be looked at anew.
    fn touch_folder(&mut self, folder: FolderNumber) {
        match self.tree.folders.get(folder) {
            Some(found) if folder != ROOT => {
                let (parent, name) = (found.parent, found.name.clone());
                self.touch(parent, name, true);
            }
            Some(_) => self.is_lost = true,
            None => {}
        }
    }

    fn unwatched(&mut self, folder: FolderNumber) {
        if let Some(found) = self.tree.folders.get_mut(folder) {
            found.watch = None;
        }
        self.touch_folder(folder);
    }

    /// Looks at entries of a folder by name.
    fn look_at(&mut self, ground: &Ground, folder: FolderNumber, names: Touched) {
        let Some(found) = self.tree.folders.get(folder) else { return };
        if found.state != FolderState::Listed {
            return;
        }
        let inode = found.inode;
        let Some(path) = self.tree.path(folder) else { return self.touch_folder(folder) };
        let open = match ground.root.folder_at(&path) {
            Ok(FolderAt::Folder(open)) => open,
            _ => return self.touch_folder(folder),
        };
        if !open.metadata().is_ok_and(|now| now.inode == inode) {
            return self.touch_folder(folder);
        }
        for (name, is_thorough) in names {
            if self.look_at_entry(ground, folder, &path, &open, &name, is_thorough).is_none() {
                self.set_folder_state(folder, FolderState::Odd);
                return;
            }
        }
    }

    /// `None` if the entry cannot be asked about, or is one that no path can name.
    fn look_at_entry(
        &mut self,
        ground: &Ground,
        folder: FolderNumber,
        folder_path: &RelPath,
        open: &OpenFolder,
        name: &[u8],
        is_thorough: bool,
    ) -> Option<()> {
        let path = folder_path.child(name).ok()?;
        if ground.rules.hides(&path) {
            return Some(());
        }
        let now = open.entry(name).ok()?;
        match (self.tree.child(folder, name), now) {
            (Some(Child::Folder(known)), Some(now))
                if now.kind == FileKind::Folder && !is_thorough && self.is_kept(known, &now) => {}
            (Some(Child::Leaf(known)), Some(now))
                if self.tree.leaves.get(known).is_some_and(|leaf| leaf.kind == now.kind) =>
            {
                self.set_unread(known);
            }
            (_, now) => {
                self.remove(folder, name);
                if let Some(now) = now {
                    let child = self.new_child(ground, folder, &path, name, now.kind);
                    self.tree.insert(folder, child);
                }
            }
        }
        if self.has_listed {
            self.feed.push(path);
        }
        Some(())
    }

    /// Whether a folder is the one that has been watched all the time, or about which nothing is known anyway.
    fn is_kept(&self, folder: FolderNumber, now: &Metadata) -> bool {
        self.tree.folders.get(folder).is_some_and(|found| match found.state {
            FolderState::Listed => found.watch.is_some() && found.inode == now.inode,
            FolderState::New | FolderState::LeftOut => true,
            FolderState::Unreadable | FolderState::Mount | FolderState::Odd => false,
        })
    }

    fn new_child(
        &mut self,
        ground: &Ground,
        folder: FolderNumber,
        path: &RelPath,
        name: &[u8],
        kind: FileKind,
    ) -> Child {
        if kind != FileKind::Folder {
            self.next_epoch += 1;
            let leaf = self.tree.new_leaf(folder, name, kind, self.next_epoch);
            if kind == FileKind::File {
                self.unread.push_back(leaf);
            }
            return Child::Leaf(leaf);
        }
        let is_left_out = ground.rules.leaves_out(path);
        let state = if is_left_out { FolderState::LeftOut } else { FolderState::New };
        let number = self.tree.new_folder(folder, name, state);
        if !is_left_out {
            self.new_folders.push_back(number);
        }
        Child::Folder(number)
    }

    /// Takes an entry out, with what is beneath it.
    fn remove(&mut self, folder: FolderNumber, name: &[u8]) {
        let State { tree, watcher, signatures, .. } = self;
        tree.remove(folder, name, &mut |gone| match gone {
            Gone::Folder(number, folder) => {
                if let (Some(watcher), Some(watch)) = (watcher.as_mut(), folder.watch) {
                    watcher.forget(watch, number);
                }
            }
            Gone::Leaf(leaf) => {
                if let LeafState::Text(slot) = leaf.state {
                    signatures.remove(slot);
                }
            }
        });
    }

    fn set_folder_state(&mut self, folder: FolderNumber, state: FolderState) {
        if let Some(found) = self.tree.folders.get_mut(folder) {
            found.state = state;
        }
    }

    /// Takes note that something may have happened to a leaf.
    fn set_unread(&mut self, number: LeafNumber) {
        self.next_epoch += 1;
        let Some(leaf) = self.tree.leaves.get_mut(number) else { return };
        leaf.epoch = self.next_epoch;
        if leaf.kind != FileKind::File || leaf.state == LeafState::Unread {
            return;
        }
        let before = std::mem::replace(&mut leaf.state, LeafState::Unread);
        if let LeafState::Text(slot) = before {
            self.signatures.remove(slot);
        }
        self.unread.push_back(number);
    }

    /// Tells those who pull changes.
    fn tell(&mut self, folder: FolderNumber, name: &[u8]) {
        if self.has_listed
            && let Some(path) = self.tree.path(folder).and_then(|path| path.child(name).ok())
        {
            self.feed.push(path);
        }
    }

    /// How many bytes everything takes, about.
    pub(crate) fn bytes(&self) -> usize {
        self.tree.bytes() + self.signatures.bytes() + self.unread.capacity() * size_of::<LeafNumber>()
    }

    pub(crate) fn report(&self, ground: &Ground) -> IndexReport {
        let phase = match self.off {
            Some(reason) => IndexPhase::Off(reason),
            None if self.is_resting() => IndexPhase::Resting,
            None if !self.has_listed || self.is_lost => IndexPhase::Listing,
            None if !self.unread.is_empty() => IndexPhase::Reading,
            None => IndexPhase::Ready,
        };
        IndexReport {
            phase,
            files: self.tree.leaves.len(),
            folders: self.tree.folders.len(),
            unread: self.unread.len(),
            memory_bytes: self.bytes() + self.feed.bytes(),
            memory_limit_bytes: ground.limits.memory_bytes,
            restarts: self.restarts,
        }
    }
}
