//! The reader of settings: collects the paths that they make git obey, first in the user's repositories, then in others.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::hook_links::links_in;
use super::left_out::LeftOut;
use super::looks::Looks;
use super::obeyed_paths::{ObeyedAs, ObeyedPath, Stamp, stamp};
use super::obeyed_setting::{Alias, ObeyedSetting, Value};
use super::path_list::PathList;
use super::path_values::resolved;
use super::program_search::ProgramSearch;
use super::repositories::{Repositories, Repository, SETTINGS_LIMIT_BYTES};
use super::settings_text::{Setting, settings};
use super::started_programs::{NamedAs, Surroundings, is_command};
use super::way_links::WayLinks;
use super::{files_of_user, git_variables, settings_file, usual_paths};

/// The most included settings files: for the user's, and for those of other repositories.
pub(super) const INCLUDED_LIMIT: usize = 200;

/// The most bytes in the files of other repositories.
const OTHERS_LIMIT_BYTES: u64 = SETTINGS_LIMIT_BYTES;

/// The origin of a setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// Applies in every repository.
    User,
    /// Applies in all working trees for which git keeps this folder.
    Repository(PathBuf),
    /// Applies in the working tree with this root.
    WorkingTree(PathBuf),
}

/// A settings file that is still to be read.
#[derive(Clone, Debug)]
struct Unread {
    file: PathBuf,
    origin: Origin,
    is_included: bool,
}

/// The collected paths, and the files that they come from.
pub(super) struct Outcome {
    pub paths: Vec<ObeyedPath>,
    pub left_out: BTreeSet<LeftOut>,
    pub files: Vec<(PathBuf, Option<Stamp>)>,
    pub ways: WayLinks,
}

pub(super) struct SettingsReader<'a> {
    folder: &'a Path,
    /// The repositories around the folder, and the others.
    own: &'a [Repository],
    others: &'a [Repository],
    home: &'a Path,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// Settings files that variables name.
    variable_files: Vec<(&'static str, PathBuf)>,
    /// The repositories' own settings, which are judged separately as long as they are in `.git`.
    judged: BTreeSet<PathBuf>,
    /// True while settings of other repositories are read.
    is_in_others: bool,
    unread: VecDeque<Unread>,
    /// The files that were read, each with its folder.
    read: BTreeSet<(PathBuf, Option<PathBuf>, Origin)>,
    included: usize,
    /// The folders of git whose settings are among the files.
    commons: BTreeSet<PathBuf>,
    left_bytes: u64,
    settings: BTreeMap<Origin, Vec<ObeyedSetting>>,
    search: ProgramSearch,
    looks: Looks,
    /// Folders of hooks that were listed.
    hooks: BTreeSet<PathBuf>,
    paths: PathList,
    ways: WayLinks,
    files: Vec<(PathBuf, Option<Stamp>)>,
    left_out: BTreeSet<LeftOut>,
}

impl<'a> SettingsReader<'a> {
    /// Makes a reader; `sources` are the files by which the repositories were found.
    pub(super) fn new(
        folder: &'a Path,
        repositories: &'a Repositories,
        home: &'a Path,
        variable: &'a dyn Fn(&str) -> Option<OsString>,
        sources: Vec<(PathBuf, Option<Stamp>)>,
    ) -> SettingsReader<'a> {
        let (own, others) = repositories.all.split_at(repositories.around);
        let judged: BTreeSet<PathBuf> = repositories.all.iter().flat_map(judged_files).collect();
        let left_out = (!repositories.is_complete).then_some(LeftOut::Repositories);
        SettingsReader {
            folder,
            own,
            others,
            home,
            variable,
            variable_files: Vec::new(),
            judged: judged
                .into_iter()
                .flat_map(|file| [file.canonicalize().ok(), Some(file)])
                .flatten()
                .collect(),
            is_in_others: false,
            unread: VecDeque::new(),
            read: BTreeSet::new(),
            included: 0,
            commons: BTreeSet::new(),
            left_bytes: u64::MAX,
            settings: BTreeMap::new(),
            search: ProgramSearch::new(variable("PATH")),
            looks: Looks::new(),
            hooks: BTreeSet::new(),
            paths: PathList::default(),
            ways: WayLinks::default(),
            files: sources,
            left_out: left_out.into_iter().collect(),
        }
    }

    /// Reads the settings of the user and of the repositories around the folder, with the paths that these name there. A
    /// command can add nothing to them but links in folders of hooks.
    pub(super) fn read_own(&mut self) {
        // The usual path may be a link into the folder: people keep their settings in a repository.
        for file in files_of_user(self.home, &self.variable) {
            self.add_file(file, Origin::User);
        }
        for file in attributes_of_user(self.home, &self.variable) {
            self.add(&file, ObeyedAs::Attributes, "the user's attributes of git", None);
        }
        self.take_variables();
        self.read_all(self.own);
        for repository in self.own {
            self.add_kept(repository);
            self.look_in(repository, |_| true);
        }
        if !self.looks.is_complete() {
            self.left_out.insert(LeftOut::Commands);
        }
    }

    /// Reads the settings of the other repositories, with the paths that these and the user's name there, up to the limits.
    pub(super) fn read_others(&mut self) {
        self.is_in_others = true;
        (self.looks, self.included, self.left_bytes) = (Looks::new(), 0, OTHERS_LIMIT_BYTES);
        let own: BTreeSet<Origin> =
            self.own.iter().map(|one| Origin::Repository(one.common().to_owned())).collect();
        let is_shared = |origin: &Origin| *origin == Origin::User || own.contains(origin);
        self.read_all(self.others);
        // Settings for all repositories may be left out in some: their paths then count at any depth. So each repository's own
        // settings come first.
        for repository in self.others {
            self.add_kept(repository);
            self.look_in(repository, |origin| !is_shared(origin));
        }
        for repository in self.others {
            if !self.looks.is_complete() {
                break;
            }
            self.look_in(repository, is_shared);
        }
        if !self.looks.is_complete() {
            self.left_out.insert(LeftOut::Repositories);
        }
    }

    pub(super) fn finish(mut self) -> Outcome {
        let are_all_read = !self.left_out.contains(&LeftOut::Repositories);
        let (paths, is_complete) = self.paths.finish(are_all_read);
        self.left_out.extend((!is_complete).then_some(LeftOut::Paths));
        self.files.extend(self.hooks.into_iter().map(|folder| (folder.clone(), stamp(&folder))));
        Outcome { paths, left_out: self.left_out, files: self.files, ways: self.ways }
    }

    /// Reads the files of repositories, and collects the paths that their own settings name.
    fn read_all(&mut self, repositories: &'a [Repository]) {
        for repository in repositories {
            for (name, file) in self.variable_files.clone() {
                let file = repository.root.join(file);
                self.add(&file, ObeyedAs::Settings, name, None);
                self.unread.push_back(Unread { file, origin: Origin::User, is_included: false });
            }
            let common = Origin::Repository(repository.common().to_owned());
            if self.commons.insert(repository.common().to_owned()) {
                repository.common_files().into_iter().for_each(|file| self.add_file(file, common.clone()));
            }
            for file in repository.own_files().into_iter().flatten() {
                self.add_file(file, Origin::WorkingTree(repository.root.clone()));
            }
        }
        self.read_files();
    }

    /// Collects the paths that settings of the wanted origins name in a repository.
    fn look_in(&mut self, repository: &Repository, is_wanted: impl Fn(&Origin) -> bool) {
        let origins = [
            Origin::User,
            Origin::Repository(repository.common().to_owned()),
            Origin::WorkingTree(repository.root.clone()),
        ];
        for origin in origins.into_iter().filter(is_wanted) {
            let settings = self.settings.remove(&origin).unwrap_or_default();
            for ObeyedSetting { name, value } in &settings {
                self.take_value(value, name, &repository.root);
            }
            self.settings.insert(origin, settings);
        }
    }

    fn add_kept(&mut self, repository: &Repository) {
        let root = Some(repository.root.as_path());
        self.add(&repository.attributes(), ObeyedAs::Attributes, "attributes of the repository", root);
        self.add_hooks(&repository.hooks(), "hooks of the repository", root);
    }

    /// Adds a settings file where git looks for one.
    fn add_file(&mut self, file: PathBuf, origin: Origin) {
        if !file.is_dir() {
            self.add(&file, ObeyedAs::Settings, "the user's settings of git", None);
        }
        self.unread.push_back(Unread { file, origin, is_included: false });
    }

    fn take_variables(&mut self) {
        let variables = git_variables::read(self.variable);
        if !variables.is_complete {
            self.left_out.insert(LeftOut::Settings);
        }
        for setting in variables.settings {
            // Git includes no relative path from a variable; this base leads nowhere.
            self.take(&setting, Path::new("/"), &Origin::User);
        }
        let commands = variables.commands.into_iter().map(|(name, command)| (name, Value::Command(command)));
        let folders = variables.folders.into_iter().map(|(name, folder)| (name, Value::Folder(folder)));
        let named = commands.chain(folders).map(|(name, value)| ObeyedSetting::new(name, value));
        self.settings.entry(Origin::User).or_default().extend(named);
        // An empty entry is the current folder.
        let path = (self.variable)("PATH");
        for folder in path.iter().flat_map(std::env::split_paths) {
            self.add(&self.folder.join(folder), ObeyedAs::Programs, "PATH", None);
        }
        self.variable_files = variables.files;
    }

    fn read_files(&mut self) {
        while let Some(Unread { file, origin, is_included }) = self.unread.pop_front() {
            self.included += usize::from(is_included);
            if is_included && self.included > INCLUDED_LIMIT {
                self.left_out.insert(LeftOut::Settings);
                continue;
            }
            // Stamp it before reading: a later change is noticed by the next check.
            self.files.push((file.clone(), stamp(&file)));
            // Files may include each other. Relative paths in a file depend on the folder in which it is found.
            let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
            let Ok(real) = file.canonicalize() else { continue };
            if self.read.insert((real, folder, origin.clone())) {
                self.take_file(&file, &origin);
            }
        }
    }

    fn take_file(&mut self, file: &Path, origin: &Origin) {
        let limit = SETTINGS_LIMIT_BYTES.min(self.left_bytes);
        let bytes = settings_file::read(file, limit + 1);
        if bytes.len() as u64 > limit {
            let left_out = if self.is_in_others { LeftOut::Repositories } else { LeftOut::Settings };
            self.left_out.insert(left_out);
        }
        self.left_bytes = self.left_bytes.saturating_sub(bytes.len() as u64);
        for setting in settings(&String::from_utf8_lossy(&bytes)) {
            self.take(&setting, file.parent().unwrap_or(file), origin);
        }
    }

    fn take(&mut self, setting: &Setting, folder: &Path, origin: &Origin) {
        match (setting.section.as_str(), setting.key.as_str()) {
            ("include" | "includeif", "path") if !setting.value.is_empty() => {
                if let Some(path) = resolved(&setting.value, folder, self.home) {
                    self.add(&path, ObeyedAs::Settings, &setting.name(), None);
                    self.unread.push_front(Unread { file: path, origin: origin.clone(), is_included: true });
                }
            }
            ("alias", _) if !is_command(setting) => {
                for setting in Alias::read(&setting.value).settings {
                    self.take(&setting, Path::new("/"), origin);
                }
            }
            _ => {}
        }
        let obeyed = ObeyedSetting::of(setting);
        for ObeyedSetting { name, value } in &obeyed {
            if let (Value::Hooks(folder), Origin::User) = (value, origin) {
                self.add_in_every_repository(folder, name);
            }
        }
        if !obeyed.is_empty() {
            self.settings.entry(origin.clone()).or_default().extend(obeyed);
        }
    }

    fn take_value(&mut self, value: &Value, name: &str, root: &Path) {
        let around = Surroundings {
            root,
            home: self.home,
            variable: self.variable,
            search: &self.search,
            looks: &self.looks,
        };
        match value {
            Value::Hooks(value) | Value::Attributes(value) if !self.looks.allow_path(value, root) => {}
            Value::Hooks(folder) => {
                if let Some(folder) = resolved(folder, root, self.home) {
                    self.add_hooks(&folder, name, Some(root));
                }
            }
            Value::Folder(folder) => self.add_hooks(&root.join(folder), name, Some(root)),
            Value::Attributes(file) => {
                if let Some(file) = resolved(file, root, self.home) {
                    self.add(&file, ObeyedAs::Attributes, name, Some(root));
                }
            }
            Value::Command(command) => {
                for (path, named_as) in around.files(command) {
                    let obeyed_as = match named_as {
                        NamedAs::Program => ObeyedAs::Program,
                        NamedAs::Argument => ObeyedAs::Argument,
                    };
                    self.add(&path, obeyed_as, name, Some(root));
                }
            }
            Value::Argument(argument) => {
                for (path, _) in around.files(argument) {
                    if argument.contains("./") || path.exists() {
                        self.add(&path, ObeyedAs::Argument, name, Some(root));
                    }
                }
            }
        }
    }

    /// Adds a relative folder of hooks, which applies in each repository of the user.
    fn add_in_every_repository(&mut self, value: &str, name: &str) {
        // A leading `..` leads to a folder around the repository, whose location is unknown, too.
        let is_step = |part: &Component<'_>| matches!(part, Component::CurDir | Component::ParentDir);
        let folder: PathBuf = Path::new(value).components().skip_while(is_step).collect();
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !value.starts_with(['~', '%', ':'])
            && folder.components().all(is_plain)
            && folder.file_name().is_some()
        {
            self.paths.add(folder, ObeyedAs::Hooks, true, name);
        }
    }

    /// Adds a folder of hooks, and the targets of links in it: people keep hooks among the files that git tracks.
    fn add_hooks(&mut self, folder: &Path, setting: &str, root: Option<&Path>) {
        self.add(folder, ObeyedAs::Hooks, setting, root);
        // A template contains a folder of hooks.
        for folder in [folder.to_owned(), folder.join("hooks")] {
            if !self.hooks.insert(folder.clone()) {
                continue;
            }
            let (links, is_complete) = links_in(&folder);
            if !is_complete {
                self.left_out.insert(LeftOut::Hooks);
            }
            for hook in links {
                self.add(&hook, ObeyedAs::Hook, setting, root);
            }
        }
    }

    /// Adds a path, and the links on the way to it. `root` is the root of the repository that names it.
    fn add(&mut self, path: &Path, obeyed_as: ObeyedAs, setting: &str, root: Option<&Path>) {
        if let Some(root) = root
            && obeyed_as != ObeyedAs::Hook
        {
            self.paths.add_within(path, root, obeyed_as, setting);
        }
        for step in self.ways.steps(path) {
            if self.is_judged(&step, obeyed_as) {
                continue;
            }
            let inside = match step.strip_prefix(self.folder) {
                Ok(inside) => inside.to_owned(),
                Err(_) if obeyed_as == ObeyedAs::Hooks && self.folder.starts_with(&step) => PathBuf::new(),
                Err(_) => continue,
            };
            if self.is_in_others {
                let within = root.and_then(|root| step.strip_prefix(root).ok());
                self.paths.add_in_other(inside, within, obeyed_as, setting);
            } else {
                self.paths.add(inside, obeyed_as, false, setting);
            }
        }
    }

    /// Checks whether a path in `.git` is judged separately.
    fn is_judged(&self, path: &Path, obeyed_as: ObeyedAs) -> bool {
        let is_kept =
            || obeyed_as == ObeyedAs::Hook && self.own.iter().chain(self.others).any(|one| one.keeps(path));
        let is_in_git = || path.components().any(|part| part.as_os_str() == ".git");
        is_in_git() && (self.judged.contains(path) || is_kept())
    }
}

/// Returns the files and folders of a repository that are judged separately.
fn judged_files(repository: &Repository) -> impl Iterator<Item = PathBuf> {
    let own = repository.own_files().into_iter().flatten();
    own.chain(repository.common_files()).chain([repository.hooks(), repository.attributes()])
}

/// Returns the usual files of a user's attributes, and those of the machine.
fn attributes_of_user(home: &Path, variable: &impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let folders = usual_paths(home, variable).into_iter().filter(|path| path.ends_with("git"));
    folders.map(|folder| folder.join("attributes")).chain(["/etc/gitattributes".into()]).collect()
}
