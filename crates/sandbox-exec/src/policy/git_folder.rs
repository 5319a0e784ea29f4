//! Git's folders and settings, which decide the programs that git starts.

mod git_variables;
mod hook_links;
pub(crate) mod left_out;
mod looks;
mod named_paths;
pub(crate) mod obeyed_paths;
mod obeyed_setting;
mod path_list;
mod path_values;
mod program_search;
mod repositories;
mod settings_file;
mod settings_reader;
mod settings_text;
mod shell_words;
mod started_programs;
mod way_links;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use self::looks::Looks;
use self::program_search::ProgramSearch;
use self::started_programs::{Surroundings, is_command};

/// The machine's settings, for the usual installation prefixes of git.
const OF_MACHINE: [&str; 3] = ["/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"];

/// The files and folders from which git reads the settings of a user.
#[derive(Clone, Debug)]
pub struct GitSettings(Vec<PathBuf>);

impl GitSettings {
    /// Finds them by git's own rules: `.gitconfig` in the home folder, `git` in the configuration folder, the files named by
    /// `GIT_CONFIG_GLOBAL` and `GIT_CONFIG_SYSTEM`, those of the machine, and all paths that these files or settings in
    /// variables (`GIT_CONFIG_COUNT`) name: further files, folders of hooks, programs.
    ///
    /// `home` is absolute; `variable` returns a variable of the user's environment.
    pub fn of_user(home: &Path, variable: impl Fn(&str) -> Option<OsString>) -> GitSettings {
        let variable = &variable;
        let mut all = usual_paths(home, variable);
        let files = files_among(&all);
        let in_environment = named_paths::paths_in_environment(home, variable);
        let named = named_paths::named_paths(&files, in_environment, home);
        all.extend(programs_of_user(files.iter().chain(&named), home, variable));
        all.extend(named);
        GitSettings(all.into_iter().flat_map(|path| [target(&path), real(&path)]).collect())
    }

    /// Checks whether a program that may change this file or folder could give git settings or hooks: it is, or is in, a
    /// folder that git keeps for itself (that of a repository, a submodule or a linked worktree), it has a `.git`, or it is,
    /// contains or is in one of the paths of the user's settings.
    ///
    /// Such a program can make git start others later, outside of all confinement: by `config`, by `hooks`, or by the
    /// `commondir` or `gitdir` that leads to those. A folder of git is recognized by its name, `.git`, or by its files, as git
    /// does. Links to `path` are followed. Nested repositories are not searched for.
    #[must_use]
    pub fn would_read(&self, path: &Path) -> bool {
        let path = real(path);
        let is_near = |location: &PathBuf| path.starts_with(location) || location.starts_with(&path);
        is_in_git_folder(&path) || path.join(".git").symlink_metadata().is_ok() || self.0.iter().any(is_near)
    }
}

/// Returns the usual files and folders of a user's settings, and those that variables name.
fn usual_paths(home: &Path, variable: &impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let usual = [home.join(".gitconfig"), home.join(".config/git")];
    let configurations = absolute("XDG_CONFIG_HOME").map(|folder| folder.join("git"));
    let named = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"].into_iter().filter_map(absolute);
    usual.into_iter().chain(configurations).chain(named).chain(OF_MACHINE.map(PathBuf::from)).collect()
}

/// Returns the files that may hold settings among files and folders of settings.
fn files_among(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().flat_map(|path| [path.clone(), path.join("config")]).collect()
}

/// Returns the files of a user's settings, including missing ones.
fn files_of_user(home: &Path, variable: &impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    files_among(&usual_paths(home, variable))
}

/// Returns the programs that settings files and variables name by absolute paths; relative ones are in a repository.
/// Beyond the limits, where commands would stay unread, the root stands for all paths.
fn programs_of_user<'f>(
    files: impl Iterator<Item = &'f PathBuf>,
    home: &Path,
    variable: &impl Fn(&str) -> Option<OsString>,
) -> Vec<PathBuf> {
    let (looks, without_names) = (Looks::new(), ProgramSearch::default());
    let around = Surroundings { root: Path::new("/"), home, variable, search: &without_names, looks: &looks };
    let of_variables = git_variables::read(&variable);
    let texts = files.map(|file| settings_file::read(file, named_paths::FILE_LIMIT_BYTES));
    let settings =
        texts.flat_map(|text| settings_text::settings(&String::from_utf8_lossy(&text)).collect::<Vec<_>>());
    let values = settings.chain(of_variables.settings).filter(is_command).map(|setting| setting.value);
    let commands = values.chain(of_variables.commands.into_iter().map(|(_, command)| command));
    let programs = commands.flat_map(|command| around.files(&command)).map(|(path, _)| path).collect();
    if looks.is_complete() { programs } else { vec![PathBuf::from("/")] }
}

/// Returns the target of a link, which may not exist yet; the path itself if it is not a link.
fn target(path: &Path) -> PathBuf {
    let leads = fs::read_link(path).map(|target| path.parent().unwrap_or(path).join(target));
    real(leads.as_deref().unwrap_or(path))
}

/// Resolves the links of the part of the path that exists: a missing file's folder may be reached by a link.
fn real(path: &Path) -> PathBuf {
    let present = path.ancestors().find_map(|above| Some((above, fs::canonicalize(above).ok()?)));
    let Some((above, resolved)) = present else { return path.to_owned() };
    let rest = path.strip_prefix(above).expect("it is one of its ancestors");
    if rest.as_os_str().is_empty() { resolved } else { resolved.join(rest) }
}

/// Checks whether a path is, or is in, a folder that git keeps for itself, or is the file that names one.
fn is_in_git_folder(path: &Path) -> bool {
    path.ancestors().any(is_git_folder)
}

fn is_git_folder(path: &Path) -> bool {
    let has = |name: &str| path.join(name).symlink_metadata().is_ok();
    let is_named = path.file_name().is_some_and(|name| name == ".git");
    is_named || (has("HEAD") && (has("commondir") || (has("objects") && has("refs"))))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_of_git_is_known_by_its_name_or_by_its_files() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for folder in
            ["w/.git/hooks", "w/src", "bare/objects", "bare/refs", "gitdir/logs", "half/objects", "file"]
        {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["bare/HEAD", "gitdir/HEAD", "gitdir/commondir", "half/HEAD", "file/.git"] {
            fs::write(at(file), "").unwrap();
        }
        let inside =
            ["w/.git", "w/.git/hooks", "w/.git/new/x", "bare", "bare/objects/12", "gitdir/logs", "file/.git"];
        for path in inside {
            assert!(is_in_git_folder(&at(path)), "{path}");
        }
        for path in ["w", "w/src", "half", "half/objects", "file", "missing/x"] {
            assert!(!is_in_git_folder(&at(path)), "{path}");
        }
        std::os::unix::fs::symlink(at("w/.git/hooks"), at("link")).unwrap();
        let settings = GitSettings::of_user(&at("home"), |_| None);
        for path in inside.into_iter().chain(["w", "file", "link"]) {
            assert!(settings.would_read(&at(path)), "{path}");
        }
        for path in ["w/src", "half", "missing/x"] {
            assert!(!settings.would_read(&at(path)), "{path}");
        }
    }

    #[test]
    fn the_settings_of_a_user_are_known_by_their_places() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for folder in ["home/.config/git/hooks", "home/.config/other", "home/.cache", "dotfiles", "named/git"]
        {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("dotfiles/gitconfig"), "").unwrap();
        std::os::unix::fs::symlink(at("dotfiles/gitconfig"), at("home/.gitconfig")).unwrap();
        let variable = |name: &str| match name {
            "XDG_CONFIG_HOME" => Some(at("named").into_os_string()),
            "GIT_CONFIG_GLOBAL" => Some(at("elsewhere/config").into_os_string()),
            _ => None,
        };
        let usual = GitSettings::of_user(&at("home"), |_| None);
        let named = GitSettings::of_user(&at("home"), variable);
        for path in [
            "home",
            "home/.config",
            "home/.config/git",
            "home/.config/git/hooks",
            "home/.gitconfig",
            "dotfiles",
        ] {
            assert!(usual.would_read(&at(path)) && named.would_read(&at(path)), "{path}");
        }
        for path in ["named", "named/git", "elsewhere", "elsewhere/config"] {
            assert!(named.would_read(&at(path)) && !usual.would_read(&at(path)), "{path}");
        }
        // A link whose target a command would create.
        std::os::unix::fs::symlink("../dotfiles/missing", at("home/dangling")).unwrap();
        let dangling =
            |name: &str| (name == "GIT_CONFIG_GLOBAL").then(|| at("home/dangling").into_os_string());
        fs::remove_file(at("home/.gitconfig")).unwrap();
        assert!(GitSettings::of_user(&at("home"), dangling).would_read(&at("dotfiles")));
        assert!(!GitSettings::of_user(&at("home"), |_| None).would_read(&at("dotfiles")), "the control");
        for path in ["home/.cache", "home/.config/other"] {
            assert!(!named.would_read(&at(path)), "{path}");
        }
    }

    #[test]
    fn what_settings_name_and_those_of_the_machine_are_known() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for folder in ["home/.config/git", "shared", "hooks", "other"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        let settings = format!("[include]\n\tpath = {}\n", at("shared/gitconfig").display());
        fs::write(at("home/.config/git/config"), settings).unwrap();
        let tool = at("tools/pager");
        let further =
            format!("[core]\n\thooksPath = {}\n\tpager = sh {}\n", at("hooks").display(), tool.display());
        fs::write(at("shared/gitconfig"), further).unwrap();
        let settings = GitSettings::of_user(&at("home"), |_| None);
        for path in ["shared", "shared/gitconfig", "hooks", "hooks/pre-commit", "tools", "tools/pager"] {
            assert!(settings.would_read(&at(path)), "{path}");
        }
        assert!(settings.would_read(Path::new("/etc")));
        assert!(
            !settings.would_read(&at("other")) && !settings.would_read(&at("tools/other")),
            "the control"
        );
        let editor = |name: &str| (name == "EDITOR").then(|| at("other/editor --wait").into_os_string());
        assert!(GitSettings::of_user(&at("home"), editor).would_read(&at("other")));
        fs::remove_file(at("home/.config/git/config")).unwrap();
        let without = GitSettings::of_user(&at("home"), |_| None);
        assert!(!without.would_read(&at("shared")) && !without.would_read(&at("hooks")), "the control");
    }
}
