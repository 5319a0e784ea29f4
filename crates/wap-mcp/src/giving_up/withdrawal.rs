//! The withdrawal of an obsolete question.

use rmcp::RoleServer;
use rmcp::model::{CancelledNotification, CancelledNotificationParam, RequestId};
use rmcp::service::Peer;

/// Withdraws a question at a client when it is dropped.
pub(crate) struct Withdrawal {
    peer: Peer<RoleServer>,
    /// The question; `None` once it is answered.
    id: Option<RequestId>,
}

impl Withdrawal {
    /// Returns the withdrawal of a question that was just asked.
    pub(crate) fn new(peer: Peer<RoleServer>, id: RequestId) -> Withdrawal {
        Withdrawal { peer, id: Some(id) }
    }

    /// Withdraws nothing: the question was answered.
    pub(crate) fn disarm(mut self) {
        self.id = None;
    }
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let peer = self.peer.clone();
        tokio::spawn(async move {
            let reason = "it was decided elsewhere, or its call has ended".to_owned();
            let params = CancelledNotificationParam::new(Some(id), Some(reason));
            // A failure means that the client is gone.
            let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
        });
    }
}
