//! Branches that an agent has left in use in its worktree, and that are not its own.
//!
//! Git refuses to check out a branch in a second worktree, to move it by force and to delete it. An agent that ends on a
//! branch of the user's, or in the middle of a rebase of it, would block that branch.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::bundle::header::is_object_name;
use crate::repository::worktree::Worktree;
use crate::repository::{Repository, foreign_file};

/// The beginning of the full names of branches.
const BRANCHES: &str = "refs/heads/";

/// Files that name the branches of an unfinished operation, and what is renamed so that git does not find them.
const OPERATIONS: [(&str, &str); 4] = [
    ("rebase-merge/head-name", "rebase-merge"),
    ("rebase-merge/update-refs", "rebase-merge"),
    ("rebase-apply/head-name", "rebase-apply"),
    ("BISECT_START", "BISECT_START"),
];

/// The suffix that the files of such an operation are renamed with.
pub(crate) const SUFFIX: &str = ".refused";

/// The number of names that are tried.
const NAMES: usize = 100;

/// The most bytes of a file that names branches.
const LIMIT_BYTES: u64 = 64 << 10;

/// Frees all branches of the repository but the agent's own one. Returns warnings for the user.
///
/// Not by git, which would add an entry to the log of `HEAD`: it would count as proof that the commit was made there. No process
/// of the agent may run any more.
pub(crate) fn free(repository: &Repository, worktree: &Worktree, own: &str) -> Vec<String> {
    let folder = &worktree.git_folder;
    if !folder.is_dir() {
        return Vec::new();
    }
    let is_other = |name: &str| {
        let branch = name.strip_prefix(BRANCHES).filter(|branch| *branch != own)?;
        // Only the agent's own view has other branches of these names, and a later import needs the name.
        let is_own_view = branch.starts_with("cocode/") && !repository.has_branch(branch);
        (!is_own_view).then(|| branch.to_owned())
    };
    let mut warnings = Vec::new();
    if let Some(branch) = head_name(folder).as_deref().and_then(is_other) {
        let freed = commit_at_head(repository, worktree, own).map(|commit| detach(folder, &commit));
        warnings.push(match freed {
            Some(Ok(())) => format!(
                "it has ended on the branch '{branch}', which git would refuse to check out elsewhere: HEAD of its \
                 worktree is detached now, at the same commit"
            ),
            _ => format!(
                "it has ended on the branch '{branch}', which git refuses to check out elsewhere until its worktree is \
                 removed"
            ),
        });
    }
    for (file, what) in OPERATIONS {
        let names = names_in(&folder.join(file));
        let Some(branch) = names.iter().find_map(|name| is_other(name)) else { continue };
        let outcome = match move_aside(&folder.join(what)) {
            true => format!("'{what}' in its git folder was renamed to end in '{SUFFIX}'"),
            false => "git refuses to check it out elsewhere until its worktree is removed".to_owned(),
        };
        warnings.push(format!("it has left an operation on the branch '{branch}' unfinished; {outcome}"));
    }
    warnings
}

/// Writes a commit into `HEAD`.
pub(crate) fn detach(git_folder: &Path, commit: &str) -> io::Result<()> {
    write_head(git_folder, format!("{commit}\n").as_bytes())
}

/// Writes `HEAD`.
pub(crate) fn write_head(git_folder: &Path, content: &[u8]) -> io::Result<()> {
    // A new file under a name that was free, which replaces the entry itself, whatever that is by now.
    let mut file =
        tempfile::Builder::new().permissions(Permissions::from_mode(0o644)).tempfile_in(git_folder)?;
    file.write_all(content)?;
    file.persist(git_folder.join("HEAD")).map(drop).map_err(|error| error.error)
}

/// Returns the full name of the branch that `HEAD` names.
fn head_name(git_folder: &Path) -> Option<String> {
    let head = git_folder.join("HEAD");
    if let Ok(target) = fs::read_link(&head) {
        return target.into_os_string().into_string().ok();
    }
    let text = foreign_file::read_short(&head, LIMIT_BYTES).ok()?;
    Some(text.strip_prefix("ref:")?.trim().to_owned())
}

/// Returns the commit at `HEAD`, or the one of the agent's own branch if `HEAD` names a branch that does not exist.
fn commit_at_head(repository: &Repository, worktree: &Worktree, own: &str) -> Option<String> {
    let arguments = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
    let commit = repository.git.ask(worktree.location(&repository.common_folder), &arguments).ok()?;
    commit.or_else(|| repository.commit(&format!("{BRANCHES}{own}")))
}

/// Returns the full names of the branches in a file of an unfinished operation.
fn names_in(file: &Path) -> Vec<String> {
    let text = foreign_file::read_short(file, LIMIT_BYTES).unwrap_or_default();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_object_name(line));
    // A bisection names its branch without the beginning.
    let is_short = file.ends_with("BISECT_START");
    let full = |line: &str| if is_short { format!("{BRANCHES}{line}") } else { line.to_owned() };
    lines.map(full).collect()
}

/// Gives an entry of a git folder a name that git does not know. Returns whether that succeeded.
pub(crate) fn move_aside(path: &Path) -> bool {
    let to = (0..NAMES).find_map(|number| {
        let mut name = path.as_os_str().to_owned();
        name.push(if number == 0 { SUFFIX.to_owned() } else { format!("{SUFFIX}-{number}") });
        Some(PathBuf::from(name)).filter(|to| to.symlink_metadata().is_err())
    });
    to.is_some_and(|to| fs::rename(path, to).is_ok())
}
