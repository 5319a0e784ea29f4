//! The files by which a worktree and its repository refer to each other, and the worktree's own settings.
//!
//! They select the repository and the settings that git uses there. An agent with its own file tree cannot change them; any
//! other agent can, and the user's next `git status` in its worktree would obey the replacement.

use std::fs::Permissions;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use crate::objects::loose_objects::reopen_folder;
use crate::repository::foreign_file;
use crate::repository::planted_links::named;
use crate::repository::used_branches::move_aside;
use crate::repository::worktree::Worktree;

/// The largest of these files that is read, in bytes.
const LIMIT_BYTES: u64 = 1 << 20;

/// The settings of one worktree, in its git folder and in the repository's own.
const SETTINGS: &str = "config.worktree";

/// Restores the files that an agent has changed, removed or given a second name. Returns a warning for the user if there were
/// any. Its settings are compared only if the agent was able to change them (`could_change_settings`).
///
/// No process of the agent may be running any more.
pub(crate) fn restore(
    worktree: &Worktree,
    common_folder: &Path,
    could_change_settings: bool,
) -> Option<String> {
    // The user may have moved the worktree since.
    if !worktree.is_in(common_folder) || !is_folder(&worktree.path) {
        return None;
    }
    let (link, git_folder) = (worktree.path.join(".git"), &worktree.git_folder);
    let line = |parts: &[&[u8]]| [parts.concat(), b"\n".to_vec()].concat();
    let mut files = vec![
        (link.clone(), line(&[b"gitdir: ", git_folder.as_os_str().as_bytes()])),
        (git_folder.join("gitdir"), line(&[link.as_os_str().as_bytes()])),
        (git_folder.join("commondir"), line(&[b"../.."])),
    ];
    if could_change_settings {
        // Git begins with a copy of those of the user's worktree, if there are any.
        let settings = read(&common_folder.join(SETTINGS)).unwrap_or_default();
        files.push((git_folder.join(SETTINGS), settings));
    }
    let (mut restored, mut left) = (Vec::new(), Vec::new());
    for (path, content) in files {
        if is_as_made(&path, &content) {
            continue;
        }
        let name = PathBuf::from(path.file_name().unwrap_or_default());
        match replace(&path, &content) {
            Ok(()) => restored.push(name),
            Err(_) => left.push(name),
        }
    }
    if !left.is_empty() {
        return Some(format!(
            "files of its worktree that lead git elsewhere could not be made again: do not use git there: {}",
            named(&left)
        ));
    }
    (!restored.is_empty()).then(|| {
        format!(
            "it had changed which repository or settings git uses in its worktree; the files were made again: {}",
            named(&restored)
        )
    })
}

/// Returns whether a worktree's git folder names it.
pub(crate) fn names_worktree(worktree: &Worktree) -> bool {
    let content = [worktree.link().as_os_str().as_bytes(), b"\n"].concat();
    let path = worktree.git_folder.join("gitdir");
    read(&path).is_some_and(|text| text == content || names_same(&path, &text, &content).unwrap_or(false))
}

/// Returns whether a file has this content, or the same path in relative form, and no second name: git writes to some files of
/// a git folder in place.
fn is_as_made(path: &Path, content: &[u8]) -> bool {
    if !path.symlink_metadata().is_ok_and(|data| data.is_file() && data.nlink() == 1) {
        return false;
    }
    let Some(text) = read(path) else { return false };
    // Without the extension git ignores these settings, and an empty file equals a missing one.
    let is_empty_settings = path.ends_with(SETTINGS) && text.is_empty();
    text == content || is_empty_settings || names_same(path, &text, content).unwrap_or(false)
}

fn names_same(path: &Path, text: &[u8], content: &[u8]) -> Option<bool> {
    let target = |text: &[u8]| {
        let text = std::str::from_utf8(text).ok()?.strip_suffix('\n')?;
        Some(PathBuf::from(text.strip_prefix("gitdir: ").unwrap_or(text)))
    };
    let is_prefixed = |text: &[u8]| text.starts_with(b"gitdir: ");
    let (relative, wanted) = (target(text)?, target(content)?);
    Some(is_prefixed(text) == is_prefixed(content) && joined(path.parent()?, &relative)? == wanted)
}

/// Joins a relative path to a folder lexically. It begins with `..`, so no link of the agent's is on the way.
fn joined(folder: &Path, relative: &Path) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    let mut goes_down = false;
    for part in relative.components() {
        match part {
            Component::ParentDir if !goes_down => {
                path.pop();
            }
            Component::Normal(name) => {
                goes_down = true;
                path.push(name);
            }
            _ => return None,
        }
    }
    Some(path)
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = foreign_file::open(path).ok()?.take(LIMIT_BYTES + 1).read_to_end(&mut bytes).ok()?;
    (length as u64 <= LIMIT_BYTES).then_some(bytes)
}

/// Puts a new file at a path, replacing any entry.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    // The agent may have closed it.
    reopen_folder(folder);
    let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(0o644)).tempfile_in(folder)?;
    file.write_all(content)?;
    if is_folder(path) {
        // It holds what the agent has made, such as a repository of its own.
        if !move_aside(path) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Checks whether there is a folder at a path, and not a link to one.
fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| data.is_dir())
}
