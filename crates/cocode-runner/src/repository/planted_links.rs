//! Symlinks that an agent leaves in its git folder, and references that lead out of it.
//!
//! Git appends to the log of `HEAD` and writes `index`, `COMMIT_EDITMSG`, `MERGE_MSG` and other files there, and follows
//! symlinks in doing so, outside of any confinement: in the runner's calls, and in the user's own later. In the same way it
//! writes where a reference such as `ORIG_HEAD` says. Git itself makes neither, so all of them are removed as soon as the
//! agent has ended.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use git_index::{REFERENCE_BYTES, is_reference, is_reference_name, stays_in_references};

use crate::objects::loose_objects::reopen_folder;
use crate::repository::worktree::{OWN_FOLDER, Worktree};
use crate::repository::{foreign_file, used_branches};

/// The most entries of a git folder that are looked at. Many more than git makes, but for the objects of submodules.
const MOST_ENTRIES: usize = 1_000_000;

/// The most symlinks that a warning names.
const MOST_NAMED: usize = 5;

/// Removes all symlinks from a worktree's git folder, and all references that lead out of it. Returns a warning for the user
/// if there were any, or if one is left.
///
/// No process of the agent may run any more.
pub(crate) fn remove(worktree: &Worktree, branch: &str) -> Option<String> {
    let head = format!("ref: refs/heads/{branch}\n");
    remove_beneath(&worktree.git_folder, Some(head.as_bytes())).unwrap_or_else(Some)
}

/// Removes them beneath a git folder, and returns a warning if there were any. The error is the warning if one may be left.
///
/// A `HEAD` that leads out gets the content `head`, so that the worktree stays one.
pub(crate) fn remove_beneath(git_folder: &Path, head: Option<&[u8]>) -> Result<Option<String>, String> {
    let mut removed = Removed::default();
    match remove_all(git_folder, head, &mut removed) {
        Ok(()) if removed.links.is_empty() && removed.references.is_empty() => Ok(None),
        Ok(()) => Ok(Some(removed.to_string())),
        Err((path, error)) => Err(format!(
            "'{}' in its git folder could not be checked for what leads elsewhere ({}): do not use git in its worktree",
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

/// The paths of what was removed.
#[derive(Debug, Default)]
struct Removed {
    links: Vec<PathBuf>,
    references: Vec<PathBuf>,
}

impl fmt::Display for Removed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [("symlinks", &self.links), ("references", &self.references)];
        for (index, (kind, paths)) in kinds.into_iter().filter(|(_, paths)| !paths.is_empty()).enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(
                out,
                "{separator}it had put {kind} into its git folder, through which git would write elsewhere; they were \
                 removed: {}",
                named(paths)
            )?;
        }
        Ok(())
    }
}

fn remove_all(root: &Path, head: Option<&[u8]>, removed: &mut Removed) -> Result<(), (PathBuf, io::Error)> {
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
            } else if kind.is_symlink() && !is_linked_head(&name, &entry.path()) {
                fs::remove_file(entry.path()).map_err(|error| (name.clone(), error))?;
                removed.links.push(name);
            } else if kind.is_file() && leads_out(&name, &entry.path()) {
                let outcome = match head.filter(|_| name == Path::new("HEAD")) {
                    Some(content) => used_branches::write_head(root, content),
                    None => fs::remove_file(entry.path()),
                };
                outcome.map_err(|error| (name.clone(), error))?;
                removed.references.push(name);
            }
        }
    }
    Ok(())
}

/// Returns whether git would read a file as a reference that leads out of `refs`, or it cannot be read.
fn leads_out(name: &Path, path: &Path) -> bool {
    let names = name.iter().map(OsStr::as_bytes);
    is_reference(names) && !read_start(path).is_ok_and(|bytes| stays_in_references(&bytes))
}

/// Reads as much of a file as its reading as a reference depends on, and one byte more.
pub(crate) fn read_start(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    foreign_file::open(path)?.take(REFERENCE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns whether this is `HEAD` as a symlink to a reference, which git makes with `core.preferSymlinkRefs` and reads
/// without following it.
fn is_linked_head(name: &Path, path: &Path) -> bool {
    let is_one = |target: PathBuf| is_reference_name(target.as_os_str().as_bytes());
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
