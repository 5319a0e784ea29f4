//! Notifications about the status of tasks, so that clients need not poll.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{CustomNotification, DetailedTask, ServerNotification};
use rmcp::service::Peer;
use serde_json::Value;
use tokio::sync::mpsc;

use super::desk::{TaskDesk, status_message};
use super::older::{status, wire_task};
use super::source::{TaskProgress, TaskView};

/// The longest wait of one poll of a task.
const LOOK: Duration = Duration::from_secs(1);

/// The pause after polling a task that will not end soon by itself.
const PAUSE: Duration = Duration::from_millis(200);

/// The notification of 2025-11-25.
const OLDER: &str = "notifications/tasks/status";

impl TaskDesk {
    /// Notifies a client of 2025-11-25 of each new status of its task, until the task has ended or the client is gone.
    pub(super) fn notify_older(&self, peer: Peer<RoleServer>, task: &TaskView) {
        let desk = self.clone();
        let (id, last) = (task.id.clone(), mark(task));
        tokio::spawn(async move {
            let mut changes = Changes { desk, id, last: Some(last), is_over: false };
            while !peer.is_transport_closed() {
                let Some(task) = changes.next_or_pause().await else { break };
                let Some(task) = task else { continue };
                let notification = CustomNotification::new(OLDER, Some(wire_task(&task)));
                if peer.send_notification(ServerNotification::CustomNotification(notification)).await.is_err()
                {
                    break;
                }
            }
        });
    }

    /// Sends each new status of a task, the first one immediately, until it has ended or its client is gone.
    pub(super) async fn send_newer(self, id: String, sender: mpsc::Sender<Value>) {
        let mut changes = Changes { desk: self.clone(), id, last: None, is_over: false };
        while !sender.is_closed() {
            let Some(task) = changes.next_or_pause().await else { break };
            let Some(task) = task else { continue };
            let task: DetailedTask = self.detailed(task);
            let Ok(task) = serde_json::to_value(task) else { break };
            if sender.send(task).await.is_err() {
                break;
            }
        }
    }
}

/// Returns a text that differs after each change that is reported to a client.
fn mark(task: &TaskView) -> String {
    format!("{} {}", status(task), status_message(task))
}

/// The changes of one task.
struct Changes {
    desk: TaskDesk,
    id: String,
    /// The mark of the last reported state.
    last: Option<String>,
    is_over: bool,
}

impl Changes {
    /// Polls the task once. Returns it if it has changed; `None` if it has ended or was removed.
    async fn next_or_pause(&mut self) -> Option<Option<TaskView>> {
        if self.is_over {
            return None;
        }
        // The first poll does not wait for the end.
        let longest = if self.last.is_some() { LOOK } else { Duration::ZERO };
        let task = match self.desk.show(&self.id, longest).await {
            Ok(task) => task?,
            // Retry a source that cannot answer now.
            Err(_) => {
                tokio::time::sleep(LOOK).await;
                return Some(None);
            }
        };
        self.is_over = matches!(task.progress, TaskProgress::Ended(_));
        let mark = mark(&task);
        if self.last.as_ref() == Some(&mark) {
            if matches!(task.progress, TaskProgress::AwaitsReview { .. }) {
                tokio::time::sleep(PAUSE).await;
            }
            return Some(None);
        }
        self.last = Some(mark);
        Some(Some(task))
    }
}
