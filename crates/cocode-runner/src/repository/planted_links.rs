//! Links and pipes that an agent leaves in its git folder, references that lead out of it, and files that are not git's own.
//!
//! Git appends to the log of `HEAD` and writes `index`, `COMMIT_EDITMSG`, `MERGE_MSG` and other files there, and follows
//! symlinks in doing so, outside of any confinement: in the runner's calls, and later in the user's. It writes through hard
//! links, too: the message of a commit would become the list of steps of a rebase. Likewise it moves the branch that a
//! reference such as `ORIG_HEAD` names, and blocks on pipes. Git itself makes none of these, so all of them are removed as
//! soon as the agent has ended.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, DirEntry};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use git_index::{
    REFERENCE_BYTES, is_file_list, is_object_file, is_own_file, is_reference, is_reference_name,
    lists_sibling_files, stays_in_references,
};

use crate::objects::loose_objects::reopen_folder;
use crate::repository::left_file::name_of;
use crate::repository::own_git_folder::SESSION_FOLDER;
use crate::repository::worktree::{MODULES, OWN_FOLDER, Worktree, shared_folders};
use crate::repository::{foreign_file, used_branches};

/// The most entries of a git folder that are visited: many more than git makes, except for the objects of submodules.
const MOST_ENTRIES: usize = 1_000_000;

/// The largest list of packs that is read, in bytes.
const LIST_BYTES: u64 = 256 << 20;

/// The most symlinks that a warning names.
const MOST_NAMED: usize = 5;

/// Removes from a worktree's git folder all links except a second name of `HEAD`, all pipes and the like, all references that
/// lead out of it, and all files that are not git's own. Returns a warning for the user if there were any, or if one is left.
///
/// No process of the agent may be running any more.
pub(crate) fn remove(worktree: &Worktree, branch: &str) -> Option<String> {
    let head = used_branches::head_at(branch);
    remove_below(&worktree.git_folder, Some(head.as_bytes())).unwrap_or_else(Some)
}

/// Removes them below a git folder, and returns a warning if there were any. The error is the warning if one may be left.
///
/// A `HEAD` that leads out is replaced by the content `head`, so that the worktree stays valid.
pub(crate) fn remove_below(git_folder: &Path, head: Option<&[u8]>) -> Result<Option<String>, String> {
    let mut removed = Removed::default();
    match remove_all(git_folder, Path::new(""), head, &mut removed) {
        Ok(()) => Ok(Some(removed.to_string()).filter(|text| !text.is_empty())),
        Err((path, error)) => Err(format!(
            "'{}' in its git folder could not be checked for what leads elsewhere ({}): do not use git in its worktree",
            path.display(),
            error.kind()
        )),
    }
}

/// Removes entries that lead git out of the folders that agents without their own views share: symlinks and references among
/// the branches and their logs, and a list of packs that names files elsewhere, which git would remove. Returns a warning if
/// there were any, or if one may be left. Other agents may still run.
pub(crate) fn remove_shared(common_folder: &Path) -> Option<String> {
    let (mut removed, mut failure) = (Removed::default(), FirstFailure::default());
    for within in shared_folders(common_folder) {
        let Ok(name) = within.strip_prefix(common_folder) else { continue };
        let outcome = match name == Path::new("objects") {
            true => remove_pack_lists(&within, &mut removed),
            false => remove_all(&within, name, None, &mut removed),
        };
        if let Err((path, error)) = outcome {
            failure.keep(&name.join(path), error);
        }
    }
    let any = removed.links.into_iter().chain(removed.references).chain(removed.lists).collect::<Vec<_>>();
    let removed = (!any.is_empty()).then(|| {
        format!("files of agents in the repository led git elsewhere, and were removed: {}", named(&any))
    });
    let failed = failure.0.map(|(path, error)| {
        format!(
            "'{}' in the repository could not be checked for what leads elsewhere ({}): an agent may have put it there",
            path.display(),
            error.kind()
        )
    });
    let warnings: Vec<String> = failed.into_iter().chain(removed).collect();
    (!warnings.is_empty()).then(|| warnings.join("; "))
}

/// Removes lists of packs that git would not have written. It makes them again when they are needed.
fn remove_pack_lists(objects: &Path, removed: &mut Removed) -> Result<(), (PathBuf, io::Error)> {
    let mut failure = FirstFailure::default();
    let layers = Path::new("pack/multi-pack-index.d");
    let entries = fs::read_dir(objects.join(layers)).into_iter().flatten().flatten();
    let names = entries.map(|entry| layers.join(entry.file_name()));
    for name in names.chain([PathBuf::from("pack/multi-pack-index")]) {
        let path = objects.join(&name);
        let within = Path::new("objects").join(&name);
        if is_gone(&path) || !is_file_list(within.iter().map(OsStr::as_bytes)) {
            continue;
        }
        let mut bytes = Vec::new();
        let read =
            foreign_file::open(&path).and_then(|file| file.take(LIST_BYTES + 1).read_to_end(&mut bytes));
        let is_missing = read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let is_whole = read.is_ok_and(|length| length as u64 <= LIST_BYTES);
        if !is_missing && (!is_whole || !lists_sibling_files(&bytes)) {
            match fs::remove_file(&path) {
                Ok(()) => removed.lists.push(within),
                // Git of another agent has removed it.
                Err(_) if is_gone(&path) => {}
                Err(error) => failure.keep(&name, error),
            }
        }
    }
    failure.outcome()
}

/// Ensures that git appends to a plain file when it writes the log of a new branch: agents without their own file tree share
/// the folder of these logs, and an earlier one may have put a symlink there.
pub(crate) fn make_log_plain(log: &Path) -> io::Result<()> {
    match log.symlink_metadata() {
        Ok(data) if !data.is_file() && !data.is_dir() => fs::remove_file(log),
        _ => Ok(()),
    }
}

/// The removed paths.
#[derive(Debug, Default)]
struct Removed {
    links: Vec<PathBuf>,
    references: Vec<PathBuf>,
    /// Files that are not git's own.
    foreign: Vec<PathBuf>,
    /// Lists of packs, in folders that agents share.
    lists: Vec<PathBuf>,
}

impl fmt::Display for Removed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (
                "symlinks, hard links or pipes",
                ", through which git would write elsewhere or wait",
                &self.links,
            ),
            ("references", ", through which git would write elsewhere", &self.references),
            ("files that are not git's own", "", &self.foreign),
        ];
        for (index, (kind, harm, paths)) in
            kinds.into_iter().filter(|(.., paths)| !paths.is_empty()).enumerate()
        {
            let separator = if index == 0 { "" } else { "; " };
            write!(
                out,
                "{separator}it had put {kind} into its git folder{harm}; they were removed: {}",
                named(paths)
            )?;
        }
        Ok(())
    }
}

/// The first failure of a search, which continues: an unreadable entry must not hide the rest.
#[derive(Debug, Default)]
struct FirstFailure(Option<(PathBuf, io::Error)>);

impl FirstFailure {
    fn keep(&mut self, path: &Path, error: io::Error) {
        self.0.get_or_insert_with(|| (path.to_owned(), error));
    }

    fn outcome(self) -> Result<(), (PathBuf, io::Error)> {
        self.0.map_or(Ok(()), Err)
    }
}

/// Searches a folder, which is `within` a git folder.
fn remove_all(
    root: &Path,
    within: &Path,
    head: Option<&[u8]>,
    removed: &mut Removed,
) -> Result<(), (PathBuf, io::Error)> {
    let (mut count, mut failure) = (0, FirstFailure::default());
    // The upper folders first: if there are too many entries, at least the files that git itself uses were checked.
    let mut folders = VecDeque::from([PathBuf::new()]);
    while let Some(folder) = folders.pop_front() {
        let path = root.join(&folder);
        // The agent may have closed it. Git does not reopen folders, but the user may.
        reopen_folder(&path);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) => {
                // A worktree may be gone with its git folder, and git removes empty folders of branches.
                if !is_gone(&path) {
                    failure.keep(&folder, error);
                }
                continue;
            }
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    failure.keep(&folder, error);
                    continue;
                }
            };
            count += 1;
            if count > MOST_ENTRIES {
                failure.keep(&folder, io::ErrorKind::FileTooLarge.into());
                return failure.outcome();
            }
            let name = folder.join(entry.file_name());
            match check_entry(root, within, head, &name, &entry, removed) {
                // That folder is the runner's, and git never follows anything there.
                Ok(is_folder) if is_folder && name != Path::new(OWN_FOLDER) => folders.push_back(name),
                // Another agent's git may make and remove files meanwhile.
                Err(error) if !is_gone(&entry.path()) => failure.keep(&name, error),
                _ => {}
            }
        }
    }
    failure.outcome()
}

/// Removes an entry if it is a link or leads out. Returns whether it is a folder.
fn check_entry(
    root: &Path,
    within: &Path,
    head: Option<&[u8]>,
    name: &Path,
    entry: &DirEntry,
    removed: &mut Removed,
) -> io::Result<bool> {
    // In a folder that agents share, a file may belong to another agent.
    let is_own = within.as_os_str().is_empty();
    let (path, kind) = (entry.path(), entry.file_type()?);
    let own_head = head.filter(|_| name == Path::new("HEAD"));
    if !kind.is_file() && !kind.is_dir() && !is_linked_head(name, &path) {
        match own_head {
            // Written as a new file, which replaces the entry.
            Some(content) => used_branches::write_head(root, content)?,
            None => fs::remove_file(&path)?,
        }
        removed.links.push(within.join(name));
    } else if is_own && kind.is_file() && is_foreign(name) {
        fs::remove_file(&path)?;
        removed.foreign.push(name.to_owned());
        // Its parent folders, unless they hold anything else.
        for folder in name.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
            let _ = fs::remove_dir(root.join(folder));
        }
    } else if is_own && kind.is_file() && has_other_names(name, entry) {
        // Git replaces `HEAD` by a new file, but writes some of the others in place.
        match name == Path::new("HEAD") && !leads_out(name, &path) {
            true => read_start(&path).and_then(|text| used_branches::write_head(root, &text))?,
            false => fs::remove_file(&path)?,
        }
        removed.links.push(name.to_owned());
    } else if kind.is_file() && leads_out(&within.join(name), &path) {
        match own_head {
            Some(content) => used_branches::write_head(root, content)?,
            None => fs::remove_file(&path)?,
        }
        removed.references.push(within.join(name));
    }
    Ok(kind.is_dir())
}

fn is_gone(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Returns whether a file has another name, which git gives only to objects.
fn has_other_names(name: &Path, entry: &DirEntry) -> bool {
    let is_object = || is_object_file(name.iter().map(OsStr::as_bytes));
    entry.metadata().is_ok_and(|data| data.nlink() > 1) && !is_object()
}

/// Returns whether git would read a file as a reference that leads out of the agent's worktree, or the file is unreadable.
///
/// `HEAD` names a branch, which is judged elsewhere, as do references of submodules, which git no longer finds. Git makes no
/// other reference that names a reference; with one, a `reset` in the worktree would move a branch of the user's.
fn leads_out(name: &Path, path: &Path) -> bool {
    let may_name_one = name == Path::new("HEAD") || is_of_submodule(name);
    let is_out = || match read_start(path) {
        Ok(bytes) if may_name_one => !stays_in_references(&bytes),
        Ok(bytes) => bytes.starts_with(b"ref:"),
        // A later file of this name is a different one, which may be sound.
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    is_reference(name.iter().map(OsStr::as_bytes)) && is_out()
}

/// Returns whether a file of a worktree's git folder is neither git's nor the runner's.
fn is_foreign(name: &Path) -> bool {
    let first = name.iter().next().unwrap_or_default();
    let is_of_runner = [OWN_FOLDER, SESSION_FOLDER].iter().any(|own| first == *own);
    // Renamed entries, and their contents, are searched for repositories.
    let is_renamed = first.to_string_lossy().contains(used_branches::SUFFIX);
    let names = [OsStr::new("worktrees"), OsStr::new("agent")].into_iter().chain(name);
    !is_of_runner && !is_renamed && !is_own_file(names.map(OsStr::as_bytes))
}

fn is_of_submodule(name: &Path) -> bool {
    let first = name.iter().next().unwrap_or_default();
    first.len() >= MODULES.len() && first.as_bytes()[..MODULES.len()].eq_ignore_ascii_case(MODULES.as_bytes())
}

/// Reads as much of a file as is relevant for a reference, and one byte more.
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
    let names = paths.iter().take(MOST_NAMED).map(|path| name_of(path));
    let mut text = names.collect::<Vec<_>>().join(", ");
    if paths.len() > MOST_NAMED {
        text.push_str(&format!(" and {} more", paths.len() - MOST_NAMED));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_keep_a_second_name() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| folder.path().join(name);
        let object = "objects/01/23456789abcdef0123456789abcdef01234567";
        let pairs = [
            (format!("modules/sub/{object}"), format!("modules/copy/{object}")),
            ("modules/sub/config".to_owned(), "modules/objects/COMMIT_EDITMSG".to_owned()),
            ("modules/sub/description".to_owned(), format!("modules/sub/refs/heads/{object}")),
        ];
        for (name, other) in &pairs {
            for path in [of(name), of(other)] {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
            }
            fs::write(of(name), "x").unwrap();
            fs::hard_link(of(name), of(other)).unwrap();
        }
        let warning = remove_below(folder.path(), None).unwrap().unwrap_or_default();
        let links = |name: &str| fs::metadata(of(name)).map_or(0, |data| data.nlink());
        let left = pairs.iter().map(|(name, other)| (links(name), links(other)));
        // Git's own links stay; of two others at most one name does.
        let left: Vec<_> = left.map(|(one, other)| (one.max(other), one + other)).collect();
        assert_eq!(left[0], (2, 4), "{warning}");
        assert!(left[1..].iter().all(|(most, all)| *most <= 1 && *all <= 1), "{left:?} {warning}");
    }

    #[test]
    fn a_file_that_goes_while_a_shared_folder_is_searched_is_not_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["evil", "evil.lock", "link"];
        for name in &names[..2] {
            fs::write(folder.path().join(name), "ref: refs/../../elsewhere\n").unwrap();
        }
        std::os::unix::fs::symlink("/elsewhere", folder.path().join("link")).unwrap();
        let entries: Vec<DirEntry> = fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();
        assert_eq!(entries.len(), names.len());
        // Between the listing and the check of each of them, another agent's git removes them.
        for name in names {
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        let (mut removed, within) = (Removed::default(), Path::new("refs/heads/cocode"));
        for entry in &entries {
            let name = PathBuf::from(entry.file_name());
            let outcome = check_entry(folder.path(), within, None, &name, entry, &mut removed);
            assert!(outcome.is_ok() || is_gone(&entry.path()), "{name:?}: {outcome:?}");
        }
        assert!(removed.links.is_empty() && removed.references.is_empty(), "{removed:?}");
    }
}
