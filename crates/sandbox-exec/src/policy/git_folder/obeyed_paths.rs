//! The paths in a folder that git obeys because its settings name them.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::settings_text::{Setting, settings};
use super::started_programs::{is_command, programs};
use super::{files_of_user, named_paths::FILE_LIMIT_BYTES, settings_file};

/// The most files of settings that are read.
const FILE_LIMIT: usize = 100;

/// The most paths.
const PATH_LIMIT: usize = 200;

/// The most settings in variables.
const VARIABLE_LIMIT: u64 = 1000;

/// The most links that are followed to one path, as the system does.
const LINK_LIMIT: usize = 40;

/// The way in which git obeys a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObeyedAs {
    /// It takes settings from the file.
    Settings,
    /// It runs what is in the folder, as hooks.
    Hooks,
    /// It runs the file.
    Program,
    /// It takes attributes from the file, which choose among the programs that settings name.
    Attributes,
}

/// A path in a folder that git obeys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObeyedPath {
    /// Relative to the folder, without links and steps upwards; empty for the folder itself.
    pub path: PathBuf,
    /// The way in which git obeys it.
    pub obeyed_as: ObeyedAs,
    /// True if it is meant in every repository of the user, and so beneath every folder.
    pub is_in_every_repository: bool,
    /// The name of the setting, such as `core.hooksPath`, without its subsection; or a noun for settings that no setting names.
    pub setting: String,
}

/// The paths in one folder that git's settings name, as they were at one moment.
#[derive(Clone, Debug)]
pub struct ObeyedPaths {
    /// The paths, in their order.
    pub paths: Vec<ObeyedPath>,
    /// False if there are more settings than are read: files of more than a mebibyte, more than 100 files or 200 paths.
    pub is_complete: bool,
    /// The files of settings, also missing ones.
    files: Vec<(PathBuf, Option<Stamp>)>,
}

/// Changes with its file: device, number, bytes, times of its content and of its status.
type Stamp = (u64, u64, u64, (i64, i64), (i64, i64));

impl ObeyedPaths {
    /// Reads the settings of the user, of the machine, of variables and of the repository in which `folder` lies, with all files
    /// that they include, under whichever condition.
    ///
    /// `folder` is canonical; `home` is absolute; `variable` returns a variable of the user's environment. Settings of repositories
    /// further down are not read.
    pub fn find(folder: &Path, home: &Path, variable: impl Fn(&str) -> Option<OsString>) -> ObeyedPaths {
        let root =
            folder.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok()).unwrap_or(folder);
        let mut own = files_of_repository(root);
        // The folder may become a repository.
        own.push(folder.join(".git/config"));
        let mut reading = Reading {
            folder,
            root,
            home,
            own: own
                .iter()
                .flat_map(|file| [Some(file.clone()), file.canonicalize().ok()])
                .flatten()
                .collect(),
            unread: VecDeque::new(),
            paths: BTreeSet::new(),
            is_complete: true,
        };
        let of_user = files_of_user(home, &variable).into_iter().map(|file| (file, true));
        let of_folder = own.into_iter().map(|file| (file, false));
        reading.unread.extend(of_user.chain(of_folder));
        // A link may lead from the usual path into the folder: people keep their settings in a repository.
        for (file, _) in reading.unread.clone() {
            if !file.is_dir() {
                reading.add(&file, ObeyedAs::Settings, "the user's settings of git");
            }
        }
        reading.take_variables(&variable);
        let mut files = Vec::new();
        let mut read = BTreeSet::new();
        while let Some((file, is_of_user)) = reading.unread.pop_front() {
            // Before it is read: a change that comes later is seen by the next look.
            files.push((file.clone(), stamp(&file)));
            // Files may include each other.
            if !file.canonicalize().is_ok_and(|real| read.insert(real)) {
                continue;
            }
            if read.len() > FILE_LIMIT || files.len() > 2 * FILE_LIMIT {
                reading.is_complete = false;
                break;
            }
            reading.take_file(&file, is_of_user);
        }
        let Reading { paths, is_complete, .. } = reading;
        ObeyedPaths { paths: paths.into_iter().collect(), is_complete, files }
    }

    /// Checks whether no file of settings has changed since. Costs one look at each, and none at their contents.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.files.iter().all(|(file, then)| stamp(file) == *then)
    }
}

struct Reading<'a> {
    folder: &'a Path,
    /// The root of the repository, to which relative paths are relative.
    root: &'a Path,
    home: &'a Path,
    /// The repository's own settings, which are judged by themselves as long as they are in `.git`.
    own: BTreeSet<PathBuf>,
    /// Files of settings, each with true if they hold in every repository.
    unread: VecDeque<(PathBuf, bool)>,
    paths: BTreeSet<ObeyedPath>,
    is_complete: bool,
}

impl Reading<'_> {
    /// Settings in variables are pairs of `GIT_CONFIG_KEY_0` and `GIT_CONFIG_VALUE_0`; `GIT_CONFIG_COUNT` gives their number.
    fn take_variables(&mut self, variable: &impl Fn(&str) -> Option<OsString>) {
        let text = |name: &str| variable(name).and_then(|value| value.into_string().ok());
        let count = text("GIT_CONFIG_COUNT").and_then(|count| count.trim().parse::<u64>().ok());
        let count = count.unwrap_or_default();
        self.is_complete &= count <= VARIABLE_LIMIT;
        for number in 0..count.min(VARIABLE_LIMIT) {
            let name = text(&format!("GIT_CONFIG_KEY_{number}"));
            let value = text(&format!("GIT_CONFIG_VALUE_{number}"));
            if let (Some(name), Some(value)) = (name, value)
                && let Some(setting) = Setting::named(&name, &value)
            {
                // Git takes no relative path to include from a variable; this one leads nowhere.
                self.take(&setting, Path::new("/"), true);
            }
        }
    }

    fn take_file(&mut self, file: &Path, is_of_user: bool) {
        let bytes = settings_file::read(file, FILE_LIMIT_BYTES + 1);
        self.is_complete &= bytes.len() as u64 <= FILE_LIMIT_BYTES;
        for setting in settings(&String::from_utf8_lossy(&bytes)) {
            self.take(&setting, file.parent().unwrap_or(file), is_of_user);
        }
    }

    fn take(&mut self, setting: &Setting, beside: &Path, is_of_user: bool) {
        let value = setting.value.as_str();
        let path = |from: &Path| match value.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None => from.join(value),
        };
        let name = &setting.name();
        let key = (setting.section.as_str(), setting.key.as_str());
        match key {
            _ if value.is_empty() => {}
            ("include" | "includeif", "path") => {
                let path = path(beside);
                self.unread.push_back((path.clone(), is_of_user));
                self.add(&path, ObeyedAs::Settings, name);
            }
            ("core", "hookspath") | ("init", "templatedir") => {
                let path = path(self.root);
                self.add(&path, ObeyedAs::Hooks, name);
                let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
                let relative = Path::new(value);
                if is_of_user && !value.starts_with('~') && relative.components().all(is_plain) {
                    let normal = relative.components().filter(|part| *part != Component::CurDir).collect();
                    self.insert(normal, ObeyedAs::Hooks, true, name);
                }
            }
            ("core", "attributesfile") => {
                let path = path(self.root);
                self.add(&path, ObeyedAs::Attributes, name);
            }
            _ if is_command(setting) => {
                for program in programs(value, self.root, self.home) {
                    self.add(&program, ObeyedAs::Program, name);
                }
            }
            _ => {}
        }
    }

    /// Adds a path, and the links on the way to it.
    fn add(&mut self, path: &Path, obeyed_as: ObeyedAs, setting: &str) {
        for step in steps(path) {
            let is_in_git = || step.components().any(|part| part.as_os_str() == ".git");
            if self.own.contains(&step) && is_in_git() {
                continue;
            }
            match step.strip_prefix(self.folder) {
                Ok(inside) => self.insert(inside.to_owned(), obeyed_as, false, setting),
                Err(_) if obeyed_as == ObeyedAs::Hooks && self.folder.starts_with(&step) => {
                    self.insert(PathBuf::new(), obeyed_as, false, setting);
                }
                Err(_) => {}
            }
        }
    }

    fn insert(&mut self, path: PathBuf, obeyed_as: ObeyedAs, is_in_every_repository: bool, setting: &str) {
        if self.paths.len() >= PATH_LIMIT {
            self.is_complete = false;
            return;
        }
        self.paths.insert(ObeyedPath {
            path,
            obeyed_as,
            is_in_every_repository,
            setting: setting.to_owned(),
        });
    }
}

/// The settings of the repository with this root, which may be a linked worktree or a submodule.
fn files_of_repository(root: &Path) -> Vec<PathBuf> {
    let line = |file: &Path, most: u64| {
        let text = String::from_utf8(settings_file::read(file, most)).ok().filter(|text| !text.is_empty())?;
        Some(text.trim_end_matches(['\n', '\r']).to_owned())
    };
    let own = root.join(".git");
    let linked = line(&own, FILE_LIMIT_BYTES);
    let folder = linked.as_deref().and_then(|line| line.strip_prefix("gitdir:"));
    let folder = folder.map_or_else(|| own.clone(), |path| root.join(path.trim()));
    let common = line(&folder.join("commondir"), FILE_LIMIT_BYTES).map(|path| folder.join(path));
    let config = |folder: &Path| [folder.join("config"), folder.join("config.worktree")];
    common.iter().chain([&folder]).flat_map(|folder| config(folder)).collect()
}

/// Returns the path without links, as far as it is there, and before it each link on the way, by its own path without links.
fn steps(path: &Path) -> Vec<PathBuf> {
    let names =
        |path: &Path| path.components().rev().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
    let mut left = names(path);
    let mut reached = PathBuf::from("/");
    let mut steps = Vec::new();
    while let Some(name) = left.pop() {
        match Path::new(&name).components().next() {
            Some(Component::Normal(name)) => {
                let next = reached.join(name);
                match fs::read_link(&next) {
                    Ok(target) if steps.len() < LINK_LIMIT => {
                        steps.push(next);
                        left.extend(names(&target));
                    }
                    _ => reached = next,
                }
            }
            Some(Component::ParentDir) => drop(reached.pop()),
            Some(Component::RootDir | Component::Prefix(_)) => reached = PathBuf::from("/"),
            Some(Component::CurDir) | None => {}
        }
    }
    steps.push(reached);
    steps
}

fn stamp(file: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(file).ok()?;
    let modified = (metadata.mtime(), metadata.mtime_nsec());
    let changed = (metadata.ctime(), metadata.ctime_nsec());
    Some((metadata.dev(), metadata.ino(), metadata.len(), modified, changed))
}

#[cfg(test)]
mod tests;
