//! Files that a command without a layer has hard-linked to uncompared locations: to a build folder, or outside of the
//! workspace.
//!
//! A later command on a layer writes to build folders directly, and so would change these files unnoticed.

use std::collections::BTreeMap;

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};
use wap_core::Exclusions;

use crate::change::present::Present;
use crate::change::publish::{open_root, publish_file};
use crate::command::tree_snapshot::TreeSnapshot;
use crate::git::guard::in_git_folder;

/// The maximum number of files to separate.
const FILES: usize = 1_000;

/// Turns each name that a command has linked to elsewhere into a separate file. Returns the paths where that failed.
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

/// Returns the names, outside of build folders, of files that have gained names elsewhere.
fn linked_elsewhere(before: &TreeSnapshot, after: &TreeSnapshot) -> Vec<RelPath> {
    let (had, have) = (elsewhere(before), elsewhere(after));
    let gained =
        have.iter().filter(|(file, (links, _))| *links > had.get(*file).map_or(0, |(links, _)| *links));
    gained.flat_map(|(_, (_, names))| names.iter().map(|path| (*path).clone())).collect()
}

/// A file, by its device and inode.
type FileNumber = (u64, u64);

/// Returns the files with several names: the number of names elsewhere, and the other names. A folder that an entry of
/// `.gitignore` could make a build folder counts as one.
fn elsewhere(snapshot: &TreeSnapshot) -> BTreeMap<FileNumber, (u64, Vec<&RelPath>)> {
    let exclusions = Exclusions::defaults();
    let may_be_build = |path: &RelPath| {
        let mut around = std::iter::successors(path.parent(), RelPath::parent);
        around.any(|folder| {
            // Git's own folders are not.
            in_git_folder(&folder).is_none()
                && !folder.is_root()
                && exclusions.excludes(&folder.to_string(), true)
        })
    };
    let mut files: BTreeMap<FileNumber, (u64, Vec<&RelPath>)> = BTreeMap::new();
    for (path, state) in &snapshot.entries {
        let Some((file, links)) = state.shared_file() else { continue };
        let (left, names) = files.entry(file).or_insert((links, Vec::new()));
        if !may_be_build(path) {
            *left = left.saturating_sub(1);
            names.push(path);
        }
    }
    files
}

fn replace_by_copy(root: &FileRoot, path: &RelPath) -> Result<(), FsError> {
    // Refused paths have been restored by now.
    if root.metadata(path).is_ok_and(|now| now.links < 2) {
        return Ok(());
    }
    let now = Present::of_any_kind(root, path)?;
    publish_file(root, path, now.as_ref(), now.as_ref())
}
