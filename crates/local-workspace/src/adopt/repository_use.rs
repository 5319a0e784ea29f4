//! Repositories that another program uses beside a command.

use std::collections::{BTreeMap, BTreeSet};

use cow_layer::{Layer, LayerChanges};
use git_index::{ObjectFormat, REFERENCE_BYTES, has_same_entries};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

use crate::git::guard::{INDEX_BYTES, in_git_folder};

/// The files that git holds while it changes a repository.
const LOCKS: [&[u8]; 4] = [b"index.lock", b"HEAD.lock", b"config.lock", b"packed-refs.lock"];

/// Has the layer hold the files that another program may replace without a change that counts.
pub(crate) fn hold_index(layer: &mut Layer) {
    layer.hold(&index());
}

/// Lets a command's index replace the one that another program has written meanwhile, if that one has the same entries as when the
/// command began, and no commit was made: `git status` writes the index anew when files have other times.
pub(crate) fn replace_refreshed_index(layer: &Layer, root: &FileRoot, changes: &mut LayerChanges) {
    let path = index();
    if !changes.find(&path).is_some_and(|change| change.saved_meanwhile) || !has_same_commit(layer, root) {
        return;
    }
    let present = root.open_file(&path).and_then(|file| file.read_to_end(INDEX_BYTES)).ok();
    let Some((then, now)) = layer.content_at_start(&path, INDEX_BYTES).zip(present) else { return };
    let formats = [ObjectFormat::Sha1, ObjectFormat::Sha256];
    if formats.into_iter().any(|format| has_same_entries(&then, &now, format)) {
        changes.replace_saved(&path);
    }
}

/// Returns whether the checked-out commit is certainly the one of the start.
fn has_same_commit(layer: &Layer, root: &FileRoot) -> bool {
    let head = root.open_file(&in_git("HEAD")).and_then(|file| file.read_to_end(REFERENCE_BYTES));
    let head = head.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(head) = head else { return false };
    let branch = head.trim_end().strip_prefix("ref: ").map(|name| RelPath::parse(&format!(".git/{name}")));
    let Ok(branch) = branch.transpose() else { return false };
    let is_old = |path: &RelPath| match root.metadata(path) {
        Ok(metadata) => layer.began_after(metadata.stamp().status_changed_nanoseconds),
        Err(FsError::NotFound { .. }) => true,
        Err(_) => false,
    };
    let others = ["HEAD", "packed-refs", "logs/HEAD"].map(in_git);
    others.iter().chain(&branch).all(is_old)
}

fn index() -> RelPath {
    in_git("index")
}

fn in_git(name: &str) -> RelPath {
    RelPath::parse(&format!(".git/{name}")).expect("it is a relative path")
}

/// The changed repositories that another program uses.
#[derive(Debug, Default)]
pub(crate) struct RepositoriesInUse {
    /// Those of which it has changed a part, or is changing one now.
    pub(crate) folders: BTreeSet<RelPath>,
    /// The locks by which some of them are in use, by the repository.
    pub(crate) locks: BTreeMap<RelPath, RelPath>,
}

impl RepositoriesInUse {
    pub(crate) fn of(layer: &Layer, root: &FileRoot, changes: &LayerChanges) -> RepositoriesInUse {
        let mut all = BTreeSet::new();
        let mut in_use = RepositoriesInUse::default();
        for change in changes {
            let Some(part) = in_git_folder(&change.path) else { continue };
            if change.saved_meanwhile {
                in_use.folders.insert(part.folder.clone());
            }
            all.insert(part.folder);
        }
        // The command itself has met one that was there before, and did its work without what that locks. If it has removed it, or
        // changed that all the same, git may still be at work there.
        let counts = |lock: &RelPath| {
            let Ok(metadata) = root.metadata(lock) else { return false };
            let is_new = !layer.began_after(metadata.stamp().status_changed_nanoseconds);
            let locked = lock.as_bytes().strip_suffix(b".lock").map(RelPath::from_bytes);
            let locked = locked.and_then(Result::ok);
            is_new
                || [Some(lock), locked.as_ref()]
                    .into_iter()
                    .flatten()
                    .any(|path| changes.find(path).is_some())
        };
        for folder in all {
            let mut locks = LOCKS.iter().filter_map(|name| folder.child(name).ok());
            if let Some(lock) = locks.find(counts) {
                in_use.folders.insert(folder.clone());
                in_use.locks.insert(folder, lock);
            }
        }
        in_use
    }
}
