//! Git's ignore rules, read from the `.gitignore` files on the path of a walk.
//!
//! The rules are those of the repository itself: every `.gitignore` from the root down, the nearest deciding, and
//! `.git/info/exclude` of the root. The user's own file of patterns lies outside of the folder and is not read.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rel_path::RelPath;
use sandbox_fs::FileRoot;

/// The largest `.gitignore` that is read.
const LIMIT_BYTES: u64 = 256 << 10;

/// The ignore rules of a tree, loaded folder by folder as a walk goes through it.
///
/// The rules are files of the folder itself, so they may only ever exclude paths; they never grant a
/// permission.
#[derive(Debug)]
pub struct GitIgnores<'a> {
    root: &'a FileRoot,
    /// The folders from the root to the one that the walk is in, with their rules.
    levels: Vec<(RelPath, Option<Gitignore>)>,
}

impl<'a> GitIgnores<'a> {
    /// Returns the rules beneath a root, without reading anything yet.
    #[must_use]
    pub fn new(root: &'a FileRoot) -> GitIgnores<'a> {
        GitIgnores { root, levels: Vec::new() }
    }

    /// Returns whether git would ignore `path`, provided that it does not ignore the folders above. `.git`
    /// itself counts as ignored.
    pub fn ignores(&mut self, path: &RelPath, is_folder: bool) -> bool {
        if path.file_name() == Some(b".git") {
            return true;
        }
        let Some(parent) = path.parent() else { return false };
        self.enter(&parent);
        let nearest = self.levels.iter().rev().find_map(|(folder, rules)| {
            let beneath = if folder.is_root() { 0 } else { folder.as_bytes().len() + 1 };
            let relative = Path::new(OsStr::from_bytes(&path.as_bytes()[beneath..]));
            let matched = rules.as_ref()?.matched(relative, is_folder);
            (!matched.is_none()).then(|| matched.is_ignore())
        });
        nearest.unwrap_or(false)
    }

    /// Sets the levels to those from the root to `folder`. A walk in the order of paths loads each folder
    /// once.
    fn enter(&mut self, folder: &RelPath) {
        while self.levels.last().is_some_and(|(last, _)| !folder.starts_with(last)) {
            self.levels.pop();
        }
        let mut missing = Vec::new();
        let mut next = Some(folder.clone());
        while let Some(at) = next.filter(|at| self.levels.last().is_none_or(|(last, _)| last != at)) {
            next = at.parent();
            missing.push(at);
        }
        for at in missing.into_iter().rev() {
            let rules = load(self.root, &at);
            self.levels.push((at, rules));
        }
    }
}

fn load(root: &FileRoot, folder: &RelPath) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new("");
    let mut has_rules = false;
    if folder.is_root() {
        // The rules of this clone have the lowest precedence, so they come first.
        has_rules |= add(&mut builder, root, &RelPath::parse(".git/info/exclude").ok()?);
    }
    has_rules |= add(&mut builder, root, &folder.child(b".gitignore").ok()?);
    if has_rules { builder.build().ok() } else { None }
}

fn add(builder: &mut GitignoreBuilder, root: &FileRoot, path: &RelPath) -> bool {
    let Ok(file) = root.open_file(path) else { return false };
    // Git follows no link to a `.gitignore`.
    if file.path() != path {
        return false;
    }
    let Ok(bytes) = file.read_to_end(LIMIT_BYTES) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        // A line that is not a glob is skipped, as git does.
        let _ = builder.add_line(None, line);
    }
    true
}
