//! The addresses of the page and of its API.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde::Deserialize;
use serde_json::json;
use tag_session::REPLY_LIMIT_BYTES;
use wap_http::Peer;

use crate::answer::{Refused, json};
use crate::page::Page;
use crate::{api, assets, headers};

/// The most bytes of a request with a code.
const ENTRY_BYTES: usize = 1_024;

/// The most bytes of other requests: JSON escapes can make a text up to six times as long.
const BODY_BYTES: usize = 6 * REPLY_LIMIT_BYTES as usize;

/// Returns the service of the page at `/ui/`, protected by the guard of its configuration.
pub fn router(page: Arc<Page>) -> Router {
    let guard = Arc::clone(&page.config.guard);
    let closed = api::routes()
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .route_layer(from_fn_with_state(Arc::clone(&page), admitted));
    let open = Router::new()
        .route("/ui", get(|| async { Redirect::permanent("/ui/") }))
        .route("/ui/", get(index))
        .route("/ui/{file}", get(file))
        .route("/ui/review/{file}", get(review_file))
        .route("/ui/api/enter", post(enter).layer(DefaultBodyLimit::max(ENTRY_BYTES)));
    let router = open.merge(closed).with_state(page).layer(from_fn(same_page)).layer(from_fn(headers::add));
    guard.check_sources(router)
}

/// Returns the service of a server with only the page.
pub fn site(page: Arc<Page>) -> Router {
    let guard = Arc::clone(&page.config.guard);
    let root = Router::new().route("/", get(|| async { Redirect::temporary("/ui/") }));
    guard.check_sources(root).merge(router(page))
}

async fn index(headers: HeaderMap) -> Response {
    respond("", &headers)
}

async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    respond(&name, &headers)
}

async fn review_file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    respond(&format!("review/{name}"), &headers)
}

fn respond(name: &str, headers: &HeaderMap) -> Response {
    match assets::find(name) {
        Some(asset) => asset.respond(headers),
        None => Refused::missing("the page has no such file").into_response(),
    }
}

/// Refuses requests that do not come from the page itself. The guard has compared the origin, if any, with the host; a request
/// that changes something must have an origin, and must be of a kind that a form cannot send.
async fn same_page(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let is_api = request.uri().path().starts_with("/ui/api/");
    if is_api && !matches!(site, None | Some(b"same-origin")) {
        return Refused::new(StatusCode::FORBIDDEN, "only the page itself may use this").into_response();
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        if !headers.contains_key(header::ORIGIN) {
            return Refused::new(StatusCode::FORBIDDEN, "a request that changes something needs an origin")
                .into_response();
        }
        let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        if kind.split(|byte| *byte == b';').next() != Some(b"application/json") {
            return Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send JSON").into_response();
        }
    }
    next.run(request).await
}

async fn admitted(State(page): State<Arc<Page>>, request: Request, next: Next) -> Response {
    if page.config.access.is_admitted(request.headers()) {
        return next.run(request).await;
    }
    page.config.guard.count_refusal();
    Refused::new(StatusCode::UNAUTHORIZED, "this browser has no access")
        .advise("open the address that `agentd ui` prints")
        .into_response()
}

#[derive(Deserialize)]
struct EnterWith {
    code: String,
}

/// Exchanges a code for a cookie and a key.
///
/// A server's token gives no access: its clients have the rights of a model, and the page decides reviews. Other users of the
/// machine can see codes: a browser is started with a code among its arguments.
async fn enter(State(page): State<Arc<Page>>, peer: Option<Extension<Peer>>, body: Bytes) -> Response {
    if peer.is_some_and(|Extension(peer)| peer.is_of_other_user()) {
        page.config.guard.count_refusal();
        return Refused::new(StatusCode::FORBIDDEN, "the page belongs to another user of this machine")
            .advise("open it as the user who has started agentd")
            .into_response();
    }
    let Ok(EnterWith { code }) = serde_json::from_slice(&body) else {
        return Refused::bad("send {\"code\":…}").into_response();
    };
    let entry = match page.config.access.enter(&code) {
        Ok(entry) => entry,
        Err(error) => {
            page.config.guard.count_refusal();
            return Refused::new(StatusCode::FORBIDDEN, error.to_string())
                .advise("run `agentd ui` in the folder of code for a new address")
                .into_response();
        }
    };
    let mut response = json(&json!({ "key": entry.key })).into_response();
    if let Ok(cookie) = HeaderValue::from_str(&entry.cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
