//! The names of the files that git keeps in a repository's folder.

use crate::entry_name::is_git_name;

/// Files of a repository's own folder. `*` matches at least one byte of a name, the first not a dot, and `**` one name or
/// several.
const OF_REPOSITORY: [&str; 68] = [
    "*_HEAD",
    "ADD_EDIT.patch",
    "AUTO_MERGE",
    "BISECT_*",
    "COMMIT_EDITMSG",
    "EDIT_DESCRIPTION",
    "HEAD",
    "MERGE_AUTOSTASH",
    "MERGE_MODE",
    "MERGE_MSG",
    "MERGE_RR",
    "NOTES_EDITMSG",
    "NOTES_MERGE_*",
    "NOTES_MERGE_WORKTREE/*",
    "REPLACE_EDITOBJ",
    "SQUASH_MSG",
    "TAG_EDITMSG",
    "addp-hunk-edit.diff",
    "annex/**",
    "branches/*",
    "config",
    "config.worktree",
    "description",
    "filter-repo/*",
    "filter-repo/analysis/*",
    "gc.log",
    "gc.pid",
    "git-crypt/**",
    "hooks/*",
    "index",
    "index.stash.*",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/refs",
    "info/sparse-checkout",
    "lfs/**",
    "logs/**",
    "lost-found/*/*",
    "next-index-*",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "objects/info/commit-graphs/*",
    "objects/info/http-alternates",
    "objects/info/packs",
    "objects/info/tmp_graph*",
    "objects/loose-object-idx",
    "objects/maintenance",
    "objects/pack/.tmp-*",
    "objects/pack/loose-*",
    "objects/pack/multi-pack-index",
    "objects/pack/multi-pack-index-*",
    "objects/pack/multi-pack-index.d/*",
    "objects/pack/pack-*",
    "objects/pack/tmp_*",
    "objects/tmp_obj_*",
    "packed-refs",
    "packed-refs.new",
    "rebase-apply/*",
    "rebase-merge/*",
    "rebased-patches",
    "refs/**",
    "reftable/*",
    "remotes/*",
    "rr-cache/*/*",
    "sequencer/*",
    "shallow",
    "sharedindex.*",
];

/// Further files in the folder of a linked working tree.
const OF_WORKING_TREE: [&str; 3] = ["commondir", "gitdir", "locked"];

/// Folders with names that match a pattern above.
const FOLDERS: [&str; 2] = ["NOTES_MERGE_WORKTREE", "filter-repo/analysis"];

/// Files with fixed names among those whose names the user chooses.
const FIXED: [&str; 1] = ["logs/HEAD"];

/// The ending of a file that git is about to rename to the name without it.
const LOCK: &[u8] = b".lock";

/// Returns whether git itself keeps a file at this path, given by its names, in a repository's folder: the repository's
/// own, that of a linked working tree, or that of a submodule.
///
/// Names are compared byte by byte, so a name that only a file system equates with git's is not git's own. Other programs
/// keep files there, too; of these, only data that must not be lost counts: contents of Git LFS and git-annex, keys of
/// git-crypt, and reports of `git filter-repo`.
pub fn is_own_file<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let mut names: Vec<&[u8]> = names.into_iter().collect();
    if let Some(last) = names.last_mut() {
        *last = last.strip_suffix(LOCK).unwrap_or(last);
    }
    names.iter().all(|name| !name.is_empty() && !is_git_name(name)) && is_in_repository(&names)
}

/// Returns whether git keeps a file at this path in a repository's own folder, or in that of a linked working tree, and never
/// a folder: if there is one, git fails, or behaves as if the file was missing.
///
/// Case is ignored, because some file systems do. The user chooses the names of submodules, so a path in the folder of a
/// submodule is to be passed relative to that folder.
pub fn is_file_only<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let names: Vec<Vec<u8>> = names.into_iter().map(<[u8]>::to_ascii_lowercase).collect();
    let Some((last, folders)) = names.split_last() else { return false };
    let is_lock = last.ends_with(LOCK);
    let last = last.strip_suffix(LOCK).unwrap_or(last);
    let names: Vec<&[u8]> = folders.iter().map(Vec::as_slice).chain([last]).collect();
    let fits_any =
        |patterns: &[&str]| patterns.iter().any(|pattern| matches(&names, &pattern.to_ascii_lowercase()));
    match names.as_slice() {
        [b"worktrees", _, rest @ ..] if !rest.is_empty() => is_file_only(rest.iter().copied()),
        // No branch, and so no log of a branch, has the name of a lock.
        [b"refs" | b"logs", ..] => is_lock || fits_any(&FIXED),
        [b"objects", folder, name] if is_hex(folder) && folder.len() == 2 => is_hex(name),
        _ if fits_any(&FOLDERS) => is_lock,
        _ => {
            let is_fixed = |pattern: &&&str| !pattern.contains("**");
            let mut fixed = OF_REPOSITORY.iter().filter(is_fixed).chain(&OF_WORKING_TREE);
            fixed.any(|pattern| matches(&names, &pattern.to_ascii_lowercase()))
        }
    }
}

/// Returns whether git keeps a folder of references or of their logs at a path of a repository, and fails if there is a file.
/// A submodule's name may contain slashes.
///
/// In a repository that keeps its references in tables, `refs/heads` is a file.
pub fn is_folder_only<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let names: Vec<Vec<u8>> = names.into_iter().map(<[u8]>::to_ascii_lowercase).collect();
    let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    let start = match names.as_slice() {
        [b"worktrees" | b"modules", ..] => 2,
        _ => 0,
    };
    let rest = names.get(start..).unwrap_or_default();
    let at =
        rest.iter().position(|name| matches!(*name, b"refs" | b"logs")).filter(|at| start > 0 || *at == 0);
    matches!(
        &rest[at.unwrap_or(rest.len())..],
        [b"refs", b"heads" | b"tags" | b"remotes"]
            | [b"logs", b"refs"]
            | [b"logs", b"refs", b"heads" | b"tags" | b"remotes"]
    )
}

fn is_in_repository(names: &[&[u8]]) -> bool {
    match names {
        [b"worktrees", _, rest @ ..] => is_in_working_tree(rest),
        // A submodule's name has slashes in it if its path has.
        [b"modules", rest @ ..] => (1..rest.len()).any(|at| is_in_repository(&rest[at..])),
        [b"objects", folder, name] if is_hex(folder) && folder.len() == 2 => {
            is_hex(name) && matches!(name.len(), 38 | 62) || fits(name, b"tmp_obj_*")
        }
        _ => OF_REPOSITORY.iter().any(|pattern| matches(names, pattern)),
    }
}

fn is_in_working_tree(names: &[&[u8]]) -> bool {
    // A working tree shares the settings of the repository.
    names != [b"config"]
        && (OF_WORKING_TREE.iter().any(|pattern| matches(names, pattern)) || is_in_repository(names))
}

pub(crate) fn is_hex(name: &[u8]) -> bool {
    name.iter().all(u8::is_ascii_hexdigit)
}

fn matches(names: &[&[u8]], pattern: &str) -> bool {
    let mut names = names.iter();
    let mut parts = pattern.split('/');
    loop {
        match (parts.next(), names.next()) {
            (None, None) | (Some("**"), Some(_)) => return true,
            (Some(part), Some(name)) if fits(name, part.as_bytes()) => {}
            _ => return false,
        }
    }
}

/// Returns whether a name matches a pattern with at most one `*`.
fn fits(name: &[u8], pattern: &[u8]) -> bool {
    let Some(star) = pattern.iter().position(|byte| *byte == b'*') else { return name == pattern };
    let (start, end) = (&pattern[..star], &pattern[star + 1..]);
    let rest = name.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
    rest.is_some_and(|rest| !rest.is_empty() && (!start.is_empty() || rest[0] != b'.'))
}
