//! One start of a task, from its message to its last acknowledgement.

use std::path::PathBuf;
use std::sync::Arc;

use async_nats::jetstream::Message;
use tempfile::TempDir;

use super::bases::{self, BaseError};
use super::context::{RunningTask, WorkerContext};
use super::delivery::Delivery;
use super::take::{Taking, take};
use super::{keeper, lines, settle};
use crate::connection::FleetError;
use crate::contract::{ExecuteError, StopReason, TaskOutcome};
use crate::digest::BundleName;
use crate::names::{Bucket, BundleOwner};
use crate::store::{BundleError, claim_key, lease_key};
use crate::task::{Claim, EventKind, RunRecord, RunState, Task, TaskLimits};

/// The outcome of running the agent.
enum Ended {
    Outcome(TaskOutcome, TempDir),
    BaseUnusable(String),
    Failed(String),
}

/// Handles one message with a task.
pub(super) async fn handle(context: &Arc<WorkerContext>, message: Message) {
    let delivery = Delivery { connection: context.connection.clone(), message };
    let delay = context.connection.timings.retry_delay;
    let parsed = Task::parse(&delivery.message.payload, &TaskLimits::default());
    let of_subject = context.connection.subjects.task_of(&delivery.message.subject);
    let task = match parsed {
        Ok(task) if Some(&task.name) == of_subject.as_ref() => task,
        Ok(task) => {
            context.refuse(format!("{}: the message is under another task's subject", task.name));
            return delivery.give_back(delay).await;
        }
        Err(error) => {
            // A later version may write what this one cannot read; another host may read it.
            context.refuse(crate::text::chain(&error));
            return delivery.give_back(delay).await;
        }
    };
    match take(context, &task).await {
        Taking::Over => delivery.finish().await,
        Taking::Later(delay) => delivery.give_back(delay).await,
        Taking::Taken(record, revision) => {
            let running = context.begin();
            run(context, &task, record, revision, &delivery, &running).await;
        }
    }
}

async fn run(
    context: &Arc<WorkerContext>,
    task: &Task,
    record: RunRecord,
    revision: u64,
    delivery: &Delivery,
    running: &RunningTask<'_>,
) {
    let epoch = record.epoch;
    context.send_event(&task.name, epoch, EventKind::Started).await;
    let work = async {
        let ended = execute(context, task, epoch, running).await;
        settle(context, task, record.clone(), revision, delivery, running, ended).await;
    };
    tokio::select! {
        () = work => {}
        () = keeper::keep(context, &task.name, &record, delivery, &running.stop) => {}
    }
    let lease = lease_key(&context.config.host, &task.name);
    let _ = context.connection.delete_key(Bucket::Leases, &lease).await;
}

/// Restores the base and runs the agent on a separate thread.
async fn execute(context: &Arc<WorkerContext>, task: &Task, epoch: u64, running: &RunningTask<'_>) -> Ended {
    match bases::restore(context, task).await {
        Ok(()) => {}
        Err(BaseError::Unusable(reason)) => return Ended::BaseUnusable(reason),
        Err(BaseError::Failed(reason)) => return Ended::Failed(reason),
    }
    let folder = match tempfile::Builder::new().prefix("result-").tempdir_in(&context.config.folder) {
        Ok(folder) => folder,
        Err(error) => return Ended::Failed(format!("no folder for the result: {error}")),
    };
    let (mut sink, source) = lines::lines();
    let (executor, task_copy, stop) = (Arc::clone(&context.executor), task.clone(), running.stop.clone());
    let agent = tokio::task::spawn_blocking(move || {
        let outcome = executor.execute(&task_copy, &stop, &mut sink, &result_file(&folder));
        // The folder is returned, so that it is removed after the thread has ended, not while the agent writes.
        (outcome, folder)
    });
    let (ended, ()) = tokio::join!(agent, lines::send(context, &task.name, epoch, source));
    match ended {
        Ok((Ok(outcome), folder)) => Ended::Outcome(outcome, folder),
        Ok((Err(ExecuteError::BaseUnusable(reason)), _)) => Ended::BaseUnusable(reason),
        Ok((Err(error), _)) => Ended::Failed(error.to_string()),
        Err(_) => Ended::Failed("the executor panicked".to_owned()),
    }
}

fn result_file(folder: &TempDir) -> PathBuf {
    folder.path().join("result")
}

/// Records the outcome of a start, and acknowledges the message accordingly.
async fn settle(
    context: &WorkerContext,
    task: &Task,
    record: RunRecord,
    revision: u64,
    delivery: &Delivery,
    running: &RunningTask<'_>,
    ended: Ended,
) {
    let delay = context.connection.timings.retry_delay;
    let (name, epoch) = (&task.name, record.epoch);
    let failure = match (running.stop.reason(), ended) {
        // The record is final already.
        (Some(StopReason::Cancelled), _) => return delivery.finish().await,
        // The host that has the task now acknowledges it.
        (Some(StopReason::FenceLost), _) => {
            let reason = "stopped: the task was given to another host".to_owned();
            return context.send_event(name, epoch, EventKind::LateUnused { reason }).await;
        }
        (Some(StopReason::WorkerStops), _) => None,
        (None, Ended::Outcome(outcome, folder)) => {
            match deliver(context, task, record.clone(), revision, running, &outcome, &folder).await {
                Ok(()) => return delivery.finish().await,
                Err(NotDelivered::Late(bundle)) => {
                    let digest =
                        bundle.map(|bundle| format!(", kept as {}", bundle.digest)).unwrap_or_default();
                    let reason = format!("finished after the task was given to another host{digest}");
                    return context.send_event(name, epoch, EventKind::LateUnused { reason }).await;
                }
                Err(NotDelivered::Failed(reason)) => Some(reason),
            }
        }
        (None, Ended::BaseUnusable(reason)) => {
            context.send_event(name, epoch, EventKind::BaseUnusable { reason }).await;
            None
        }
        (None, Ended::Failed(reason)) => Some(reason),
    };
    if let Some(reason) = failure.clone() {
        context.send_event(name, epoch, EventKind::AttemptFailed { reason }).await;
    }
    match settle::give_back(context, task, record, revision, failure.as_deref()).await {
        Ok(true) => delivery.finish().await,
        Ok(false) | Err(_) => delivery.give_back(delay).await,
    }
}

enum NotDelivered {
    /// Another host has the task; the bundle stays unused.
    Late(Option<BundleName>),
    Failed(String),
}

/// Uploads the bundle, writes the claim, and then the record, in this order: a record that says done always has its
/// claim.
async fn deliver(
    context: &WorkerContext,
    task: &Task,
    mut record: RunRecord,
    revision: u64,
    running: &RunningTask<'_>,
    outcome: &TaskOutcome,
    folder: &TempDir,
) -> Result<(), NotDelivered> {
    let (connection, host, stop) = (&context.connection, &context.config.host, &running.stop);
    let bundle = if outcome.has_bundle {
        let owner = BundleOwner::Start { host: host.clone(), task: task.name.clone(), epoch: record.epoch };
        let path = result_file(folder);
        let put = settle::persist(context, stop, || connection.put_bundle(&owner, &path)).await;
        Some(put.map_err(|error: BundleError| NotDelivered::Failed(crate::text::chain(&error)))?)
    } else {
        None
    };
    let claim = Claim {
        state: outcome.state,
        exit_code: outcome.exit_code,
        is_clean: outcome.is_clean,
        head: outcome.head.clone(),
        bundle: bundle.clone(),
        detail: outcome.detail.clone(),
    };
    record.state = RunState::Done;
    record.result = bundle.as_ref().map(|bundle| bundle.digest.clone());
    let key = claim_key(host, &task.name, record.epoch);
    let writing = settle::persist(context, stop, || async {
        connection.put_key(Bucket::Results, &key, claim.render()).await?;
        connection.write_record(&task.name, &record, revision).await
    });
    match writing.await {
        Ok(_) => Ok(()),
        Err(FleetError::Conflict) => Err(NotDelivered::Late(bundle)),
        Err(error) => Err(NotDelivered::Failed(crate::text::chain(&error))),
    }
}
