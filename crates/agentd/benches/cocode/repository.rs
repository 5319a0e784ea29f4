//! A repository with many files, and a home folder with nothing but a git identity.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::time;

/// Files of one folder.
const FOLDER_FILES: usize = 50;

pub(crate) struct Repository {
    _folder: TempDir,
    root: PathBuf,
}

impl Repository {
    pub(crate) fn make(files: usize) -> Repository {
        let folder =
            tempfile::Builder::new().prefix("bench-cocode-").tempdir().expect("a folder can be made");
        let root = fs::canonicalize(folder.path()).expect("it is there");
        let repository = Repository { _folder: folder, root };
        for name in ["code", "home", "trees"] {
            fs::create_dir(repository.root.join(name)).expect("a folder can be made");
        }
        let trace = repository.trace().display().to_string();
        let settings =
            format!("[user]\n\tname = User\n\temail = user@localhost\n[trace2]\n\teventTarget = {trace}\n");
        fs::write(repository.home().join(".gitconfig"), settings).expect("it can be written");
        for number in 0..files {
            let path = repository.code().join(format!("folder_{}", number / FOLDER_FILES));
            fs::create_dir_all(&path).expect("a folder can be made");
            let text = format!("a line of code in file {number}, of a usual length\n").repeat(40);
            fs::write(path.join(format!("file_{number}.txt")), text).expect("it can be written");
        }
        fs::write(repository.code().join(".gitignore"), ".agentd\n").expect("it can be written");
        repository.git(&["init", "-q", "-b", "main"]);
        repository.git(&["add", "."]);
        repository.git(&["commit", "-q", "-m", "start"]);
        repository.git(&["gc", "-q"]);
        repository
    }

    pub(crate) fn code(&self) -> PathBuf {
        self.root.join("code")
    }

    fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// `agentd cocode` with these arguments, ready to be run.
    pub(crate) fn cocode(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentd"));
        command.arg("cocode").args(arguments).current_dir(self.code()).env("HOME", self.home());
        for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(name);
        }
        command
    }

    /// Forgets all agents, with their worktrees and branches.
    pub(crate) fn forget(&self) {
        let trees = self.home().join(".local/state/agentd/worktrees");
        let _ = fs::remove_dir_all(trees);
        let _ = fs::remove_dir_all(self.code().join(".agentd"));
        self.git(&["worktree", "prune"]);
        for branch in self.git(&["branch", "--list", "--format=%(refname:short)", "cocode/*"]).lines() {
            self.git(&["branch", "-q", "-D", branch]);
        }
    }

    /// The file to which every git that is not an agent's writes its start and its duration.
    fn trace(&self) -> PathBuf {
        self.root.join("trace")
    }

    /// Returns the time that git has taken for worktrees since the last call, by its own trace.
    pub(crate) fn worktrees_took(&self) -> Duration {
        let text = fs::read_to_string(self.trace()).unwrap_or_default();
        let _ = fs::remove_file(self.trace());
        let events: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let is_worktree = |event: &&Value| event["event"] == "cmd_name" && event["name"] == "worktree";
        let of_one = |sid: &Value| {
            let end = events.iter().find(|event| event["event"] == "exit" && event["sid"] == *sid);
            end.and_then(|event| event["t_abs"].as_f64()).unwrap_or_default()
        };
        Duration::from_secs_f64(events.iter().filter(is_worktree).map(|event| of_one(&event["sid"])).sum())
    }

    /// Measures the time that git takes for a worktree with a branch.
    pub(crate) fn worktree_add(&self, turn: usize) -> Duration {
        let path = self.root.join("trees").join(turn.to_string()).display().to_string();
        let branch = format!("tree-{turn}");
        let took = time(|| {
            self.git(&["worktree", "add", "-q", "--no-track", "-b", &branch, &path, "main"]);
        });
        self.git(&["worktree", "remove", "--force", &path]);
        self.git(&["branch", "-q", "-D", &branch]);
        took
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.code()).env("HOME", self.home());
        let output = command.output().expect("git is there");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// The most that a process has had in memory, in megabytes; nothing once it is gone.
pub(crate) fn most_megabytes(process: u32) -> Option<f64> {
    let status = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}
