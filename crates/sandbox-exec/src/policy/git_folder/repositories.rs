//! The repositories around and in a folder.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::settings_text::{Setting, settings};
use super::{real, settings_file};

/// The most bytes of a settings file that are read. A command can pad `.git/config` with meaningless text, up to the limit
/// on one change, which is a quarter.
pub(super) const SETTINGS_LIMIT_BYTES: u64 = 64 << 20;

/// The most repositories of each kind: submodules, linked working trees, submodules that are only listed.
pub(super) const REPOSITORY_LIMIT: usize = 1000;

/// The most folders that are listed in search of them.
const FOLDER_LIMIT: usize = 10_000;

/// The most entries of one folder.
const ENTRY_LIMIT: usize = 100_000;

/// The most bytes of a file with one path; the system's limit for a path is 4096.
const LINE_LIMIT_BYTES: u64 = 16 << 10;

/// A repository with one working tree; a linked working tree and a submodule each count as a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// The folder with the `.git`, the base of relative paths.
    pub root: PathBuf,
    /// The folder that git keeps for this working tree.
    folder: PathBuf,
    /// The folder that git keeps for all working trees.
    common: PathBuf,
}

impl Repository {
    /// Returns the repository with this root, by its `.git`, which may be missing.
    fn at(root: &Path) -> Repository {
        let own = root.join(".git");
        let linked = line(&own);
        let folder = linked.as_deref().and_then(|line| line.strip_prefix("gitdir:"));
        let folder = folder.map_or_else(|| own.clone(), |path| real(&root.join(path.trim())));
        let common =
            line(&folder.join("commondir")).map_or_else(|| folder.clone(), |path| real(&folder.join(path)));
        Repository { root: root.to_owned(), folder, common }
    }

    /// Returns the files that may hold the settings of all its working trees.
    pub(super) fn common_files(&self) -> [PathBuf; 2] {
        settings_files_in(&self.common)
    }

    /// Returns the files that may hold the settings of this working tree alone, if it is a linked one.
    pub(super) fn own_files(&self) -> Option<[PathBuf; 2]> {
        (self.common != self.folder).then(|| settings_files_in(&self.folder))
    }

    /// Returns the folder that git keeps for all working trees of the repository.
    pub(super) fn common(&self) -> &Path {
        &self.common
    }

    /// Returns the folder of its hooks, unless its settings name another one.
    pub(super) fn hooks(&self) -> PathBuf {
        self.common.join("hooks")
    }

    /// Returns the file of its own attributes.
    pub(super) fn attributes(&self) -> PathBuf {
        self.common.join("info/attributes")
    }

    /// Checks whether a path is in the repository's `.git`, which is judged separately.
    pub(super) fn keeps(&self, path: &Path) -> bool {
        path.starts_with(self.root.join(".git"))
    }
}

/// The repositories that concern a folder.
#[derive(Debug, Default)]
pub(super) struct Repositories {
    /// Those around the folder, the nearest first, including the folder itself, and those in it.
    pub all: Vec<Repository>,
    /// The number of those around the folder; a command cannot add to them.
    pub around: usize,
    /// Files and folders on which the list depends.
    pub sources: Vec<PathBuf>,
    /// False if a limit ended the search.
    pub is_complete: bool,
    roots: BTreeSet<PathBuf>,
    /// The folders of git that were listed.
    listed: BTreeSet<PathBuf>,
    /// The current limit on repositories.
    limit: usize,
}

impl Repositories {
    /// Finds every repository around the folder, because a `.git` may be an empty folder, which git skips, and because git is
    /// run in any of them; also their submodules and linked working trees around the folder or in it.
    ///
    /// A command can add some of these, so the oldest of each kind come first. Other nested repositories are not searched for.
    pub(super) fn find(folder: &Path) -> Repositories {
        let is_root = |above: &&Path| *above == folder || above.join(".git").symlink_metadata().is_ok();
        let mut repositories =
            Repositories { is_complete: true, limit: usize::MAX, ..Repositories::default() };
        for root in folder.ancestors().filter(is_root) {
            repositories.add(root, folder);
        }
        repositories.around = repositories.all.len();
        let kinds: [fn(&mut Repositories, &Repository) -> Vec<PathBuf>; 3] =
            [Repositories::submodules, Repositories::worktrees, Repositories::listed];
        for roots_of in kinds {
            // Kinds do not take room from each other.
            repositories.limit = repositories.all.len() + REPOSITORY_LIMIT;
            let mut next = 0;
            while let Some(repository) = repositories.all.get(next).cloned() {
                for root in roots_of(&mut repositories, &repository) {
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
        if !is_near || self.roots.contains(&root) {
            return;
        }
        if self.all.len() >= self.limit {
            self.is_complete = false;
            return;
        }
        let link = root.join(".git");
        // A folder's stamp changes with every index that git writes.
        if !link.is_dir() {
            self.sources.push(link);
        }
        self.all.push(Repository::at(&root));
        self.roots.insert(root);
    }

    /// Returns the roots of the submodules that git keeps.
    fn submodules(&mut self, repository: &Repository) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        // Names of submodules may have slashes.
        let mut unread = VecDeque::from([repository.common.join("modules")]);
        while let Some(folder) = unread.pop_front() {
            for (created, folder) in self.folders_in(&folder) {
                if folder.join("HEAD").is_file() {
                    folders.push((created, folder));
                } else {
                    unread.push_back(folder);
                }
            }
        }
        let is_root = |setting: &Setting| setting.section == "core" && setting.key == "worktree";
        let mut roots = Vec::new();
        for folder in by_age(folders) {
            let values = self.values(&folder.join("config"), is_root);
            roots.extend(values.into_iter().map(|value| folder.join(value)));
        }
        roots
    }

    /// Returns the roots of the linked working trees.
    fn worktrees(&mut self, repository: &Repository) -> Vec<PathBuf> {
        let folders = by_age(self.folders_in(&repository.common.join("worktrees")));
        let link = |folder: PathBuf| line(&folder.join("gitdir")).map(|path| folder.join(path));
        folders.into_iter().filter_map(link).filter_map(|link| Some(link.parent()?.to_owned())).collect()
    }

    /// Returns the roots of submodules with their own `.git` folder.
    fn listed(&mut self, repository: &Repository) -> Vec<PathBuf> {
        let list = repository.root.join(".gitmodules");
        self.sources.push(list.clone());
        let is_root = |setting: &Setting| setting.section == "submodule" && setting.key == "path";
        let roots = self.values(&list, is_root).into_iter().map(|value| repository.root.join(value));
        let with_age = |root: PathBuf| {
            let status = root.join(".git").symlink_metadata().ok()?;
            Some((status.created().ok(), root))
        };
        by_age(roots.filter_map(with_age).collect())
    }

    /// Returns the values of settings in a file.
    fn values(&mut self, file: &Path, is_meant: impl Fn(&Setting) -> bool) -> BTreeSet<String> {
        let bytes = settings_file::read(file, SETTINGS_LIMIT_BYTES + 1);
        self.is_complete &= bytes.len() as u64 <= SETTINGS_LIMIT_BYTES;
        let mut values = BTreeSet::new();
        for setting in settings(&String::from_utf8_lossy(&bytes)).filter(is_meant) {
            values.insert(setting.value);
            if values.len() > ENTRY_LIMIT {
                self.is_complete = false;
                break;
            }
        }
        values
    }

    /// Lists the folders in a folder, without links; empty if it was listed before, for another working tree.
    fn folders_in(&mut self, folder: &Path) -> Vec<WithAge> {
        if self.listed.contains(folder) {
            return Vec::new();
        }
        if self.listed.len() >= FOLDER_LIMIT {
            self.is_complete = false;
            return Vec::new();
        }
        self.listed.insert(folder.to_owned());
        self.sources.push(folder.to_owned());
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        let mut folders = Vec::new();
        for (index, entry) in entries.flatten().enumerate() {
            if index >= ENTRY_LIMIT {
                self.is_complete = false;
                break;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let created = entry.metadata().and_then(|status| status.created()).ok();
                folders.push((created, entry.path()));
            }
        }
        // Their subfolders are listed in the same order.
        folders.sort();
        folders
    }
}

/// A path with its creation time, if the file system records it.
type WithAge = (Option<SystemTime>, PathBuf);

/// Sorts paths by their ages, the oldest first, and then by name.
fn by_age(mut paths: Vec<WithAge>) -> Vec<PathBuf> {
    paths.sort();
    paths.into_iter().map(|(_, path)| path).collect()
}

fn settings_files_in(folder: &Path) -> [PathBuf; 2] {
    ["config", "config.worktree"].map(|name| folder.join(name))
}

/// Returns the text of a file that holds one line.
fn line(file: &Path) -> Option<String> {
    let bytes = settings_file::read(file, LINE_LIMIT_BYTES + 1);
    let is_path = !bytes.is_empty() && bytes.len() as u64 <= LINE_LIMIT_BYTES;
    let text = String::from_utf8(bytes).ok().filter(|_| is_path)?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}
