//! Questions of 2025-11-25: an elicitation while the call waits.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientResult, ElicitRequest, RequestId, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions};
use wap_calls::Client;
use wap_core::{Reason, Request};

use super::form::{form, verdict};
use super::open::Questions;

impl Questions {
    /// Asks the person about a call that waits for its review, and decides as they do; the call itself gets the outcome.
    ///
    /// It is dropped when the call ends. The question is withdrawn then, and a later answer does nothing.
    pub(super) async fn ask_while_waiting(
        &self,
        client: &Arc<Client>,
        peer: &Peer<RoleServer>,
        request: &Request,
    ) {
        loop {
            let question = self.find(client, request).await;
            let elicitation = ServerRequest::ElicitRequest(ElicitRequest::new(form(&question)));
            let sent = peer.send_request_with_option(elicitation, PeerRequestOptions::no_options()).await;
            let Ok(handle) = sent else { return };
            let mut withdrawn = Withdrawn { peer: peer.clone(), id: Some(handle.id.clone()) };
            let answer = handle.await_response().await;
            withdrawn.id = None;
            let Ok(ClientResult::ElicitResult(answer)) = answer else { return };
            let Some(verdict) = verdict(&answer) else { return };
            match self.decide(client, question, verdict).await {
                // What was asked has changed since: what it is now is asked anew.
                Err(error) if error.reason() == Reason::Conflict => {}
                // Also where another verdict came first: the call says what came of it.
                _ => return,
            }
        }
    }
}

/// Tells the client that a question is not asked any more.
struct Withdrawn {
    peer: Peer<RoleServer>,
    /// The question; `None` once it is answered.
    id: Option<RequestId>,
}

impl Drop for Withdrawn {
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
