//! A repository, its owner's home folder, and `agentd cocode` run there.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::fixture::project::{Project, Ran};

/// A project that is a repository with one commit, and its user's home folder.
pub(crate) struct Desk {
    pub(crate) project: Project,
}

/// Changes a file of the agent's own, and commits with the marker.
pub(crate) const MARKED: &str = "D=done-$(basename \"$PWD\"); echo x >> $D; git add $D; \
     git commit -q -m 'cocode ready for check'";

impl Desk {
    pub(crate) fn new() -> Desk {
        Desk::of(Project::new())
    }

    /// Makes the repository in a project, and the home folder next to it.
    pub(crate) fn of(project: Project) -> Desk {
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
        let file = folder.join("agents.toml");
        fs::write(&file, text).unwrap();
        // Whatever the umask is: others may not write what names programs.
        fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
    }

    pub(crate) fn status(&self) -> Value {
        serde_json::from_str(&self.cocode(&["status", "--json"]).stdout).unwrap()
    }

    /// Digests of everything that running agents must not change: all files and folders of the repository and the home
    /// folder but for the state folder, the worktrees' folder, the agents' branches and new objects.
    pub(crate) fn digests(&self) -> BTreeMap<PathBuf, u64> {
        let git = self.project.workspace().join(".git");
        let names = ["worktrees", "refs/heads/cocode", "logs/refs/heads/cocode"];
        let mut ours: Vec<PathBuf> = names.iter().map(|name| git.join(name)).collect();
        // The folders on the way to worktrees are made with them.
        ours.extend([self.project.base(), self.home().join(".local")]);
        let objects = git.join("objects");
        let is_seen = |path: &&PathBuf| {
            let is_fan_out = path.starts_with(&objects) && path.is_dir();
            !is_fan_out && !ours.iter().any(|folder| path.starts_with(folder))
        };
        let folders = [self.project.workspace(), self.home()];
        let paths: Vec<PathBuf> = folders.iter().flat_map(|folder| listing(folder)).collect();
        paths.iter().filter(is_seen).map(|path| (path.clone(), digest(path))).collect()
    }

    /// Asserts that nothing has changed since these digests were taken, new objects apart.
    #[track_caller]
    pub(crate) fn assert_untouched(&self, before: &BTreeMap<PathBuf, u64>) {
        let after = self.digests();
        let objects = self.project.workspace().join(".git/objects");
        let names = before.keys().chain(after.keys());
        let changed: Vec<&PathBuf> = names
            .filter(|path| before.get(*path) != after.get(*path))
            .filter(|path| before.contains_key(*path) || !path.starts_with(&objects))
            .collect();
        assert!(changed.is_empty(), "{changed:?}");
    }
}

/// Every path inside a folder, sorted.
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

/// A number for what a path is: its kind, its mode, its contents or where it leads.
fn digest(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    let data = fs::symlink_metadata(path).unwrap();
    data.mode().hash(&mut hasher);
    if data.is_file() {
        fs::read(path).unwrap().hash(&mut hasher);
    } else if data.is_symlink() {
        fs::read_link(path).unwrap().hash(&mut hasher);
    }
    hasher.finish()
}
