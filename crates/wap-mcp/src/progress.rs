//! Progress of a command, for a client that requests it.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::watch::{Receiver, Sender, channel};
use wap_core::{CommandObserver, OutputStream};

/// The shortest time between two notifications.
const EVERY: Duration = Duration::from_millis(250);

/// The length limit of a reported line, in bytes.
const MOST_LINE_BYTES: usize = 200;

/// The output of a command so far: its length and its last line.
#[derive(Clone, Debug, Default)]
struct Progress {
    bytes: u64,
    last_line: String,
}

/// Records the output of a command for the task that notifies the client.
struct Watch {
    progress: Sender<Progress>,
}

impl CommandObserver for Watch {
    fn started(&mut self, _: &str) {
        self.progress.send_modify(|progress| progress.last_line = "started".to_owned());
    }

    fn output(&mut self, _: OutputStream, bytes: &[u8]) {
        self.progress.send_modify(|progress| {
            progress.bytes += bytes.len() as u64;
            let end = &bytes[bytes.len().saturating_sub(MOST_LINE_BYTES)..];
            let text = String::from_utf8_lossy(end);
            if let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) {
                progress.last_line = line.trim().to_owned();
            }
        });
    }
}

/// Returns an observer that reports a command's progress to the client until it is dropped.
pub(crate) fn observer(peer: Peer<RoleServer>, token: ProgressToken) -> Box<dyn CommandObserver> {
    let (progress, changes) = channel(Progress::default());
    tokio::spawn(notify(peer, token, changes));
    Box::new(Watch { progress })
}

async fn notify(peer: Peer<RoleServer>, token: ProgressToken, mut changes: Receiver<Progress>) {
    let mut step = 0.0;
    while changes.changed().await.is_ok() {
        let output = changes.borrow_and_update().clone();
        step += 1.0;
        let message = match output.bytes {
            0 => output.last_line,
            bytes => format!("{bytes} bytes: {}", output.last_line),
        };
        let progress = ProgressNotificationParam::new(token.clone(), step).with_message(message);
        if peer.notify_progress(progress).await.is_err() {
            return;
        }
        // The channel keeps only the newest state, so the pause drops what is outdated by its end.
        tokio::time::sleep(EVERY).await;
    }
}
