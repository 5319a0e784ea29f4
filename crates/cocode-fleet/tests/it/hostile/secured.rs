//! A server whose users have keys, as `agentd fleet up` writes it.

use std::time::Duration;

use async_nats::ConnectOptions;
use async_nats::jetstream;
use cocode_fleet::{FleetAddress, Role, ServerConfig, ServerUsers, SyncPolicy, UserKey};

use crate::fixture::{Fixture, name};
use crate::server::Server;

pub(crate) struct Secured {
    pub(crate) fixture: Fixture,
    home_seed: String,
    host_seeds: Vec<(&'static str, String)>,
}

impl Secured {
    /// Starts a server that knows home and the hosts north and south.
    pub(crate) fn start(test: &str) -> Option<Secured> {
        let (home, home_seed) = UserKey::generate();
        let pairs = ["north", "south"].map(|host| (host, UserKey::generate()));
        let hosts = pairs.iter().map(|(host, (key, _))| (name(host), key.clone())).collect();
        let config = ServerConfig {
            fleet: "crew".parse().unwrap(),
            listen: "127.0.0.1:4222".parse().unwrap(),
            store_folder: "STORE".into(),
            process_file: None,
            limits: Fixture::limits_of_tests(),
            users: Some(ServerUsers { home, hosts }),
            tls: None,
            sync: SyncPolicy::ByInterval,
        };
        let server = Server::start(test, &config.render().unwrap())?;
        let fixture = Fixture::of(server);
        let host_seeds = pairs.map(|(host, (_, seed))| (host, seed)).into();
        Some(Secured { fixture, home_seed, host_seeds })
    }

    /// Gives an address the key of its role.
    pub(crate) fn address(&self, role: Role) -> FleetAddress {
        let seed = match &role {
            Role::Home => self.home_seed.clone(),
            Role::Host(host) => self.seed(host.as_str()),
        };
        FleetAddress { seed: Some(seed), ..self.fixture.address(role) }
    }

    pub(crate) fn seed(&self, host: &str) -> String {
        self.host_seeds.iter().find(|(name, _)| *name == host).unwrap().1.clone()
    }

    /// Connects as a host that does what it likes.
    pub(crate) async fn liar(&self, host: &str) -> Liar {
        let (refusal, refusals) = tokio::sync::mpsc::unbounded_channel();
        let client = ConnectOptions::with_nkey(self.seed(host))
            .custom_inbox_prefix(format!("_INBOX.host.{host}"))
            .event_callback(move |event| {
                if let async_nats::Event::ServerError(error) = event {
                    let _ = refusal.send(error.to_string());
                }
                async {}
            })
            .connect(self.fixture.server.url())
            .await
            .unwrap();
        let mut context = jetstream::new(client.clone());
        context.set_timeout(Duration::from_secs(5));
        Liar { client, context, refusals }
    }
}

/// A host's own connection, without this crate's worker.
pub(crate) struct Liar {
    pub(crate) client: async_nats::Client,
    pub(crate) context: jetstream::Context,
    refusals: tokio::sync::mpsc::UnboundedReceiver<String>,
}

impl Liar {
    /// Writes a key and requires that the server takes it.
    pub(crate) async fn write(&self, subject: &str, value: impl Into<Vec<u8>>) {
        let value: Vec<u8> = value.into();
        self.context.publish(subject.to_owned(), value.into()).await.unwrap().await.unwrap();
    }

    /// Publishes and requires that the server refuses it for its subject.
    pub(crate) async fn is_refused(&mut self, subject: &str) {
        self.client.publish(subject.to_owned(), "{}".into()).await.unwrap();
        let refusal = tokio::time::timeout(Duration::from_secs(10), self.refusals.recv()).await;
        let refusal = refusal.unwrap_or_else(|_| panic!("{subject} was not refused")).unwrap();
        let expected = format!("permissions violation for publish to \"{}\"", subject.to_lowercase());
        assert!(refusal.to_lowercase().contains(&expected), "{refusal}");
    }

    /// Subscribes and requires that the server refuses it.
    pub(crate) async fn cannot_listen(&mut self, subject: &str) {
        let _subscription = self.client.subscribe(subject.to_owned()).await.unwrap();
        let refusal = tokio::time::timeout(Duration::from_secs(10), self.refusals.recv()).await;
        let refusal = refusal.unwrap_or_else(|_| panic!("{subject} was not refused")).unwrap();
        assert!(refusal.to_lowercase().contains("permissions violation for subscription"), "{refusal}");
    }
}
