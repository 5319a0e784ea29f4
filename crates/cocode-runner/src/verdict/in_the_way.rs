//! Uncommitted files that would be lost when an agent's work is taken into the work tree.
//!
//! Git itself replaces ignored files without a question, such as a file with the user's own settings. It removes a folder
//! with all ignored files in it where the work has a file or symlink, and a submodule with uncommitted work likewise.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::RunnerError;
use crate::repository::Repository;
use crate::repository::git::{GitError, literal_pattern};
use crate::repository::planted_links::named;
use crate::repository::worktree::SUBMODULE;

/// A path whose entry in `HEAD` and in the work is of different kinds.
struct Changed<'a> {
    path: &'a Path,
    was_submodule: bool,
    /// True if the work has an entry there.
    is_there: bool,
}

/// Refuses to take in `target`, a commit or tree, if a file that is in no commit would be lost.
pub(crate) fn check(repository: &Repository, target: &str) -> Result<(), RunnerError> {
    let arguments = [
        "diff-tree",
        "-r",
        "-z",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "--diff-filter=ADT",
        "HEAD",
        target,
    ];
    let difference = repository.git.run_for_bytes(repository.location(), &arguments)?;
    let fields: Vec<&[u8]> = difference.split(|byte| *byte == 0).collect();
    // Facts that begin with both modes, and a path.
    let changed: Vec<Changed<'_>> = fields
        .chunks_exact(2)
        .map(|entry| {
            let mut facts = entry[0].strip_prefix(b":").unwrap_or_default().split(|byte| *byte == b' ');
            let (old, new) = (facts.next(), facts.next());
            Changed {
                path: Path::new(OsStr::from_bytes(entry[1])),
                was_submodule: old == Some(SUBMODULE),
                is_there: new.is_some_and(|mode| mode != b"000000"),
            }
        })
        .collect();
    let new: BTreeSet<&Path> = changed.iter().filter(|one| one.is_there).map(|one| one.path).collect();
    for submodule in changed.iter().filter(|one| one.was_submodule) {
        // Where the work has nothing, git leaves the folder.
        let is_replaced = submodule.path.ancestors().any(|path| new.contains(path))
            || new.iter().any(|path| path.starts_with(submodule.path));
        if is_replaced && holds_anything(&repository.root.join(submodule.path)) {
            return Err(RunnerError::SubmoduleInTheWay { path: submodule.path.to_owned() });
        }
    }
    let mut checked_folders = BTreeSet::new();
    for path in new {
        check_path(repository, path, &mut checked_folders)?;
    }
    Ok(())
}

fn check_path<'a>(
    repository: &Repository,
    path: &'a Path,
    checked_folders: &mut BTreeSet<&'a Path>,
) -> Result<(), RunnerError> {
    let on_disk = repository.root.join(path);
    match on_disk.symlink_metadata() {
        Ok(data) if data.is_dir() => {
            let files = uncommitted_in(repository, path)?;
            if !files.is_empty() {
                return Err(RunnerError::FolderInTheWay { path: path.to_owned(), files: named(&files) });
            }
        }
        Ok(_) if !is_tracked(repository, path)? => {
            return Err(RunnerError::InTheWay { path: path.to_owned() });
        }
        _ => {}
    }
    // A file or symlink at the path of one of its parent folders.
    for folder in path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
        if !checked_folders.insert(folder) {
            break;
        }
        let metadata = repository.root.join(folder).symlink_metadata();
        if metadata.is_ok_and(|data| !data.is_dir()) && !is_tracked(repository, folder)? {
            return Err(RunnerError::InTheWay { path: folder.to_owned() });
        }
    }
    Ok(())
}

/// Returns the files beneath a folder that are in no commit, the ignored ones included.
fn uncommitted_in(repository: &Repository, folder: &Path) -> Result<Vec<PathBuf>, GitError> {
    let pattern = literal_pattern(folder.as_os_str());
    let arguments = ["ls-files", "--others", "-z", "--full-name", "--"].map(OsStr::new);
    let arguments = [&arguments[..], &[&pattern]].concat();
    let names = repository.git.run_for_bytes(repository.location(), &arguments)?;
    let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect())
}

fn is_tracked(repository: &Repository, path: &Path) -> Result<bool, GitError> {
    let arguments = ["ls-tree", "--full-tree", "--name-only", "HEAD", "--"].map(OsStr::new);
    let pattern = literal_pattern(path.as_os_str());
    let names = repository.git.run(repository.location(), &[&arguments[..], &[&pattern]].concat())?;
    Ok(!names.is_empty())
}

/// Returns whether this is a folder with at least one entry. Nothing is lost with an empty one.
fn holds_anything(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
}
