//! The build folders of a workspace, searched once and kept between commands.
//!
//! A search lists folders down to a small depth. The entries of those folders are watched, and the files that the
//! search depends on are compared: the `.gitignore` of each, git's own list of ignored paths, and the index. A change
//! is followed in the folder in which it was made. Where something cannot be watched, each command begins with a
//! search.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use file_index::{FolderChanges, FolderWatch};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot, FileStamp, Visit, WalkEntry, WalkLimits};

use crate::adopt::build_folders::BuildFolders;
use crate::adopt::former_build_folders::FormerBuildFolders;
use crate::adopt::tracked_folders::{FolderSet, TrackedFolders, settled_stamp};
use crate::hidden::Hidden;

/// The limits of the search for build folders. Deeper ones are part of the layer like other folders, and builds there
/// are copied, which takes longer than the search on a busy machine.
const SEARCH: WalkLimits = WalkLimits { depth: 3, entries: 5_000, timeout: Duration::from_millis(500) };

/// The largest list of ignored paths that is read, in bytes.
const EXCLUDE_BYTES: u64 = 256 << 10;

/// The existing build folders, and the data to detect changes.
#[derive(Debug, Default)]
pub(crate) struct BuildFolderList {
    folders: BTreeSet<RelPath>,
    /// `None` if the next call has to search.
    watch: Option<FolderWatch>,
    /// True if watches are unavailable.
    is_unwatchable: bool,
    /// The `.gitignore` files that the search has used, each with its stamp if that reveals every later write.
    rules: BTreeMap<RelPath, Option<FileStamp>>,
    /// The list of ignored paths that the search has used, if there was one.
    excluded: Option<Vec<u8>>,
    reader: TrackedFolders,
    /// The tracked folders that the search has used; `None` if it needed none.
    tracked: Option<FolderSet>,
    /// Build folders that were part of a wider one, by their hard links.
    pub(crate) former: FormerBuildFolders,
}

impl BuildFolderList {
    /// Returns the build folders as they are now.
    pub(crate) fn current(&mut self, root: &Arc<FileRoot>, hidden: &Hidden) -> Vec<RelPath> {
        let excluded = RelPath::parse(".git/info/exclude").ok().and_then(|path| {
            let file = root.open_file(&path).ok()?;
            file.read_to_end(EXCLUDE_BYTES).ok()
        });
        let has_other_rules = excluded != self.excluded
            || self.tracked.as_ref().is_some_and(|tracked| *tracked != self.reader.read(root));
        self.excluded = excluded;
        match self.watch.as_mut().map(FolderWatch::changes) {
            Some(FolderChanges::Paths(mut paths)) if !has_other_rules => {
                paths.extend(self.rewritten_rules(root));
                self.follow(root, hidden, paths);
            }
            _ => self.search_all(root, hidden),
        }
        self.folders.iter().cloned().collect()
    }

    /// Returns the `.gitignore` files that may have changed: a write through another name does not show in the folder.
    fn rewritten_rules(&self, root: &FileRoot) -> Vec<RelPath> {
        let is_same = |path: &RelPath, stamp: FileStamp| {
            root.metadata(path).is_ok_and(|metadata| metadata.stamp() == stamp)
        };
        let rewritten =
            self.rules.iter().filter(|(path, stamp)| !stamp.is_some_and(|stamp| is_same(path, stamp)));
        rewritten.map(|(path, _)| path.clone()).collect()
    }

    /// Searches again where one of these paths may have changed the answer.
    fn follow(&mut self, root: &Arc<FileRoot>, hidden: &Hidden, paths: Vec<RelPath>) {
        let mut again: Vec<RelPath> = Vec::new();
        for path in paths {
            let folder = if path.file_name() == Some(b".gitignore") {
                path.parent().unwrap_or_default()
            } else if self.folders.contains(&path)
                || self.watch.as_ref().is_some_and(|watch| watch.is_watched(&path))
                || is_folder(root, &path)
            {
                path
            } else {
                continue;
            };
            if folder.is_root() {
                return self.search_all(root, hidden);
            }
            again.push(folder);
        }
        again.sort();
        again.dedup_by(|later, earlier| later.starts_with(earlier));
        for folder in &again {
            self.folders.retain(|other| !other.starts_with(folder));
            self.rules.retain(|path, _| !path.starts_with(folder));
            if let Some(watch) = &mut self.watch {
                watch.forget(folder);
            }
        }
        for folder in &again {
            // Folders within a build folder are not searched.
            if !self.folders.iter().any(|around| folder.starts_with(around)) {
                self.search(root, hidden, folder);
            }
        }
    }

    /// Searches everything, and watches it from then on if possible.
    fn search_all(&mut self, root: &Arc<FileRoot>, hidden: &Hidden) {
        (self.folders, self.tracked, self.watch) = (BTreeSet::new(), None, None);
        self.rules.clear();
        if !self.is_unwatchable {
            self.watch = FolderWatch::start(Arc::clone(root)).ok();
            self.is_unwatchable = self.watch.is_none();
        }
        self.search(root, hidden, &RelPath::root());
    }

    /// Searches a folder, which may be gone, and everything below it.
    fn search(&mut self, root: &Arc<FileRoot>, hidden: &Hidden, start: &RelPath) {
        let mut visitor = Visitor {
            root,
            hidden,
            build_folders: BuildFolders::with_reader(root, std::mem::take(&mut self.reader)),
            watch: self.watch.take(),
            is_unwatchable: self.is_unwatchable,
            rules: BTreeMap::new(),
        };
        let depth = start.components().count();
        let visit = match start.is_root() {
            true => Visit::Pass,
            false if is_folder(root, start) => visitor.visit_folder(start, depth),
            false => Visit::Skip,
        };
        let mut is_cut = false;
        if visit == Visit::TakeOnly {
            self.folders.insert(start.clone());
        } else if visit == Visit::Pass
            && let Ok(walk) =
                root.walk(start, WalkLimits { depth: SEARCH.depth.saturating_sub(depth), ..SEARCH })
            && walk.start() == start
        {
            let mut walk = walk.visited_by(|entry| visitor.visit(entry, depth));
            self.folders.extend(walk.by_ref().map(|entry| entry.path));
            is_cut = walk.summary().out_of_time;
        }
        self.is_unwatchable = visitor.is_unwatchable;
        self.rules.append(&mut visitor.rules);
        let tracked;
        (self.reader, tracked) = visitor.build_folders.into_reader();
        self.tracked = tracked.or(self.tracked.take());
        // The next search may cover more within its timeout.
        self.watch = visitor.watch.filter(|_| !is_cut);
    }
}

/// Decides about the entries of a search, and watches the folders that it enters.
struct Visitor<'a> {
    root: &'a FileRoot,
    hidden: &'a Hidden,
    build_folders: BuildFolders<'a>,
    watch: Option<FolderWatch>,
    is_unwatchable: bool,
    /// The `.gitignore` files on the way.
    rules: BTreeMap<RelPath, Option<FileStamp>>,
}

impl Visitor<'_> {
    fn visit(&mut self, entry: &WalkEntry, start_depth: usize) -> Visit {
        if entry.path.file_name() == Some(b".gitignore") {
            match entry.kind {
                // Its target can change anywhere.
                FileKind::Link => self.watch = None,
                _ => drop(self.rules.insert(entry.path.clone(), settled_stamp(self.root, &entry.path))),
            }
        }
        if entry.kind == FileKind::Folder {
            self.visit_folder(&entry.path, start_depth + entry.depth)
        } else {
            Visit::Skip
        }
    }

    /// Decides about a folder that is `depth` levels deep.
    fn visit_folder(&mut self, path: &RelPath, depth: usize) -> Visit {
        if path.file_name() == Some(b".git") || self.hidden.hides(path) {
            return Visit::Skip;
        }
        if self.build_folders.contains(path) {
            return Visit::TakeOnly;
        }
        // Before listing it, so that no change is missed in between.
        if depth < SEARCH.depth && self.watch.as_mut().is_some_and(|watch| watch.watch(path).is_err()) {
            self.watch = None;
            self.is_unwatchable = true;
        }
        Visit::Pass
    }
}

fn is_folder(root: &FileRoot, path: &RelPath) -> bool {
    root.metadata(path).is_ok_and(|metadata| metadata.is_folder())
}

#[cfg(test)]
mod tests;
