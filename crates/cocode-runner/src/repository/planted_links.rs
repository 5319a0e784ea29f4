//! Symlinks that an agent leaves in its git folder.
//!
//! Git appends to the log of `HEAD` and writes `index`, `COMMIT_EDITMSG`, `MERGE_MSG` and other files there, and follows
//! symlinks in doing so, outside of any confinement: in the runner's calls, and in the user's own later. Git itself makes
//! none, so all of them are removed as soon as the agent has ended.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::objects::loose_objects::reopen_folder;
use crate::repository::worktree::{OWN_FOLDER, Worktree};

/// The most entries of a git folder that are looked at. Many more than git makes, but for the objects of submodules.
const MOST_ENTRIES: usize = 1_000_000;

/// The most symlinks that a warning names.
const MOST_NAMED: usize = 5;

/// Removes all symlinks from a worktree's git folder. Returns a warning for the user if there were any, or if one is left.
///
/// No process of the agent may run any more.
pub(crate) fn remove(worktree: &Worktree) -> Option<String> {
    remove_beneath(&worktree.git_folder).unwrap_or_else(Some)
}

/// Removes all symlinks beneath a git folder, and returns a warning if there were any. The error is the warning if one may be
/// left.
pub(crate) fn remove_beneath(git_folder: &Path) -> Result<Option<String>, String> {
    let mut removed = Vec::new();
    match remove_all(git_folder, &mut removed) {
        Ok(()) if removed.is_empty() => Ok(None),
        Ok(()) => Ok(Some(format!(
            "it had put symlinks into its git folder, through which git would write elsewhere; they were removed: {}",
            named(&removed)
        ))),
        Err((path, error)) => Err(format!(
            "'{}' in its git folder could not be checked for symlinks ({}): do not use git in its worktree",
            path.display(),
            error.kind()
        )),
    }
}

/// Makes sure that git appends to a plain file when it writes the log of a new branch: agents without a file tree of their
/// own share the folder of these logs, and an earlier one may have put a symlink there.
pub(crate) fn make_log_plain(log: &Path) -> io::Result<()> {
    match log.symlink_metadata() {
        Ok(data) if !data.is_file() && !data.is_dir() => fs::remove_file(log),
        _ => Ok(()),
    }
}

fn remove_all(root: &Path, removed: &mut Vec<PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    let mut count = 0;
    // The upper folders first: if there are too many entries, the files that git itself uses were looked at.
    let mut folders = VecDeque::from([PathBuf::new()]);
    while let Some(folder) = folders.pop_front() {
        let path = root.join(&folder);
        // The agent may have closed it, and git would open it again as little as this, but the user may.
        reopen_folder(&path);
        let failed = |error| (folder.clone(), error);
        let entries = match fs::read_dir(&path) {
            // A worktree can be gone with its git folder.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            count += 1;
            if count > MOST_ENTRIES {
                return Err(failed(io::ErrorKind::FileTooLarge.into()));
            }
            let name = folder.join(entry.file_name());
            let kind = entry.file_type().map_err(|error| (name.clone(), error))?;
            if kind.is_dir() {
                // That folder is the runner's, and git is never led there.
                if name != Path::new(OWN_FOLDER) {
                    folders.push_back(name);
                }
            } else if kind.is_symlink() && !is_reference(&name, &entry.path()) {
                fs::remove_file(entry.path()).map_err(|error| (name.clone(), error))?;
                removed.push(name);
            }
        }
    }
    Ok(())
}

/// Returns whether this is `HEAD` as a symlink to a reference, which git makes with `core.preferSymlinkRefs` and reads
/// without following it.
fn is_reference(name: &Path, path: &Path) -> bool {
    let leads_up = |target: &Path| target.components().any(|part| part == Component::ParentDir);
    let is_one = |target: PathBuf| target.starts_with("refs") && !leads_up(&target);
    name == Path::new("HEAD") && fs::read_link(path).is_ok_and(is_one)
}

/// Renders the first paths, and the number of further ones.
pub(crate) fn named(paths: &[PathBuf]) -> String {
    let names = paths.iter().take(MOST_NAMED).map(|path| path.to_string_lossy().into_owned());
    let mut text = names.collect::<Vec<_>>().join(", ");
    if paths.len() > MOST_NAMED {
        text.push_str(&format!(" and {} more", paths.len() - MOST_NAMED));
    }
    text
}
