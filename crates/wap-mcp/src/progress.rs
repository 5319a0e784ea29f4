//! Progress notifications of a command, for clients that request them.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::watch::{Receiver, Sender, channel};
use wap_core::{CommandObserver, OutputStream};

/// The shortest time between two notifications.
const EVERY: Duration = Duration::from_millis(250);

/// The longest part of a line in a notification, in bytes.
const MOST_LINE_BYTES: usize = 200;

/// The output of a command so far.
#[derive(Clone, Debug, Default)]
struct Printed {
    bytes: u64,
    last_line: String,
}

/// Records the output of a command, for the task that notifies the client.
struct Watch {
    // A watch channel keeps only the latest value: the command never waits for the client.
    printed: Sender<Printed>,
}

impl CommandObserver for Watch {
    fn started(&mut self, _: &str) {
        self.printed.send_modify(|printed| printed.last_line = "started".to_owned());
    }

    fn output(&mut self, _: OutputStream, bytes: &[u8]) {
        self.printed.send_modify(|printed| {
            printed.bytes += bytes.len() as u64;
            // Decode only the end: a command may print megabytes per second.
            let end = &bytes[bytes.len().saturating_sub(MOST_LINE_BYTES)..];
            let text = String::from_utf8_lossy(end);
            if let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) {
                printed.last_line = line.trim().to_owned();
            }
        });
    }
}

/// Returns an observer that notifies the client of a command's progress, until the observer is dropped.
pub(crate) fn notifying(peer: Peer<RoleServer>, token: ProgressToken) -> Box<dyn CommandObserver> {
    let (printed, changes) = channel(Printed::default());
    tokio::spawn(notify(peer, token, changes));
    Box::new(Watch { printed })
}

async fn notify(peer: Peer<RoleServer>, token: ProgressToken, mut changes: Receiver<Printed>) {
    let mut step = 0.0;
    while changes.changed().await.is_ok() {
        let printed = changes.borrow_and_update().clone();
        // The protocol requires an increasing number; the total of a command is unknown.
        step += 1.0;
        let message = match printed.bytes {
            0 => printed.last_line,
            bytes => format!("{bytes} bytes: {}", printed.last_line),
        };
        let progress = ProgressNotificationParam::new(token.clone(), step).with_message(message);
        if peer.notify_progress(progress).await.is_err() {
            return;
        }
        // The channel merges changes during this time into one notification.
        tokio::time::sleep(EVERY).await;
    }
}
