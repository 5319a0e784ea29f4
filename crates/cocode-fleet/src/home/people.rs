//! Requests of people: hosts, records, draining, cancelling, logs.

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::context::GetStreamErrorKind;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};

use crate::connection::{FleetConnection, FleetError, refused};
use crate::names::{Bucket, HostName, TaskName};
use crate::store::{RecordEntry, cancel_key, drain_key};
use crate::task::{Event, HostReport, RunRecord, RunState};

/// The maximum number of tries to write a record as cancelled. A host that writes it continuously may
/// be first each time.
const CANCEL_TRIES: usize = 16;

/// The event with which a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventStart {
    First,
    After(u64),
}

/// The events of one task, oldest first, then as they come.
pub struct FleetEvents {
    connection: FleetConnection,
    messages: BoxStream<'static, Result<Message, FleetError>>,
}

impl FleetEvents {
    /// Waits for the next event, with the host that wrote it. Home shows those of hosts that have held the task; this shows
    /// all. None when the server has ended the reading.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn next(&mut self) -> Result<Option<(HostName, Event)>, FleetError> {
        while let Some(message) = self.messages.try_next().await? {
            let host = self.connection.subjects.host_and_task_of(&message.subject).map(|(host, _)| host);
            let event = serde_json::from_slice::<Event>(&message.payload);
            if let (Some(host), Ok(event)) = (host, event) {
                return Ok(Some((host, event)));
            }
        }
        Ok(None)
    }
}

impl FleetConnection {
    /// Returns the hosts that have reported within a lease.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn hosts(&self) -> Result<Vec<(HostName, HostReport)>, FleetError> {
        let report =
            |key: &str, value: &[u8], _| Some((key.parse().ok()?, serde_json::from_slice(value).ok()?));
        let mut hosts = self.snapshot(Bucket::Hosts, report).await?;
        hosts.sort_by(|one: &(HostName, HostReport), other| one.0.cmp(&other.0));
        Ok(hosts)
    }

    /// Returns the records of all tasks that the server knows, including judged ones of the last 30 days.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn records(&self) -> Result<Vec<(TaskName, RunRecord)>, FleetError> {
        let record = |key: &str, value: &[u8], revision| {
            Some((TaskName::from_tokens(key)?, RecordEntry::parse(Some(value), revision).record?))
        };
        let mut records = self.snapshot(Bucket::Runs, record).await?;
        records.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(records)
    }

    /// Lets a host take no new tasks, or take them again. Only home may.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn drain_host(&self, host: &HostName, drain: bool) -> Result<(), FleetError> {
        let key = drain_key(host);
        if drain {
            self.put_key(Bucket::Control, &key, b"drain".to_vec()).await.map(drop)
        } else {
            self.delete_key(Bucket::Control, &key).await
        }
    }

    /// Cancels a task of the given generation, wherever it is. The agent is stopped within two seconds; an unreachable
    /// host learns of it when it reconnects. Home ends the task at its next comparison, even if a host keeps writing
    /// its record. Only home may.
    ///
    /// # Errors
    ///
    /// Those of a call; then it can be repeated.
    pub async fn cancel_task(&self, name: &TaskName, generation: &str) -> Result<(), FleetError> {
        // The key first: then an unpublished task is never published, and home believes the record.
        self.put_key(Bucket::Control, &cancel_key(name), generation.as_bytes().to_vec()).await?;
        for _ in 0..CANCEL_TRIES {
            let Some(entry) = self.record(name).await? else { return Ok(()) };
            let Some(mut record) = entry.record else { return Ok(()) };
            if record.state.is_final() || record.generation != generation {
                break;
            }
            record.state = RunState::Cancelled;
            match self.write_record(name, &record, entry.revision).await {
                Ok(_) => break,
                Err(FleetError::Conflict) => {}
                Err(error) => return Err(error),
            }
        }
        self.remove_message(name).await
    }

    /// Removes the message of a task, so that no host has to look at it.
    pub(super) async fn remove_message(&self, name: &TaskName) -> Result<(), FleetError> {
        const CALL: &str = "removing a task";
        let stream = self.subjects.stream("tasks");
        let handle = self.context.get_stream_no_info(stream).await.map_err(|error| refused(CALL, &error))?;
        let filter = self.subjects.task_of_any_class(name);
        let purged = self.bounded(CALL, async { handle.purge().filter(filter).await }).await?;
        purged.map(drop).map_err(|error| refused(CALL, &error))
    }

    /// Returns the events of a task, from the oldest that the server has.
    ///
    /// # Errors
    ///
    /// Those of a call.
    pub async fn events(&self, name: &TaskName) -> Result<FleetEvents, FleetError> {
        let messages = event_messages(self, self.subjects.events_of_task(name), EventStart::First).await?;
        Ok(FleetEvents { connection: self.clone(), messages })
    }
}

/// Returns the number of the newest event.
pub(super) async fn newest_event(connection: &FleetConnection) -> Result<u64, FleetError> {
    const CALL: &str = "the events' state";
    let stream = connection.context.get_stream(connection.subjects.stream("events"));
    let stream = connection.bounded(CALL, stream).await?;
    stream.map(|stream| stream.cached_info().state.last_sequence).map_err(|error| match error.kind() {
        GetStreamErrorKind::JetStream(_) => FleetError::Missing,
        _ => connection.no_answer(CALL),
    })
}

/// Reads events in order; a gap is read again by the library.
pub(super) async fn event_messages(
    connection: &FleetConnection,
    filter: String,
    start: EventStart,
) -> Result<BoxStream<'static, Result<Message, FleetError>>, FleetError> {
    const CALL: &str = "reading events";
    let config = pull::OrderedConfig {
        filter_subject: filter,
        deliver_policy: match start {
            EventStart::First => DeliverPolicy::All,
            EventStart::After(last) => DeliverPolicy::ByStartSequence { start_sequence: last + 1 },
        },
        ..pull::OrderedConfig::default()
    };
    let creating = connection.context.create_consumer_on_stream(config, connection.subjects.stream("events"));
    let consumer = connection.bounded(CALL, creating).await?.map_err(|error| refused(CALL, &error))?;
    let messages =
        connection.bounded(CALL, consumer.messages()).await?.map_err(|error| refused(CALL, &error))?;
    Ok(messages.map_err(|error| refused(CALL, &error)).boxed())
}
