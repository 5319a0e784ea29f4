//! The contents of the files by which git folders point to each other. Settings are read once, however many files
//! depend on them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use git_index::ObjectFormat;
use rel_path::RelPath;
use sandbox_fs::FileRoot;

use crate::git::guard::in_git_folder;
use crate::git::packed_names::PackedNames;
use crate::git::repository_context::format_on_disk;
use crate::git::settings::{UnclearSettings, worktree};

/// The largest file of settings, or of all references, that is read for this, in bytes.
pub(crate) const SETTINGS_BYTES: u64 = 1 << 20;

/// The largest other file, in bytes: each of them holds one path, or a reference.
const PATH_BYTES: u64 = 8 << 10;

/// The working tree that the settings of a submodule name; `None` if there are no settings.
pub(crate) type NamedWorktree = Option<Result<Option<String>, UnclearSettings>>;

/// The contents of short files, and their settings.
pub(crate) trait LinkedContents {
    /// Returns the content that a short file will have once the changes are made, if it is not reached
    /// through a symlink.
    fn content(&self, path: &RelPath) -> Option<Vec<u8>>;

    /// Returns the value of `core.worktree` in a settings file.
    fn worktree(&self, settings: &RelPath) -> NamedWorktree {
        self.content(settings).map(|text| worktree(&text))
    }
}

/// Returns whether a file is short enough to be read for this.
pub(crate) fn is_short(path: &RelPath, length: usize) -> bool {
    length as u64 <= limit(path)
}

fn limit(path: &RelPath) -> u64 {
    let is_long = |name: &[u8]| name.to_ascii_lowercase().starts_with(b"config") || name == b"packed-refs";
    let is_settings = || path.file_name().is_some_and(is_long);
    // Outside of a `.git`, other files may have such names, too.
    if is_settings() || in_git_folder(path).is_none() { SETTINGS_BYTES } else { PATH_BYTES }
}

/// Returns the content of a short file in the workspace, without following symlinks.
pub(crate) fn content_on_disk(root: &FileRoot, path: &RelPath) -> Option<Vec<u8>> {
    content_on_disk_up_to(root, path, limit(path))
}

/// Returns the content of a file of at most this length in the workspace, without following symlinks.
pub(crate) fn content_on_disk_up_to(root: &FileRoot, path: &RelPath, limit_bytes: u64) -> Option<Vec<u8>> {
    if root.canonical_path(path).ok()? != *path {
        return None;
    }
    root.open_file(path).ok()?.read_to_end(limit_bytes).ok()
}

/// The cached answers from settings files.
#[derive(Debug)]
pub(crate) struct Remembered<Key, Answer>(RefCell<BTreeMap<Key, Answer>>);

impl<Key, Answer> Default for Remembered<Key, Answer> {
    fn default() -> Remembered<Key, Answer> {
        Remembered(RefCell::default())
    }
}

impl<Key: Ord, Answer: Clone> Remembered<Key, Answer> {
    /// Returns the cached answer, or reads it.
    pub(crate) fn get_or_read(&self, key: Key, read: impl FnOnce() -> Answer) -> Answer {
        let remembered = self.0.borrow().get(&key).cloned();
        remembered.unwrap_or_else(|| {
            let answer = read();
            self.0.borrow_mut().insert(key, answer.clone());
            answer
        })
    }
}

/// The files of the workspace as they are now.
#[derive(Debug)]
pub(crate) struct ContentsOnDisk<'a> {
    root: &'a FileRoot,
    formats: Remembered<RelPath, Option<ObjectFormat>>,
    worktrees: Remembered<RelPath, NamedWorktree>,
    packed: Remembered<RelPath, Arc<PackedNames>>,
}

impl ContentsOnDisk<'_> {
    pub(crate) fn new(root: &FileRoot) -> ContentsOnDisk<'_> {
        let (formats, worktrees) = (Remembered::default(), Remembered::default());
        ContentsOnDisk { root, formats, worktrees, packed: Remembered::default() }
    }

    /// Returns the names in a `packed-refs`.
    pub(crate) fn packed(&self, list: &RelPath) -> Arc<PackedNames> {
        let read = || Arc::new(PackedNames::read(&content_on_disk(self.root, list).unwrap_or_default()));
        self.packed.get_or_read(list.clone(), read)
    }

    /// Returns the object format that a settings file sets; `None` if it cannot be read with certainty.
    pub(crate) fn format(&self, settings: &RelPath) -> Option<ObjectFormat> {
        self.formats.get_or_read(settings.clone(), || format_on_disk(self.root, settings))
    }
}

impl LinkedContents for ContentsOnDisk<'_> {
    fn content(&self, path: &RelPath) -> Option<Vec<u8>> {
        content_on_disk(self.root, path)
    }

    fn worktree(&self, settings: &RelPath) -> NamedWorktree {
        let read = || content_on_disk(self.root, settings).map(|text| worktree(&text));
        self.worktrees.get_or_read(settings.clone(), read)
    }
}
