//! What git ignores, read from the `.gitignore` files that a walk comes by.

use std::collections::HashMap;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rel_path::RelPath;
use sandbox_fs::FileRoot;

/// The largest `.gitignore` that is read.
const LIMIT_BYTES: u64 = 256 << 10;

/// The ignore rules of a tree, loaded folder by folder.
#[derive(Debug)]
pub(crate) struct GitIgnores<'a> {
    root: &'a FileRoot,
    folders: HashMap<RelPath, Option<Gitignore>>,
}

impl<'a> GitIgnores<'a> {
    pub(crate) fn new(root: &'a FileRoot) -> GitIgnores<'a> {
        GitIgnores { root, folders: HashMap::new() }
    }

    /// Tells whether git would ignore `path`, provided that it does not ignore the folders that `path` is in. `.git`
    /// itself counts as ignored.
    pub(crate) fn ignores(&mut self, path: &RelPath, is_folder: bool) -> bool {
        if path.file_name() == Some(b".git") {
            return true;
        }
        let mut folder = path.parent();
        while let Some(at) = folder {
            if let Some(rules) = self.rules(&at) {
                let name = path.to_string();
                let relative = if at.is_root() { &name[..] } else { &name[at.to_string().len() + 1..] };
                let found = rules.matched(relative, is_folder);
                if !found.is_none() {
                    return found.is_ignore();
                }
            }
            folder = at.parent();
        }
        false
    }

    fn rules(&mut self, folder: &RelPath) -> Option<&Gitignore> {
        let root = self.root;
        self.folders.entry(folder.clone()).or_insert_with(|| load(root, folder)).as_ref()
    }
}

fn load(root: &FileRoot, folder: &RelPath) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new("");
    let mut found = add(&mut builder, root, &folder.child(b".gitignore").ok()?);
    if folder.is_root() {
        // Rules of one clone alone have the lowest rank, so they come first.
        let mut with_excludes = GitignoreBuilder::new("");
        let excludes = RelPath::parse(".git/info/exclude").ok()?;
        if add(&mut with_excludes, root, &excludes) {
            add(&mut with_excludes, root, &folder.child(b".gitignore").ok()?);
            builder = with_excludes;
            found = true;
        }
    }
    if found { builder.build().ok() } else { None }
}

fn add(builder: &mut GitignoreBuilder, root: &FileRoot, path: &RelPath) -> bool {
    let Ok(bytes) = root.open_file(path).and_then(|file| file.read_to_end(LIMIT_BYTES)) else { return false };
    for line in String::from_utf8_lossy(&bytes).lines() {
        // A line that is no glob is passed over, as git does.
        let _ = builder.add_line(None, line);
    }
    true
}
