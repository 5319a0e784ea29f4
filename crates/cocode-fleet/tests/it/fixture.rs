//! A server, home and hosts.

use std::sync::Arc;
use std::time::Duration;

use cocode_fleet::{
    BaseBundle, BaseFile, BundleName, ClassName, Confinement, FleetAddress, FleetConnection, FleetHome,
    FleetLimits, FleetTimings, FleetWorker, HomeConfig, HostName, PROTOCOL_VERSION, Role, SubmittedTask,
    Task, TaskName, WorkerConfig, WorkerStatus,
};
use tempfile::TempDir;

use crate::fakes::{FakeExecutor, FakeJudge};
use crate::server::{OPEN, Server};

/// A commit that tasks start from.
pub(crate) const BASE: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

pub(crate) struct Fixture {
    pub(crate) server: Server,
    pub(crate) folder: TempDir,
    pub(crate) timings: FleetTimings,
    pub(crate) limits: FleetLimits,
}

impl Fixture {
    /// Starts a server; none, and a word to the user, if there is no program.
    pub(crate) fn start(test: &str) -> Option<Fixture> {
        let server = Server::start(test, OPEN)?;
        Some(Fixture::of(server))
    }

    pub(crate) fn of(server: Server) -> Fixture {
        Fixture { server, folder: tempfile::tempdir().unwrap(), timings: quick(), limits: small() }
    }

    pub(crate) fn limits_of_tests() -> FleetLimits {
        small()
    }

    pub(crate) fn address(&self, role: Role) -> FleetAddress {
        FleetAddress::new(self.server.url(), "crew".parse().unwrap(), role)
    }

    pub(crate) fn home_config(&self) -> HomeConfig {
        let mut config = HomeConfig::new(self.address(Role::Home), self.folder.path().to_owned());
        (config.timings, config.limits) = (self.timings, self.limits);
        config
    }

    pub(crate) fn home(&self, judge: &Arc<FakeJudge>) -> FleetHome {
        let judge: Arc<FakeJudge> = Arc::clone(judge);
        FleetHome::start(self.home_config(), judge)
    }

    /// Starts a worker and waits until it works.
    pub(crate) async fn worker(&self, host: &str, executor: &Arc<FakeExecutor>) -> FleetWorker {
        let executor: Arc<FakeExecutor> = Arc::clone(executor);
        let worker = FleetWorker::start(self.worker_config(host), executor);
        let mut status = worker.status();
        let waiting = tokio::time::timeout(Duration::from_secs(30), async {
            status.wait_for(|status| *status == WorkerStatus::Working).await.is_ok()
        });
        assert_eq!(waiting.await, Ok(true), "the worker is {:?}", worker.status().borrow());
        worker
    }

    pub(crate) fn worker_config(&self, host: &str) -> WorkerConfig {
        WorkerConfig {
            address: self.address(Role::Home),
            host: name(host),
            timings: self.timings,
            folder: self.folder.path().to_owned(),
            version: "test".to_owned(),
            installation: format!("installation of {host}"),
        }
    }

    /// Connects as home, or as a host, in addition to the programs under test.
    pub(crate) async fn connect(&self, role: Role) -> FleetConnection {
        FleetConnection::open(&self.address(role), self.timings).await.unwrap()
    }

    /// Returns a task with one bundle in its base.
    pub(crate) async fn task(&self, agent: &str) -> SubmittedTask {
        let path = crate::fakes::bundle_file(self.folder.path(), BASE, 700_000);
        let digest = bundle_name(&path);
        let base = BaseBundle { bundle: digest, tip: BASE.to_owned() };
        SubmittedTask {
            task: Task { bases: vec![base.clone()], ..task(agent) },
            bases: vec![BaseFile { base, path }],
        }
    }
}

/// Returns a task without a base: hosts have the commit already, if they say so.
pub(crate) fn task(agent: &str) -> Task {
    Task {
        name: task_name(agent),
        definition: "fixer".parse().unwrap(),
        class: ClassName::any(),
        issue_number: 5,
        issue_url: "https://example.org/issues/5".to_owned(),
        issue_body: "It is broken.".to_owned(),
        marker: "cocode ready for check".to_owned(),
        base_commit: BASE.to_owned(),
        bases: Vec::new(),
        timeout_seconds: Some(60),
        clean_tree: false,
        labels: Vec::new(),
        least_confinement: Confinement::None,
        attempts: Task::ATTEMPTS,
        protocol: (PROTOCOL_VERSION, PROTOCOL_VERSION),
        generation: "g1".to_owned(),
    }
}

pub(crate) fn task_name(agent: &str) -> TaskName {
    TaskName::new("run1".parse().unwrap(), agent.parse().unwrap())
}

pub(crate) fn name(host: &str) -> HostName {
    host.parse().unwrap()
}

pub(crate) fn bundle_name(path: &std::path::Path) -> BundleName {
    use sha2::{Digest, Sha256};
    let bytes = std::fs::read(path).unwrap();
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    BundleName { digest: digest.parse().unwrap(), size_bytes: bytes.len() as u64 }
}

/// Intervals with which a lost host is noticed within seconds.
fn quick() -> FleetTimings {
    let mut timings = FleetTimings::default();
    timings.lease = Duration::from_millis(4000);
    timings.renew = Duration::from_millis(500);
    timings.ack_wait = Duration::from_millis(3000);
    timings.retry_delay = Duration::from_millis(200);
    timings.poll = Duration::from_millis(500);
    timings.deadline = Duration::from_secs(3);
    timings.backoff_limit = Duration::from_millis(300);
    timings
}

fn small() -> FleetLimits {
    let mut limits = FleetLimits::default();
    limits.tasks = 1000;
    (limits.bases_bytes, limits.bundles_bytes, limits.events_bytes) = (100 << 20, 100 << 20, 10 << 20);
    limits
}
