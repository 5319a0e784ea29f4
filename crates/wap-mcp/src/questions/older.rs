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
    /// Asks the person about a call that waits for its review, and decides accordingly; the call itself returns the outcome.
    ///
    /// It is dropped when the call ends, which withdraws the question; a later answer has no effect.
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
                // The proposal has changed since: ask again about its current state.
                Err(error) if error.reason() == Reason::Conflict => {}
                // Also if another verdict came first: the call reports its outcome.
                _ => return,
            }
        }
    }
}
