//! Responses.

pub(crate) mod need_result;
pub(crate) mod read_response;
pub(crate) mod warning;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{NeedResult, OtherResult, RequestId, Warning};

/// A response: one result for each need, in the order of the needs.
///
/// Source: Codali protocol, `CODALI_RESPONSE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The id of the answered request.
    pub request_id: RequestId,
    /// The results.
    pub results: Vec<NeedResult>,
    /// The metadata.
    pub meta: Meta,
    /// Unknown keys, which are preserved.
    pub extra: Map<String, Value>,
}

/// The metadata of a response.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Meta {
    /// The name of the workspace, or its absolute path with [`RootForm::AbsolutePath`](crate::RootForm).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo_root: Option<String>,
    /// Warnings about failed, truncated and stale results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// The time of answering in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// Unknown keys, which are preserved.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The keys of a response in their order.
#[derive(Serialize)]
pub(crate) struct ResponseBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    request_id: &'a RequestId,
    results: &'a [NeedResult],
    #[serde(skip_serializing_if = "is_silent")]
    meta: &'a Meta,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

fn is_silent(meta: &&Meta) -> bool {
    **meta == Meta::default()
}

impl Response {
    /// Returns the serializable body; JSON repeats the version of the header.
    pub(crate) fn body(&self, with_version: bool) -> ResponseBody<'_> {
        ResponseBody {
            version: with_version.then_some(crate::VERSION),
            request_id: &self.request_id,
            results: &self.results,
            meta: &self.meta,
            extra: &self.extra,
        }
    }

    /// Returns the response with dependencies as plain paths, each once, in order.
    ///
    /// Readers of the public implementation expect this form: they join the items of both lists to one text, in
    /// which an item with fields becomes `[object Object]`. Kinds and depths are lost.
    #[must_use]
    pub fn with_impact_as_paths(mut self) -> Response {
        for result in &mut self.results {
            if let NeedResult::Impact(impact) = result {
                let Ok(Value::Object(mut fields)) = serde_json::to_value(&*impact) else { continue };
                for (name, edges) in [("inbound", &impact.inbound), ("outbound", &impact.outbound)] {
                    let mut files: Vec<&str> = Vec::with_capacity(edges.len());
                    for edge in edges {
                        // The edges are sorted by file, with one for each kind of dependency.
                        if files.last() != Some(&edge.file.as_str()) {
                            files.push(&edge.file);
                        }
                    }
                    fields.insert(name.to_owned(), files.into());
                }
                *result = NeedResult::Other(OtherResult { result_type: "docdex.impact".to_owned(), fields });
            }
        }
        self
    }
}
