//! Questions of 2025-11-25: an elicitation while the call waits.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientResult, ElicitRequest, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions};
use wap_calls::Client;
use wap_core::{Reason, Request};

use super::form::{form, verdict};
use super::open::Questions;
use crate::giving_up::Withdrawal;

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
            let withdrawal = Withdrawal::new(peer.clone(), handle.id.clone());
            let answer = handle.await_response().await;
            withdrawal.disarm();
            let Ok(ClientResult::ElicitResult(answer)) = answer else { return };
            let Some(verdict) = verdict(&answer) else { return };
            match self.decide_for(client, request, question, verdict).await {
                // What was asked has changed since: what it is now is asked anew.
                Err(error) if error.reason() == Reason::Conflict => {}
                // Also where another verdict came first: the call says what came of it.
                _ => return,
            }
        }
    }
}
