//! Keys and values. A key's last message is its value, read from the stream itself.

use async_nats::HeaderMap;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::RawMessageErrorKind;
use bytes::Bytes;

use crate::connection::{FleetConnection, FleetError, refused};
use crate::names::Bucket;

/// The header, and its value, that mark a message as the deletion of its key.
const OPERATION: &str = "KV-Operation";
const DELETED: &str = "DEL";

/// A key's newest message.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The value; none if the key was deleted.
    pub(crate) value: Option<Bytes>,
    /// The number that the next writer has to state.
    pub(crate) revision: u64,
}

impl FleetConnection {
    /// Reads a key. None if it was never written, or has expired.
    pub(crate) async fn get_key(&self, bucket: Bucket, key: &str) -> Result<Option<Entry>, FleetError> {
        const CALL: &str = "reading a key";
        let stream = self.subjects.bucket_stream(bucket);
        let subject = self.subjects.key(bucket, key);
        let Some(message) = self.last_message(CALL, &stream, &subject).await? else { return Ok(None) };
        let is_deleted = is_deleted(&message.headers);
        Ok(Some(Entry { value: (!is_deleted).then_some(message.payload), revision: message.sequence }))
    }

    /// Reads the newest message of a subject.
    pub(crate) async fn last_message(
        &self,
        call: &'static str,
        stream: &str,
        subject: &str,
    ) -> Result<Option<async_nats::jetstream::message::StreamMessage>, FleetError> {
        self.find_streams().await?;
        let handle = self.context.get_stream_no_info(stream).await.map_err(|error| refused(call, &error))?;
        let reading = handle.raw_message_builder().last_by_subject(subject).send();
        match self.bounded(call, reading).await? {
            Ok(message) => Ok(Some(message)),
            Err(error) => match error.kind() {
                RawMessageErrorKind::NoMessageFound => Ok(None),
                RawMessageErrorKind::JetStream(error) if error.code() == 404 => Err(FleetError::Missing),
                RawMessageErrorKind::JetStream(_) => Err(refused(call, &error)),
                _ => Err(self.no_answer(call)),
            },
        }
    }

    /// Writes a key, whatever its value was.
    pub(crate) async fn put_key(&self, bucket: Bucket, key: &str, value: Vec<u8>) -> Result<u64, FleetError> {
        let subject = self.subjects.key(bucket, key);
        self.publish("writing a key", subject, PublishMessage::build().payload(value.into()))
            .await
            .map(|ack| ack.0)
    }

    /// Writes a key if its newest message has the number `revision`; 0 means that there is none.
    pub(crate) async fn update_key(
        &self,
        bucket: Bucket,
        key: &str,
        value: Vec<u8>,
        revision: u64,
    ) -> Result<u64, FleetError> {
        let subject = self.subjects.key(bucket, key);
        let message = PublishMessage::build().payload(value.into()).expected_last_subject_sequence(revision);
        self.publish("writing a key", subject, message).await.map(|ack| ack.0)
    }

    /// Deletes a key.
    pub(crate) async fn delete_key(&self, bucket: Bucket, key: &str) -> Result<(), FleetError> {
        let subject = self.subjects.key(bucket, key);
        let mut headers = HeaderMap::new();
        headers.insert(OPERATION, DELETED);
        self.publish("deleting a key", subject, PublishMessage::build().headers(headers)).await.map(drop)
    }

    /// Publishes a message and waits until it is stored. Returns its number, and whether the server dropped it as a duplicate.
    pub(crate) async fn publish(
        &self,
        call: &'static str,
        subject: String,
        message: PublishMessage,
    ) -> Result<(u64, bool), FleetError> {
        let sending = async { self.context.send_publish(subject, message).await?.await };
        match self.bounded(call, sending).await? {
            Ok(ack) => Ok((ack.sequence, ack.duplicate)),
            Err(error) => Err(match error.kind() {
                PublishErrorKind::WrongLastSequence => FleetError::Conflict,
                PublishErrorKind::StreamNotFound => FleetError::Missing,
                PublishErrorKind::TimedOut
                | PublishErrorKind::BrokenPipe
                | PublishErrorKind::MaxAckPending => self.no_answer(call),
                _ => refused(call, &error),
            }),
        }
    }
}

/// Returns whether a message deletes its key.
pub(crate) fn is_deleted(headers: &HeaderMap) -> bool {
    headers.get(OPERATION).is_some_and(|value| value.as_str() != "PUT")
}
