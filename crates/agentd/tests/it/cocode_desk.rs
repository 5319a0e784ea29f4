//! A repository, its owner's home folder, and `agentd cocode` run there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::project::{Project, Ran};

/// A project that is a repository with one commit, used by somebody with a home folder.
pub(crate) struct Desk {
    pub(crate) project: Project,
}

/// Commits with the marker.
pub(crate) const MARKED: &str = "git commit -q --allow-empty -m 'cocode ready for check'";

impl Desk {
    pub(crate) fn new() -> Desk {
        let project = Project::new();
        let desk = Desk { project };
        fs::create_dir(desk.home()).unwrap();
        fs::write(desk.home().join(".gitconfig"), "[user]\n\tname = A\n\temail = a@localhost\n").unwrap();
        desk.project.write("a.txt", "one\n");
        fs::write(desk.project.workspace().join(".gitignore"), ".agentd\n").unwrap();
        for arguments in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-q", "-m", "start"]]
        {
            desk.git(arguments);
        }
        desk
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.project.folder().join("home")
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.project.workspace()).env("HOME", self.home());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command(&[&["cocode"], arguments].concat());
        command.env("HOME", self.home());
        for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn cocode(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    pub(crate) fn run(&self, more: &[&str]) -> Ran {
        self.cocode(&[&["run", "--issue", "5", "--issue-body", "Fix it"], more].concat())
    }

    pub(crate) fn agent(&self, script: &str) -> Ran {
        self.run(&["--agent-cmd", &format!("a={script}")])
    }

    pub(crate) fn define(&self, text: &str) {
        let folder = self.home().join(".config/agentd");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("agents.toml"), text).unwrap();
    }

    pub(crate) fn status(&self) -> Value {
        serde_json::from_str(&self.cocode(&["status", "--json"]).stdout).unwrap()
    }
}

/// Every path beneath a folder, sorted.
pub(crate) fn listing(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            paths.extend(listing(&entry.path()));
        }
        paths.push(entry.path());
    }
    paths.sort();
    paths
}
