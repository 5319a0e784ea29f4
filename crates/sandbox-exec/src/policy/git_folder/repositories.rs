//! The repositories around and in a folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::named_paths::FILE_LIMIT_BYTES;
use super::settings_text::{Setting, settings};
use super::{real, settings_file};

/// The most repositories.
pub(super) const REPOSITORY_LIMIT: usize = 50;

/// The most folders that are listed in search of submodules.
const FOLDER_LIMIT: usize = 2000;

/// The most entries of one folder.
const ENTRY_LIMIT: usize = 10_000;

/// A repository with one working tree; a linked one and a submodule count as one each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// The folder with the `.git`, to which relative paths are relative.
    pub root: PathBuf,
    /// The folder that git keeps for this working tree.
    folder: PathBuf,
    /// The one that it keeps for all of them.
    common: PathBuf,
}

impl Repository {
    /// Returns the repository with this root, as its `.git` says; also if there is none yet.
    fn at(root: &Path) -> Repository {
        let own = root.join(".git");
        let linked = line(&own);
        let folder = linked.as_deref().and_then(|line| line.strip_prefix("gitdir:"));
        let folder = folder.map_or_else(|| own.clone(), |path| real(&root.join(path.trim())));
        let common =
            line(&folder.join("commondir")).map_or_else(|| folder.clone(), |path| real(&folder.join(path)));
        Repository { root: root.to_owned(), folder, common }
    }

    /// The files in which the settings of all its working trees may be.
    pub(super) fn common_files(&self) -> [PathBuf; 2] {
        settings_beside(&self.common)
    }

    /// The files in which the settings of this working tree alone may be, if it is a linked one.
    pub(super) fn own_files(&self) -> Option<[PathBuf; 2]> {
        (self.common != self.folder).then(|| settings_beside(&self.folder))
    }

    /// Checks whether two working trees belong to one repository.
    pub(super) fn shares_with(&self, other: &Repository) -> bool {
        self.common == other.common
    }

    /// The folder of its hooks, unless its settings name another one.
    pub(super) fn hooks(&self) -> PathBuf {
        self.common.join("hooks")
    }

    /// The file of its own attributes.
    pub(super) fn attributes(&self) -> PathBuf {
        self.common.join("info/attributes")
    }

    /// Checks whether a path lies in what git keeps for it, under the name of `.git`: that is judged by itself.
    pub(super) fn keeps(&self, path: &Path) -> bool {
        path.starts_with(self.root.join(".git"))
    }
}

/// The repositories that concern a folder.
#[derive(Debug, Default)]
pub(super) struct Repositories {
    /// Those around the folder, the nearest first, the folder itself among them, and those in it.
    pub all: Vec<Repository>,
    /// Files and folders with which the list changes.
    pub sources: Vec<PathBuf>,
    /// False if a limit ended the search.
    pub is_complete: bool,
}

impl Repositories {
    /// Finds every repository around the folder, because one `.git` may be an empty folder, which git passes over, and because git is
    /// run in any of them; the submodules and linked working trees of these that lie around the folder or in it.
    ///
    /// Other repositories further down are not looked for.
    pub(super) fn find(folder: &Path) -> Repositories {
        let is_root = |above: &&Path| *above == folder || above.join(".git").symlink_metadata().is_ok();
        let mut repositories = Repositories { is_complete: true, ..Repositories::default() };
        for root in folder.ancestors().filter(is_root) {
            repositories.add(root, folder);
        }
        // What a list in a working tree names comes last: it must not displace what git itself keeps.
        let ways: [fn(&mut Repositories, &Repository) -> Vec<PathBuf>; 3] =
            [Repositories::submodules, Repositories::worktrees, Repositories::listed];
        for way in ways {
            let mut next = 0;
            while let Some(repository) = repositories.all.get(next).cloned() {
                for root in way(&mut repositories, &repository) {
                    repositories.add(&root, folder);
                }
                next += 1;
            }
        }
        repositories
    }

    fn add(&mut self, root: &Path, folder: &Path) {
        let root = real(root);
        let is_near = root.starts_with(folder) || folder.starts_with(&root);
        if !is_near || self.all.iter().any(|repository| repository.root == root) {
            return;
        }
        if self.all.len() >= REPOSITORY_LIMIT {
            self.is_complete = false;
            return;
        }
        let link = root.join(".git");
        // A folder changes with every index that git writes.
        if !link.is_dir() {
            self.sources.push(link);
        }
        self.all.push(Repository::at(&root));
    }

    /// Returns the roots of the submodules that git keeps.
    fn submodules(&mut self, repository: &Repository) -> Vec<PathBuf> {
        let mut roots = Vec::new();
        // Their names may have slashes.
        let mut unread = vec![repository.common.join("modules")];
        while let Some(folder) = unread.pop() {
            for folder in self.folders_in(&folder) {
                if !folder.join("HEAD").is_file() {
                    unread.push(folder);
                    continue;
                }
                let root = |setting: Setting| {
                    (setting.section == "core" && setting.key == "worktree")
                        .then(|| folder.join(&setting.value))
                };
                roots.extend(settings_in(&folder.join("config")).into_iter().filter_map(root));
            }
        }
        roots
    }

    /// Returns the roots of the linked working trees.
    fn worktrees(&mut self, repository: &Repository) -> Vec<PathBuf> {
        let folders = self.folders_in(&repository.common.join("worktrees"));
        let link = |folder: PathBuf| line(&folder.join("gitdir")).map(|path| folder.join(path));
        folders.into_iter().filter_map(link).filter_map(|link| Some(link.parent()?.to_owned())).collect()
    }

    /// Returns the roots of submodules that keep their own folder of git.
    fn listed(&mut self, repository: &Repository) -> Vec<PathBuf> {
        let list = repository.root.join(".gitmodules");
        self.sources.push(list.clone());
        let root = |setting: Setting| {
            (setting.section == "submodule" && setting.key == "path")
                .then(|| repository.root.join(&setting.value))
        };
        let roots = settings_in(&list).into_iter().filter_map(root);
        roots.filter(|root| root.join(".git").symlink_metadata().is_ok()).collect()
    }

    /// Lists the folders in a folder, none of which is a link.
    fn folders_in(&mut self, folder: &Path) -> Vec<PathBuf> {
        if self.sources.len() >= FOLDER_LIMIT {
            self.is_complete = false;
            return Vec::new();
        }
        self.sources.push(folder.to_owned());
        let (entries, is_complete) = entries(folder, ENTRY_LIMIT);
        self.is_complete &= is_complete;
        entries.into_iter().filter(|path| path.symlink_metadata().is_ok_and(|now| now.is_dir())).collect()
    }
}

fn settings_beside(folder: &Path) -> [PathBuf; 2] {
    ["config", "config.worktree"].map(|name| folder.join(name))
}

/// Returns the entries of a folder, sorted, and whether these are all.
pub(super) fn entries(folder: &Path, limit: usize) -> (Vec<PathBuf>, bool) {
    let Ok(entries) = fs::read_dir(folder) else { return (Vec::new(), true) };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).take(limit + 1).collect();
    let is_complete = paths.len() <= limit;
    paths.truncate(limit);
    paths.sort();
    (paths, is_complete)
}

fn settings_in(file: &Path) -> Vec<Setting> {
    settings(&String::from_utf8_lossy(&settings_file::read(file, FILE_LIMIT_BYTES)))
}

/// Returns the text of a file that holds one line.
fn line(file: &Path) -> Option<String> {
    let text = String::from_utf8(settings_file::read(file, FILE_LIMIT_BYTES))
        .ok()
        .filter(|text| !text.is_empty())?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}
