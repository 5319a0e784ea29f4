//! The gate of the MCP service: its messages go through the budget of bodies, and it runs on a separate thread.
//!
//! The service parses messages on the thread that runs it, which would delay the other addresses if they shared it.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::Next;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use wap_core::{Limits, Reason, WapError};

use crate::bodies::{self, Bodies, Received};
use crate::mcp_head::MessageHead;
use crate::refusal::{refusal, refusal_with};
use wap_mcp::SessionRoom;

/// The state of the gate.
#[derive(Debug)]
pub(crate) struct McpGate {
    pub(crate) bodies: Bodies,
    /// The runtime of the service.
    pub(crate) runtime: Handle,
    pub(crate) sessions: SessionRoom,
}

/// Ends the request of a disconnected client.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Reads the body of a request and passes it to the service.
pub(crate) async fn pass(State(gate): State<Arc<McpGate>>, request: Request, next: Next) -> Response<Body> {
    let (mut head, body) = request.into_parts();
    let has_body = head.method == Method::POST;
    let is_end = head.method == Method::DELETE;
    let limit_bytes = if has_body { Limits::MAX_REQUEST_BYTES } else { 0 };
    let Received { bytes, share } = match gate.bodies.read(&head.headers, body, limit_bytes).await {
        Ok(received) => received,
        Err(error) => return bodies::refused(&error),
    };
    // The body is complete: a service that reads this header would expect chunks.
    head.headers.remove(header::TRANSFER_ENCODING);
    let sessions = gate.sessions;
    // The task runs on the other runtime. If the client disconnects, this future is dropped, and the task must end as well.
    let mut answering = AbortOnDrop(gate.runtime.spawn(async move {
        if let Err(error) = wap_core::check_json_size(&bytes) {
            return refusal(&error);
        }
        let message = match MessageHead::check(&bytes) {
            Ok(message) => message,
            Err(error) => return refusal(&error),
        };
        // The answer may be a stream that begins before the call has ended. The service keeps the head of a request with its
        // call, even if the client disconnects, and with it the share. The head that begins a session lives as long as the
        // session.
        let share = Arc::new(share);
        if !message.begins_a_session() {
            head.extensions.insert(Arc::clone(&share));
        }
        let body = match wap_mcp::rename_older(&bytes) {
            Cow::Borrowed(_) => Body::from(bytes),
            Cow::Owned(renamed) => {
                head.headers.remove(header::CONTENT_LENGTH);
                rename_header(&mut head.headers);
                Body::from(renamed)
            }
        };
        let (response, is_full) = sessions.note(next.run(Request::from_parts(head, body))).await;
        drop(share);
        if is_full { bodies::refused(&crowded()) } else { ended(is_end, response) }
    }));
    match (&mut answering.0).await {
        Ok(response) => response,
        Err(_) => refusal_with(StatusCode::SERVICE_UNAVAILABLE, &stopping()),
    }
}

/// Answers 204 to the end of a session. The service answers 202, accepted for later, although the session has already ended;
/// clients that expect 200 or 204 report that as a failure.
fn ended(is_end: bool, mut response: Response<Body>) -> Response<Body> {
    if is_end && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
        *response.body_mut() = Body::empty();
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response.headers_mut().remove(header::CONTENT_TYPE);
    }
    response
}

fn crowded() -> WapError {
    WapError::new(Reason::Busy, "too many sessions are busy; try again later")
}

fn stopping() -> WapError {
    WapError::new(Reason::Busy, "the server stops")
}

/// Renames the method in the header like in the body: if both are present, they have to be equal.
fn rename_header(headers: &mut HeaderMap) {
    if let Some(method) = headers.get_mut("mcp-method")
        && method == "subscriptions/listen"
    {
        *method = HeaderValue::from_static(wap_mcp::LISTEN_METHOD);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use axum::Router;
    use axum::http::request::Parts;
    use axum::middleware::from_fn_with_state;
    use axum::routing::post;
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;

    use super::*;

    #[test]
    fn a_share_lasts_as_long_as_the_service_keeps_the_call() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime of one thread needs nothing").block_on(async {
            let bodies = Bodies::default();
            // Keeps the heads of its requests, as the service does while their calls run, and answers immediately.
            let calls: Arc<Mutex<Vec<Parts>>> = Arc::default();
            let kept = Arc::clone(&calls);
            let service = move |request: Request| {
                kept.lock().expect("no test panics with it").push(request.into_parts().0);
                async { StatusCode::OK }
            };
            let gate = McpGate { bodies: bodies.clone(), runtime: Handle::current(), sessions: SessionRoom };
            let router = Router::new().route("/mcp", post(service));
            let router = router.route_layer(from_fn_with_state(Arc::new(gate), pass));
            let router = TowerToHyperService::new(router);
            let ask = async |message: String| {
                let request = Request::post("/mcp").body(Body::from(message)).expect("it is a request");
                router.call(request).await.expect("it answers").status()
            };
            let all = bodies.left();
            let content = "x".repeat(10 << 20);
            let call = format!(r#"{{"id":1,"method":"tools/call","params":{{"arguments":"{content}"}}}}"#);
            assert_eq!(ask(call).await, StatusCode::OK);
            let left = bodies.left();
            assert!(left.0 + content.len() <= all.0, "{left:?} of {all:?}");
            calls.lock().expect("no test panics with it").clear();
            assert_eq!(bodies.left(), all, "the control: nothing is held once the call has ended");
            // The head that begins a session is kept with the session.
            let begin = r#"{"id":1,"method":"initialize","params":{}}"#.to_owned();
            assert_eq!(ask(begin).await, StatusCode::OK);
            assert_eq!((calls.lock().expect("no test panics with it").len(), bodies.left()), (1, all));
            // A message that is too long does not reach the service.
            let long = format!(r#"{{"id":"{}","method":"ping"}}"#, "x".repeat(2 << 10));
            assert_eq!(ask(long).await, StatusCode::BAD_REQUEST);
            assert_eq!((calls.lock().expect("no test panics with it").len(), bodies.left()), (1, all));
        });
    }
}
