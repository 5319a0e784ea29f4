//! Answers of the API: JSON, and failures with advice.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use serde::Serialize;
use workspace_host::{Exit, Failure, SessionRefusal};

/// A failure, as shown by the page.
#[derive(Debug)]
pub(crate) struct Refused {
    status: StatusCode,
    message: String,
    advice: Option<String>,
}

#[derive(Serialize)]
struct Problem<'a> {
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'a str>,
}

pub(crate) type Answer = Result<Response<Body>, Refused>;

impl Refused {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Refused {
        Refused { status, message: message.into(), advice: None }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Refused {
        Refused::new(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn missing(message: impl Into<String>) -> Refused {
        Refused::new(StatusCode::NOT_FOUND, message)
    }

    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Refused {
        self.advice = Some(advice.into());
        self
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let body = Problem { error: &self.message, advice: self.advice.as_deref() };
        let mut response = json(&body);
        *response.status_mut() = self.status;
        response
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Refused {
        let status = match failure.exit {
            Exit::Usage => StatusCode::BAD_REQUEST,
            Exit::Refused => StatusCode::CONFLICT,
            Exit::Held | Exit::Missing => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Refused { status, message: failure.message, advice: failure.advice }
    }
}

impl From<SessionRefusal> for Refused {
    fn from(refusal: SessionRefusal) -> Refused {
        refusal.into_failure().into()
    }
}

/// Renders a value.
pub(crate) fn json<T: Serialize>(value: &T) -> Response<Body> {
    let bytes = serde_json::to_vec(value).expect("answers have string keys");
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Renders plain text.
pub(crate) fn text(text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
