//! Repositories that an agent leaves beneath its worktree.
//!
//! Git enters a staged submodule at every `status` and `diff`, and obeys the settings there: an agent that writes them could
//! name a program, such as `core.fsmonitor`, which the user's next command of git would start unconfined. So each `.git`
//! beneath the worktree's own is renamed as soon as the agent has ended.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::repository::planted_links::named;
use crate::repository::worktree::Worktree;

/// The suffix that a refused `.git` is renamed with.
const SUFFIX: &str = ".agentd-refused";

/// The number of names that are tried.
const NAMES: usize = 100;

/// The most entries of a worktree that are looked at.
const MOST_ENTRIES: usize = 5_000_000;

/// Renames every `.git` beneath a worktree but its own. Returns warnings for the user.
///
/// No process of the agent may run any more.
pub(crate) fn refuse(worktree: &Worktree) -> Vec<String> {
    let mut search = Search::default();
    search.walk(&worktree.path);
    let mut warnings = Vec::new();
    if !search.renamed.is_empty() {
        warnings.push(format!(
            "it has left repositories in its worktree, whose settings git would obey; their '.git' was renamed to end in \
             '{SUFFIX}': {}",
            named(&search.renamed)
        ));
    }
    if !search.left.is_empty() {
        warnings.push(format!(
            "folders of its worktree could not be searched for repositories, or these could not be renamed: do not use \
             git there: {}",
            named(&search.left)
        ));
    }
    warnings
}

/// The search for `.git`, in relative paths.
#[derive(Default)]
struct Search {
    renamed: Vec<PathBuf>,
    left: Vec<PathBuf>,
}

impl Search {
    fn walk(&mut self, root: &Path) {
        let mut count = 0;
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(root.join(&folder)) {
                Ok(entries) => entries,
                // The agent may have removed the whole worktree.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(_) => {
                    self.left.push(folder);
                    continue;
                }
            };
            for entry in entries.flatten() {
                count += 1;
                if count > MOST_ENTRIES {
                    self.left.push(folder);
                    return;
                }
                let path = folder.join(entry.file_name());
                // In any case of the letters, since some file systems do not tell them apart.
                if entry.file_name().eq_ignore_ascii_case(".git") {
                    if !folder.as_os_str().is_empty() {
                        self.rename(root, path);
                    }
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                }
            }
        }
    }

    fn rename(&mut self, root: &Path, path: PathBuf) {
        let from = root.join(&path);
        let to = (0..NAMES).find_map(|number| {
            let mut name = from.clone().into_os_string();
            name.push(if number == 0 { SUFFIX.to_owned() } else { format!("{SUFFIX}-{number}") });
            let to = PathBuf::from(name);
            to.symlink_metadata().is_err().then_some(to)
        });
        match to.map(|to| fs::rename(&from, to)) {
            Some(Ok(())) => self.renamed.push(path),
            _ => self.left.push(path),
        }
    }
}
