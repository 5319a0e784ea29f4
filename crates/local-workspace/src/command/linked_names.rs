//! Files that a command without a layer has linked to where nothing is compared: to a build folder, or out of the folder.
//!
//! A later command on a layer writes to build folders directly, and so would change these files unseen.

use std::collections::BTreeMap;

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

use crate::change::present::Present;
use crate::change::publish::{open_root, publish_file};
use crate::command::tree_snapshot::TreeSnapshot;

/// The most files that get a new version.
const FILES: usize = 1_000;

/// Gives each name that a command has linked to elsewhere a file of its own. Returns the paths where that failed.
pub(crate) fn separate(root: &FileRoot, before: &TreeSnapshot, after: &TreeSnapshot) -> Vec<RelPath> {
    let linked = linked_elsewhere(before, after);
    if linked.is_empty() {
        return Vec::new();
    }
    let Ok(open) = open_root(root) else { return linked };
    let is_separate = |index: usize, path: &RelPath| index < FILES && replace_by_copy(&open, path).is_ok();
    linked
        .into_iter()
        .enumerate()
        .filter(|(index, path)| !is_separate(*index, path))
        .map(|(_, path)| path)
        .collect()
}

/// Returns the files with a name that the comparison does not know, and that have got it meanwhile.
fn linked_elsewhere(before: &TreeSnapshot, after: &TreeSnapshot) -> Vec<RelPath> {
    let compared = after
        .entries
        .iter()
        .filter(|(path, _)| !after.new_build_folders.iter().any(|folder| path.starts_with(folder)))
        .filter_map(|(path, state)| Some((path, state.shared_file()?)));
    let mut names: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for (_, (file, _)) in compared.clone() {
        *names.entry(file).or_default() += 1;
    }
    let was_so = |path: &RelPath, file, links| {
        let earlier = before.entries.get(path).and_then(|earlier| earlier.shared_file());
        earlier.is_some_and(|(same, had)| same == file && had >= links)
    };
    let linked =
        compared.filter(|(path, (file, links))| names[file] < *links && !was_so(path, *file, *links));
    linked.map(|(path, _)| path.clone()).collect()
}

fn replace_by_copy(root: &FileRoot, path: &RelPath) -> Result<(), FsError> {
    // What was refused has been restored by now.
    if root.metadata(path).is_ok_and(|now| now.links < 2) {
        return Ok(());
    }
    let now = Present::of_any_kind(root, path)?;
    publish_file(root, path, now.as_ref(), now.as_ref())
}
