//! Uncommitted files that would be lost when an agent's work is taken into the work tree.
//!
//! Git itself replaces ignored files without a question, such as a file with the user's own settings. It removes a folder
//! with all ignored files in it where the work has a file or symlink, and a submodule with uncommitted work likewise.

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
use crate::repository::worktree::{SUBMODULE, file_error};

/// A path whose entry in `HEAD` and in the work is of different kinds.
struct Changed<'a> {
    path: &'a Path,
    was_submodule: bool,
    /// True if the work has an entry there.
    is_there: bool,
}

/// Refuses to take in `target`, a commit or tree, if a file that is in no commit would be lost.
/// `scratch` is for nameless files.
pub(crate) fn check(repository: &Repository, target: &str, scratch: &Path) -> Result<(), RunnerError> {
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
    check_overlooked(repository, target, scratch)
}

/// Refuses to take in `target` if it changes a file that differs from `HEAD` and that git does not look at: one with the flag
/// skip-worktree or assume-unchanged.
fn check_overlooked(repository: &Repository, target: &str, scratch: &Path) -> Result<(), RunnerError> {
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
    let arguments = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "HEAD", target];
    let difference = git.run_for_bytes(location, &arguments)?;
    let fields: Vec<&[u8]> = difference.split(|byte| *byte == 0).collect();
    for entry in fields.chunks_exact(2).filter(|entry| overlooked.contains(entry[1])) {
        let path = Path::new(OsStr::from_bytes(entry[1]));
        let Ok(on_disk) = repository.root.join(path).symlink_metadata() else { continue };
        let old = entry[0].split(|byte| *byte == b' ').nth(2).unwrap_or_default();
        let arguments = [OsStr::new("hash-object"), OsStr::new("--"), path.as_os_str()];
        let is_same = on_disk.is_file() && git.run(location, &arguments)?.as_bytes() == old;
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
