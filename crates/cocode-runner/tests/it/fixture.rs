//! A repository, a home folder and a runner for one test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use cocode_env::ReadyMarker;
use cocode_runner::{
    AgentCommand, AgentDefinition, AgentRecord, Host, RunEvent, RunLimits, RunObserver, RunRequest, Runner,
    RunnerConfig, RunnerError, StopFlag,
};
use rel_path::ProtectedNames;
use sandbox_exec::{Level, SpawnerProgram};
use tempfile::TempDir;

/// A script that commits a change with the marker. Each agent changes a file of its own, so that all commits merge.
pub(crate) const MARKED: &str =
    "D=done-$(basename \"$PWD\"); echo x >> $D; git add $D; git commit -q -m 'fix: x

cocode ready for check'";

/// A repository, a home folder and the configuration of a runner, in a temporary folder.
pub(crate) struct Fixture {
    _folder: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) host: Host,
    /// The most confinement that agents get.
    pub(crate) level: Level,
}

impl Fixture {
    /// Makes a repository with one commit, and a home folder with a git identity.
    pub(crate) fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for name in ["home", "repository"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        fs::write(root.join("home/.gitconfig"), "[user]\n\tname = Ada\n\temail = a@localhost\n").unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let variables = BTreeMap::from([
            ("PATH".into(), path.clone()),
            ("HOME".into(), root.join("home").into()),
            ("LANG".into(), "C.UTF-8".into()),
        ]);
        let host = Host { variables, home: root.join("home"), own_path: path };
        let fixture = Fixture { _folder: folder, root, host, level: Level::Full };
        fixture.git(&["init", "-q", "-b", "main"]);
        fs::write(fixture.repository().join("a.txt"), "one\n").unwrap();
        fixture.git(&["add", "."]);
        fixture.git(&["commit", "-q", "-m", "start"]);
        fixture
    }

    /// Makes the same, for agents without a file tree of their own, which share branches and objects.
    pub(crate) fn shared() -> Fixture {
        Fixture::at_level(Level::Landlock)
    }

    /// Makes the same, for agents that get at most this confinement.
    pub(crate) fn at_level(level: Level) -> Fixture {
        Fixture { level, ..Fixture::new() }
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.root.join("repository")
    }

    pub(crate) fn worktrees(&self) -> PathBuf {
        self.root.join("worktrees")
    }

    /// Returns the worktree of agent `a`, in the folder of the only repository.
    pub(crate) fn worktree(&self) -> PathBuf {
        let folder = fs::read_dir(self.worktrees()).unwrap().next().unwrap().unwrap().path();
        folder.join("7-a")
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.repository(), arguments)
    }

    pub(crate) fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(folder).env("HOME", self.root.join("home"));
        command.env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub(crate) fn config(&self) -> RunnerConfig {
        let (least_level, highest_level) = (Level::Namespaces.min(self.level), self.level);
        RunnerConfig { least_level, highest_level, ..config(&self.root, self.host.clone()) }
    }

    pub(crate) fn runner(&self) -> Runner {
        Runner::open(self.config()).unwrap()
    }

    /// Runs one agent that is a shell script.
    pub(crate) fn run(&self, script: &str) -> AgentRecord {
        self.run_agent(agent("a", script))
    }

    pub(crate) fn run_agent(&self, agent: AgentDefinition) -> AgentRecord {
        self.runner().run(&request(vec![agent]), &StopFlag::new(), &Log::default()).unwrap().remove(0)
    }
}

/// Returns the configuration of a runner in the folder of a fixture.
pub(crate) fn config(root: &Path, host: Host) -> RunnerConfig {
    RunnerConfig {
        repository: root.join("repository"),
        state_folder: root.join("state"),
        worktrees: root.join("worktrees"),
        homes: None,
        private: vec![root.join("state")],
        names: ProtectedNames::default(),
        host,
        spawner: SpawnerProgram::at(env!("CARGO_BIN_EXE_cocode-runner-test-spawner").into()),
        scratch: root.to_owned(),
        least_level: Level::Namespaces,
        highest_level: Level::Full,
    }
}

pub(crate) fn agent(name: &str, script: &str) -> AgentDefinition {
    AgentDefinition {
        command: AgentCommand::Shell { text: script.to_owned() },
        ..AgentDefinition::new(name.parse().unwrap())
    }
}

pub(crate) fn request(agents: Vec<AgentDefinition>) -> RunRequest {
    RunRequest {
        issue: "7".parse().unwrap(),
        issue_url: None,
        body: "Fix it.\nThen say: cocode ready for check, please.\n".to_owned(),
        agents,
        base: None,
        continues: None,
        marker: ReadyMarker::default(),
        limits: RunLimits { timeout: Duration::from_secs(60), ..RunLimits::default() },
    }
}

/// Returns the parts of an agent's verdict that do not hold.
pub(crate) fn failures(record: &AgentRecord) -> Vec<&'static str> {
    let verdict = record.verdict.as_ref();
    let verdict = verdict.unwrap_or_else(|| panic!("an agent that has ended is judged: {record:?}"));
    verdict.parts.iter().filter(|part| !part.holds).map(|part| part.name.name()).collect()
}

/// The events of a run, as short texts.
#[derive(Default)]
pub(crate) struct Log(pub(crate) Mutex<Vec<String>>);

impl Log {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Log {
    /// Waits until a line is logged.
    pub(crate) fn wait_for(&self, line: &str) {
        let began = Instant::now();
        while !self.lines().iter().any(|one| one == line) {
            assert!(began.elapsed() < Duration::from_secs(60), "a hang guard: {line} {:?}", self.lines());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl RunObserver for Log {
    fn event(&self, event: &RunEvent) {
        let text = match event {
            RunEvent::Started { agent, .. } => format!("{agent} started"),
            RunEvent::Log { line, .. } => line.message.clone(),
            RunEvent::Commit { subject, .. } => format!("commit {subject}"),
            RunEvent::Stopping { state, .. } => format!("stopping {state}"),
            RunEvent::Ended { record } => format!("{} {}", record.agent, record.state),
            _ => return,
        };
        self.0.lock().unwrap().push(text);
    }
}

pub(crate) fn refused<T>(result: Result<T, RunnerError>) -> RunnerError {
    result.map(|_| ()).expect_err("this should be refused")
}
