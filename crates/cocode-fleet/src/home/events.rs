//! Events of hosts, in order. A host speaks for a task only if the record says that it has held it.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Message;
use futures_util::StreamExt;
use tokio::time::sleep;

use super::bases;
use super::context::HomeContext;
use super::people::{EventStart, event_messages};
use crate::contract::Notice;
use crate::names::{HostName, TaskName};
use crate::task::{EVENT_LIMIT_BYTES, Event, EventKind};

/// Follows events until it is dropped; after a failure from the event that comes next.
pub(super) async fn run(context: Arc<HomeContext>) {
    let mut start = EventStart::New;
    loop {
        let filter = context.connection.subjects.all_events();
        if let Ok(mut messages) = event_messages(&context.connection, filter, start).await {
            while let Some(Ok(message)) = messages.next().await {
                if let Ok(position) = message.info() {
                    start = EventStart::At(position.stream_sequence + 1);
                }
                handle(&context, &message).await;
            }
        } else if let EventStart::At(_) = start {
            // A server that has lost its disk counts from 1 again.
            start = EventStart::New;
        }
        sleep(context.connection.timings.poll.min(Duration::from_secs(1))).await;
    }
}

async fn handle(context: &HomeContext, message: &Message) {
    let Some((host, name)) = context.connection.subjects.host_and_task_of(&message.subject) else { return };
    if message.payload.len() > EVENT_LIMIT_BYTES || !context.is_followed(&name) {
        return;
    }
    let Ok(event) = serde_json::from_slice::<Event>(&message.payload) else { return };
    if has_held(context, &host, &name, event.epoch).await {
        report(context, host, &name, event.kind).await;
    }
}

async fn has_held(context: &HomeContext, host: &HostName, name: &TaskName, epoch: u64) -> bool {
    let is_remembered = |followed: &super::context::Followed| followed.holders.contains(&(host.clone(), epoch));
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
            if let Ok(Ok(())) = bases::repair(context, &submitted).await {
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
