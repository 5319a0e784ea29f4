//! The two output forms of an envelope.

use std::str::FromStr;

use serde::Serialize;
use serde_yaml::{SerializerOptions, ser_options};

use crate::header::Header;
use crate::yaml::escapes;
use crate::{Request, Response, yaml};

/// The form in which an envelope is written. Both forms read back as the same value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Form {
    /// A header line and YAML, with multi-line texts as literal blocks: the form of the specification.
    #[default]
    Yaml,
    /// A header line and JSON, indented by two: the form that the public implementation accepts.
    JsonBody,
}

/// The error for an unknown form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is neither yaml nor json-body")]
pub struct UnknownForm(pub String);

impl FromStr for Form {
    type Err = UnknownForm;

    fn from_str(text: &str) -> Result<Form, UnknownForm> {
        match text {
            "yaml" => Ok(Form::Yaml),
            "json-body" => Ok(Form::JsonBody),
            _ => Err(UnknownForm(text.to_owned())),
        }
    }
}

/// Writes a request.
///
/// YAML ends with a newline, JSON does not.
#[must_use]
pub fn render_request(request: &Request, form: Form) -> String {
    let text = render(Header::Request, form, &request.body(form == Form::JsonBody));
    // The tolerant reader takes some escapes for literal letters after a backslash.
    match form {
        Form::Yaml => yaml::with_numbered_escapes(&text),
        Form::JsonBody => escapes::numbered(&text),
    }
}

/// Writes a response.
///
/// YAML ends with a newline, JSON does not. No line of a text can be mistaken for a header: in YAML it is
/// indented or quoted, in JSON it is quoted.
#[must_use]
pub fn render_response(response: &Response, form: Form) -> String {
    render(Header::Response, form, &response.body(form == Form::JsonBody))
}

fn render(header: Header, form: Form, body: &impl Serialize) -> String {
    let mut text = format!("{}\n", header.line());
    match form {
        Form::Yaml => serde_yaml::to_fmt_writer_with_options(&mut text, body, options())
            .expect("an envelope has keys that are texts, and a text can always be written to"),
        Form::JsonBody => {
            text.push_str(&serde_json::to_string_pretty(body).expect("an envelope has keys that are texts"));
        }
    }
    text
}

fn options() -> SerializerOptions {
    ser_options! {
        indent_step: 2,
        // The specification indents lists below their key.
        compact_list_indent: false,
        folded_wrap_chars: usize::MAX,
    }
}
