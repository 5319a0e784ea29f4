//! The state that all tasks of a worker share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, Semaphore, watch};

use super::{WorkerConfig, WorkerStatus};
use crate::connection::FleetConnection;
use crate::contract::{StopReason, StopSignal, TaskExecutor};
use crate::names::TaskName;
use crate::task::{Event, EventKind, HostOffer, HostReport};

pub(super) struct WorkerContext {
    pub(super) config: WorkerConfig,
    pub(super) connection: FleetConnection,
    pub(super) executor: Arc<dyn TaskExecutor>,
    pub(super) slots: Arc<Semaphore>,
    /// Restoring a base takes turns: two tasks on the same base would fetch it twice.
    pub(super) base_turn: tokio::sync::Mutex<()>,
    /// Wakes the report.
    pub(super) changed: Notify,
    /// Wakes the pulls when the host may take tasks again.
    pub(super) resumed: Notify,
    /// A random word, by which this process knows its own report.
    pub(super) session: String,
    status: watch::Sender<WorkerStatus>,
    is_draining: AtomicBool,
    refusal: Mutex<Option<String>>,
    running: Mutex<HashMap<u64, StopSignal>>,
    next_number: AtomicU64,
}

/// A running task; its agent is stopped when this is dropped, for any reason.
pub(super) struct RunningTask<'a> {
    context: &'a WorkerContext,
    number: u64,
    pub(super) stop: StopSignal,
}

impl Drop for RunningTask<'_> {
    fn drop(&mut self) {
        self.stop.raise(StopReason::WorkerStops);
        self.context.running().remove(&self.number);
        self.context.changed.notify_one();
    }
}

impl WorkerContext {
    pub(super) async fn new(
        config: WorkerConfig,
        connection: FleetConnection,
        executor: Arc<dyn TaskExecutor>,
        status: watch::Sender<WorkerStatus>,
    ) -> WorkerContext {
        let context = WorkerContext {
            config,
            connection,
            executor,
            slots: Arc::new(Semaphore::new(0)),
            base_turn: tokio::sync::Mutex::new(()),
            changed: Notify::new(),
            resumed: Notify::new(),
            session: uuid::Uuid::new_v4().simple().to_string(),
            status,
            is_draining: AtomicBool::new(false),
            refusal: Mutex::new(None),
            running: Mutex::new(HashMap::new()),
            next_number: AtomicU64::new(0),
        };
        context.slots.add_permits(context.offer().await.slots.clamp(1, Semaphore::MAX_PERMITS));
        context
    }

    /// Requests the host's offer from the executor.
    pub(super) async fn offer(&self) -> HostOffer {
        let executor = Arc::clone(&self.executor);
        let asking = tokio::task::spawn_blocking(move || executor.offers());
        asking.await.unwrap_or_else(|_| HostOffer {
            slots: 0,
            labels: Vec::new(),
            confinement: crate::task::Confinement::None,
            agents: Vec::new(),
            free_disk_bytes: 0,
            least_free_disk_bytes: 1,
        })
    }

    pub(super) async fn report(&self) -> HostReport {
        let offer = self.offer().await;
        let refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner).clone();
        HostReport {
            protocol: HostReport::own_protocol(),
            version: self.config.version.clone(),
            installation: self.config.installation.clone(),
            session: self.session.clone(),
            busy: self.running().len(),
            is_draining: self.is_draining(),
            refusal: if offer.lacks_disk() { Some("too little free disk".to_owned()) } else { refusal },
            offer,
        }
    }

    pub(super) fn set_status(&self, status: WorkerStatus) {
        self.status.send_if_modified(|current| {
            let is_new = *current != status;
            *current = status;
            is_new
        });
    }

    pub(super) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }

    pub(super) fn set_draining(&self, is_draining: bool) {
        if self.is_draining.swap(is_draining, Ordering::Relaxed) != is_draining {
            self.changed.notify_one();
            self.resumed.notify_waiters();
        }
    }

    pub(super) fn refuse(&self, reason: String) {
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
        self.changed.notify_one();
    }

    pub(super) fn begin(&self) -> RunningTask<'_> {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let stop = StopSignal::new();
        self.running().insert(number, stop.clone());
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.changed.notify_one();
        RunningTask { context: self, number, stop }
    }

    pub(super) fn stop_all(&self, reason: StopReason) {
        for stop in self.running().values() {
            stop.raise(reason);
        }
    }

    /// Sends an event. A lost one has no effect.
    pub(super) async fn send_event(&self, task: &TaskName, epoch: u64, kind: EventKind) {
        let event = Event { epoch, kind: kind.within_limits() };
        let payload = serde_json::to_vec(&event).expect("an event has no key that is not a text");
        let subject = self.connection.subjects.events(&self.config.host, task);
        let sending = self.connection.client.publish(subject, payload.into());
        let _ = self.connection.bounded("sending an event", sending).await;
    }

    fn running(&self) -> MutexGuard<'_, HashMap<u64, StopSignal>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
