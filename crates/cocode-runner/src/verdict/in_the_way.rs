//! Uncommitted files that would be lost when an agent's work is adopted into the work tree.
//!
//! Git itself silently replaces ignored files, such as a file with the user's own settings. It removes a folder with all
//! ignored files in it if the work has a file or symlink there, and likewise a submodule with uncommitted work.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Seek};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::RunnerError;
use crate::repository::Repository;
use crate::repository::git::{GitError, literal_pattern};
use crate::repository::planted_links::named;
use crate::repository::tree_changes::{self, Entries, NOTHING, SUBMODULE, TreeChange};
use crate::repository::worktree::file_error;

/// Refuses to adopt `target`, a commit or tree, if a file that is in no commit would be lost.
/// `scratch` is for nameless files.
pub(crate) fn check(repository: &Repository, target: &str, scratch: &Path) -> Result<(), RunnerError> {
    let changes =
        tree_changes::between(&repository.git, repository.location(), ["HEAD", target], Entries::All)?;
    let replaced = || changes.iter().filter(|change| change.has_other_kind());
    let new: BTreeSet<&Path> =
        replaced().filter(|change| change.new_mode != NOTHING).map(TreeChange::path).collect();
    for submodule in replaced().filter(|change| change.old_mode == SUBMODULE).map(TreeChange::path) {
        // If the work has no entry there, git leaves the folder.
        let is_replaced = submodule.ancestors().any(|path| new.contains(path))
            || new.iter().any(|path| path.starts_with(submodule));
        if is_replaced && holds_anything(&repository.root.join(submodule)) {
            return Err(RunnerError::SubmoduleInTheWay { path: submodule.to_owned() });
        }
    }
    let mut checked_folders = BTreeSet::new();
    for path in new {
        check_path(repository, path, &mut checked_folders)?;
    }
    check_overlooked(repository, &changes, scratch)
}

/// Refuses to adopt changes of a file that differs from `HEAD` and that git overlooks: one with the flag skip-worktree or
/// assume-unchanged.
fn check_overlooked(
    repository: &Repository,
    changes: &[TreeChange],
    scratch: &Path,
) -> Result<(), RunnerError> {
    let (git, location) = (&repository.git, repository.location());
    let failed = file_error("write in", scratch);
    // In a file: a repository can have any number of files.
    let mut list = tempfile::tempfile_in(scratch).map_err(&failed)?;
    let output = list.try_clone().map_err(&failed)?;
    git.write_to(location, &["ls-files", "-v", "-z", "--full-name"], "", output)?;
    list.rewind().map_err(&failed)?;
    let mut overlooked: BTreeSet<Vec<u8>> = BTreeSet::new();
    for entry in BufReader::new(list).split(0) {
        let entry = entry.map_err(&failed)?;
        // A tag, which is a lower-case letter or S, and a path.
        if let [tag, b' ', path @ ..] = &entry[..]
            && (*tag == b'S' || tag.is_ascii_lowercase())
        {
            overlooked.insert(path.to_vec());
        }
    }
    if overlooked.is_empty() {
        return Ok(());
    }
    for change in changes.iter().filter(|change| overlooked.contains(&change.path)) {
        let path = change.path();
        let Ok(on_disk) = repository.root.join(path).symlink_metadata() else { continue };
        let arguments = [OsStr::new("hash-object"), OsStr::new("--"), path.as_os_str()];
        let is_same = on_disk.is_file() && git.run(location, &arguments)? == change.old_object;
        if !is_same {
            return Err(RunnerError::HiddenEdit { path: path.to_owned() });
        }
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

/// Returns the files below a folder that are in no commit, the ignored ones included.
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

/// Returns whether this is a folder with at least one entry. An empty folder may be lost.
fn holds_anything(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
}
