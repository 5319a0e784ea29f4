//! Questions of 2025-11-25: requests to the client while its own request waits.

use rmcp::RoleServer;
use rmcp::model::{ClientResult, ErrorData, InputRequest, InputRequests, InputResponses, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions};

use crate::giving_up::Withdrawal;

/// Asks a client, one question after another, and returns its answers. A question that is open when this future is dropped
/// is withdrawn.
///
/// # Errors
///
/// An error for the client if it answers with one, or with something else.
pub(super) async fn ask(
    peer: &Peer<RoleServer>,
    requests: InputRequests,
) -> Result<InputResponses, ErrorData> {
    let mut answers = InputResponses::new();
    for (name, request) in requests {
        let request = match request {
            InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
            InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
            InputRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
            _ => return Err(unanswered(&name)),
        };
        let sent = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        let Ok(handle) = sent else { return Err(unanswered(&name)) };
        let withdrawal = Withdrawal::new(peer.clone(), handle.id.clone());
        let answer = handle.await_response().await;
        withdrawal.disarm();
        let answer = match answer {
            Ok(ClientResult::ElicitResult(answer)) => serde_json::to_value(answer),
            Ok(ClientResult::CreateMessageResult(answer)) => serde_json::to_value(answer),
            Ok(ClientResult::ListRootsResult(answer)) => serde_json::to_value(answer),
            _ => return Err(unanswered(&name)),
        };
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        answers.insert(name, answer);
    }
    Ok(answers)
}

fn unanswered(name: &str) -> ErrorData {
    ErrorData::internal_error(format!("the client has not answered the question '{name}'"), None)
}
