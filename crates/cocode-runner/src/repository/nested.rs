//! Repositories, and state folders of this program, that an agent leaves in its worktree.
//!
//! Git enters a staged submodule at every `status` and `diff`, and obeys the settings there: an agent could set a program,
//! such as `core.fsmonitor`, which the user's next git command would start unconfined. So each nested `.git` is renamed as
//! soon as the agent has ended.
//!
//! A folder without a `.git` is a repository, too, for a user who enters it, as soon as it holds a few names. Its `HEAD` is
//! then renamed, unless it is the user's and the agent has not changed the files in it that git obeys.
//!
//! `agentd` trusts a state folder that was made at its path: it would restore files from its journal, and resume the agents
//! in its records. So an agent's state folders are renamed, too.
//!
//! The same applies in its git folder and in the folders of the repository that agents share: a link in the worktree can lead
//! there. Folders that the agent has closed are reopened. Pipes are removed, since git would block on a pipe with the name of
//! a file with rules, such as `.gitattributes`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::objects::loose_objects::reopen_folder;
use crate::repository::git::literal_pattern;
use crate::repository::planted_links::named;
use crate::repository::worktree::Worktree;
use crate::repository::{Repository, closed_folder, foreign_file};

/// The name of the state folder of this program, in a workspace.
const STATE_FOLDER: &str = ".agentd";

/// The suffix that a refused entry is renamed with.
const SUFFIX: &str = ".agentd-refused";

/// The number of names that are tried.
const NAMES: usize = 100;

/// The most entries of a worktree that are visited.
const MOST_ENTRIES: usize = 5_000_000;

/// The most bytes of a file that git obeys in a repository.
const LIMIT_BYTES: u64 = 1 << 20;

/// Names in a repository that git obeys.
const OBEYED: [&str; 5] = ["HEAD", "commondir", "config", "config.worktree", "hooks"];

/// Renames every `.git` in a worktree except its own, the `HEAD` of each other repository that differs from the commit
/// `start`, and every state folder, and removes all pipes. Returns warnings for the user.
///
/// No process of the agent may be running any more.
pub(crate) fn refuse(repository: &Repository, worktree: &Worktree, start: &str) -> Vec<String> {
    // Folders that stay closed are reported by the search.
    closed_folder::reopen_worktree(&worktree.path);
    let mut search = Search { is_worktree: true, ..Search::default() };
    search.walk(&worktree.path);
    for folder in std::mem::take(&mut search.bare) {
        if !is_of_user(repository, worktree, start, &folder) {
            search.refuse_head(&worktree.path, &folder);
        }
    }
    search.warnings("it", "its worktree")
}

/// Does the same below a folder that only git uses, where no repository and no state folder is the user's. The warnings call
/// the agent `who` and the folder `what`.
pub(crate) fn refuse_below(folder: &Path, who: &str, what: &str) -> Vec<String> {
    let mut search = Search::default();
    search.walk(folder);
    for nested in std::mem::take(&mut search.bare) {
        search.refuse_head(folder, &nested);
    }
    search.warnings(who, what)
}

/// The search for `.git` and `.agentd`, in relative paths.
#[derive(Default)]
struct Search {
    /// True in a worktree, whose own `.git` stays.
    is_worktree: bool,
    renamed: Vec<PathBuf>,
    state_folders: Vec<PathBuf>,
    /// The new paths of both.
    moved: Vec<PathBuf>,
    pipes: Vec<PathBuf>,
    left: Vec<PathBuf>,
    /// Folders that are repositories by the names in them.
    bare: Vec<PathBuf>,
}

impl Search {
    fn walk(&mut self, root: &Path) {
        let mut count = 0;
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            if !self.is_worktree {
                // The agent may have closed it; the runner may reopen it.
                reopen_folder(&root.join(&folder));
            }
            let entries = match fs::read_dir(root.join(&folder)) {
                Ok(entries) => entries,
                // The agent may have removed the whole worktree.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(_) => {
                    self.left.push(folder);
                    continue;
                }
            };
            let (mut names, mut refused) = (Vec::new(), Vec::new());
            for entry in entries.flatten() {
                count += 1;
                if count > MOST_ENTRIES {
                    self.left.push(folder);
                    return;
                }
                let path = folder.join(entry.file_name());
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let is_its_own = self.is_worktree && path == Path::new(".git");
                if entry.file_type().is_ok_and(|kind| kind.is_fifo()) {
                    let list = if fs::remove_file(root.join(&path)).is_ok() {
                        &mut self.pipes
                    } else {
                        &mut self.left
                    };
                    list.push(path);
                } else if !is_its_own && is_refused(&entry.file_name()) {
                    refused.push((path, is_folder));
                } else if is_folder && !is_its_own {
                    folders.push(path);
                }
                names.push(entry.file_name());
            }
            for (path, is_folder) in refused {
                let moved = self.refuse_entry(root, path);
                // A link of the agent's can lead to the new name, too.
                folders.extend(moved.filter(|_| is_folder));
            }
            let has = |wanted: &str| names.iter().any(|name| name.eq_ignore_ascii_case(wanted));
            // Its own `.git` counts in the worktree's own folder.
            let is_nested = !folder.as_os_str().is_empty();
            if is_nested && has("HEAD") && (has("commondir") || has("objects") && has("refs")) {
                self.bare.push(folder);
            }
        }
    }

    fn warnings(self, who: &str, what: &str) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.renamed.is_empty() {
            warnings.push(format!(
                "{who} has left repositories in {what}, whose settings git would obey; their '.git' or 'HEAD' was renamed to \
                 end in '{SUFFIX}': {}",
                named(&self.renamed)
            ));
        }
        if !self.state_folders.is_empty() {
            warnings.push(format!(
                "{who} has left state folders of agentd in {what}, which agentd would trust there; they were renamed to end in \
                 '{SUFFIX}': {}",
                named(&self.state_folders)
            ));
        }
        if !self.pipes.is_empty() {
            warnings.push(format!(
                "{who} has left pipes in {what}, at which git could wait; they were removed: {}",
                named(&self.pipes)
            ));
        }
        if !self.left.is_empty() {
            warnings.push(format!(
                "folders of {what} could not be searched for repositories and state folders, or these could not be \
                 renamed: do not use git or agentd there: {}",
                named(&self.left)
            ));
        }
        warnings
    }

    /// Renames an entry, and returns its new path; `None` if it cannot be renamed.
    fn refuse_entry(&mut self, root: &Path, path: PathBuf) -> Option<PathBuf> {
        let Some(name) = rename(&root.join(&path)) else {
            self.left.push(path);
            return None;
        };
        let moved = path.with_file_name(name);
        self.moved.push(moved.clone());
        let is_state_folder = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(STATE_FOLDER));
        if is_state_folder { &mut self.state_folders } else { &mut self.renamed }.push(path);
        Some(moved)
    }

    /// Renames the `HEAD` of a folder, without which git treats it as a plain folder.
    fn refuse_head(&mut self, root: &Path, folder: &Path) {
        let path = folder.join("HEAD");
        if rename(&root.join(&path)).is_none() {
            self.left.push(path);
        } else if !self.moved.iter().any(|moved| folder.starts_with(moved)) {
            self.renamed.push(path);
        }
    }
}

/// Returns whether an entry of this name is renamed, ignoring case: some file systems do, too.
fn is_refused(name: &OsStr) -> bool {
    [".git", STATE_FOLDER].iter().any(|refused| name.eq_ignore_ascii_case(refused))
}

/// Gives an entry a name that no program uses, and returns it; `None` if it cannot be renamed.
fn rename(from: &Path) -> Option<OsString> {
    (0..NAMES).find_map(|number| {
        let mut name = from.file_name()?.to_owned();
        name.push(if number == 0 { SUFFIX.to_owned() } else { format!("{SUFFIX}-{number}") });
        let to = from.with_file_name(&name);
        (to.symlink_metadata().is_err() && fs::rename(from, to).is_ok()).then_some(name)
    })
}

/// Returns whether the files that git obeys in a repository below a worktree are those of the commit `start`.
fn is_of_user(repository: &Repository, worktree: &Worktree, start: &str, folder: &Path) -> bool {
    let arguments = ["ls-tree", "-r", "-z", "--full-tree", start, "--"].map(OsStr::new);
    let pattern = literal_pattern(folder.as_os_str());
    let arguments = [&arguments[..], &[&pattern]].concat();
    let Ok(entries) = repository.git.run_for_bytes(repository.location(), &arguments) else { return false };
    let entries: Vec<_> = entries.split(|byte| *byte == 0).collect();
    let is_as_it_was = |path: &Path| {
        let mut content = Vec::new();
        let read = foreign_file::open(&worktree.path.join(path))
            .and_then(|file| file.take(LIMIT_BYTES + 1).read_to_end(&mut content));
        let is_whole = read.is_ok_and(|length| length as u64 <= LIMIT_BYTES);
        let object = entries.iter().find_map(|entry| {
            let (facts, name) = entry.split_at_checked(entry.iter().position(|byte| *byte == b'\t')?)?;
            let object = facts.rsplit(|byte| *byte == b' ').next()?;
            (name[1..] == *path.as_os_str().as_bytes()).then(|| String::from_utf8_lossy(object).into_owned())
        });
        let before = object.and_then(|object| {
            let arguments = ["cat-file", "blob", &object];
            repository.git.run_for_bytes(repository.location(), &arguments).ok()
        });
        is_whole && before == Some(content)
    };
    let Ok(inside) = fs::read_dir(worktree.path.join(folder)) else { return false };
    inside
        .flatten()
        .filter(|entry| OBEYED.iter().any(|name| entry.file_name().eq_ignore_ascii_case(name)))
        .all(|entry| {
            let path = folder.join(entry.file_name());
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                return is_as_it_was(&path);
            }
            let Ok(hooks) = fs::read_dir(entry.path()) else { return false };
            hooks.flatten().all(|hook| is_as_it_was(&path.join(hook.file_name())))
        })
}
