//! JSON-RPC 2.0: parsing messages and rendering answers.

use serde::Serialize;
use serde_json::{Value, json};
use wap_core::{Reason, WapError};

/// The text is not JSON.
pub const PARSE_ERROR: i32 = -32_700;
/// The JSON is not a request.
pub const INVALID_REQUEST: i32 = -32_600;
/// There is no such method.
pub const METHOD_NOT_FOUND: i32 = -32_601;
/// The method does not accept these parameters.
pub const INVALID_PARAMS: i32 = -32_602;
/// The call was cancelled.
pub const CANCELLED: i32 = -32_800;
/// The tool has failed; the error's data has its `WapError`.
pub const TOOL_FAILED: i32 = -32_000;

/// The notification that cancels a call: `{"id": …}`.
pub const CANCEL: &str = "$/cancelRequest";

/// A request, or without an id a notification.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The id of a request; `None` for a notification.
    pub id: Option<Value>,
    /// The method.
    pub method: String,
    /// The parameters; `null` if there are none.
    pub params: Value,
}

/// The fault of a text that is not a message, with the parts of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Malformed {
    /// The id of the request, as far as it could be read.
    pub id: Value,
    /// The error code.
    pub code: i32,
    /// The error text.
    pub text: String,
}

impl Message {
    /// Parses one line.
    ///
    /// # Errors
    ///
    /// If it is not JSON, or not a request.
    pub fn parse(line: &[u8]) -> Result<Message, Malformed> {
        let malformed = |code, text: String| Malformed { id: Value::Null, code, text };
        wap_core::check_json_size(line).map_err(|error| malformed(INVALID_REQUEST, error.to_string()))?;
        let value: Value = serde_json::from_slice(line)
            .map_err(|error| malformed(PARSE_ERROR, format!("the message is not JSON: {error}")))?;
        let mut object = match value {
            Value::Object(object) => object,
            Value::Array(_) => {
                let text = "batches are not supported: send one message a line";
                return Err(malformed(INVALID_REQUEST, text.to_owned()));
            }
            _ => return Err(malformed(INVALID_REQUEST, "the message is not an object".to_owned())),
        };
        // Read first, so that every later refusal can name the request.
        let id = object.remove("id");
        let refused = |text: &str| Malformed {
            id: id.clone().filter(is_id).unwrap_or_default(),
            code: INVALID_REQUEST,
            text: text.to_owned(),
        };
        if object.get("jsonrpc") != Some(&json!("2.0")) {
            return Err(refused("'jsonrpc' is not \"2.0\""));
        }
        if id.as_ref().is_some_and(|id| !is_id(id)) {
            return Err(refused("'id' is neither a text nor a number"));
        }
        let Some(Value::String(method)) = object.remove("method") else {
            return Err(refused("'method' is not a text"));
        };
        let params = object.remove("params").unwrap_or_default();
        Ok(Message { id, method, params })
    }
}

// The specification discourages `null` and does not forbid it.
fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_number() || id.is_null()
}

/// Renders the answer to a request, as one line without its ending.
pub fn response<T: Serialize>(id: &Value, result: &T) -> Vec<u8> {
    #[derive(Serialize)]
    struct Answer<'a, T> {
        jsonrpc: &'static str,
        id: &'a Value,
        result: &'a T,
    }
    serde_json::to_vec(&Answer { jsonrpc: "2.0", id, result }).expect("answers have string keys")
}

/// Renders a notification or request.
pub fn message<T: Serialize>(id: Option<u64>, method: &str, params: &T) -> Vec<u8> {
    #[derive(Serialize)]
    struct Request<'a, T> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        method: &'a str,
        params: &'a T,
    }
    serde_json::to_vec(&Request { jsonrpc: "2.0", id, method, params }).expect("requests have string keys")
}

/// Renders an error.
pub fn error(id: &Value, code: i32, text: &str, data: Option<&WapError>) -> Vec<u8> {
    let mut error = json!({ "code": code, "message": text });
    if let (Some(data), Some(error)) = (data, error.as_object_mut()) {
        error.insert("data".to_owned(), json!(data));
    }
    serde_json::to_vec(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
        .expect("errors have string keys")
}

/// Renders a tool's failure.
pub fn failure(id: &Value, failed: &WapError) -> Vec<u8> {
    let code = match failed.reason() {
        Reason::UnknownTool => METHOD_NOT_FOUND,
        Reason::InvalidField => INVALID_PARAMS,
        Reason::Cancelled => CANCELLED,
        _ => TOOL_FAILED,
    };
    error(id, code, failed.message(), Some(failed))
}
