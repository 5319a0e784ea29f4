//! Publishing a task: its bundles, its record, its message.

use super::bases;
use super::context::HomeContext;
use super::step::StepError;
use crate::connection::FleetError;
use crate::contract::{Notice, SubmittedTask};
use crate::names::TaskName;
use crate::store::Published;
use crate::task::{RunRecord, TaskLimits};

/// Writes the record of a task over the one with the number `revision`, and publishes the task under its epoch.
pub(super) async fn publish(
    context: &HomeContext,
    name: &TaskName,
    record: RunRecord,
    revision: u64,
) -> Result<(), StepError> {
    let submitted = context.submitted(name).await?;
    let Some(message) = render(context, name, &submitted).await else { return Ok(()) };
    if let Err(reason) = bases::ensure(context, &submitted).await? {
        context.notice(name, Notice::Unpublishable { reason }).await;
        return Ok(());
    }
    context.connection.write_record(name, &record, revision).await?;
    send(context, name, &submitted, record, message).await
}

/// Publishes a task whose record is written already.
pub(super) async fn publish_message(
    context: &HomeContext,
    name: &TaskName,
    record: RunRecord,
) -> Result<(), StepError> {
    let submitted = context.submitted(name).await?;
    let Some(message) = render(context, name, &submitted).await else { return Ok(()) };
    send(context, name, &submitted, record, message).await
}

async fn render(context: &HomeContext, name: &TaskName, submitted: &SubmittedTask) -> Option<Vec<u8>> {
    let limit = context.connection.client.max_payload().saturating_sub(1024);
    let limits =
        TaskLimits { message_bytes: TaskLimits::default().message_bytes.min(limit), ..TaskLimits::default() };
    match submitted.task.render(&limits) {
        Ok(message) => Some(message),
        Err(error) => {
            context.notice(name, Notice::Unpublishable { reason: crate::text::chain(&error) }).await;
            None
        }
    }
}

async fn send(
    context: &HomeContext,
    name: &TaskName,
    submitted: &SubmittedTask,
    mut record: RunRecord,
    message: Vec<u8>,
) -> Result<(), StepError> {
    let (connection, class) = (&context.connection, &submitted.task.class);
    prepare_class(context, class).await?;
    loop {
        let epoch = record.epoch;
        context.update(name, |followed| followed.begin_publishing(epoch));
        match connection.publish_task(class, name, epoch, message.clone()).await {
            Ok(Published::Queued) => break,
            // The server remembers ids of messages that were removed long ago. A message that is not there was dropped, and
            // needs another id.
            Ok(Published::Duplicate) => {
                if connection.is_queued(class, name).await? {
                    break;
                }
                let Some(entry) = connection.record(name).await? else { return Ok(()) };
                context.update(name, |followed| followed.is_unsent = false);
                if entry.record.as_ref() != Some(&record) {
                    // A host has taken it meanwhile.
                    return Ok(());
                }
                record.epoch += 1;
                connection.write_record(name, &record, entry.revision).await?;
            }
            Err(FleetError::QueueFull { waiting }) => {
                context.notice(name, Notice::QueueFull { waiting }).await;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
    }
    context.update(name, |followed| followed.is_unsent = false);
    context.notice(name, Notice::Queued { epoch: record.epoch }).await;
    Ok(())
}

async fn prepare_class(context: &HomeContext, class: &crate::names::ClassName) -> Result<(), FleetError> {
    let mut classes = context.classes.lock().await;
    if !classes.contains(class) {
        context.connection.prepare_class(class).await?;
        classes.insert(class.clone());
    }
    Ok(())
}
