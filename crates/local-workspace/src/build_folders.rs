//! Folders of what can be built again: ignored by git and in the default exclusions.
//!
//! What commands do in them is not recorded: they are large, and nobody edits what is in them.

use file_index::GitIgnores;
use rel_path::RelPath;
use sandbox_fs::FileRoot;
use wap_core::Exclusions;

/// Tells build folders from others, in the order of paths.
#[derive(Debug)]
pub(crate) struct BuildFolders<'a> {
    ignores: GitIgnores<'a>,
    exclusions: Exclusions,
}

impl<'a> BuildFolders<'a> {
    pub(crate) fn new(root: &'a FileRoot) -> BuildFolders<'a> {
        BuildFolders { ignores: GitIgnores::new(root), exclusions: Exclusions::defaults() }
    }

    /// Returns whether a path lies in one.
    pub(crate) fn surrounds(&mut self, path: &RelPath) -> bool {
        let mut around: Vec<_> = std::iter::successors(path.parent(), RelPath::parent).collect();
        // The outermost first: of those beneath a build folder git is not asked.
        around.reverse();
        around.iter().any(|folder| self.contains(folder))
    }

    /// Whether the folder `path` is one, provided that it lies in none.
    pub(crate) fn contains(&mut self, path: &RelPath) -> bool {
        // Git does not say that it ignores its own folder, and what is in there is no build.
        let is_git = path.components().any(|name| name.eq_ignore_ascii_case(b".git"));
        !is_git && self.exclusions.excludes(&path.to_string(), true) && self.ignores.ignores(path, true)
    }
}
