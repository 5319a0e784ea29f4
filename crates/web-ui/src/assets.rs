//! The embedded files of the page.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};

/// A file of the page.
#[derive(Debug)]
pub(crate) struct Asset {
    /// Its name below `/ui/`; empty for the page itself.
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

macro_rules! asset {
    ($name:literal, $file:literal, $kind:ident) => {
        Asset { name: $name, kind: $kind, bytes: include_bytes!(concat!("../page/", $file)) }
    };
}

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

const ASSETS: [Asset; 32] = [
    asset!("", "index.html", HTML),
    asset!("icon.svg", "icon.svg", PICTURE),
    asset!("style.css", "style.css", STYLE),
    asset!("views.css", "views.css", STYLE),
    asset!("app.js", "app.js", SCRIPT),
    asset!("dom.js", "dom.js", SCRIPT),
    asset!("visible.js", "visible.js", SCRIPT),
    asset!("server.js", "server.js", SCRIPT),
    asset!("events.js", "events.js", SCRIPT),
    asset!("keys.js", "keys.js", SCRIPT),
    asset!("entry.js", "entry.js", SCRIPT),
    asset!("difference.js", "difference.js", SCRIPT),
    asset!("loop.js", "loop.js", SCRIPT),
    asset!("message.js", "message.js", SCRIPT),
    asset!("reply.js", "reply.js", SCRIPT),
    asset!("plan.js", "plan.js", SCRIPT),
    asset!("run.js", "run.js", SCRIPT),
    asset!("review/view.js", "review/view.js", SCRIPT),
    asset!("review/head.js", "review/head.js", SCRIPT),
    asset!("review/proposal.js", "review/proposal.js", SCRIPT),
    asset!("review/decisions.js", "review/decisions.js", SCRIPT),
    asset!("review/draft.js", "review/draft.js", SCRIPT),
    asset!("review/steps.js", "review/steps.js", SCRIPT),
    asset!("review/lines.js", "review/lines.js", SCRIPT),
    asset!("review/tokens.js", "review/tokens.js", SCRIPT),
    asset!("review/comments.js", "review/comments.js", SCRIPT),
    asset!("review/results.js", "review/results.js", SCRIPT),
    asset!("review/tree.js", "review/tree.js", SCRIPT),
    asset!("review/review.css", "review/review.css", STYLE),
    asset!("history.js", "history.js", SCRIPT),
    asset!("agents.js", "agents.js", SCRIPT),
    asset!("status.js", "status.js", SCRIPT),
];

/// Returns the names of the files, each with its size in bytes; the page itself has an empty name.
pub fn assets() -> impl Iterator<Item = (&'static str, usize)> {
    ASSETS.iter().map(|asset| (asset.name, asset.bytes.len()))
}

/// Returns the bytes of a file of the page; `None` if there is none of that name.
#[must_use]
pub fn asset_bytes(name: &str) -> Option<&'static [u8]> {
    find(name).map(|asset| asset.bytes)
}

pub(crate) fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

impl Asset {
    /// Renders the file, or answers "not modified".
    pub(crate) fn respond(&self, request: &HeaderMap) -> Response<Body> {
        let tag = format!("\"{}\"", &blake3::hash(self.bytes).to_hex()[..32]);
        let is_held =
            request.get(header::IF_NONE_MATCH).is_some_and(|held| held.as_bytes() == tag.as_bytes());
        let mut response = Response::new(if is_held { Body::empty() } else { Body::from(self.bytes) });
        if is_held {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        // Always revalidated, so that an update of the program also updates the page.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            headers.insert(header::ETAG, tag);
        }
        response
    }
}
