//! What git ignores, read from the `.gitignore` files that a walk comes by.
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
/// They stand in the folder itself, so they can only ever leave something out: nobody may take them for a permission.
#[derive(Debug)]
pub struct GitIgnores<'a> {
    root: &'a FileRoot,
    /// The folders from the root to the one that the walk is in, with their rules.
    levels: Vec<(RelPath, Option<Gitignore>)>,
}

impl<'a> GitIgnores<'a> {
    /// The rules of the files beneath a root. Nothing is read yet.
    #[must_use]
    pub fn new(root: &'a FileRoot) -> GitIgnores<'a> {
        GitIgnores { root, levels: Vec::new() }
    }

    /// Tells whether git would ignore `path`, provided that it does not ignore the folders that `path` is in. `.git`
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
            let found = rules.as_ref()?.matched(relative, is_folder);
            (!found.is_none()).then(|| found.is_ignore())
        });
        nearest.unwrap_or(false)
    }

    /// Makes the levels those from the root to `folder`. A walk in the order of paths loads each folder once.
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
    let mut found = false;
    if folder.is_root() {
        // Rules of one clone alone have the lowest rank, so they come first.
        found |= add(&mut builder, root, &RelPath::parse(".git/info/exclude").ok()?);
    }
    found |= add(&mut builder, root, &folder.child(b".gitignore").ok()?);
    if found { builder.build().ok() } else { None }
}

fn add(builder: &mut GitignoreBuilder, root: &FileRoot, path: &RelPath) -> bool {
    let Ok(bytes) = root.open_file(path).and_then(|file| file.read_to_end(LIMIT_BYTES)) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        // A line that is no glob is passed over, as git does.
        let _ = builder.add_line(None, line);
    }
    true
}
