//! Progress of a command, as far as a client wants to see it.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::watch::{Receiver, Sender, channel};
use wap_core::{CommandObserver, OutputStream};

/// How often it is told at most.
const EVERY: Duration = Duration::from_millis(250);

/// How much of a line is told, in bytes.
const MOST_LINE_BYTES: usize = 200;

/// What a command has printed so far.
#[derive(Clone, Debug, Default)]
struct Seen {
    bytes: u64,
    last_line: String,
}

/// Notes what a command prints, for the one who tells it.
struct Watch {
    seen: Sender<Seen>,
}

impl CommandObserver for Watch {
    fn started(&mut self, _: &str) {
        self.seen.send_modify(|seen| seen.last_line = "started".to_owned());
    }

    fn output(&mut self, _: OutputStream, bytes: &[u8]) {
        self.seen.send_modify(|seen| {
            seen.bytes += bytes.len() as u64;
            let end = &bytes[bytes.len().saturating_sub(MOST_LINE_BYTES)..];
            let text = String::from_utf8_lossy(end);
            if let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) {
                seen.last_line = line.trim().to_owned();
            }
        });
    }
}

/// Returns an observer whose command's progress the client is told, until the observer is dropped.
pub(crate) fn told(peer: Peer<RoleServer>, token: ProgressToken) -> Box<dyn CommandObserver> {
    let (seen, changes) = channel(Seen::default());
    tokio::spawn(tell(peer, token, changes));
    Box::new(Watch { seen })
}

async fn tell(peer: Peer<RoleServer>, token: ProgressToken, mut changes: Receiver<Seen>) {
    let mut step = 0.0;
    while changes.changed().await.is_ok() {
        let seen = changes.borrow_and_update().clone();
        step += 1.0;
        let message = match seen.bytes {
            0 => seen.last_line,
            bytes => format!("{bytes} bytes: {}", seen.last_line),
        };
        let progress = ProgressNotificationParam::new(token.clone(), step).with_message(message);
        if peer.notify_progress(progress).await.is_err() {
            return;
        }
        tokio::time::sleep(EVERY).await;
    }
}
