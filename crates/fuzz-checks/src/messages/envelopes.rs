//! The readers of envelopes.

use codali_envelope::{
    Form, ReadLimits, ReadOptions, Request, Strictness, extract_request, read_request, read_response,
    render_request, render_response,
};

/// Checks that parsed requests and responses are within their limits, and that each rendered form parses back to the same value.
pub fn envelope_readers(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for strictness in [Strictness::Strict, Strictness::Tolerant] {
        let options = ReadOptions { strictness, ..ReadOptions::default() };
        match read_request(&text, &options) {
            Ok(reading) => check_request(&reading.request),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    if let Ok(reading) = extract_request(&text, &ReadOptions::default()) {
        check_request(&reading.request);
    }
    let limits = ReadLimits::for_responses();
    if let Ok(response) = read_response(&text, &limits) {
        for form in [Form::Yaml, Form::JsonBody] {
            let rendered = render_response(&response, form);
            let again = read_response(&rendered, &limits);
            assert_eq!(again.as_ref(), Ok(&response), "{rendered:?}");
        }
    }
}

fn check_request(request: &Request) {
    assert!(request.needs.len() <= ReadLimits::for_requests().needs);
    for form in [Form::Yaml, Form::JsonBody] {
        let rendered = render_request(request, form);
        let options = ReadOptions { strictness: Strictness::Strict, ..ReadOptions::default() };
        match read_request(&rendered, &options) {
            Ok(again) => assert_eq!(&again.request, request, "{rendered:?}"),
            Err(error) => panic!("a rendered request is refused: {error}\n{rendered}"),
        }
    }
}
