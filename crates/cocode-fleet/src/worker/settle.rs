//! The last writes of a start: done, back to the queue, or given up.

use std::future::Future;
use std::time::{Duration, Instant};

use async_nats::jetstream::message::PublishMessage;
use tokio::time::sleep;

use super::context::WorkerContext;
use crate::connection::FleetError;
use crate::contract::StopSignal;
use crate::names::TaskName;
use crate::task::{RunRecord, RunState, Task};

/// Records that a task has had all its attempts, with their reasons in the stream of the dead.
pub(super) async fn give_up(
    context: &WorkerContext,
    task: &TaskName,
    mut record: RunRecord,
    revision: u64,
) -> Result<(), FleetError> {
    record.state = RunState::Dead;
    record.host = None;
    let reasons = serde_json::to_vec(&record.attempts).expect("attempts have no key that is not a text");
    let subject = context.connection.subjects.dead(&context.config.host, task);
    let message = PublishMessage::build().payload(reasons.into());
    context.connection.publish("reporting a task that was given up", subject, message).await?;
    context.connection.write_record(task, &record, revision).await.map(drop)
}

/// Gives a task back: it waits for a host again, or was started too often. Returns true if it is over.
pub(super) async fn give_back(
    context: &WorkerContext,
    task: &Task,
    mut record: RunRecord,
    revision: u64,
    failure: Option<&str>,
) -> Result<bool, FleetError> {
    if let Some(reason) = failure {
        record.give_up_attempt(reason);
    }
    if record.attempts.len() >= task.attempts {
        give_up(context, &task.name, record, revision).await?;
        return Ok(true);
    }
    // Without a failure the host stays in the record: home then knows whose last events are genuine.
    record.state = RunState::Pending;
    context.connection.write_record(&task.name, &record, revision).await?;
    Ok(false)
}

/// Repeats a call while the server is away: finished work is worth waiting for. Gives up on conflicts, when the agent is to
/// stop, and after twenty leases.
pub(super) async fn persist<T, E, F>(
    context: &WorkerContext,
    stop: &StopSignal,
    mut call: impl FnMut() -> F,
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
    E: Persistent,
{
    let deadline = Instant::now() + context.connection.timings.lease * 20;
    let mut pause = Duration::from_millis(50);
    loop {
        match call().await {
            Err(error) if error.may_pass() && stop.reason().is_none() && Instant::now() < deadline => {
                sleep(pause).await;
                pause = (pause * 2).min(context.connection.timings.backoff_limit);
            }
            other => return other,
        }
    }
}

/// An error that may be gone with the next attempt.
pub(super) trait Persistent {
    fn may_pass(&self) -> bool;
}

impl Persistent for FleetError {
    fn may_pass(&self) -> bool {
        !matches!(self, FleetError::Conflict)
    }
}

impl Persistent for crate::store::BundleError {
    fn may_pass(&self) -> bool {
        matches!(self, crate::store::BundleError::Call(error) if error.may_pass())
    }
}
