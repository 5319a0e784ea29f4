//! The branches of a working tree's unfinished work. Its `HEAD` names none of them meanwhile.

use git_index::moved_references;
use rel_path::RelPath;

/// The files that name one, by its full name or its name after `refs/heads/`.
const FILES: [(&[u8], &[u8]); 3] =
    [(b"rebase-merge/head-name", b""), (b"rebase-apply/head-name", b""), (b"BISECT_START", b"refs/heads/")];

/// The file that names further branches which a rebase moves.
const MOVED: &[u8] = b"rebase-merge/update-refs";

/// A branch of unfinished work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BranchInUse {
    /// The file that names it.
    pub(crate) file: RelPath,
    /// Its full name.
    pub(crate) name: RelPath,
}

/// Returns the branches of the unfinished work of a working tree, given the folder with its `HEAD`. `read` returns the
/// content of a file.
pub(crate) fn branches_in_use(
    folder: &RelPath,
    read: &dyn Fn(&RelPath) -> Option<Vec<u8>>,
) -> Vec<BranchInUse> {
    let child = |name: &[u8]| RelPath::from_bytes(name).and_then(|name| folder.join(&name)).ok();
    let mut branches = Vec::new();
    for (file, start) in FILES {
        let Some((file, text)) = child(file).and_then(|file| Some((file.clone(), read(&file)?))) else {
            continue;
        };
        let name = RelPath::from_bytes(&[start, text.trim_ascii()].concat()).ok();
        // A bisection may have begun at a commit, and a rebase without a branch.
        let name = name.filter(|name| name.as_bytes().starts_with(b"refs/heads/"));
        branches.extend(name.map(|name| BranchInUse { file, name }));
    }
    if let Some((file, text)) = child(MOVED).and_then(|file| Some((file.clone(), read(&file)?))) {
        let names = moved_references(&text).unwrap_or_default();
        let names = names.into_iter().filter_map(|moved| RelPath::from_bytes(moved.name).ok());
        branches.extend(names.map(|name| BranchInUse { file: file.clone(), name }));
    }
    branches
}
