//! Watches on folders that a caller has listed itself.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io;
use std::ops::Bound;
use std::sync::Arc;

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FolderAt};

use crate::tree::{FolderNumber, ROOT};
use crate::watcher::{Notice, Watcher, reports_all_changes};

/// Watches on the root and on folders below it, for a caller that caches their entries.
///
/// The caller watches a folder first and lists it then. [`changes`](FolderWatch::changes) reads the kernel's queue in
/// the calling thread, so it reports every change in a watched folder that was made before the call: entries that come,
/// go or are replaced, and files that are written by a name in that folder. A write through another name of the same file
/// is not reported.
pub struct FolderWatch {
    root: Arc<FileRoot>,
    watcher: Watcher,
    /// Every watched folder with its watch, by path and by number.
    folders: BTreeMap<RelPath, (FolderNumber, i32)>,
    paths: HashMap<FolderNumber, RelPath>,
    next: FolderNumber,
}

/// The changes in watched folders since the last call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderChanges {
    /// These entries may have changed, in order, each once. A path is a hint: it may mean something else by now.
    Paths(Vec<RelPath>),
    /// Anything may have changed, and folders that are not watched any more are not reported from now on: begin again.
    Lost,
}

impl FolderWatch {
    /// Watches a root.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::Unsupported`] on a file system whose changes the kernel does not report, and those of
    /// [`watch`](FolderWatch::watch).
    pub fn start(root: Arc<FileRoot>) -> io::Result<FolderWatch> {
        if !reports_all_changes(&root) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let watcher = Watcher::new(&root)?;
        let (folders, paths) = (BTreeMap::new(), HashMap::new());
        let mut watch = FolderWatch { root, watcher, folders, paths, next: ROOT };
        watch.watch(&RelPath::root())?;
        Ok(watch)
    }

    /// Watches a folder from now on. Its parent must be watched, which reports the replacement of the folder. A watched folder
    /// stays watched.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::StorageFull`] if the user has too many watches, and those of opening the folder.
    pub fn watch(&mut self, folder: &RelPath) -> io::Result<()> {
        if self.folders.contains_key(folder) {
            return Ok(());
        }
        let open = match self.root.folder_at(folder) {
            Ok(FolderAt::Folder(open)) => open,
            _ => return Err(io::ErrorKind::NotADirectory.into()),
        };
        let number = self.next;
        let (watch, before) = self.watcher.watch(&open, number)?;
        self.next += 1;
        // The same folder under its former name.
        if let Some(path) = before.and_then(|before| self.paths.remove(&before)) {
            self.folders.remove(&path);
        }
        self.folders.insert(folder.clone(), (number, watch));
        self.paths.insert(number, folder.clone());
        Ok(())
    }

    /// Returns whether a folder is watched.
    #[must_use]
    pub fn is_watched(&self, folder: &RelPath) -> bool {
        self.folders.contains_key(folder)
    }

    /// Returns the number of watched folders.
    #[must_use]
    pub fn len(&self) -> usize {
        self.folders.len()
    }

    /// Returns whether no folder is watched, the root included.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Stops watching a folder and everything below it.
    pub fn forget(&mut self, folder: &RelPath) {
        let from = (Bound::Included(folder.clone()), Bound::Unbounded);
        // Between a folder and its entries there may be others, such as `a-b` between `a` and `a/b`.
        let begins_alike = |path: &RelPath| path.as_bytes().starts_with(folder.as_bytes());
        let later = self.folders.range(from).map(|(path, _)| path).take_while(|path| begins_alike(path));
        let gone: Vec<RelPath> = later.filter(|path| path.starts_with(folder)).cloned().collect();
        for path in gone {
            if let Some((number, watch)) = self.folders.remove(&path) {
                self.paths.remove(&number);
                self.watcher.forget(watch, number);
            }
        }
    }

    /// Returns the changes since the last call, or since the folders are watched.
    pub fn changes(&mut self) -> FolderChanges {
        let mut changed = Vec::new();
        for notice in self.watcher.take() {
            let path = match &notice {
                Notice::Entry(folder, name)
                | Notice::Content(folder, name)
                | Notice::Rights(folder, name) => {
                    let Some(folder) = self.paths.get(folder) else { continue };
                    folder.child(name).ok()
                }
                Notice::Unwatched(folder) => {
                    let Some(path) = self.paths.remove(folder) else { continue };
                    self.folders.remove(&path);
                    Some(path).filter(|path| !path.is_root())
                }
                Notice::Lost => None,
            };
            // An entry whose path is too long cannot be named, and might matter.
            let Some(path) = path else { return FolderChanges::Lost };
            changed.push(path);
        }
        changed.sort_unstable_by(|one, other| one.as_bytes().cmp(other.as_bytes()));
        changed.dedup();
        FolderChanges::Paths(changed)
    }
}

impl fmt::Debug for FolderWatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("FolderWatch").field("folders", &self.folders.len()).finish_non_exhaustive()
    }
}
