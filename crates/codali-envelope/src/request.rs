//! What an agent sends.

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

/// A request: what an agent needs before it can go on.
///
/// Source: Codali protocol, `AGENT_REQUEST`.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Who asks.
    pub role: Role,
    /// The request's name, which the response repeats.
    pub request_id: RequestId,
    /// What is asked for, in order.
    pub needs: Vec<Need>,
    /// Why, if the request says so.
    pub context: Option<Context>,
    /// Keys that mean nothing here; they are kept.
    pub extra: Map<String, Value>,
}

/// Why something is asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Context {
    /// What the agent is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What it has to keep to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// Keys that mean nothing here; they are kept.
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
    /// Returns what is written; the version is in the header of YAML, and in the body of JSON too.
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

/// As the JSON form has it, version included.
impl Serialize for Request {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.body(true).serialize(serializer)
    }
}
