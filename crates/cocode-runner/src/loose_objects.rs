//! Objects that are not packed yet.
//!
//! Agents write objects into the repository, and whoever may do that may also remove and replace those that are there. What
//! is in a pack is kept from them, and git looks there first.

use std::fs;
use std::path::Path;

use crate::git::GitError;
use crate::repository::Repository;

/// How much of an object's name is the name of its folder, in letters.
const FOLDER_LETTERS: usize = 2;

/// Writes a pack of all objects that are in none. The objects themselves stay where they are, as git leaves them, too.
pub(crate) fn pack(repository: &Repository) -> Result<(), GitError> {
    let objects = repository.common_folder.join("objects");
    let names = names(&objects);
    if names.is_empty() {
        return Ok(());
    }
    let target = objects.join("pack/pack");
    let arguments = ["pack-objects", "--incremental", "--non-empty", "--quiet", "--window=0"].map(Path::new);
    let arguments = [&arguments[..], &[target.as_path()]].concat();
    repository.git.feed(&repository.root, &arguments, &names)
}

/// The names of all objects that have a file of their own, a line each.
fn names(objects: &Path) -> String {
    let is_name = |name: &str| name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let mut names = String::new();
    for folder in fs::read_dir(objects).into_iter().flatten().flatten() {
        let start = folder.file_name();
        let Some(start) = start.to_str().filter(|name| name.len() == FOLDER_LETTERS && is_name(name)) else {
            continue;
        };
        for entry in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let rest = entry.file_name();
            let Some(rest) = rest.to_str().filter(|name| is_name(name)) else { continue };
            if matches!(start.len() + rest.len(), 40 | 64) {
                names.extend([start, rest, "\n"]);
            }
        }
    }
    names
}
