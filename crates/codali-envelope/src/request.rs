//! Requests.

mod fields;
pub(crate) mod need;
mod need_reader;
pub(crate) mod path_rule;
pub(crate) mod read_request;
pub(crate) mod request_id;
pub(crate) mod role;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{Need, RequestId, Role};

/// A request of an agent.
///
/// Source: Codali protocol, `AGENT_REQUEST`.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The role of the agent.
    pub role: Role,
    /// The id, which the response repeats.
    pub request_id: RequestId,
    /// The needs, in order.
    pub needs: Vec<Need>,
    /// The context, if the request has one.
    pub context: Option<Context>,
    /// Unknown keys, which are preserved.
    pub extra: Map<String, Value>,
}

/// The purpose of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Context {
    /// A summary of the agent's task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Constraints of the task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// Unknown keys, which are preserved.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The keys of a request in their order.
#[derive(Serialize)]
pub(crate) struct RequestBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    role: &'a Role,
    request_id: &'a RequestId,
    needs: &'a [Need],
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a Context>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

impl Request {
    /// Returns the serializable body; JSON repeats the version of the header.
    pub(crate) fn body(&self, with_version: bool) -> RequestBody<'_> {
        RequestBody {
            version: with_version.then_some(crate::VERSION),
            role: &self.role,
            request_id: &self.request_id,
            needs: &self.needs,
            context: self.context.as_ref(),
            extra: &self.extra,
        }
    }
}

/// Serializes the JSON form, version included.
impl Serialize for Request {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.body(true).serialize(serializer)
    }
}
