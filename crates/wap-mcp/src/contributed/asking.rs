//! Questions of 2025-11-25: requests to the client while its request waits.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientResult, ErrorData, InputRequest, InputRequests, InputResponses, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::states::PATIENCE;
use crate::giving_up::Withdrawal;

/// The most requests of one client that wait for its answers at the same time. Each is kept until it is answered, even if its
/// connection has ended.
const MOST_WAITING: usize = 64;

/// The questions to one client.
#[derive(Clone, Debug)]
pub(super) struct Asking {
    permit: Arc<Semaphore>,
}

impl Default for Asking {
    fn default() -> Asking {
        Asking { permit: Arc::new(Semaphore::new(MOST_WAITING)) }
    }
}

impl Asking {
    /// Asks a client one question after another, and returns its answers. Dropping this future withdraws an open question.
    ///
    /// # Errors
    ///
    /// An error for the client if it answers with an error, with something else, or too late, or if too many of its requests
    /// already wait for answers.
    pub(super) async fn ask(
        &self,
        peer: &Peer<RoleServer>,
        requests: InputRequests,
    ) -> Result<InputResponses, ErrorData> {
        let _room = self.permit()?;
        let answers = timeout(PATIENCE, ask(peer, requests)).await;
        answers
            .unwrap_or_else(|_| Err(ErrorData::internal_error("the client has not answered in time", None)))
    }

    /// Returns a permit for one more waiting request, valid until it is dropped.
    fn permit(&self) -> Result<SemaphorePermit<'_>, ErrorData> {
        let text = "too many requests wait for answers of this client already: answer them, or cancel them";
        self.permit.try_acquire().map_err(|_| ErrorData::internal_error(text, None))
    }
}

async fn ask(peer: &Peer<RoleServer>, requests: InputRequests) -> Result<InputResponses, ErrorData> {
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

#[cfg(test)]
mod tests {
    use super::{Asking, MOST_WAITING};

    #[test]
    fn the_requests_that_wait_are_bounded_for_each_client() {
        let (one, other) = (Asking::default(), Asking::default());
        let mut waiting: Vec<_> = (0..MOST_WAITING).map(|_| one.permit().unwrap()).collect();
        assert!(one.clone().permit().is_err());
        assert!(other.permit().is_ok());
        waiting.pop();
        assert!(one.permit().is_ok());
    }
}
