//! The paths in a folder that git obeys because its settings name them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::looks::Looks;
use super::path_values::resolved;
use super::repositories::{Repositories, Repository, entries};
use super::settings_text::{Setting, settings};
use super::shell_words::{Token, tokens};
use super::started_programs::{NamedAs, Surroundings, is_command};
use super::{files_of_user, git_variables, named_paths::FILE_LIMIT_BYTES, settings_file, usual_paths};

/// The most files of settings that are read, beside one for each repository.
const FILE_LIMIT: usize = 100;

/// The most paths.
const PATH_LIMIT: usize = 400;

/// The most entries of a folder of hooks.
const HOOK_LIMIT: usize = 200;

/// The most links that are followed to one path, as the system does.
const LINK_LIMIT: usize = 40;

/// The way in which git obeys a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObeyedAs {
    /// It takes settings from the file.
    Settings,
    /// It runs what is in the folder, as hooks.
    Hooks,
    /// It runs the file as a hook, to which a link in a folder of hooks leads.
    Hook,
    /// It runs the file.
    Program,
    /// It looks in the folder for programs that it runs by name, and so do shells.
    Programs,
    /// It gives the file or folder to a program that it runs.
    Argument,
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
    /// False if there are more settings than are read: files of more than a mebibyte, more than 100 files, 400 paths or 50
    /// repositories, commands that may be in more than 32 folders, or more than 32 mebibytes of paths to look at.
    pub is_complete: bool,
    /// The files of settings, also missing ones, and the folders that were listed.
    files: Vec<(PathBuf, Option<Stamp>)>,
    /// The ways to the paths that settings name.
    ways: Vec<(PathBuf, Vec<PathBuf>)>,
}

/// Changes with its file: device, number, bytes, times of its content and of its status.
type Stamp = (u64, u64, u64, (i64, i64), (i64, i64));

impl ObeyedPaths {
    /// Reads the settings of the user, of the machine, of variables, of the repositories in which `folder` lies and of their
    /// submodules and linked working trees, with all files that they include, under whichever condition.
    ///
    /// `folder` is canonical; `home` is absolute; `variable` returns a variable of the user's environment. Settings of other
    /// repositories further down are not read.
    pub fn find(folder: &Path, home: &Path, variable: impl Fn(&str) -> Option<OsString>) -> ObeyedPaths {
        let repositories = Repositories::find(folder);
        let own = files_of(&repositories.all);
        let judged = own.iter().map(|(file, _)| file.clone()).chain(
            repositories.all.iter().flat_map(|repository| [repository.hooks(), repository.attributes()]),
        );
        let mut reading = SettingsReader {
            folder,
            repositories: &repositories.all,
            home,
            variable: &variable,
            own: judged.flat_map(|file| [file.canonicalize().ok(), Some(file)]).flatten().collect(),
            unread: VecDeque::new(),
            looks: Looks::new(),
            hooks: BTreeSet::new(),
            paths: BTreeSet::new(),
            ways: BTreeMap::new(),
            is_complete: repositories.is_complete,
        };
        let of_user = files_of_user(home, &variable).into_iter().map(|file| (file, Origin::User));
        reading.unread.extend(of_user.chain(own));
        // A link may lead from the usual path into the folder: people keep their settings in a repository.
        for (file, _) in reading.unread.clone() {
            if !file.is_dir() {
                reading.add(&file, ObeyedAs::Settings, "the user's settings of git");
            }
        }
        for file in attributes_of_user(home, &variable) {
            reading.add(&file, ObeyedAs::Attributes, "the user's attributes of git");
        }
        for repository in &repositories.all {
            reading.add(&repository.attributes(), ObeyedAs::Attributes, "attributes of the repository");
            reading.add_hooks(&repository.hooks(), "hooks of the repository");
        }
        reading.take_variables();
        let mut files =
            repositories.sources.iter().map(|path| (path.clone(), stamp(path))).collect::<Vec<_>>();
        // The usual files, most of which are missing, and what was looked at in search of repositories.
        let given = files.len() + reading.unread.len();
        let mut read = BTreeSet::new();
        let mut count = 0;
        while let Some((file, origin)) = reading.unread.pop_front() {
            // Before it is read: a change that comes later is seen by the next look.
            files.push((file.clone(), stamp(&file)));
            // Files may include each other. What is relative in one depends on the folder in which it is found.
            let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
            let Ok(real) = file.canonicalize() else { continue };
            if !read.insert((real, folder, origin)) {
                continue;
            }
            count += 1;
            if count > FILE_LIMIT + repositories.all.len() || files.len() > 2 * FILE_LIMIT + given {
                reading.is_complete = false;
                break;
            }
            reading.take_file(&file, origin);
        }
        let SettingsReader { paths, hooks, ways, is_complete, looks, .. } = reading;
        files.extend(hooks.into_iter().map(|folder| (folder.clone(), stamp(&folder))));
        ObeyedPaths {
            paths: paths.into_iter().collect(),
            is_complete: is_complete && looks.is_complete(),
            files,
            ways: ways.into_iter().collect(),
        }
    }

    /// Checks whether no file of settings has changed since, and no link on the way to what they name. Costs one look at each, and
    /// none at their contents.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.files.iter().all(|(file, then)| stamp(file) == *then)
            && self.ways.iter().all(|(path, then)| steps(path) == *then)
    }
}

/// The files of settings of repositories, those of linked working trees once.
fn files_of(repositories: &[Repository]) -> Vec<(PathBuf, Origin)> {
    let mut files = Vec::new();
    for (index, repository) in repositories.iter().enumerate() {
        if !repositories[..index].iter().any(|other| other.shares_with(repository)) {
            files.extend(repository.common_files().map(|file| (file, Origin::Repository(index))));
        }
        let own = repository.own_files().into_iter().flatten();
        files.extend(own.map(|file| (file, Origin::WorkingTree(index))));
    }
    files
}

/// The usual files of a user's attributes, and those of the machine.
fn attributes_of_user(home: &Path, variable: &impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let folders = usual_paths(home, variable).into_iter().filter(|path| path.ends_with("git"));
    folders.map(|folder| folder.join("attributes")).chain(["/etc/gitattributes".into()]).collect()
}

/// The origin of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// It holds in every repository.
    User,
    /// It holds in all working trees of the repository with this index.
    Repository(usize),
    /// It holds in the working tree with this index.
    WorkingTree(usize),
}

struct SettingsReader<'a> {
    folder: &'a Path,
    repositories: &'a [Repository],
    home: &'a Path,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// The repositories' own settings, which are judged by themselves as long as they are in `.git`.
    own: BTreeSet<PathBuf>,
    /// Files of settings.
    unread: VecDeque<(PathBuf, Origin)>,
    looks: Looks,
    /// Folders of hooks that were listed.
    hooks: BTreeSet<PathBuf>,
    paths: BTreeSet<ObeyedPath>,
    /// The way to each path that was named, as [`steps`] has it.
    ways: BTreeMap<PathBuf, Vec<PathBuf>>,
    is_complete: bool,
}

impl SettingsReader<'_> {
    fn take_variables(&mut self) {
        let variables = git_variables::read(self.variable);
        self.is_complete &= variables.is_complete;
        for setting in variables.settings {
            // Git takes no relative path to include from a variable; this one leads nowhere.
            self.take(&setting, Path::new("/"), Origin::User);
        }
        for (name, command) in variables.commands {
            self.take_command(&command, name, Origin::User);
        }
        for (name, folder) in variables.folders {
            for root in self.roots(Origin::User) {
                self.add_hooks(&root.join(&folder), name);
            }
        }
        // An empty one is the current folder.
        let path = (self.variable)("PATH");
        for folder in path.iter().flat_map(std::env::split_paths) {
            self.add(&self.folder.join(folder), ObeyedAs::Programs, "PATH");
        }
        for (name, file) in variables.files {
            for root in self.roots(Origin::User) {
                let file = root.join(&file);
                self.add(&file, ObeyedAs::Settings, name);
                self.unread.push_back((file, Origin::User));
            }
        }
    }

    fn take_file(&mut self, file: &Path, origin: Origin) {
        let bytes = settings_file::read(file, FILE_LIMIT_BYTES + 1);
        self.is_complete &= bytes.len() as u64 <= FILE_LIMIT_BYTES;
        for setting in settings(&String::from_utf8_lossy(&bytes)) {
            self.take(&setting, file.parent().unwrap_or(file), origin);
        }
    }

    /// The folders in which git runs with the settings of an origin.
    fn roots(&self, origin: Origin) -> Vec<PathBuf> {
        let is_meant = |(index, repository): &(usize, &Repository)| match origin {
            Origin::User => true,
            Origin::Repository(one) => self.repositories[one].shares_with(repository),
            Origin::WorkingTree(one) => one == *index,
        };
        let meant = self.repositories.iter().enumerate().filter(is_meant);
        meant.map(|(_, repository)| repository.root.clone()).collect()
    }

    /// Returns the paths that a value stands for, in each of those folders.
    fn resolved(&self, value: &str, origin: Origin) -> BTreeSet<PathBuf> {
        let roots = self.roots(origin);
        let allowed = roots.iter().filter(|root| self.looks.allow_path(value, root));
        allowed.filter_map(|root| resolved(value, root, self.home)).collect()
    }

    fn take(&mut self, setting: &Setting, beside: &Path, origin: Origin) {
        let value = setting.value.as_str();
        let name = &setting.name();
        let key = (setting.section.as_str(), setting.key.as_str());
        match key {
            _ if value.is_empty() => {}
            ("include" | "includeif", "path") => {
                if let Some(path) = resolved(value, beside, self.home) {
                    self.unread.push_back((path.clone(), origin));
                    self.add(&path, ObeyedAs::Settings, name);
                }
            }
            ("core", "hookspath") | ("init", "templatedir") | ("gitflow", "hooks") => {
                for path in self.resolved(value, origin) {
                    self.add_hooks(&path, name);
                }
                if origin == Origin::User {
                    self.add_in_every_repository(value, name);
                }
            }
            ("core", "attributesfile") => {
                for path in self.resolved(value, origin) {
                    self.add(&path, ObeyedAs::Attributes, name);
                }
            }
            ("credential", "helper") if !value.starts_with(['!', '/', '~']) => {
                self.take_command(&format!("git-credential-{value}"), name, origin);
            }
            ("remote", "vcs") => self.take_command(&format!("git-remote-{value}"), name, origin),
            ("remote" | "submodule", "url" | "pushurl") => {
                if let Some(command) = value.strip_prefix("ext::") {
                    self.take_command(command, name, origin);
                }
            }
            ("alias", _) if !is_command(setting) => self.take_alias(value, name, origin),
            _ if is_command(setting) => self.take_command(value, name, origin),
            _ => {}
        }
    }

    /// Takes a relative folder of hooks, which each repository of the user has for its own.
    fn add_in_every_repository(&mut self, value: &str, name: &str) {
        let is_step = |part: &Component<'_>| matches!(part, Component::CurDir | Component::ParentDir);
        // Steps upwards lead to a folder around the repository, which may be anywhere, too.
        let folder: PathBuf = Path::new(value).components().skip_while(is_step).collect();
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !value.starts_with(['~', '%', ':'])
            && folder.components().all(is_plain)
            && folder.file_name().is_some()
        {
            self.insert(folder, ObeyedAs::Hooks, true, name);
        }
    }

    /// Takes an alias of a command of git, which may have settings and programs among its options.
    fn take_alias(&mut self, value: &str, name: &str, origin: Origin) {
        let words: Vec<String> = tokens(value)
            .into_iter()
            .filter_map(|token| if let Token::Word(word) = token { Some(word.text) } else { None })
            .collect();
        let mut is_setting = false;
        for word in words {
            let pair = word.split_once('=');
            if is_setting {
                let setting = pair.and_then(|(key, value)| Setting::named(key, value));
                // A setting in an alias is no further alias.
                if let Some(setting) = setting.filter(|setting| setting.section != "alias") {
                    self.take(&setting, Path::new("/"), origin);
                }
            } else {
                let value = pair.filter(|_| word.starts_with('-')).map_or(word.as_str(), |(_, value)| value);
                self.take_argument(value, name, origin);
            }
            is_setting = word == "-c";
        }
    }

    /// Takes an argument of a command of git, which may be a program, as in `rebase --exec ./check`, or a file to look at.
    fn take_argument(&mut self, value: &str, name: &str, origin: Origin) {
        for root in self.roots(origin) {
            let around =
                Surroundings { root: &root, home: self.home, variable: self.variable, looks: &self.looks };
            let named = around.files(value).into_iter().filter(|_| value.contains('/'));
            for (path, _) in named.filter(|(path, _)| value.contains("./") || path.exists()) {
                self.add(&path, ObeyedAs::Argument, name);
            }
        }
    }

    fn take_command(&mut self, command: &str, name: &str, origin: Origin) {
        for root in self.roots(origin) {
            let around =
                Surroundings { root: &root, home: self.home, variable: self.variable, looks: &self.looks };
            for (path, named_as) in around.files(command) {
                let obeyed_as = match named_as {
                    NamedAs::Program => ObeyedAs::Program,
                    NamedAs::Argument => ObeyedAs::Argument,
                };
                self.add(&path, obeyed_as, name);
            }
        }
    }

    /// Adds a folder of hooks, and what links in it lead to: people keep a hook among the files that git tracks.
    fn add_hooks(&mut self, folder: &Path, setting: &str) {
        self.add(folder, ObeyedAs::Hooks, setting);
        self.add_links(folder, setting);
        // A template has a folder of them.
        self.add_links(&folder.join("hooks"), setting);
    }

    fn add_links(&mut self, folder: &Path, setting: &str) {
        if !self.hooks.insert(folder.to_owned()) {
            return;
        }
        let (entries, is_complete) = entries(folder, HOOK_LIMIT);
        self.is_complete &= is_complete;
        for hook in entries.iter().filter(|hook| hook.is_symlink()) {
            self.add(hook, ObeyedAs::Hook, setting);
        }
    }

    /// Adds a path, and the links on the way to it.
    fn add(&mut self, path: &Path, obeyed_as: ObeyedAs, setting: &str) {
        let way = self.ways.entry(path.to_owned()).or_insert_with(|| steps(path)).clone();
        for step in way {
            let is_judged = self.own.contains(&step)
                || obeyed_as == ObeyedAs::Hook && self.repositories.iter().any(|own| own.keeps(&step));
            let is_in_git = || step.components().any(|part| part.as_os_str() == ".git");
            if is_judged && is_in_git() {
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
        // The workspace as a whole cannot be on a list.
        if path.as_os_str().is_empty() && !matches!(obeyed_as, ObeyedAs::Hooks | ObeyedAs::Programs) {
            return;
        }
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
