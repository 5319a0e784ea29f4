//! Events of hosts, in order. A host speaks for a task only if the record says that it has held it.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Message;
use futures_util::StreamExt;
use tokio::time::{sleep, timeout};

use super::bases;
use super::context::HomeContext;
use super::people::{EventStart, event_messages, newest_event};
use crate::connection::FleetError;
use crate::contract::Notice;
use crate::names::{HostName, TaskName};
use crate::task::{EVENT_LIMIT_BYTES, Event, EventKind};

/// The longest that a delivery waits for the lines that came before it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Follows events until it is dropped: those written after home's start, and after a failure the next ones.
pub(super) async fn run(context: Arc<HomeContext>) {
    let pause = context.connection.timings.poll.min(Duration::from_secs(1));
    let mut last = None;
    loop {
        if let Some(start) = start(&context, last).await {
            let filter = context.connection.subjects.all_events();
            let mut messages =
                match event_messages(&context.connection, filter, EventStart::After(start)).await {
                    Ok(messages) => messages,
                    Err(_) => futures_util::stream::empty().boxed(),
                };
            last = Some(start);
            context.events_read.send_replace(start);
            loop {
                let message = tokio::select! {
                    message = messages.next() => message,
                    () = context.events_went_back.notified() => break,
                };
                let Some(Ok(message)) = message else { break };
                handle(&context, &message).await;
                if let Ok(position) = message.info() {
                    last = Some(position.stream_sequence);
                    context.events_read.send_replace(position.stream_sequence);
                }
            }
        }
        sleep(pause).await;
    }
}

/// Returns the number of the event after which to begin; none if the server cannot be asked.
async fn start(context: &HomeContext, last: Option<u64>) -> Option<u64> {
    match newest_event(&context.connection).await {
        // A server that has lost its disk counts from 1 again.
        Ok(newest) => Some(last.map_or(newest, |last| if last > newest { 0 } else { last })),
        // Home is about to make the stream.
        Err(FleetError::Missing) => Some(0),
        Err(_) => None,
    }
}

/// Waits until the events that are on the server now have been handled: lines of an agent come before its judgement.
pub(super) async fn catch_up(context: &HomeContext) {
    let Ok(newest) = newest_event(&context.connection).await else { return };
    if has_gone_back(context, newest) {
        return;
    }
    let mut read = context.events_read.subscribe();
    let caught_up = read.wait_for(|read| *read >= newest);
    // Judging does not depend on it.
    let _ = timeout(context.connection.timings.deadline.min(PATIENCE), caught_up).await;
}

/// Checks whether the server has lost events that were read, and then restarts reading: the next ones reuse their
/// numbers.
pub(super) async fn look(context: &HomeContext) {
    if let Ok(newest) = newest_event(&context.connection).await {
        has_gone_back(context, newest);
    }
}

fn has_gone_back(context: &HomeContext, newest: u64) -> bool {
    let has_gone_back = *context.events_read.borrow() > newest;
    if has_gone_back {
        context.events_went_back.notify_one();
    }
    has_gone_back
}

async fn handle(context: &HomeContext, message: &Message) {
    let Some((host, name)) = context.connection.subjects.host_and_task_of(&message.subject) else { return };
    if message.payload.len() > EVENT_LIMIT_BYTES || !context.is_followed(&name) {
        return;
    }
    let Ok(event) = serde_json::from_slice::<Event>(&message.payload) else { return };
    if has_held(context, &host, &name, event.epoch).await {
        report(context, host, &name, event.kind.within_limits()).await;
    }
}

async fn has_held(context: &HomeContext, host: &HostName, name: &TaskName, epoch: u64) -> bool {
    let is_remembered =
        |followed: &super::context::Followed| followed.holders.contains(&(host.clone(), epoch));
    if context.inspect(name, is_remembered) == Some(true) {
        return true;
    }
    let Ok(Some(entry)) = context.connection.record(name).await else { return false };
    let has_held = entry.record.is_some_and(|record| record.was_held_by(host, epoch));
    if has_held {
        context.update(name, |followed| followed.remember_holder(host.clone(), epoch));
    }
    has_held
}

async fn report(context: &HomeContext, host: HostName, name: &TaskName, kind: EventKind) {
    match kind {
        EventKind::Lines { lines, left_out } => {
            let name = name.clone();
            context.ask_judge(move |judge| judge.log_lines(&name, &host, &lines, left_out)).await;
        }
        EventKind::BaseUnusable { reason } => {
            let Ok(submitted) = context.submitted(name).await else { return };
            if let Ok(Ok(true)) = bases::repair(context, &submitted).await {
                context.notice(name, Notice::BaseUploadedAgain { reason }).await;
            }
        }
        EventKind::LateUnused { reason } => context.notice(name, Notice::LateUnused { host, reason }).await,
        EventKind::AttemptFailed { reason } => {
            context.notice(name, Notice::AttemptFailed { host, reason }).await;
        }
        EventKind::Started | EventKind::Unknown => {}
    }
}
