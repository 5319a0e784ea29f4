//! Errors as responses: the error object of the tools, with a status.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use wap_core::{ErrorCode, Reason, WapError};

/// Returns the status of an error.
pub(crate) fn status(error: &WapError) -> StatusCode {
    match error.reason() {
        Reason::Conflict => return StatusCode::CONFLICT,
        Reason::UnknownTool => return StatusCode::NOT_FOUND,
        Reason::Unauthorized => return StatusCode::UNAUTHORIZED,
        Reason::Busy | Reason::SandboxUnavailable => return StatusCode::SERVICE_UNAVAILABLE,
        Reason::NoSpace => return StatusCode::INSUFFICIENT_STORAGE,
        Reason::ReadError | Reason::WriteError => return StatusCode::INTERNAL_SERVER_ERROR,
        _ => {}
    }
    match error.code() {
        ErrorCode::FileNotFound => StatusCode::NOT_FOUND,
        ErrorCode::PermissionDenied => StatusCode::FORBIDDEN,
        ErrorCode::SizeLimitExceeded => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::InvalidArgument => StatusCode::BAD_REQUEST,
        // The command failed, not the server; and no proxy may repeat the request, as some do after a 5xx.
        ErrorCode::ExecutionFailed | ErrorCode::Timeout => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

/// Renders an error.
pub(crate) fn refusal(error: &WapError) -> Response<Body> {
    refusal_with(status(error), error)
}

/// Renders an error with a given status.
pub(crate) fn refusal_with(status: StatusCode, error: &WapError) -> Response<Body> {
    let mut response = json(status, serde_json::to_vec(error).expect("errors have string keys"));
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// Renders a body that is already JSON.
pub(crate) fn json(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // Answers hold source code: no cache may keep them, and no browser may guess another type and render them.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
