//! The build folders of a workspace, searched once and held from one command to the next.
//!
//! A search lists folders down to a small depth. The entries of those folders are watched, and the files that it depends
//! on are compared: the `.gitignore` of each, git's own list of ignored paths, and the index. A change is followed in the
//! folder in which it was made. Where something cannot be watched, each command begins with a search.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use file_index::{FolderChanges, FolderWatch};
use rel_path::RelPath;
use sandbox_fs::{FileKind, FileRoot, FileStamp, Visit, WalkEntry, WalkLimits};

use crate::adopt::build_folders::BuildFolders;
use crate::adopt::tracked_folders::{FolderSet, TrackedFolders, settled_stamp};
use crate::hidden::Hidden;

/// The limits of the search for build folders. Those beyond it are part of the layer like other folders.
const SEARCH: WalkLimits = WalkLimits { depth: 3, entries: 5_000, timeout: Duration::from_millis(50) };

/// The largest list of ignored paths that is read, in bytes.
const EXCLUDE_BYTES: u64 = 256 << 10;

/// The build folders that are there, and what tells that they are still the same.
#[derive(Debug, Default)]
pub(crate) struct BuildFolderList {
    found: BTreeSet<RelPath>,
    /// `None` if the next call has to search.
    watch: Option<FolderWatch>,
    /// True if there are no watches to be had.
    is_unwatchable: bool,
    /// The `.gitignore` files that the search has used, each with its stamp if that would show every later write.
    rules: BTreeMap<RelPath, Option<FileStamp>>,
    /// The list of ignored paths that the search has used, if there was one.
    excluded: Option<Vec<u8>>,
    reader: TrackedFolders,
    /// The tracked folders that the search has used; `None` if it needed none.
    tracked: Option<FolderSet>,
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
        self.found.iter().cloned().collect()
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

    /// Searches again where one of these paths has changed the answer.
    fn follow(&mut self, root: &Arc<FileRoot>, hidden: &Hidden, paths: Vec<RelPath>) {
        let mut again: Vec<RelPath> = Vec::new();
        for path in paths {
            let folder = if path.file_name() == Some(b".gitignore") {
                path.parent().unwrap_or_default()
            } else if self.found.contains(&path)
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
            self.found.retain(|found| !found.starts_with(folder));
            self.rules.retain(|path, _| !path.starts_with(folder));
            if let Some(watch) = &mut self.watch {
                watch.forget(folder);
            }
        }
        for folder in &again {
            // What lies in a build folder is not searched.
            if !self.found.iter().any(|found| folder.starts_with(found)) {
                self.search(root, hidden, folder);
            }
        }
    }

    /// Searches everything, and watches it from now on if that is possible.
    fn search_all(&mut self, root: &Arc<FileRoot>, hidden: &Hidden) {
        (self.found, self.tracked, self.watch) = (BTreeSet::new(), None, None);
        self.rules.clear();
        if !self.is_unwatchable {
            self.watch = FolderWatch::start(Arc::clone(root)).ok();
            self.is_unwatchable = self.watch.is_none();
        }
        self.search(root, hidden, &RelPath::root());
    }

    /// Searches a folder, which may be gone, and everything beneath it.
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
            self.found.insert(start.clone());
        } else if visit == Visit::Pass
            && let Ok(walk) =
                root.walk(start, WalkLimits { depth: SEARCH.depth.saturating_sub(depth), ..SEARCH })
            && walk.start() == start
        {
            let mut walk = walk.visited_by(|entry| visitor.visit(entry, depth));
            self.found.extend(walk.by_ref().map(|entry| entry.path));
            is_cut = walk.summary().out_of_time;
        }
        self.is_unwatchable = visitor.is_unwatchable;
        self.rules.append(&mut visitor.rules);
        let tracked;
        (self.reader, tracked) = visitor.build_folders.into_reader();
        self.tracked = tracked.or(self.tracked.take());
        // The next search may get further in its time.
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
                // What it leads to can change anywhere.
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

    /// Decides about a folder that lies so many levels deep.
    fn visit_folder(&mut self, path: &RelPath, depth: usize) -> Visit {
        if path.file_name() == Some(b".git") || self.hidden.hides(path) {
            return Visit::Skip;
        }
        if self.build_folders.contains(path) {
            return Visit::TakeOnly;
        }
        // Before it is listed, so that no change falls in between.
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
mod tests {
    use std::fs;
    use std::path::Path;

    use sandbox_fs::{FsPolicy, RootRules};

    use super::*;

    fn found(list: &mut BuildFolderList, root: &Arc<FileRoot>) -> Vec<String> {
        list.current(root, &Hidden::new(None)).iter().map(ToString::to_string).collect()
    }

    /// What happens to a folder from one command to the next.
    #[derive(Clone, Copy, Debug)]
    enum Change {
        Folder(&'static str),
        File(&'static str, &'static str),
        Rename(&'static str, &'static str),
        Remove(&'static str),
        Link(&'static str, &'static str),
        SecondName(&'static str, &'static str),
        Git(&'static [&'static str]),
    }

    impl Change {
        fn make(self, root: &Path) {
            match self {
                Change::Folder(name) => fs::create_dir_all(root.join(name)).unwrap(),
                Change::File(name, text) => {
                    fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
                    fs::write(root.join(name), text).unwrap();
                }
                Change::Rename(from, to) => fs::rename(root.join(from), root.join(to)).unwrap(),
                Change::Remove(name) if root.join(name).is_dir() => {
                    fs::remove_dir_all(root.join(name)).unwrap()
                }
                Change::Remove(name) => fs::remove_file(root.join(name)).unwrap(),
                Change::Link(name, to) => std::os::unix::fs::symlink(to, root.join(name)).unwrap(),
                Change::SecondName(name, of) => fs::hard_link(root.join(of), root.join(name)).unwrap(),
                Change::Git(arguments) => {
                    let git =
                        std::process::Command::new("git").current_dir(root).args(arguments).output().unwrap();
                    assert!(git.status.success(), "{git:?}");
                }
            }
        }
    }

    #[test]
    fn held_list_is_what_a_search_finds_after_every_change() {
        use Change::{File, Folder, Git, Link, Remove, Rename, SecondName};
        let steps: [(Change, &[&str]); 32] = [
            (Folder("target"), &[]),
            (File("lib/a/file", ""), &[]),
            (File(".gitignore", "target/\n"), &["target"]),
            (Folder("lib/target"), &["lib/target", "target"]),
            (File("lib/.gitignore", "!target/\n"), &["target"]),
            (Remove("lib/.gitignore"), &["lib/target", "target"]),
            (Folder("outside/b/target"), &["lib/target", "outside/b/target", "target"]),
            (Rename("outside", "lib/c"), &["lib/target", "target"]),
            (Rename("lib/c/b", "b"), &["b/target", "lib/target", "target"]),
            (Rename("b", "lib/b"), &["lib/b/target", "lib/target", "target"]),
            (Remove("lib/b"), &["lib/target", "target"]),
            (Rename("lib/target", "lib/other"), &["target"]),
            (Rename("lib/other", "lib/target"), &["lib/target", "target"]),
            (Rename("lib", "target/lib"), &["target"]),
            (Rename("target/lib", "lib"), &["lib/target", "target"]),
            (Remove("target"), &["lib/target"]),
            (Link("target", "lib/target"), &["lib/target"]),
            (Remove("target"), &["lib/target"]),
            (Folder("target"), &["lib/target", "target"]),
            (Git(&["init", "--quiet"]), &["lib/target", "target"]),
            (File("target/kept", "1"), &["lib/target", "target"]),
            (Git(&["add", "--force", "target/kept"]), &["lib/target"]),
            (Git(&["rm", "--quiet", "--cached", "target/kept"]), &["lib/target", "target"]),
            (Folder("node_modules"), &["lib/target", "target"]),
            (File(".git/info/exclude", "node_modules\n"), &["lib/target", "node_modules", "target"]),
            (File(".git/info/exclude", ""), &["lib/target", "target"]),
            // A write through another name, or behind a link, does not show in the folder.
            (SecondName("target/rules", ".gitignore"), &["lib/target", "target"]),
            (File("target/rules", "# target/\n"), &[]),
            (File("target/rules", "target/\n"), &["lib/target", "target"]),
            (Remove(".gitignore"), &[]),
            (Link(".gitignore", "target/rules"), &["lib/target", "target"]),
            (File("target/rules", ""), &[]),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(folder.path()).unwrap();
        let root = Arc::new(FileRoot::open(&path, &RootRules::none(), FsPolicy::default()).unwrap());
        let mut held = BuildFolderList::default();
        assert_eq!(found(&mut held, &root), [""; 0]);
        for (number, (change, expected)) in steps.into_iter().enumerate() {
            let is_rule_linked = path.join(".gitignore").is_symlink();
            assert!(held.watch.is_some() || is_rule_linked, "it is held before step {number}");
            change.make(&path);
            let now = found(&mut held, &root);
            assert_eq!(now, found(&mut BuildFolderList::default(), &root), "step {number}: {change:?}");
            assert_eq!(now, expected, "step {number}: {change:?}");
        }
    }
}
