//! A message with a task, and its acknowledgements.

use std::time::Duration;

use async_nats::jetstream::{AckKind, Message};

use crate::connection::FleetConnection;

/// A message with a task. A lost acknowledgement leads to another delivery, which finds the record.
pub(super) struct Delivery {
    pub(super) message: Message,
    pub(super) connection: FleetConnection,
}

impl Delivery {
    /// Reports that the work continues.
    pub(super) async fn progress(&self) {
        self.acknowledge(AckKind::Progress).await;
    }

    /// Gives the task back to the queue for a while.
    pub(super) async fn give_back(&self, delay: Duration) {
        self.acknowledge(AckKind::Nak(Some(delay))).await;
    }

    /// Removes the task from the queue, and waits until the server says that it has.
    pub(super) async fn finish(&self) {
        let acknowledging = self.message.double_ack();
        let _ = self.connection.bounded("acknowledging a task", acknowledging).await;
    }

    async fn acknowledge(&self, kind: AckKind) {
        let acknowledging = self.message.ack_with(kind);
        let _ = self.connection.bounded("acknowledging a task", acknowledging).await;
    }
}
