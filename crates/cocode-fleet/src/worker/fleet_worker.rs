//! The handle of a running worker.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::context::WorkerContext;
use super::{pull, report};
use crate::connection::{ConnectError, FleetAddress, FleetConnection, FleetTimings, Role};
use crate::contract::{StopReason, TaskExecutor};
use crate::names::HostName;

/// The needs of a worker.
#[derive(Clone, Debug)]
pub struct WorkerConfig {
    /// The fleet. The role in it is replaced by that of `host`.
    pub address: FleetAddress,
    /// The host's name, unique within the fleet.
    pub host: HostName,
    /// Intervals and deadlines.
    pub timings: FleetTimings,
    /// An existing folder for bundles in transit; the worker removes its own files there.
    pub folder: PathBuf,
    /// The version of the program, for people.
    pub version: String,
    /// A random word of the host's installation, kept over restarts. It distinguishes a restarted host from another machine
    /// of the same name; only one process at a time may have an installation.
    pub installation: String,
}

/// The state of a worker's connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerStatus {
    /// It tries to connect; the text is the last failure, if any.
    Connecting(Option<String>),
    /// It is connected and asks for tasks, or is drained.
    Working,
    /// It is connected, and asking for tasks fails: the server is away, or the fleet is not on it. It keeps trying.
    Troubled(String),
    /// The address or the key is wrong, so retrying is useless; the text has the reason. It has stopped.
    Refused(String),
    /// Another process works under the host's name, on another machine or from a copy of this installation. It has stopped.
    NameTaken,
    /// It has stopped.
    Stopped,
}

/// A running worker. It connects by itself, as often as necessary.
///
/// Dropping it is like a crash of the host: agents are stopped, and the server notices when the leases expire.
#[derive(Debug)]
pub struct FleetWorker {
    stop: watch::Sender<bool>,
    status: watch::Receiver<WorkerStatus>,
    supervisor: JoinHandle<()>,
}

impl FleetWorker {
    /// Starts a worker on the runtime of the caller.
    ///
    /// # Panics
    ///
    /// If it is called outside of a tokio runtime.
    #[must_use]
    pub fn start(config: WorkerConfig, executor: Arc<dyn TaskExecutor>) -> FleetWorker {
        let (stop, stopped) = watch::channel(false);
        let (reporter, status) = watch::channel(WorkerStatus::Connecting(None));
        let supervisor = tokio::spawn(supervise(config, executor, stopped, reporter));
        FleetWorker { stop, status, supervisor }
    }

    /// Returns the worker's state, and its changes.
    #[must_use]
    pub fn status(&self) -> watch::Receiver<WorkerStatus> {
        self.status.clone()
    }

    /// Stops taking tasks, stops the agents, gives their tasks back to the queue, and returns when all that is done.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        // The supervisor ends by itself: all that it waits for has a deadline, apart from agents that ignore their stop signal.
        let _ = (&mut self.supervisor).await;
    }
}

impl Drop for FleetWorker {
    fn drop(&mut self) {
        self.supervisor.abort();
    }
}

async fn supervise(
    config: WorkerConfig,
    executor: Arc<dyn TaskExecutor>,
    mut stopped: watch::Receiver<bool>,
    status: watch::Sender<WorkerStatus>,
) {
    let connecting = connect(&config, &status);
    let connection = tokio::select! {
        connection = connecting => connection,
        _ = stopped.wait_for(|stopped| *stopped) => {
            status.send_replace(WorkerStatus::Stopped);
            return;
        }
    };
    let connection = match connection {
        Ok(connection) => connection,
        Err(error) => {
            status.send_replace(WorkerStatus::Refused(describe(&error)));
            return;
        }
    };
    let context = Arc::new(WorkerContext::new(config, connection, executor, status).await);
    let claiming = report::claim_name(&context);
    let claimed = tokio::select! {
        claimed = claiming => claimed,
        _ = stopped.wait_for(|stopped| *stopped) => {
            context.set_status(WorkerStatus::Stopped);
            return;
        }
    };
    let Some(revision) = claimed else {
        context.set_status(WorkerStatus::NameTaken);
        return;
    };
    let reports = report::run(Arc::clone(&context), revision);
    let pulls = pull::run(Arc::clone(&context), stopped.clone());
    let stopping = async {
        // An error means that the handle is gone, and then so is this future.
        let _ = stopped.wait_for(|stopped| *stopped).await;
        context.stop_all(StopReason::WorkerStops);
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = pulls => {}
        () = stopping => {}
        // Its tasks end as with a crash: the other process has the name.
        () = reports => {
            context.set_status(WorkerStatus::NameTaken);
            return;
        }
    }
    report::leave(&context).await;
    context.set_status(WorkerStatus::Stopped);
}

/// Connects, as often as necessary. Fails only with permanent errors.
async fn connect(
    config: &WorkerConfig,
    status: &watch::Sender<WorkerStatus>,
) -> Result<FleetConnection, ConnectError> {
    let address = FleetAddress { role: Role::Host(config.host.clone()), ..config.address.clone() };
    let mut pause = Duration::from_millis(100);
    loop {
        match FleetConnection::open(&address, config.timings).await {
            Ok(connection) => return Ok(connection),
            Err(
                error @ (ConnectError::Address { .. }
                | ConnectError::Seed
                | ConnectError::Credentials { .. }
                | ConnectError::OtherRole { .. }),
            ) => return Err(error),
            Err(error) => {
                status.send_replace(WorkerStatus::Connecting(Some(describe(&error))));
                sleep(pause).await;
                pause = (pause * 2).min(config.timings.backoff_limit);
            }
        }
    }
}

fn describe(error: &ConnectError) -> String {
    crate::text::chain(error)
}
