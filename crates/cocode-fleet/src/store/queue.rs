//! The queue of tasks.

use async_nats::jetstream::message::PublishMessage;

use crate::connection::{FleetConnection, FleetError, refused};
use crate::names::{ClassName, TaskName};

/// The outcome of publishing a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Published {
    /// It is in the queue.
    Queued,
    /// A message of the same id was published lately, and this one was dropped.
    Duplicate,
}

impl FleetConnection {
    /// Publishes a task under an epoch.
    ///
    /// # Errors
    ///
    /// [`FleetError::QueueFull`] if there is no room; those of a call.
    pub(crate) async fn publish_task(
        &self,
        class: &ClassName,
        task: &TaskName,
        epoch: u64,
        message: Vec<u8>,
    ) -> Result<Published, FleetError> {
        let subject = self.subjects.task(class, task);
        let publish = PublishMessage::build().payload(message.into()).message_id(format!("{task}/{epoch}"));
        match self.publish("publishing a task", subject, publish).await {
            Ok((_, true)) => Ok(Published::Duplicate),
            Ok((_, false)) => Ok(Published::Queued),
            // The server has one code for a full queue and for a subject that has its message already.
            Err(FleetError::Refused { call, reason }) => {
                if self.is_queued(class, task).await? {
                    return Ok(Published::Queued);
                }
                let (waiting, limit) = self.queue_length().await?;
                let is_full = i64::try_from(waiting).is_ok_and(|waiting| limit > 0 && waiting >= limit);
                Err(if is_full {
                    FleetError::QueueFull { waiting }
                } else {
                    FleetError::Refused { call, reason }
                })
            }
            Err(other) => Err(other),
        }
    }

    /// Returns whether a task's message is in the queue, with a host or without.
    pub(crate) async fn is_queued(&self, class: &ClassName, task: &TaskName) -> Result<bool, FleetError> {
        let subject = self.subjects.task(class, task);
        let stream = self.subjects.stream("tasks");
        Ok(self.last_message("looking for a task", &stream, &subject).await?.is_some())
    }

    /// Returns the number of tasks in the queue, and its limit.
    async fn queue_length(&self) -> Result<(u64, i64), FleetError> {
        const CALL: &str = "the queue's length";
        let name = self.subjects.stream("tasks");
        let stream = self.bounded(CALL, self.context.get_stream(name)).await?;
        let stream = stream.map_err(|error| refused(CALL, &error))?;
        let info = stream.cached_info();
        Ok((info.state.messages, info.config.max_messages))
    }

    /// Returns the number of tasks in the queue, those that hosts work on included.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn waiting_tasks(&self) -> Result<u64, FleetError> {
        Ok(self.queue_length().await?.0)
    }
}
