//! The users as which workflows run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The number of the ordinary user, and of its group.
const ORDINARY_USER: u32 = 1000;

/// Variables that programs of a plain run get; the values are those of commands of agentd.
const FIXED_VARIABLES: [(&str, &str); 6] = [
    ("TERM", "dumb"),
    ("CI", "true"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
];

/// Variables of this process that a plain run keeps.
const KEPT_VARIABLES: [&str; 9] = [
    "USER",
    "LANG",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
];

/// The user as which programs run, with their home and search path.
#[derive(Clone, Debug)]
pub(super) struct Account {
    home: PathBuf,
    search_path: OsString,
    switches_user: bool,
}

impl Account {
    /// Returns the user of this process, with the folders of installed tools in front of the search path.
    pub(super) fn own(tools: &[PathBuf]) -> Account {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = tools.iter().cloned().chain(std::env::split_paths(&path));
        let home = std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"));
        Account { home, search_path: joined(folders), switches_user: false }
    }

    /// Returns an ordinary user with a home of its own, who finds the tools and the system's programs. The process has to be
    /// root.
    pub(super) fn ordinary(home: &Path, tools: &[PathBuf]) -> Account {
        let system = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
        let search_path = joined(tools.iter().cloned().chain(system));
        Account { home: home.to_owned(), search_path, switches_user: true }
    }

    /// Returns the search path.
    pub(super) fn search_path(&self) -> &OsString {
        &self.search_path
    }

    /// Gives a folder and everything beneath it to this user.
    pub(super) fn own_folder(&self, folder: &Path) -> std::io::Result<()> {
        if self.switches_user {
            std::os::unix::fs::lchown(folder, Some(ORDINARY_USER), Some(ORDINARY_USER))?;
            for entry in std::fs::read_dir(folder)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    self.own_folder(&entry.path())?;
                } else {
                    std::os::unix::fs::lchown(entry.path(), Some(ORDINARY_USER), Some(ORDINARY_USER))?;
                }
            }
        }
        Ok(())
    }

    /// Returns a command with the environment of a plain run.
    pub(super) fn plain(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = self.command(program, arguments);
        command.env_clear().envs(FIXED_VARIABLES).env("HOME", &self.home).env("PATH", &self.search_path);
        let kept = |name: &&str| std::env::var_os(name).map(|value| (name.to_string(), value));
        command.envs(KEPT_VARIABLES.iter().filter_map(kept));
        command
    }

    /// Returns a command with the environment of this process, without the variables of the cargo that started it.
    pub(super) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command;
        if self.switches_user {
            let user = ORDINARY_USER.to_string();
            command = Command::new("setpriv");
            command.args(["--reuid", &user, "--regid", &user, "--clear-groups", "--", program]);
        } else {
            command = Command::new(program);
        }
        command.args(arguments).env("HOME", &self.home).env("PATH", &self.search_path);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CARGO") || name == "RUSTUP_TOOLCHAIN" {
                command.env_remove(name);
            }
        }
        command
    }
}

fn joined(folders: impl Iterator<Item = PathBuf>) -> OsString {
    std::env::join_paths(folders).expect("folders split at colons hold no colon")
}
