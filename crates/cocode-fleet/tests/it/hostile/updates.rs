//! A server that is started again with another configuration, on what it has stored.

use cocode_fleet::{
    ConnectError, FleetAddress, FleetConnection, FleetHome, FleetWorker, Notice, Role, ServerConfig,
    ServerUsers, SyncPolicy, UserKey,
};

use crate::fakes::{FakeExecutor, FakeJudge, Reports};
use crate::fixture::{Fixture, name, task_name};
use crate::server::Server;

/// A user's name, key and seed.
struct User(&'static str, UserKey, String);

impl User {
    fn new(name: &'static str) -> User {
        let (key, seed) = UserKey::generate();
        User(name, key, seed)
    }
}

/// Returns the configuration that `agentd fleet up` writes now.
fn configuration(home: &User, hosts: &[&User]) -> String {
    let config = ServerConfig {
        fleet: "crew".parse().unwrap(),
        listen: "127.0.0.1:4222".parse().unwrap(),
        store_folder: "STORE".into(),
        process_file: None,
        limits: Fixture::limits_of_tests(),
        users: Some(ServerUsers {
            home: home.1.clone(),
            hosts: hosts.iter().map(|host| (name(host.0), host.1.clone())).collect(),
        }),
        tls: None,
        sync: SyncPolicy::ByInterval,
    };
    config.render().unwrap()
}

/// Returns one in which all users share the account with the streams, as it was written before hosts had their own.
fn earlier_configuration(users: &[&User]) -> String {
    let now = configuration(users[0], &[]);
    let (rest, _) = now.split_once("accounts {").unwrap();
    let keys: Vec<String> = users.iter().map(|user| format!("{{ nkey: {} }}", user.1)).collect();
    format!("{rest}authorization {{\n  users: [{}]\n}}\n", keys.join(", "))
}

struct Fleet {
    fixture: Fixture,
    judge: std::sync::Arc<FakeJudge>,
    reports: Reports,
}

impl Fleet {
    /// Starts a server with a configuration.
    fn start(test: &str, configuration: &str) -> Option<Fleet> {
        let fixture = Fixture::of(Server::start(test, configuration)?);
        let (judge, reports) = FakeJudge::new();
        Some(Fleet { fixture, judge, reports })
    }

    fn address(&self, user: &User) -> FleetAddress {
        let role = if user.0 == "home" { Role::Home } else { Role::Host(name(user.0)) };
        FleetAddress { seed: Some(user.2.clone()), ..self.fixture.address(role) }
    }

    fn home(&self, user: &User) -> FleetHome {
        let mut config = self.fixture.home_config();
        config.address = self.address(user);
        FleetHome::start(config, self.judge.clone())
    }

    fn worker(&self, user: &User) -> FleetWorker {
        let mut config = self.fixture.worker_config(user.0);
        config.address = self.address(user);
        FleetWorker::start(config, FakeExecutor::ready("the commits"))
    }

    /// Adds a task, and waits until it is in the queue.
    async fn queue(&mut self, home: &FleetHome, agent: &str) {
        self.judge.add(self.fixture.task(agent).await);
        home.journal_changed();
        let queued = |notice: &Notice| matches!(notice, Notice::Queued { .. }).then_some(());
        self.reports.notice(&task_name(agent), queued).await;
    }

    fn restart(&mut self, configuration: &str) {
        self.fixture.server.kill();
        self.fixture.server.start_again_with(configuration);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_outlive_the_step_to_an_account_for_each_host() {
    let [home, north] = ["home", "north"].map(User::new);
    let test = "tasks_outlive_the_step_to_an_account_for_each_host";
    let Some(mut fleet) = Fleet::start(test, &earlier_configuration(&[&home, &north])) else { return };
    let running = fleet.home(&home);
    fleet.queue(&running, "fixer-1").await;
    // Once with the same home, and once with one that is started later.
    fleet.restart(&configuration(&home, &[&north]));
    let worker = fleet.worker(&north);
    assert_eq!(fleet.reports.judged(&task_name("fixer-1")).await.2.unwrap(), b"the commits");
    worker.stop().await;
    drop(running);
    fleet.restart(&earlier_configuration(&[&home, &north]));
    let running = fleet.home(&home);
    fleet.queue(&running, "fixer-2").await;
    drop(running);
    fleet.restart(&configuration(&home, &[&north]));
    let (_running, _worker) = (fleet.home(&home), fleet.worker(&north));
    assert_eq!(fleet.reports.judged(&task_name("fixer-2")).await.2.unwrap(), b"the commits");
    assert_eq!(fleet.judge.unresolved_count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_get_other_keys_and_are_added_and_removed() {
    let [home, north, south, renewed] = ["home", "north", "south", "north"].map(User::new);
    let test = "hosts_get_other_keys_and_are_added_and_removed";
    let Some(mut fleet) = Fleet::start(test, &configuration(&home, &[&north])) else { return };
    let running = fleet.home(&home);
    fleet.queue(&running, "fixer-1").await;
    fleet.restart(&configuration(&home, &[&renewed, &south]));
    let old = FleetConnection::open(&fleet.address(&north), fleet.fixture.timings).await;
    assert!(matches!(old, Err(ConnectError::Credentials { .. })), "{old:?}");
    let worker = fleet.worker(&renewed);
    // The same task as before: what was stored is there.
    let (host, epoch, _) = fleet.reports.judged(&task_name("fixer-1")).await;
    assert_eq!((host, epoch), (name("north"), 2));
    worker.stop().await;
    fleet.restart(&configuration(&home, &[&south]));
    fleet.queue(&running, "fixer-2").await;
    let _worker = fleet.worker(&south);
    assert_eq!(fleet.reports.judged(&task_name("fixer-2")).await.0, name("south"));
}
