//! The list, the watches and the signatures, kept in step.
//!
//! Notices are recorded first and processed later: an entry that may have changed is looked up by name, a new
//! folder is watched and then listed. A change after the look-up causes another notice. So once all notices
//! up to a moment are processed, the list is the state at that moment or a later one.

mod content;
mod listing;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Instant;

use rel_path::RelPath;
use sandbox_fs::{FileKind, FolderAt, Metadata, OpenFolder};

use crate::context::IndexContext;
use crate::feed::Feed;
use crate::report::{IndexPhase, IndexReport, OffReason};
use crate::signatures::Signatures;
use crate::tree::{Child, Folder, FolderNumber, FolderState, Gone, LeafNumber, LeafState, ROOT, Tree};
use crate::watcher::{Notice, Watcher, reports_all_changes};

/// Names with a pending notice, each with whether a folder of that name must be listed again in any case.
type Touched = HashMap<Box<[u8]>, bool>;

/// The list, the watches and the signatures.
#[derive(Debug)]
pub(crate) struct State {
    pub tree: Tree,
    pub signatures: Signatures,
    pub feed: Feed,
    /// The time of the last request.
    pub last_used: Option<Instant>,
    watcher: Option<Watcher>,
    off: Option<OffReason>,
    /// Notices that are not processed yet.
    touched: BTreeMap<FolderNumber, Touched>,
    new_folders: VecDeque<FolderNumber>,
    /// Leaves that became unread; some may be gone, or their number reused, by now.
    unread: VecDeque<LeafNumber>,
    /// The number of files that are being read without the lock.
    reading: usize,
    /// Set if changes may have been lost, so that anything may have changed.
    is_lost: bool,
    /// Set once all folders have been listed.
    has_listed: bool,
    /// Incremented whenever a known folder may have been renamed, because paths through it then mean
    /// something else.
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
            reading: 0,
            is_lost: false,
            has_listed: false,
            structure: 0,
            next_epoch: 0,
            restarts: 0,
        }
    }

    /// Discards everything and starts listing.
    pub(crate) fn start(&mut self, context: &IndexContext) {
        self.rest();
        if !reports_all_changes(&context.root) {
            self.turn_off(OffReason::FileSystem);
            return;
        }
        match Watcher::new(&context.root) {
            Ok(watcher) => {
                self.watcher = Some(watcher);
                self.new_folders.push_back(ROOT);
            }
            Err(_) => self.turn_off(OffReason::System),
        }
    }

    /// Starts again after changes were lost.
    pub(crate) fn restart(&mut self, context: &IndexContext) {
        self.restarts += 1;
        self.start(context);
    }

    /// Frees all memory, and invalidates the cursors of the feed.
    pub(crate) fn rest(&mut self) {
        // The feed survives with a new incarnation, so that readers with old cursors notice the gap.
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

    /// Returns whether there was a request within that time.
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

    /// Records the kernel's notices, and processes as many as `budget` entries allow. Returns whether every
    /// change made before the call is processed, apart from folders that are still new.
    pub(crate) fn refresh(&mut self, context: &IndexContext, mut budget: usize) -> bool {
        self.take_notices();
        while budget > 0 && !self.is_lost {
            // Known folders come first: a caller needs them current, and new ones may take long.
            if let Some((folder, names)) = self.touched.pop_first() {
                let names = self.put_back(folder, names, budget);
                budget = budget.saturating_sub(names.len());
                self.check_entries(context, folder, names);
            } else if let Some(folder) = self.new_folders.pop_front() {
                budget = budget.saturating_sub(1 + self.list(context, folder));
            } else {
                break;
            }
        }
        if self.touched.is_empty() && self.new_folders.is_empty() {
            self.has_listed = !self.is_resting();
        }
        !self.is_resting() && !self.is_lost && self.touched.is_empty()
    }

    /// Takes up to `most` of the names, and leaves the others for later.
    fn put_back(&mut self, folder: FolderNumber, mut names: Touched, most: usize) -> Touched {
        if names.len() > most {
            let later: Vec<_> = names.keys().skip(most).cloned().collect();
            let later = later.into_iter().filter_map(|name| names.remove_entry(&name)).collect();
            self.touched.insert(folder, later);
        }
        names
    }

    /// Returns whether folders are waiting to be listed or entries to be looked up.
    pub(crate) fn has_work(&self) -> bool {
        !self.touched.is_empty() || !self.new_folders.is_empty()
    }

    /// Returns whether files are waiting to be read.
    pub(crate) fn has_unread(&self) -> bool {
        !self.unread.is_empty() || self.reading > 0
    }

    /// Records the kernel's notices.
    fn take_notices(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        for notice in watcher.take() {
            match notice {
                Notice::Entry(folder, name) => self.touch(folder, name, false),
                Notice::Rights(folder, name) => self.touch(folder, name, true),
                Notice::Content(folder, name) => match self.tree.child(folder, &name) {
                    Some(Child::Leaf(leaf)) => {
                        self.push_change(folder, &name);
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
            // Reads in progress may have followed the old name, so their results must not count.
            self.structure += 1;
        }
        let is_watched = |node: &Folder| match node.state {
            FolderState::Listed => true,
            // A new folder that is watched is being listed right now.
            FolderState::New => node.watch.is_some(),
            FolderState::LeftOut | FolderState::Unreadable | FolderState::Mount | FolderState::Odd => false,
        };
        if self.tree.folders.get(folder).is_some_and(is_watched) {
            *self.touched.entry(folder).or_default().entry(name).or_default() |= is_thorough;
        }
    }

    /// Marks a folder to be listed again.
    fn touch_folder(&mut self, folder: FolderNumber) {
        match self.tree.folders.get(folder) {
            Some(node) if folder != ROOT => {
                let (parent, name) = (node.parent, node.name.clone());
                self.touch(parent, name, true);
            }
            Some(_) => self.is_lost = true,
            None => {}
        }
    }

    fn unwatched(&mut self, folder: FolderNumber) {
        if let Some(node) = self.tree.folders.get_mut(folder) {
            node.watch = None;
        }
        self.touch_folder(folder);
    }

    /// Looks up entries of a folder by name.
    fn check_entries(&mut self, context: &IndexContext, folder: FolderNumber, names: Touched) {
        let Some(node) = self.tree.folders.get(folder) else { return };
        if node.state != FolderState::Listed {
            return;
        }
        // A path may lead to another folder by now; the inode shows whether it is still the listed one.
        let inode = node.inode;
        let Some(path) = self.tree.path(folder) else { return self.touch_folder(folder) };
        let open = match context.root.folder_at(&path) {
            Ok(FolderAt::Folder(open)) => open,
            _ => return self.touch_folder(folder),
        };
        if !open.metadata().is_ok_and(|now| now.inode == inode) {
            return self.touch_folder(folder);
        }
        for (name, is_thorough) in names {
            if self.check_entry(context, folder, &path, &open, &name, is_thorough).is_none() {
                self.set_folder_state(folder, FolderState::Odd);
                return;
            }
        }
    }

    /// Returns `None` if the entry cannot be looked up, or has a name that no path can hold.
    fn check_entry(
        &mut self,
        context: &IndexContext,
        folder: FolderNumber,
        folder_path: &RelPath,
        open: &OpenFolder,
        name: &[u8],
        is_thorough: bool,
    ) -> Option<()> {
        let path = folder_path.child(name).ok()?;
        if context.rules.hides(&path) {
            return Some(());
        }
        let now = open.entry(name).ok()?;
        match (self.tree.child(folder, name), now) {
            (Some(Child::Folder(number)), Some(now))
                if now.kind == FileKind::Folder && !is_thorough && self.is_kept(number, &now) => {}
            (Some(Child::Leaf(number)), Some(now))
                if self.tree.leaves.get(number).is_some_and(|leaf| leaf.kind == now.kind) =>
            {
                self.set_unread(number);
            }
            (_, now) => {
                self.remove(folder, name);
                if let Some(now) = now {
                    let child = self.new_child(context, folder, &path, name, now.kind);
                    self.tree.insert(folder, child);
                }
            }
        }
        if self.has_listed {
            self.feed.push(path);
        }
        Some(())
    }

    /// Returns whether a folder has been watched all the time, or has no known content to keep up to date.
    fn is_kept(&self, folder: FolderNumber, now: &Metadata) -> bool {
        self.tree.folders.get(folder).is_some_and(|node| match node.state {
            FolderState::Listed => node.watch.is_some() && node.inode == now.inode,
            FolderState::New | FolderState::LeftOut => true,
            FolderState::Unreadable | FolderState::Mount | FolderState::Odd => false,
        })
    }

    fn new_child(
        &mut self,
        context: &IndexContext,
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
        let is_left_out = context.rules.leaves_out(path);
        let state = if is_left_out { FolderState::LeftOut } else { FolderState::New };
        let number = self.tree.new_folder(folder, name, state);
        if !is_left_out {
            self.new_folders.push_back(number);
        }
        Child::Folder(number)
    }

    /// Removes an entry with everything below it.
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
        if let Some(node) = self.tree.folders.get_mut(folder) {
            node.state = state;
        }
    }

    /// Marks a leaf as possibly changed.
    fn set_unread(&mut self, number: LeafNumber) {
        self.next_epoch += 1;
        let Some(leaf) = self.tree.leaves.get_mut(number) else { return };
        leaf.epoch = self.next_epoch;
        // An unread file is queued already, and its new epoch invalidates a read in progress.
        if leaf.kind != FileKind::File || leaf.state == LeafState::Unread {
            return;
        }
        let before = std::mem::replace(&mut leaf.state, LeafState::Unread);
        if let LeafState::Text(slot) = before {
            self.signatures.remove(slot);
        }
        self.unread.push_back(number);
    }

    /// Adds a change to the feed.
    fn push_change(&mut self, folder: FolderNumber, name: &[u8]) {
        if self.has_listed
            && let Some(path) = self.tree.path(folder).and_then(|path| path.child(name).ok())
        {
            self.feed.push(path);
        }
    }

    /// Returns about how many bytes the state takes.
    pub(crate) fn bytes(&self) -> usize {
        self.tree.bytes() + self.signatures.bytes() + self.unread.capacity() * size_of::<LeafNumber>()
    }

    pub(crate) fn report(&self, context: &IndexContext) -> IndexReport {
        let phase = match self.off {
            Some(reason) => IndexPhase::Off(reason),
            None if self.is_resting() => IndexPhase::Resting,
            None if !self.has_listed || self.is_lost => IndexPhase::Listing,
            None if self.has_unread() => IndexPhase::Reading,
            None => IndexPhase::Ready,
        };
        IndexReport {
            phase,
            files: self.tree.leaves.len(),
            folders: self.tree.folders.len(),
            unread: self.unread.len() + self.reading,
            memory_bytes: self.bytes() + self.feed.bytes(),
            memory_limit_bytes: context.limits.memory_bytes,
            restarts: self.restarts,
        }
    }
}
