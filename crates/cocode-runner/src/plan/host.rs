//! The facts about the machine and its user that the runner may use.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The user's environment, given by the caller: the runner itself reads none.
#[derive(Clone, Debug)]
pub struct Host {
    /// Every variable of the user's environment; [`agent_environment`](crate::agent_environment) chooses from them.
    pub variables: BTreeMap<OsString, OsString>,
    /// The user's home folder, absolute.
    pub home: PathBuf,
    /// The folders, as in `PATH`, of the programs that run unconfined, such as git and `gh`. A model must not be able to write
    /// to any of them: people have folders such as `node_modules/.bin` on their search path.
    pub own_path: OsString,
}

impl Host {
    /// Returns a variable's value.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Returns the user's search path.
    pub fn search_path(&self) -> OsString {
        self.variable("PATH").unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin")).to_owned()
    }

    /// Finds a program as a shell does: by its path if the name has a slash, else on the search path.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        if name.contains('/') {
            return Some(PathBuf::from(name)).filter(|path| path.is_absolute() && is_program(path));
        }
        find(&self.search_path(), name)
    }

    /// Finds a program that runs unconfined.
    pub fn find_own_program(&self, name: &str) -> Option<PathBuf> {
        find(&self.own_path, name)
    }

    /// Replaces a leading `~` by the home folder.
    pub(crate) fn expand_home(&self, path: &str) -> PathBuf {
        match path.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with('/') => self.home.join(&rest[1..]),
            _ => PathBuf::from(path),
        }
    }
}

fn find(search_path: &OsStr, name: &str) -> Option<PathBuf> {
    // A relative entry would depend on the current folder, which may be the repository.
    std::env::split_paths(search_path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
