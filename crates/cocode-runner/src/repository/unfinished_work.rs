//! Work that an agent leaves unfinished, by which git would run its programs.
//!
//! `git rebase --continue` runs the commands in the list of steps, a cherry-pick runs a strategy by its name, and `git
//! submodule update` adopts a repository in `modules` with its settings and hooks: in the user's own calls in the agent's
//! worktree, outside of any confinement. A rebase that only moves commits is left alone.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use git_index::{UnfinishedWorkError, check_unfinished_work, is_unfinished_work};

use crate::repository::foreign_file;
use crate::repository::used_branches::{SUFFIX, move_aside};
use crate::repository::worktree::{MODULES, Worktree};

/// The folders of unfinished operations.
const OPERATIONS: [&str; 3] = ["rebase-merge", "rebase-apply", "sequencer"];

/// The largest file of an operation that is read, in bytes.
const LIMIT_BYTES: u64 = 4 << 20;

/// Renames the unfinished operations by which git would run programs, and the repositories of submodules, so that git does not
/// find them. Returns warnings for the user.
///
/// No process of the agent may be running any more.
pub(crate) fn quarantine(worktree: &Worktree) -> Vec<String> {
    let entries = match fs::read_dir(&worktree.git_folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let Ok(entries) = entries else {
        return vec!["its git folder could not be read: do not use git in its worktree".to_owned()];
    };
    entries.iter().filter_map(quarantined).collect()
}

/// Renames an entry of a git folder if necessary, and then returns a warning.
fn quarantined(entry: &DirEntry) -> Option<String> {
    let (name, path) = (entry.file_name(), entry.path());
    // Ignoring case, since some file systems do.
    let why = if name.eq_ignore_ascii_case(MODULES) {
        "it has left repositories of submodules, whose settings git would obey".to_owned()
    } else if OPERATIONS.iter().any(|one| name.eq_ignore_ascii_case(one)) {
        let error = fault_of_operation(&name, &path)?;
        format!("it has left an operation unfinished that {}", harm(error))
    } else {
        let error = fault([name.as_bytes()], &path)?;
        format!("it has left a file that {}", harm(error))
    };
    let name = Path::new(&name).display();
    Some(match move_aside(&path) {
        true => format!("{why}; '{name}' in its git folder was renamed to end in '{SUFFIX}'"),
        false => {
            format!("{why}; '{name}' in its git folder could not be renamed: do not use git in its worktree")
        }
    })
}

fn harm(error: UnfinishedWorkError) -> &'static str {
    match error {
        UnfinishedWorkError::Steps => "has steps that run commands",
        UnfinishedWorkError::Resolutions => "names files that git would read and write",
        _ => "has an option with which git would run a program or write elsewhere",
    }
}

/// Returns the first fault of a file in the folder of an operation. An unreadable file counts as having commands.
fn fault_of_operation(name: &OsStr, folder: &Path) -> Option<UnfinishedWorkError> {
    let Ok(entries) = fs::read_dir(folder) else { return Some(UnfinishedWorkError::Steps) };
    entries.into_iter().find_map(|entry| match entry {
        Ok(entry) => fault([name.as_bytes(), entry.file_name().as_bytes()], &entry.path()),
        Err(_) => Some(UnfinishedWorkError::Steps),
    })
}

fn fault<const N: usize>(names: [&[u8]; N], path: &Path) -> Option<UnfinishedWorkError> {
    if !is_unfinished_work(names) {
        return None;
    }
    let mut content = Vec::new();
    let read = foreign_file::open(path).and_then(|file| file.take(LIMIT_BYTES + 1).read_to_end(&mut content));
    let is_whole = read.is_ok_and(|length| length as u64 <= LIMIT_BYTES);
    check_unfinished_work(names, is_whole.then_some(&content[..])).err()
}
