//! The log messages of one step: a bounded queue of bounded messages.
#![expect(deprecated, reason = "clients of both revisions still have log messages")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{LoggingMessageNotification, LoggingMessageNotificationParam, ServerNotification};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::LogLevel;
use crate::http::RequestStream;

/// The most messages that are queued for a client that is slow to read. A step does not wait for it: its work is more important.
const MOST_WAITING: usize = 64;

/// The longest message: the bytes of its data as JSON and of its logger's name.
const MOST_BYTES: usize = 16 * 1_024;

/// The log of a step, into which a contribution writes.
#[derive(Debug)]
pub(super) struct Log {
    /// Less severe messages are dropped: the client did not request them.
    least: LogLevel,
    queue: Sender<LoggingMessageNotificationParam>,
    left_out: Arc<Mutex<LeftOut>>,
}

/// The messages of a step on their way to its client.
#[derive(Debug)]
pub(super) struct Messages {
    queue: Receiver<LoggingMessageNotificationParam>,
    left_out: Arc<Mutex<LeftOut>>,
}

/// The requested messages that the client does not receive.
#[derive(Debug, Default)]
struct LeftOut {
    too_many: usize,
    too_long: usize,
    /// The most severe level of them.
    level: Option<LogLevel>,
}

/// Returns a log for messages from a level on, and the receiver of the messages.
pub(super) fn log(least: LogLevel) -> (Log, Messages) {
    let (sender, queue) = channel(MOST_WAITING);
    let left_out = Arc::new(Mutex::default());
    (Log { least, queue: sender, left_out: Arc::clone(&left_out) }, Messages { queue, left_out })
}

impl Log {
    /// Adds a message, or counts it as left out.
    pub(super) fn write(&self, level: LogLevel, logger: Option<&str>, data: Value) {
        if level < self.least {
            return;
        }
        if logger.map_or(0, str::len) + data.to_string().len() > MOST_BYTES {
            let mut left_out = lock(&self.left_out);
            left_out.too_long += 1;
            left_out.level = left_out.level.max(Some(level));
            return;
        }
        let mut message = LoggingMessageNotificationParam::new(level.into(), data);
        message.logger = logger.map(str::to_owned);
        if let Err(TrySendError::Full(_)) = self.queue.try_send(message) {
            let mut left_out = lock(&self.left_out);
            left_out.too_many += 1;
            left_out.level = left_out.level.max(Some(level));
        }
        // A closed queue means that the request was cancelled.
    }
}

impl Messages {
    /// Returns the next message; `None` after the step has ended and all messages were read. The last one reports the messages
    /// left out, with the level of the most severe of them, which the client wants to receive.
    async fn next(&mut self) -> Option<LoggingMessageNotificationParam> {
        if let Some(message) = self.queue.recv().await {
            return Some(message);
        }
        let LeftOut { too_many, too_long, level } = std::mem::take(&mut *lock(&self.left_out));
        let data = json!({
            "text": format!("log messages that were left out: {}", too_many + too_long),
            "tooMany": too_many,
            "tooLong": too_long,
        });
        level.map(|level| LoggingMessageNotificationParam::new(level.into(), data))
    }

    /// Sends the messages until their step has ended, so that none comes after the answer.
    pub(super) async fn forward(mut self, context: &RequestContext<RoleServer>) {
        let stream = context.extensions.get::<RequestStream>();
        while let Some(message) = self.next().await {
            let notification =
                ServerNotification::LoggingMessageNotification(LoggingMessageNotification::new(message));
            let is_sent = match stream {
                Some(stream) => stream.send(notification).await,
                None => context.peer.send_notification(notification).await.is_ok(),
            };
            if !is_sent {
                return;
            }
        }
    }
}

fn lock(left_out: &Mutex<LeftOut>) -> MutexGuard<'_, LeftOut> {
    left_out.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use rmcp::model::LoggingLevel;
    use serde_json::json;

    use super::{MOST_BYTES, MOST_WAITING, log};
    use crate::LogLevel;

    #[tokio::test]
    async fn messages_beyond_the_bound_are_counted_in_a_last_one() {
        let (log, mut messages) = log(LogLevel::Info);
        for index in 0..MOST_WAITING {
            log.write(LogLevel::Info, None, json!(index));
        }
        log.write(LogLevel::Notice, None, json!("one too many"));
        log.write(LogLevel::Error, None, json!("another one"));
        log.write(LogLevel::Debug, None, json!("not wanted, and so not missed"));
        drop(log);
        for index in 0..MOST_WAITING {
            assert_eq!(messages.next().await.unwrap().data, json!(index));
        }
        let last = messages.next().await.unwrap();
        assert_eq!(
            last.data,
            json!({ "text": "log messages that were left out: 2", "tooMany": 2, "tooLong": 0 })
        );
        assert_eq!(last.level, LoggingLevel::Error);
        assert_eq!(messages.next().await, None);
    }

    #[tokio::test]
    async fn the_longest_message_is_sent_and_a_longer_one_is_counted() {
        let (log, mut messages) = log(LogLevel::Debug);
        // Two bytes are the quotation marks.
        let longest = "x".repeat(MOST_BYTES - 2 - "disk".len());
        log.write(LogLevel::Alert, Some("disk"), json!(longest));
        log.write(LogLevel::Alert, Some("disks"), json!(longest));
        drop(log);
        let message = messages.next().await.unwrap();
        assert_eq!((message.logger.as_deref(), message.data), (Some("disk"), json!(longest)));
        let last = messages.next().await.unwrap();
        assert_eq!((&last.data["tooMany"], &last.data["tooLong"]), (&json!(0), &json!(1)));
    }

    #[tokio::test]
    async fn without_a_message_that_was_left_out_there_is_no_last_one() {
        let (log, mut messages) = log(LogLevel::Warning);
        log.write(LogLevel::Notice, None, json!("x".repeat(MOST_BYTES)));
        log.write(LogLevel::Warning, None, json!("hot"));
        drop(log);
        assert_eq!(messages.next().await.unwrap().data, json!("hot"));
        assert_eq!(messages.next().await, None);
    }
}
