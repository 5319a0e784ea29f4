//! Two machines: home, and a worker that runs home's agents in repositories of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use cocode_env::{AgentState, PartName};
use cocode_runner::{
    AgentDefinition, AgentRecord, BUNDLE_LIMIT_BYTES, BaseLimits, BaseRepository, BundleHeader, BundleSource,
    Delivery, DeliveryLimits, RunRequest, Runner, RunnerConfig, RunnerError, StopFlag, Unobserved,
};

use crate::fixture::{Fixture, Log, request};

/// Two machines.
pub(crate) struct Machines {
    pub(crate) home: Fixture,
    pub(crate) worker: Fixture,
}

/// The work of one agent on the worker.
pub(crate) struct Work {
    /// The worker's own record.
    pub(crate) local: AgentRecord,
    /// The delivery that it sends to home.
    pub(crate) delivery: Delivery,
    /// The repository on the worker in which it ran.
    pub(crate) task: PathBuf,
}

impl Machines {
    pub(crate) fn new() -> Machines {
        Machines { home: Fixture::new(), worker: Fixture::new() }
    }

    /// Has the worker run agents from home's base.
    pub(crate) fn work(&self, agents: Vec<AgentDefinition>) -> Vec<Work> {
        let start = self.home.git(&["rev-parse", "main"]);
        let bundle = self.home.root.join("base.bundle");
        let source = BundleSource::open(&self.home.host, &self.home.repository()).unwrap();
        source.write(&start, &[], &bundle, BUNDLE_LIMIT_BYTES).unwrap();
        let bases = self.bases();
        bases.add(&bundle, &start).unwrap();
        let number = fs::read_dir(&self.worker.root).unwrap().count();
        let task = self.worker.root.join(format!("task-{number}"));
        bases.make_task_repository(&task, &start, "main").unwrap();
        let config = RunnerConfig {
            repository: task.clone(),
            state_folder: self.worker.root.join(format!("state-{number}")),
            ..self.worker.config()
        };
        let runner = Runner::open(config).unwrap();
        let request = RunRequest { base: Some("main".into()), ..request(agents) };
        let records = runner.run(&request, &StopFlag::new(), &Log::default()).unwrap();
        records.into_iter().map(|local| self.pack(&task, &start, local)).collect()
    }

    pub(crate) fn bases(&self) -> BaseRepository {
        let folder = self.worker.root.join("bases");
        BaseRepository::open(&folder, &self.worker.host, BaseLimits::default()).unwrap()
    }

    /// Makes the bundle of a result.
    fn pack(&self, task: &Path, start: &str, local: AgentRecord) -> Work {
        let bundle = task.with_extension(format!("{}.bundle", local.agent));
        let source = BundleSource::open(&self.worker.host, task).unwrap();
        let head = local.head.clone().filter(|head| head != start);
        let bundle = head
            .as_ref()
            .and_then(|head| source.write(head, &[start.to_owned()], &bundle, BUNDLE_LIMIT_BYTES).ok())
            .map(|_| bundle);
        let parts = local.verdict.iter().flat_map(|verdict| &verdict.parts);
        let is_clean = parts.filter(|part| part.name == PartName::CleanTree).map(|part| part.holds).next();
        let delivery = Delivery {
            exit_code: local.exit_code,
            state: local.state,
            is_clean,
            detail: local.detail.clone(),
            ..delivery(bundle, head)
        };
        Work { local, delivery, task: task.to_owned() }
    }

    /// Makes a delivery by hand: of the commits that a script makes in a clone of home's `main`.
    pub(crate) fn forge(&self, script: &str) -> Delivery {
        let number = fs::read_dir(&self.worker.root).unwrap().count();
        let clone = self.worker.root.join(format!("forge-{number}"));
        let (from, to) = (self.home.repository(), clone.to_str().unwrap());
        self.worker.git_in(&self.worker.root, &["clone", "-q", from.to_str().unwrap(), to]);
        let start = self.worker.git_in(&clone, &["rev-parse", "HEAD"]);
        let mut command = Command::new("sh");
        command.args(["-ec", script]).current_dir(&clone).env("HOME", &self.worker.host.home);
        assert!(command.status().unwrap().success(), "{script}");
        let head = self.worker.git_in(&clone, &["rev-parse", "HEAD"]);
        let bundle = clone.with_extension("bundle");
        let range = format!("^{start}");
        // Git's own bundles, so that these are read as well.
        self.worker.git_in(&clone, &["bundle", "create", "-q", bundle.to_str().unwrap(), "HEAD", &range]);
        delivery(Some(bundle), Some(head))
    }

    /// Records one agent at home, which the worker runs.
    pub(crate) fn begin(&self, runner: &Runner, agent: AgentDefinition) -> AgentRecord {
        runner.begin_elsewhere(&request(vec![agent]), "nats://fleet").unwrap().remove(0)
    }

    /// Runs one agent on the worker and judges it at home.
    pub(crate) fn run(&self, agent: AgentDefinition) -> AgentRecord {
        let runner = self.home.runner();
        let record = self.begin(&runner, agent.clone());
        let work = self.work(vec![agent]).remove(0);
        judge(&runner, &record, &work.delivery).unwrap()
    }

    /// Returns all references of home, with their commits.
    pub(crate) fn references(&self) -> String {
        self.home.git(&["for-each-ref", "--format=%(refname) %(objectname)"])
    }

    /// Returns whether home's repository has an object.
    pub(crate) fn has(&self, object: &str) -> bool {
        let names = self.home.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]);
        names.lines().any(|name| name == object)
    }
}

/// Returns the delivery of an honest worker.
pub(crate) fn delivery(bundle: Option<PathBuf>, head: Option<String>) -> Delivery {
    Delivery {
        bundle,
        head,
        exit_code: Some(0),
        state: AgentState::Ready,
        is_clean: None,
        detail: None,
        host: "worker".into(),
        epoch: 1,
        environment: BTreeMap::new(),
        limits: DeliveryLimits::default(),
    }
}

pub(crate) fn judge(
    runner: &Runner,
    record: &AgentRecord,
    delivery: &Delivery,
) -> Result<AgentRecord, RunnerError> {
    runner.judge_delivery(record, delivery, &StopFlag::new(), &Unobserved)
}

/// Returns an error with all its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Returns a copy of a bundle with another header.
pub(crate) fn with_header(bundle: &Path, change: impl FnOnce(&mut BundleHeader)) -> PathBuf {
    let bytes = fs::read(bundle).unwrap();
    let (mut header, length) = BundleHeader::read(&mut bytes.as_slice()).unwrap();
    change(&mut header);
    let changed = bundle.with_extension("changed");
    let pack = &bytes[usize::try_from(length).unwrap()..];
    fs::write(&changed, [header.render().unwrap().as_bytes(), pack].concat()).unwrap();
    changed
}

/// Waits until something is so.
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(120), "a hang guard: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
