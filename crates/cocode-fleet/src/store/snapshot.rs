//! Everything at once: the newest value of each key of a bucket, the tasks in the queue.

use std::collections::HashSet;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use futures_util::StreamExt;

use super::keys::is_deleted;
use crate::connection::{FleetConnection, FleetError, refused};
use crate::names::{Bucket, TaskName};

/// The number of values per request.
const BATCH: usize = 500;

impl FleetConnection {
    /// Passes the newest value of every key of a bucket to `keep`, and collects what that returns: a host can write any
    /// number of keys, so not all of them are held at once. `keep` receives the key, the value, and the number that the
    /// next writer has to state.
    pub(crate) async fn snapshot<T>(
        &self,
        bucket: Bucket,
        mut keep: impl FnMut(&str, &[u8], u64) -> Option<T>,
    ) -> Result<Vec<T>, FleetError> {
        const CALL: &str = "reading all keys";
        let stream = self.subjects.bucket_stream(bucket);
        let config = pull::Config {
            deliver_policy: DeliverPolicy::LastPerSubject,
            ack_policy: AckPolicy::None,
            filter_subject: self.subjects.key(bucket, ">"),
            ..pull::Config::default()
        };
        let creating = self.context.create_consumer_on_stream(config, &stream);
        let consumer: PullConsumer =
            self.bounded(CALL, creating).await?.map_err(|error| refused(CALL, &error))?;
        let mut left = usize::try_from(consumer.cached_info().num_pending).unwrap_or(usize::MAX);
        let prefix = self.subjects.key(bucket, "");
        let mut kept = Vec::new();
        while left > 0 {
            let fetching = consumer.fetch().max_messages(left.min(BATCH)).messages();
            let mut batch = self.bounded(CALL, fetching).await?.map_err(|error| refused(CALL, &error))?;
            let mut received = 0;
            while let Some(message) = self.bounded(CALL, batch.next()).await? {
                let message = message.map_err(|error| refused(CALL, &*error))?;
                received += 1;
                let headers = message.headers.as_ref();
                let Some(key) = message.subject.strip_prefix(&prefix) else { continue };
                let Ok(position) = message.info() else { continue };
                if !headers.is_some_and(is_deleted) {
                    kept.extend(keep(key, &message.payload, position.stream_sequence));
                }
            }
            if received == 0 {
                break;
            }
            left = left.saturating_sub(received);
        }
        // The server removes it by itself when it is no longer used; the answer does not matter.
        let name = consumer.cached_info().name.clone();
        let connection = self.clone();
        tokio::spawn(async move {
            let _ =
                connection.bounded(CALL, connection.context.delete_consumer_from_stream(name, &stream)).await;
        });
        Ok(kept)
    }

    /// Returns the tasks in the queue, those that hosts work on included.
    pub(crate) async fn queued_tasks(&self) -> Result<HashSet<TaskName>, FleetError> {
        const CALL: &str = "listing the queue";
        let name = self.subjects.stream("tasks");
        let stream = self.context.get_stream_no_info(name).await.map_err(|error| refused(CALL, &error))?;
        let asking = stream.info_with_subjects(self.subjects.all_tasks());
        let mut subjects = self.bounded(CALL, asking).await?.map_err(|error| refused(CALL, &error))?;
        let mut tasks = HashSet::new();
        while let Some(subject) = self.bounded(CALL, subjects.next()).await? {
            let (subject, _) = subject.map_err(|error| refused(CALL, &error))?;
            tasks.extend(self.subjects.task_of(&subject));
        }
        Ok(tasks)
    }
}
