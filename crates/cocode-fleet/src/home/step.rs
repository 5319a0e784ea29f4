//! One step of one task.

use super::context::{HomeContext, Summary};
use super::{deliver, publish};
use crate::connection::FleetError;
use crate::contract::{JudgeError, Notice};
use crate::names::{Bucket, TaskName};
use crate::store::{RecordEntry, cancel_key};
use crate::task::{RunRecord, RunState};

/// A step that has to be repeated later.
#[derive(Debug, thiserror::Error)]
pub(super) enum StepError {
    #[error("the server failed")]
    Call(#[from] FleetError),
    #[error("home failed")]
    Home(#[from] JudgeError),
}

/// Examines a task and does what is due.
pub(super) async fn run(context: &HomeContext, name: &TaskName) -> Result<(), StepError> {
    if !context.is_followed(name) {
        return Ok(());
    }
    let permit = context.publishing.acquire().await;
    let summary = context.summary(name).await?;
    let entry = context.connection.record(name).await?;
    let Some(RecordEntry { record, revision }) = entry else {
        return without_record(context, name, &summary, 0, None).await;
    };
    let Some(record) = record else {
        return without_record(context, name, &summary, revision, Some("its record is not readable")).await;
    };
    if context.leaps(name, &record) {
        let reason = "the epoch of its record is higher than hosts can have raised it";
        return without_record(context, name, &summary, revision, Some(reason)).await;
    }
    let newest = context.inspect(name, |followed| followed.epoch).unwrap_or(0);
    if record.generation != summary.generation {
        // The message of the other generation would keep the new one out of the queue.
        context.connection.remove_message(name).await?;
        let fresh = RunRecord::pending(&summary.generation, record.epoch.max(newest) + 1);
        return publish::publish(context, name, fresh, revision).await;
    }
    if record.epoch < newest {
        return went_back(context, name, record, newest, revision).await;
    }
    context.update(name, |followed| followed.epoch = followed.epoch.max(record.epoch));
    if !record.state.is_final() && is_cancelled(context, name, &summary).await? {
        return cancel(context, name, record, revision).await;
    }
    match record.state {
        RunState::Pending => pending(context, name, &summary, record, revision).await,
        RunState::Running => running(context, name, &summary, record, revision).await,
        RunState::Done => {
            if is_cancelled(context, name, &summary).await? {
                // A judgement that was under way has ended or was stopped. What it has recorded stays.
                return end(context, name, Notice::Cancelled).await;
            }
            // Judging takes long, and publishing must not wait for it.
            drop(permit);
            deliver::run(context, name, record, revision).await
        }
        RunState::Cancelled => {
            if is_cancelled(context, name, &summary).await? {
                return end(context, name, Notice::Cancelled).await;
            }
            let reason = "it says cancelled, and home has not cancelled it";
            distrust(context, name, record, revision, reason).await
        }
        RunState::Dead => {
            if record.attempts.len() < summary.needs.attempts {
                let reason = "it says given up, without as many attempts";
                return distrust(context, name, record, revision, reason).await;
            }
            dead(context, name, &record).await
        }
    }
}

/// Publishes a task without a record, or with one that is not believed for the reason `disbelief`.
async fn without_record(
    context: &HomeContext,
    name: &TaskName,
    summary: &Summary,
    revision: u64,
    disbelief: Option<&str>,
) -> Result<(), StepError> {
    if is_cancelled(context, name, summary).await? {
        return end(context, name, Notice::Cancelled).await;
    }
    let last = context.inspect(name, |followed| followed.epoch).unwrap_or(0);
    if let Some(reason) = disbelief {
        let reason = reason.to_owned();
        context.notice(name, Notice::NotBelieved { host: None, epoch: last, reason }).await;
    } else if last > 0 {
        // The server has lost its disk, and bundles may be lost, too.
        context.uploaded.lock().await.clear();
        context.notice(name, Notice::PublishedAgain { epoch: last + 1 }).await;
    }
    publish::publish(context, name, RunRecord::pending(&summary.generation, last + 1), revision).await
}

/// Publishes a task again whose record is outdated: the server has lost newer data. No host is to blame, and deliveries
/// under lower epochs are late.
async fn went_back(
    context: &HomeContext,
    name: &TaskName,
    mut record: RunRecord,
    newest: u64,
    revision: u64,
) -> Result<(), StepError> {
    // Bundles may have been lost with it. A message that is in the queue stays there, and does for the new epoch.
    context.uploaded.lock().await.clear();
    record.epoch = newest + 1;
    (record.state, record.host, record.result) = (RunState::Pending, None, None);
    let epoch = record.epoch;
    publish::publish(context, name, record, revision).await?;
    context.notice(name, Notice::PublishedAgain { epoch }).await;
    Ok(())
}

async fn pending(
    context: &HomeContext,
    name: &TaskName,
    summary: &Summary,
    mut record: RunRecord,
    revision: u64,
) -> Result<(), StepError> {
    if context.inspect(name, |followed| followed.is_unsent) == Some(true) {
        return publish::publish_message(context, name, record).await;
    }
    let is_withheld = context.is_withheld(name);
    if is_withheld {
        // A host that keeps the message has nothing then.
        context.connection.remove_message(name).await?;
    } else if context.connection.is_queued(&summary.class, name).await? {
        return Ok(());
    } else {
        context.uploaded.lock().await.clear();
    }
    // If a host has taken and finished it in between, the record has changed, and this write fails.
    record.epoch += 1;
    let epoch = record.epoch;
    publish::publish(context, name, record, revision).await?;
    if !is_withheld {
        context.notice(name, Notice::PublishedAgain { epoch }).await;
    }
    Ok(())
}

async fn running(
    context: &HomeContext,
    name: &TaskName,
    summary: &Summary,
    mut record: RunRecord,
    revision: u64,
) -> Result<(), StepError> {
    let Some(host) = record.host.clone() else {
        return distrust(context, name, record, revision, "it says running, without a host").await;
    };
    context.notice(name, Notice::Running { host: host.clone(), epoch: record.epoch }).await;
    if context.is_overdue(name, record.epoch) {
        // The host keeps the message, so another one is needed.
        context.connection.remove_message(name).await?;
        record.give_up_attempt("the host held the task beyond its deadline");
    } else {
        let is_lost = !context.connection.is_queued(&summary.class, name).await?
            && !context.connection.has_lease(&host, name).await?;
        if !is_lost {
            return Ok(());
        }
        record.give_up_attempt("the host was gone, and the task with it");
    }
    if record.attempts.len() >= summary.needs.attempts {
        return give_up(context, name, record, revision).await;
    }
    record.epoch += 1;
    record.state = RunState::Pending;
    let epoch = record.epoch;
    publish::publish(context, name, record, revision).await?;
    context.notice(name, Notice::PublishedAgain { epoch }).await;
    Ok(())
}

/// Ends a task that home has cancelled and whose record does not say so: a host wrote it again.
async fn cancel(
    context: &HomeContext,
    name: &TaskName,
    mut record: RunRecord,
    revision: u64,
) -> Result<(), StepError> {
    record.state = RunState::Cancelled;
    match context.connection.write_record(name, &record, revision).await {
        Ok(_) => {}
        // Whatever a host writes from now on, the journal has the end of the task.
        Err(FleetError::Conflict) => {
            let entry = context.connection.record(name).await?;
            if entry.and_then(|entry| entry.record).is_some_and(|record| record.state.is_final()) {
                // The step that follows this change decides.
                return Ok(());
            }
        }
        Err(error) => return Err(error.into()),
    }
    context.connection.remove_message(name).await?;
    end(context, name, Notice::Cancelled).await
}

/// Publishes a task again whose record is not believed, or gives it up after too many attempts.
pub(super) async fn distrust(
    context: &HomeContext,
    name: &TaskName,
    mut record: RunRecord,
    revision: u64,
    reason: &str,
) -> Result<(), StepError> {
    if context.connection.record(name).await?.is_none_or(|entry| entry.revision != revision) {
        // The server has lost it, or it was rewritten: the earlier read proves nothing about a host. The next step
        // decides.
        return Ok(());
    }
    let (host, epoch) = (record.host.clone(), record.epoch);
    context.notice(name, Notice::NotBelieved { host, epoch, reason: reason.to_owned() }).await;
    record.give_up_attempt(&format!("not believed: {reason}"));
    record.result = None;
    if record.attempts.len() >= context.summary(name).await?.needs.attempts {
        return give_up(context, name, record, revision).await;
    }
    record.epoch += 1;
    record.state = RunState::Pending;
    publish::publish(context, name, record, revision).await
}

async fn give_up(
    context: &HomeContext,
    name: &TaskName,
    mut record: RunRecord,
    revision: u64,
) -> Result<(), StepError> {
    record.state = RunState::Dead;
    context.connection.write_record(name, &record, revision).await?;
    dead(context, name, &record).await
}

async fn dead(context: &HomeContext, name: &TaskName, record: &RunRecord) -> Result<(), StepError> {
    let reason = |attempt: &crate::task::Attempt| format!("{}: {}", attempt.host, attempt.reason);
    let reasons = record.attempts.iter().map(reason).collect();
    end(context, name, Notice::Dead { reasons }).await
}

async fn end(context: &HomeContext, name: &TaskName, notice: Notice) -> Result<(), StepError> {
    let is_cancelled = notice == Notice::Cancelled;
    let ended = name.clone();
    let recording = context.ask_judge(move |judge| judge.ended(&ended, &notice)).await;
    recording.unwrap_or_else(|| Err(JudgeError::Failed("recording the end panicked".to_owned())))?;
    if is_cancelled {
        // The key is no longer used; a leftover has no effect.
        let _ = context.connection.delete_key(Bucket::Control, &cancel_key(name)).await;
    }
    context.forget(name);
    Ok(())
}

/// Returns whether home has cancelled the task, according to a key that no host can write.
pub(super) async fn is_cancelled(
    context: &HomeContext,
    name: &TaskName,
    summary: &Summary,
) -> Result<bool, FleetError> {
    let entry = context.connection.get_key(Bucket::Control, &cancel_key(name)).await?;
    let value = entry.and_then(|entry| entry.value);
    Ok(value.is_some_and(|value| value == summary.generation.as_bytes()))
}
