//! Files that a command without a layer has linked to where nothing is compared: to a build folder, or out of the folder.
//!
//! A later command on a layer writes to build folders directly, and so would change these files unseen.

use std::collections::BTreeMap;

use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};
use wap_core::Exclusions;

use crate::change::present::Present;
use crate::change::publish::{open_root, publish_file};
use crate::command::tree_snapshot::TreeSnapshot;
use crate::git::guard::in_git_folder;

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

/// Returns the names outside of build folders of files that have got more names elsewhere meanwhile.
fn linked_elsewhere(before: &TreeSnapshot, after: &TreeSnapshot) -> Vec<RelPath> {
    let (had, have) = (elsewhere(before), elsewhere(after));
    let gained =
        have.iter().filter(|(file, (links, _))| *links > had.get(*file).map_or(0, |(links, _)| *links));
    gained.flat_map(|(_, (_, names))| names.iter().map(|path| (*path).clone())).collect()
}

/// A file, by its device and inode.
type FileNumber = (u64, u64);

/// Returns the files with several names: the number of those that lie elsewhere, and the others. What may become a build folder by
/// an entry of `.gitignore` counts as one.
fn elsewhere(snapshot: &TreeSnapshot) -> BTreeMap<FileNumber, (u64, Vec<&RelPath>)> {
    let exclusions = Exclusions::defaults();
    let may_be_build = |path: &RelPath| {
        let mut around = std::iter::successors(path.parent(), RelPath::parent);
        around.any(|folder| {
            // No folder of git's is one.
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
    // What was refused has been restored by now.
    if root.metadata(path).is_ok_and(|now| now.links < 2) {
        return Ok(());
    }
    let now = Present::of_any_kind(root, path)?;
    publish_file(root, path, now.as_ref(), now.as_ref())
}
