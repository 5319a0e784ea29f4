//! The handle of home's side.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::context::HomeContext;
use super::early::EarlyConnection;
use super::reconcile;
use crate::connection::{FleetAddress, FleetConnection, FleetTimings, Role};
use crate::contract::ResultJudge;
use crate::store::FleetLimits;

/// The needs of home's side.
#[derive(Clone, Debug)]
pub struct HomeConfig {
    /// The fleet. The role in it is replaced by that of home.
    pub address: FleetAddress,
    /// Intervals and deadlines.
    pub timings: FleetTimings,
    /// The fleet's share of the server.
    pub limits: FleetLimits,
    /// An existing folder for bundles in transit; home removes its own files there.
    pub folder: PathBuf,
    /// The number of tasks published concurrently.
    pub publishes: usize,
    /// The number of deliveries judged concurrently.
    pub judges: usize,
}

impl HomeConfig {
    /// Returns a configuration with the usual numbers: 32 publishes and 4 judgements at once.
    #[must_use]
    pub fn new(address: FleetAddress, folder: PathBuf) -> HomeConfig {
        HomeConfig {
            address,
            timings: FleetTimings::default(),
            limits: FleetLimits::default(),
            folder,
            publishes: 32,
            judges: 4,
        }
    }
}

/// Home's side of a fleet. It publishes the tasks of the journal, follows them, and has every delivery judged.
///
/// It connects by itself, as often as necessary; while the server is away, tasks wait in the journal. Dropping it loses
/// nothing; running judgements end on their threads.
#[derive(Debug)]
pub struct FleetHome {
    wake: Arc<Notify>,
    supervisor: JoinHandle<()>,
}

impl FleetHome {
    /// Starts home's side on the runtime of the caller.
    ///
    /// # Panics
    ///
    /// If it is called outside of a tokio runtime.
    #[must_use]
    pub fn start(config: HomeConfig, judge: Arc<dyn ResultJudge>) -> FleetHome {
        let early = EarlyConnection::begin(&config.address, config.timings, config.limits);
        FleetHome::start_on(early, config, judge)
    }

    /// Starts home's side on a connection that was begun before, to the same fleet with the same intervals and limits.
    ///
    /// # Panics
    ///
    /// If it is called outside of a tokio runtime.
    #[must_use]
    pub fn start_on(early: EarlyConnection, config: HomeConfig, judge: Arc<dyn ResultJudge>) -> FleetHome {
        let wake = Arc::new(Notify::new());
        let supervisor = tokio::spawn(supervise(early, config, judge, Arc::clone(&wake)));
        FleetHome { wake, supervisor }
    }

    /// Reads the journal now: a task was added, or has a new generation.
    pub fn journal_changed(&self) {
        self.wake.notify_one();
    }
}

impl Drop for FleetHome {
    fn drop(&mut self) {
        self.supervisor.abort();
    }
}

async fn supervise(
    early: EarlyConnection,
    config: HomeConfig,
    judge: Arc<dyn ResultJudge>,
    wake: Arc<Notify>,
) {
    let address = FleetAddress { role: Role::Home, ..config.address.clone() };
    let mut pause = Duration::from_millis(100);
    let mut opened = early.outcome().await;
    let (connection, is_prepared) = loop {
        match opened {
            Some(Ok(opened)) => break opened,
            Some(Err(error)) => {
                super::context::report_connection(&judge, Some(crate::text::chain(&error))).await;
                sleep(pause).await;
                pause = (pause * 2).min(config.timings.backoff_limit);
            }
            // Whatever ended it says nothing about the server.
            None => {}
        }
        let connecting = FleetConnection::open(&address, config.timings).await;
        opened = Some(connecting.map(|connection| (connection, false)));
    };
    let context = HomeContext::new(config, connection, judge, wake);
    reconcile::run(Arc::new(context), is_prepared).await;
}
