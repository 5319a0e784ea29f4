//! Folders of what can be built again: ignored by git and in the default exclusions.
//!
//! Changes by commands in them are not recorded: they are large, and users do not edit their contents.

use file_index::GitIgnores;
use rel_path::RelPath;
use sandbox_fs::FileRoot;
use wap_core::Exclusions;

use crate::adopt::tracked_folders::{FolderSet, TrackedFolders};

/// Distinguishes build folders from others, in path order.
#[derive(Debug)]
pub(crate) struct BuildFolders<'a> {
    root: &'a FileRoot,
    ignores: GitIgnores<'a>,
    exclusions: Exclusions,
    reader: TrackedFolders,
    /// Excluded folders with files that git tracks; read on demand.
    tracked: Option<FolderSet>,
}

impl<'a> BuildFolders<'a> {
    pub(crate) fn new(root: &'a FileRoot) -> BuildFolders<'a> {
        BuildFolders::with_reader(root, TrackedFolders::default())
    }

    /// The same, reusing an earlier reading of the index.
    pub(crate) fn with_reader(root: &'a FileRoot, reader: TrackedFolders) -> BuildFolders<'a> {
        let (ignores, exclusions) = (GitIgnores::new(root), Exclusions::defaults());
        BuildFolders { root, ignores, exclusions, reader, tracked: None }
    }

    /// Returns the reading of the index, and the tracked folders if any answer depends on them.
    pub(crate) fn into_reader(self) -> (TrackedFolders, Option<FolderSet>) {
        (self.reader, self.tracked)
    }

    /// Returns whether a path is within a build folder.
    pub(crate) fn surrounds(&mut self, path: &RelPath) -> bool {
        let mut around: Vec<_> = std::iter::successors(path.parent(), RelPath::parent).collect();
        // The outermost first: git is not asked about folders within a build folder.
        around.reverse();
        around.iter().any(|folder| self.contains(folder))
    }

    /// Checks whether the folder `path` is a build folder, provided that it is not within one.
    pub(crate) fn contains(&mut self, path: &RelPath) -> bool {
        // Git does not report its own folder as ignored, and its content is not a build.
        let is_git = path.components().any(|name| name.eq_ignore_ascii_case(b".git"));
        !is_git
            && self.exclusions.excludes(&path.to_string(), true)
            && self.ignores.ignores(path, true)
            && !self.is_tracked(path)
    }

    /// Returns whether git tracks files in a folder: these were not built, even if a model's `.gitignore` lists the
    /// folder.
    fn is_tracked(&mut self, path: &RelPath) -> bool {
        let (root, reader) = (self.root, &mut self.reader);
        self.tracked.get_or_insert_with(|| reader.read(root)).contains(path.as_bytes())
    }
}
