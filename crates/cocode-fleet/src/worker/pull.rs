//! Pulling tasks from the queues of the host's classes, each with a free slot.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::PullConsumer;
use futures_util::StreamExt;
use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::WorkerStatus;
use super::attempt;
use super::context::WorkerContext;
use crate::connection::{FleetError, refused};
use crate::names::ClassName;

/// Pulls until the worker is stopped, and then until its tasks have ended.
pub(super) async fn run(context: Arc<WorkerContext>, stopped: watch::Receiver<bool>) {
    let classes = context.offer().await.classes();
    // If several queues wait for one slot, each holds it only briefly.
    let patience = if classes.len() == 1 { Duration::from_secs(5) } else { Duration::from_millis(500) };
    let loops = classes.into_iter().map(|class| pull_class(&context, class, patience, stopped.clone()));
    join_all(loops).await;
}

async fn pull_class(
    context: &Arc<WorkerContext>,
    class: ClassName,
    patience: Duration,
    mut stopped: watch::Receiver<bool>,
) {
    // Dropping the set ends the attempts, as a crash would.
    let mut attempts = JoinSet::new();
    let mut consumer = None;
    while !*stopped.borrow() {
        // A pending pull is not dropped when an attempt ends: its message would wait for `ack_wait`.
        let mut pull = pin!(pull_one(context, &class, patience, &mut consumer));
        let pulled = loop {
            tokio::select! {
                _ = stopped.changed() => break None,
                Some(_) = attempts.join_next() => {}
                pulled = &mut pull => break pulled,
            }
        };
        if let Some((message, slot)) = pulled {
            let context = Arc::clone(context);
            attempts.spawn(async move {
                attempt::handle(&context, message).await;
                drop(slot);
            });
        }
    }
    while attempts.join_next().await.is_some() {}
}

/// Pulls one task with a free slot. None after a pause, or a failure and a pause.
async fn pull_one(
    context: &WorkerContext,
    class: &ClassName,
    patience: Duration,
    consumer: &mut Option<PullConsumer>,
) -> Option<(Message, tokio::sync::OwnedSemaphorePermit)> {
    let slot = Arc::clone(&context.slots).acquire_owned().await.ok()?;
    let delay = context.connection.timings.retry_delay;
    if context.is_draining() || context.offer().await.lacks_disk() {
        context.set_status(WorkerStatus::Working);
        drop(slot);
        let _ = timeout(delay, context.resumed.notified()).await;
        return None;
    }
    match pull_message(context, class, patience, consumer).await {
        Ok(message) => message.map(|message| (message, slot)),
        Err(error) => {
            // Queues of labels are made with their first task, and are not needed before.
            if *class == ClassName::any() {
                context.set_status(WorkerStatus::Troubled(crate::text::chain(&error)));
            }
            // The server is away, or has lost its disk: the consumer is looked up again.
            *consumer = None;
            drop(slot);
            sleep(delay.min(Duration::from_secs(1))).await;
            None
        }
    }
}

async fn pull_message(
    context: &WorkerContext,
    class: &ClassName,
    patience: Duration,
    consumer: &mut Option<PullConsumer>,
) -> Result<Option<Message>, FleetError> {
    const CALL: &str = "asking for a task";
    let connection = &context.connection;
    if consumer.is_none() {
        let stream = connection.subjects.stream("tasks");
        let looking = connection.context.get_consumer_from_stream(class.as_str(), stream);
        *consumer = Some(connection.bounded(CALL, looking).await?.map_err(|error| refused(CALL, &error))?);
    }
    let Some(consumer) = consumer else { return Ok(None) };
    if *class == ClassName::any() {
        context.set_status(WorkerStatus::Working);
    }
    let pulling = consumer.batch().max_messages(1).expires(patience).messages();
    let mut batch = connection.bounded(CALL, pulling).await?.map_err(|error| refused(CALL, &error))?;
    match timeout(patience + connection.timings.deadline, batch.next()).await {
        Err(_) => Err(connection.no_answer(CALL)),
        Ok(None) => Ok(None),
        Ok(Some(message)) => message.map(Some).map_err(|error| refused(CALL, &*error)),
    }
}
