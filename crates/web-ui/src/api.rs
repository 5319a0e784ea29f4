//! The API of the page. Each view has a module, with its routes here.

mod agents;
mod history;
mod message;
pub(crate) mod plan;
mod review;
mod run;
mod sessions;
mod status;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use serde::de::DeserializeOwned;
use tagproto::SessionId;

use crate::answer::Refused;
use crate::page::Page;

/// Returns the routes that need access.
pub(crate) fn routes() -> Router<Arc<Page>> {
    review::routes()
        .route("/ui/api/events", get(events))
        .route("/ui/api/overview", get(status::overview))
        .route("/ui/api/status", get(status::status))
        .route("/ui/api/code", post(status::code))
        .route("/ui/api/processes/stop", post(status::stop_process))
        .route("/ui/api/sessions", get(sessions::list).post(sessions::create))
        .route("/ui/api/sessions/{id}", get(sessions::show))
        .route("/ui/api/sessions/{id}/steps", get(sessions::steps))
        .route("/ui/api/sessions/{id}/answer", post(sessions::answer))
        .route("/ui/api/sessions/{id}/reopen", post(sessions::reopen))
        .route("/ui/api/sessions/{id}/message", get(message::message))
        .route("/ui/api/sessions/{id}/plan", post(plan::plan))
        .route("/ui/api/sessions/{id}/run", get(run::newest).post(run::begin))
        .route("/ui/api/runs/{run}/stop", post(run::stop))
        .route("/ui/api/inbox/{name}", get(run::inbox_reply))
        .route("/ui/api/history", get(history::list))
        .route("/ui/api/difference", get(history::difference))
        .route("/ui/api/lines", get(history::lines))
        .route("/ui/api/undo", post(history::undo))
        .route("/ui/api/agents", get(agents::list))
        .route("/ui/api/agents/{key}/log", get(agents::log))
        .route("/ui/api/agents/{key}/difference", get(agents::difference))
        .route("/ui/api/agents/{key}/cancel", post(agents::cancel))
        .route("/ui/api/agents/{key}/pick", post(agents::pick))
}

async fn events(State(page): State<Arc<Page>>, headers: HeaderMap) -> Response {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    page.events.stream(last).unwrap_or_else(|| {
        Refused::new(StatusCode::SERVICE_UNAVAILABLE, "too many pages are open")
            .advise("close some of them")
            .into_response()
    })
}

/// Reads a body.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body).map_err(|error| Refused::bad(format!("the request cannot be read: {error}")))
}

fn session_id(id: &str) -> Result<SessionId, Refused> {
    id.parse().map_err(|error| Refused::bad(format!("'{id}' is not a session: {error}")))
}
