//! A request in the text of an agent.

use codali_envelope::{
    Meta, ReadError, ReadOptions, Reading, RequestId, Response, Warning, extract_request, refuse,
};

/// The request in a text.
#[derive(Debug)]
pub enum Incoming {
    /// A request, possibly with needs that cannot be answered.
    Request(Reading),
    /// A request that is refused as a whole.
    Refused {
        /// The response for the agent.
        response: Response,
        /// The reason, for the user of the program.
        error: ReadError,
    },
    /// Text without a request.
    Nothing,
}

/// Finds the request in a text. A request without an id has `default_id`.
///
/// Source: Codali protocol, request rules.
#[must_use]
pub fn read_request(text: &str, default_id: Option<&RequestId>) -> Incoming {
    let options = ReadOptions { default_request_id: default_id.cloned(), ..ReadOptions::default() };
    match extract_request(text, &options) {
        Ok(reading) => Incoming::Request(reading),
        Err(error) => match refuse(&error) {
            Some(response) => Incoming::Refused { response, error },
            None => Incoming::Nothing,
        },
    }
}

/// Returns a response without results, with one warning and the id `invalid`, for a text whose request has no
/// readable id.
///
/// # Panics
///
/// Never: the id is valid.
#[must_use]
pub fn warning_response(warning: Warning) -> Response {
    Response {
        request_id: "invalid".parse().expect("it is short and printable"),
        results: Vec::new(),
        meta: Meta { warnings: vec![warning], ..Meta::default() },
        extra: Default::default(),
    }
}
