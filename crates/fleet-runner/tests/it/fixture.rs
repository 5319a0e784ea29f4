//! Machines with a repository, a home folder and a runner, and tasks between them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cocode_env::ReadyMarker;
use cocode_fleet::{
    BaseBundle, ClassName, Confinement, Delivered, EventSink, HostName, PROTOCOL_VERSION, Task, TaskName,
    TaskOutcome,
};
use cocode_runner::{
    AgentCommand, AgentDefinition, AgentRecord, AgentsFile, BaseLimits, BaseRepository, BundleSource, Host,
    Launchers, RunEvent, RunLimits, RunObserver, RunRequest, Runner, RunnerConfig, StopFlag,
};
use fleet_runner::{FleetObserver, HomeFolder, HomeJournal, HostWork, Slots, Workplaces};
use rel_path::ProtectedNames;
use sandbox_exec::{Level, SpawnerProgram};
use tempfile::TempDir;

/// A script that commits a file with the marker.
pub(crate) const MARKED: &str = "echo working; echo x > done; git add done; git commit -q -m 'fix: x

cocode ready for check'";

/// A machine in a temporary folder, with a repository of one commit.
pub(crate) struct Machine {
    _folder: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) host: Host,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for name in ["home", "repository"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        fs::write(root.join("home/.gitconfig"), "[user]\n\tname = Ada\n\temail = a@localhost\n").unwrap();
        let own_path = std::env::var_os("PATH").unwrap();
        let variables = BTreeMap::from([
            ("PATH".into(), own_path.clone()),
            ("HOME".into(), root.join("home").into()),
            ("LANG".into(), "C.UTF-8".into()),
        ]);
        let host = Host { variables, home: root.join("home"), own_path };
        let machine = Machine { _folder: folder, root, host };
        machine.git(&["init", "-q", "-b", "main"]);
        machine.commit("start");
        machine
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.root.join("repository")
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.repository()).env("HOME", &self.host.home);
        let output = command.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Commits a new file of this name, and returns the commit.
    pub(crate) fn commit(&self, name: &str) -> String {
        fs::write(self.repository().join(name), name).unwrap();
        self.git(&["add", "."]);
        self.git(&["commit", "-q", "-m", name]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn bundle_source(&self) -> BundleSource {
        BundleSource::open(&self.host, &self.repository()).unwrap()
    }

    fn config(&self) -> RunnerConfig {
        RunnerConfig {
            repository: self.repository(),
            state_folder: self.root.join("state"),
            worktrees: self.root.join("worktrees"),
            homes: None,
            private: Vec::new(),
            names: ProtectedNames::default(),
            host: self.host.clone(),
            spawner: SpawnerProgram::at(env!("CARGO_BIN_EXE_fleet-runner-test-spawner").into()),
            scratch: self.root.clone(),
            least_level: Level::None,
            highest_level: Level::Full,
        }
    }

    /// Makes the work of a host that has one agent, `a`, a shell script without confinement: that is the runner's concern.
    pub(crate) fn host_work(&self, script: &str, slots: usize) -> HostWork {
        let bases = BaseRepository::open(&self.root.join("bases"), &self.host, BaseLimits::default());
        let slots = Slots::make(self.root.join("slots"), slots).unwrap();
        let workplaces = Workplaces::new(bases.unwrap(), slots, self.config(), Launchers::new());
        HostWork::new(workplaces, vec![agent("a", script)], vec!["any".parse().unwrap()], Level::None)
    }
}

/// Returns the definition of an agent that is a shell script.
fn agent(name: &str, script: &str) -> AgentDefinition {
    AgentDefinition {
        command: AgentCommand::Shell { text: script.to_owned() },
        is_confined: false,
        ..AgentDefinition::new(name.parse().unwrap())
    }
}

/// Home with tasks that have been submitted.
pub(crate) struct Home {
    pub(crate) machine: Machine,
    pub(crate) runner: Arc<Runner>,
    pub(crate) journal: HomeJournal<Log>,
    /// Stops judgements.
    pub(crate) stop: StopFlag,
    /// The first task.
    pub(crate) name: TaskName,
}

impl Home {
    /// Makes home with a task for the agent `a`.
    pub(crate) fn new() -> Home {
        Home::with_agents(&["a"])
    }

    /// Makes home with a task for each agent.
    pub(crate) fn with_agents(agents: &[&str]) -> Home {
        let machine = Machine::new();
        let runner = Runner::open(machine.config()).unwrap();
        let request = RunRequest {
            issue: "7".parse().unwrap(),
            issue_url: None,
            body: "Fix it.\n".to_owned(),
            agents: agents.iter().map(|name| agent(name, "true")).collect(),
            base: None,
            continues: None,
            marker: ReadyMarker::default(),
            limits: RunLimits { timeout: Duration::from_secs(60), ..RunLimits::default() },
        };
        let records = runner.begin_elsewhere(&request, "nats://localhost").unwrap();
        let folder = HomeFolder::open(&machine.root.join("fleet")).unwrap();
        let commit = &records[0].start_commit;
        let bases = folder.chain.leading_to(&machine.bundle_source(), commit).unwrap();
        let bases: Vec<BaseBundle> = bases.into_iter().map(|file| file.base).collect();
        for record in &records {
            folder.tasks.put(&task(name_of(record), commit, bases.clone())).unwrap();
        }
        let name = name_of(&records[0]);
        let runner = Arc::new(runner.with_launchers(Launchers::new()));
        let stop = StopFlag::new();
        let journal = HomeJournal::new(
            Arc::clone(&runner),
            folder.tasks,
            folder.chain,
            AgentsFile { agents: BTreeMap::new(), limits: RunLimits::default() },
            stop.clone(),
            Log::default(),
        );
        Home { machine, runner, journal, stop, name }
    }

    /// Returns the record of the first task's agent.
    pub(crate) fn record(&self) -> AgentRecord {
        self.runner.records().unwrap().remove(0)
    }

    /// Returns the names of all tasks.
    pub(crate) fn names(&self) -> Vec<TaskName> {
        self.runner.records().unwrap().iter().map(name_of).collect()
    }

    /// Returns the file of a task.
    pub(crate) fn task_file(&self, name: &TaskName) -> PathBuf {
        self.machine.root.join(format!("fleet/tasks/{}.{}.json", name.run, name.agent))
    }

    /// Returns the delivery of an outcome by the host `h`.
    pub(crate) fn delivery(&self, outcome: &TaskOutcome, bundle: &Path, epoch: u64) -> Delivered {
        let task = self.journal.tasks().get(&self.name).unwrap().unwrap();
        let claim = cocode_fleet::Claim {
            state: outcome.state,
            exit_code: outcome.exit_code,
            is_clean: outcome.is_clean,
            head: outcome.head.clone(),
            bundle: outcome.has_bundle.then(|| cocode_fleet::BundleName::of_file(bundle).unwrap()),
            detail: outcome.detail.clone(),
        };
        let bundle = outcome.has_bundle.then(|| bundle.to_owned());
        Delivered { task, host: host_name(), epoch, claim, bundle }
    }
}

fn name_of(record: &AgentRecord) -> TaskName {
    TaskName::new(record.run.parse().unwrap(), record.agent.as_str().parse().unwrap())
}

pub(crate) fn host_name() -> HostName {
    "h".parse().unwrap()
}

/// Returns a task for the agent `a`.
pub(crate) fn task(name: TaskName, base_commit: &str, bases: Vec<BaseBundle>) -> Task {
    Task {
        name,
        definition: "a".parse().unwrap(),
        class: ClassName::any(),
        issue_number: 7,
        issue_url: "https://issues.example/7".to_owned(),
        issue_body: "Fix it.\n".to_owned(),
        marker: ReadyMarker::default().to_string(),
        base_commit: base_commit.to_owned(),
        bases,
        timeout_seconds: Some(60),
        clean_tree: true,
        labels: Vec::new(),
        least_confinement: Confinement::None,
        attempts: Task::ATTEMPTS,
        protocol: (PROTOCOL_VERSION, PROTOCOL_VERSION),
        generation: "0".repeat(32),
    }
}

/// The messages about tasks, in order.
#[derive(Default)]
pub(crate) struct Log(Mutex<Vec<String>>);

impl Log {
    pub(crate) fn add(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl RunObserver for Log {
    fn event(&self, event: &RunEvent) {
        match event {
            RunEvent::Log { line, .. } => self.add(format!("log: {}", line.message)),
            RunEvent::Ended { record } => self.add(format!("{} ended: {}", record.agent, record.state)),
            _ => {}
        }
    }
}

impl FleetObserver for Log {
    fn queued(&self, agent: &str) {
        self.add(format!("{agent} is queued"));
    }

    fn say(&self, agent: &str, text: &str) {
        self.add(format!("{agent}: {text}"));
    }

    fn connection(&self, problem: Option<&str>) {
        self.add(format!("connection: {problem:?}"));
    }
}

/// The lines that a host sends while an agent runs.
#[derive(Default)]
pub(crate) struct Lines(pub(crate) Vec<String>);

impl EventSink for Lines {
    fn log_line(&mut self, line: &str) {
        self.0.push(line.to_owned());
    }
}
