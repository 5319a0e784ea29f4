//! Keeping a task while it runs: lease, progress, and the fence.

use futures_util::StreamExt;
use tokio::time::{MissedTickBehavior, interval};

use super::context::WorkerContext;
use super::delivery::Delivery;
use crate::contract::{StopReason, StopSignal};
use crate::names::{Bucket, TaskName};
use crate::store::{RecordEntry, lease_key};
use crate::task::{RunRecord, RunState};

/// Renews lease and progress until it is dropped, and raises `stop` when, according to the record, the task is no
/// longer this host's. While the server is away it keeps trying: only afterwards it can find out whether another host
/// has taken the task.
pub(super) async fn keep(
    context: &WorkerContext,
    task: &TaskName,
    record: &RunRecord,
    delivery: &Delivery,
    stop: &StopSignal,
) {
    let connection = &context.connection;
    let subject = connection.subjects.key(Bucket::Runs, &task.tokens());
    let mut changes = match connection.client.subscribe(subject).await {
        Ok(subscription) => subscription.boxed(),
        Err(_) => futures_util::stream::pending().boxed(),
    };
    let lease = lease_key(&context.config.host, task);
    let mut ticks = interval(connection.timings.renew);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                delivery.progress().await;
                let value = record.epoch.to_string().into_bytes();
                let _ = connection.put_key(Bucket::Leases, &lease, value).await;
                // The notification below may have been lost, or sent before the subscription.
                if let Ok(entry) = connection.record(task).await {
                    check(record, entry.as_ref(), stop);
                }
            }
            // The notification may be forged or refused by the server: the record itself is read.
            Some(_) = changes.next() => {
                if let Ok(entry) = connection.record(task).await {
                    check(record, entry.as_ref(), stop);
                }
            }
        }
    }
}

fn check(own: &RunRecord, entry: Option<&RecordEntry>, stop: &StopSignal) {
    // A missing record was lost with the server's disk: home writes it again, under another epoch.
    let Some(entry) = entry else { return };
    match &entry.record {
        Some(record) if record.state == RunState::Cancelled && record.generation == own.generation => {
            stop.raise(StopReason::Cancelled);
        }
        Some(record) if record.epoch == own.epoch && record.host == own.host => {}
        _ => stop.raise(StopReason::FenceLost),
    }
}
