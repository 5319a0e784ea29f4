//! A fresh repository for one task, which reads the objects of a base repository.
//!
//! It is written file by file, because one git process takes longer than all of the writes.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::repository::closed_folder;

/// The most bytes of the name of a branch.
const MOST_BRANCH_BYTES: usize = 200;

/// Characters that git does not allow in the name of a branch.
const FORBIDDEN: [char; 9] = [' ', '~', '^', ':', '?', '*', '[', '\\', '\u{7f}'];

/// Makes the repository in `folder`, which may not exist, with `branch` at `commit` and `HEAD` on it. `objects` is the
/// folder of objects that has the commit. Nothing is checked out.
pub(super) fn make(folder: &Path, objects: &Path, commit: &str, branch: &str) -> io::Result<()> {
    // A list of alternates has a line for each.
    let alternate = objects.to_str().filter(|path| !path.contains('\n') && !path.starts_with('"'));
    let alternate = alternate.ok_or(io::ErrorKind::InvalidFilename)?;
    if folder.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let git = folder.join(".git");
    for name in ["objects/info", "objects/pack", "refs/tags", "info"] {
        closed_folder::make(&git.join(name))?;
    }
    let head = git.join("refs/heads").join(branch);
    closed_folder::make(head.parent().unwrap_or(&git))?;
    let config = match commit.len() {
        64 => {
            "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n"
        }
        _ => "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    };
    write(&git.join("config"), config)?;
    write(&git.join("objects/info/alternates"), &format!("{alternate}\n"))?;
    write(&head, &format!("{commit}\n"))?;
    // The file by which git recognises a repository comes last.
    write(&git.join("HEAD"), &format!("ref: refs/heads/{branch}\n"))
}

/// Returns whether git accepts a name for a branch.
pub(super) fn is_branch_name(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    name.len() <= MOST_BRANCH_BYTES
        && name.split('/').all(is_part)
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !["..", "@{"].iter().any(|text| name.contains(text))
        && !["@", "HEAD"].contains(&name)
        && !name.contains(|one: char| one.is_control() || FORBIDDEN.contains(&one))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::File::create_new(path)?.write_all(text.as_bytes())
}
