//! References other than its own branch that an agent has left in use in its worktree.
//!
//! Git refuses to check out a branch in a second worktree, to move it by force and to delete it. An agent that ends on a
//! branch of the user's, or in the middle of a rebase of it, would block that branch, and git would move it, or a tag, for a user
//! who commits there or continues the rebase.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::bundle::header::is_object_name;
use crate::repository::worktree::Worktree;
use crate::repository::{Repository, foreign_file};

/// The beginning of the full names of branches.
const BRANCHES: &str = "refs/heads/";

/// The prefix of the references that a rebase makes for itself, and deletes at its end.
const OF_REBASE: &str = "refs/rewritten/";

/// The content of a branch-naming file when `HEAD` was detached.
const DETACHED: &str = "detached HEAD";

/// Files that name the references of an unfinished operation, and the entries to rename so that git does not find them.
const OPERATIONS: [(&str, &str); 5] = [
    ("rebase-merge/head-name", "rebase-merge"),
    ("rebase-merge/update-refs", "rebase-merge"),
    ("rebase-merge/refs-to-delete", "rebase-merge"),
    ("rebase-apply/head-name", "rebase-apply"),
    ("BISECT_START", "BISECT_START"),
];

/// The suffix that the files of such an operation are renamed with.
pub(crate) const SUFFIX: &str = ".refused";

/// The most characters of a reference in a message.
const MOST_CHARACTERS: usize = 200;

/// The number of names that are tried.
const NAMES: usize = 100;

/// The most bytes of a file that names references.
const LIMIT_BYTES: u64 = 1 << 20;

/// Frees all references but the agent's own branch. Returns warnings for the user.
///
/// Not by git, which would add an entry to the log of `HEAD`: it would count as proof that the commit was made there. No process
/// of the agent may run any more.
pub(crate) fn free(repository: &Repository, worktree: &Worktree, own: &str) -> Vec<String> {
    let folder = &worktree.git_folder;
    if !folder.is_dir() {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    if let Some(name) = head_name(folder).filter(|name| is_foreign_head(repository, name, own)) {
        let outcome = match free_head(repository, worktree, own) {
            Ok(()) => "HEAD of its worktree is detached now, at the same commit",
            Err(_) => {
                "git refuses to check it out elsewhere until its worktree is removed: do not use git there"
            }
        };
        warnings.push(format!("it has ended on '{}', which is not its own branch; {outcome}", short(&name)));
    }
    for (file, what) in OPERATIONS {
        let harm = match names_in(&folder.join(file)) {
            Ok(names) => names.into_iter().find(|name| !is_own(name, own, file)).map(|name| {
                format!(
                    "it has left an operation on '{}' unfinished, which is not its own branch",
                    short(&name)
                )
            }),
            Err(error) if is_missing(&error) => None,
            Err(_) => Some(format!("it has left an operation unfinished whose '{file}' cannot be read")),
        };
        let Some(harm) = harm else { continue };
        let outcome = match move_aside(&folder.join(what)) {
            true => format!("'{what}' in its git folder was renamed to end in '{SUFFIX}'"),
            false => {
                format!("'{what}' in its git folder could not be renamed: do not use git in its worktree")
            }
        };
        warnings.push(format!("{harm}; {outcome}"));
    }
    warnings
}

/// Returns whether `HEAD` names a reference that is not the agent's own.
fn is_foreign_head(repository: &Repository, name: &str, own: &str) -> bool {
    let Some(branch) = name.strip_prefix(BRANCHES) else { return true };
    // Only the agent's own view has other branches of these names, and a later import needs the name.
    let is_own_view = branch.starts_with("cocode/") && !repository.has_branch(branch);
    branch != own && !is_own_view
}

/// Returns whether a file of an unfinished operation may name this reference.
fn is_own(name: &str, own: &str, file: &str) -> bool {
    name.strip_prefix(BRANCHES) == Some(own)
        || file.ends_with("head-name") && name == DETACHED
        || file.ends_with("refs-to-delete") && name.starts_with(OF_REBASE)
}

/// Detaches `HEAD` at its commit, or points it to the agent's own branch if there is none.
fn free_head(repository: &Repository, worktree: &Worktree, own: &str) -> io::Result<()> {
    match commit_at_head(repository, worktree, own) {
        Some(commit) => detach(&worktree.git_folder, &commit),
        None => write_head(&worktree.git_folder, head_at(own).as_bytes()),
    }
}

/// Returns the content of a `HEAD` that names a branch.
pub(crate) fn head_at(branch: &str) -> String {
    format!("ref: {BRANCHES}{branch}\n")
}

fn short(name: &str) -> String {
    let name = name.strip_prefix(BRANCHES).unwrap_or(name);
    name.chars().filter(|character| !character.is_control()).take(MOST_CHARACTERS).collect()
}

/// Writes a commit into `HEAD`.
pub(crate) fn detach(git_folder: &Path, commit: &str) -> io::Result<()> {
    write_head(git_folder, format!("{commit}\n").as_bytes())
}

/// Writes `HEAD`.
pub(crate) fn write_head(git_folder: &Path, content: &[u8]) -> io::Result<()> {
    // A new file under a free name, which then replaces the entry itself, whatever its kind.
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

/// Returns the full names of the references in a file of an unfinished operation.
fn names_in(file: &Path) -> io::Result<Vec<String>> {
    let text = foreign_file::read_short(file, LIMIT_BYTES)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_object_name(line));
    // A bisection names its branch without the beginning.
    let is_short = file.ends_with("BISECT_START");
    let full = |line: &str| if is_short { format!("{BRANCHES}{line}") } else { line.to_owned() };
    Ok(lines.map(full).collect())
}

/// Returns whether the error means that a file or its folder is missing.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Gives an entry of a git folder a name that git does not use. Returns whether that succeeded.
pub(crate) fn move_aside(path: &Path) -> bool {
    let to = (0..NAMES).find_map(|number| {
        let mut name = path.as_os_str().to_owned();
        name.push(if number == 0 { SUFFIX.to_owned() } else { format!("{SUFFIX}-{number}") });
        Some(PathBuf::from(name)).filter(|to| to.symlink_metadata().is_err())
    });
    to.is_some_and(|to| fs::rename(path, to).is_ok())
}
