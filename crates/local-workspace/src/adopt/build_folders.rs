//! Folders of what can be built again: ignored by git and in the default exclusions.
//!
//! What commands do in them is not recorded: they are large, and users do not edit their contents.

use std::collections::BTreeSet;

use file_index::GitIgnores;
use rel_path::RelPath;
use sandbox_fs::FileRoot;
use wap_core::Exclusions;

use crate::git::guard::INDEX_BYTES;
use crate::git::repository_context::format_on_disk;

/// Tells build folders from others, in the order of paths.
#[derive(Debug)]
pub(crate) struct BuildFolders<'a> {
    root: &'a FileRoot,
    ignores: GitIgnores<'a>,
    exclusions: Exclusions,
    /// Folders with files that git tracks, among those that are excluded; read when it is needed.
    tracked: Option<BTreeSet<Vec<u8>>>,
}

impl<'a> BuildFolders<'a> {
    pub(crate) fn new(root: &'a FileRoot) -> BuildFolders<'a> {
        BuildFolders {
            root,
            ignores: GitIgnores::new(root),
            exclusions: Exclusions::defaults(),
            tracked: None,
        }
    }

    /// Returns whether a path lies in one.
    pub(crate) fn surrounds(&mut self, path: &RelPath) -> bool {
        let mut around: Vec<_> = std::iter::successors(path.parent(), RelPath::parent).collect();
        // The outermost first: of those beneath a build folder git is not asked.
        around.reverse();
        around.iter().any(|folder| self.contains(folder))
    }

    /// Checks whether the folder `path` is a build folder, provided that it does not lie in one.
    pub(crate) fn contains(&mut self, path: &RelPath) -> bool {
        // Git does not say that it ignores its own folder, and what is in there is no build.
        let is_git = path.components().any(|name| name.eq_ignore_ascii_case(b".git"));
        !is_git
            && self.exclusions.excludes(&path.to_string(), true)
            && self.ignores.ignores(path, true)
            && !self.is_tracked(path)
    }

    /// Returns whether git tracks files in a folder: they were not built, whatever a `.gitignore` says that a model wrote.
    fn is_tracked(&mut self, path: &RelPath) -> bool {
        let (root, exclusions) = (self.root, &self.exclusions);
        self.tracked.get_or_insert_with(|| tracked_folders(root, exclusions)).contains(path.as_bytes())
    }
}

/// Returns the excluded folders with files that the index of the root's repository names; none if it cannot be read.
fn tracked_folders(root: &FileRoot, exclusions: &Exclusions) -> BTreeSet<Vec<u8>> {
    let mut folders = BTreeSet::new();
    let Ok(settings) = RelPath::parse(".git/config") else { return folders };
    let index = RelPath::parse(".git/index").ok().and_then(|path| root.open_file(&path).ok());
    let Some(bytes) = index.and_then(|file| file.read_to_end(INDEX_BYTES).ok()) else { return folders };
    let mut before = Vec::new();
    let mut visit = |entry: git_index::Entry<'_>| {
        let folder =
            entry.path.iter().rposition(|byte| *byte == b'/').map_or(&b""[..], |at| &entry.path[..at]);
        // What only keeps the folder in git says nothing about the rest. Entries come folder by folder.
        let name = entry.path.get(folder.len()..).unwrap_or_default();
        if folder == before || matches!(name, b"/.gitkeep" | b"/.gitignore" | b"/.keep") {
            return;
        }
        before = folder.to_vec();
        let ends = folder.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in ends.chain([folder.len()]).filter(|end| *end > 0) {
            let around = &folder[..end];
            if exclusions.excludes(&String::from_utf8_lossy(around), true) {
                folders.insert(around.to_vec());
            }
        }
    };
    // What a program of the user's left half written names fewer folders.
    let _ = git_index::check(&bytes, format_on_disk(root, &settings), &mut visit);
    folders
}
