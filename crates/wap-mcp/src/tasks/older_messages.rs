//! Renames requests of 2025-11-25 about tasks, so that the SDK, which only knows those of 2026-07-28, forwards them complete.

use std::borrow::Cow;

use memchr::memmem;
use serde_json::Value;

/// The request to call a tool as a task.
pub(super) const CALL: &str = "agentd/callAsTask";
/// The request for the state of a task.
pub(super) const GET: &str = "agentd/getTask";
/// The request to cancel a task.
pub(super) const CANCEL: &str = "agentd/cancelTask";

/// The name under which the SDK forwards a complete subscription to tasks. Over HTTP, rename the header that repeats the method
/// together with the body.
pub const LISTEN: &str = "agentd/listen";

/// The longest message that is examined, in bytes: a longer one does not ask for a task.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// The key of the version, which every request of the newer era names.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Returns a message of a client in the form for the SDK. It only changes requests about tasks whose parameters the SDK would
/// lose, or that it would take for requests of the newer era: those of the older era, and subscriptions to tasks of the newer.
#[must_use]
pub fn rename_older(message: &[u8]) -> Cow<'_, [u8]> {
    if message.len() > MOST_BYTES || !may_be_about_a_task(message) {
        return Cow::Borrowed(message);
    }
    let Ok(mut parsed) = serde_json::from_slice::<Value>(message) else { return Cow::Borrowed(message) };
    let renamed = rename(&mut parsed);
    match serde_json::to_vec(&parsed) {
        Ok(bytes) if renamed => Cow::Owned(bytes),
        _ => Cow::Borrowed(message),
    }
}

/// A cheap test, so that most messages are not parsed twice.
fn may_be_about_a_task(message: &[u8]) -> bool {
    let has = |text: &str| memmem::find(message, text.as_bytes()).is_some();
    has("\"taskIds\"") && has("\"subscriptions/listen\"")
        || has("\"tasks/get\"")
        || has("\"tasks/cancel\"")
        || has("\"task\"") && has("\"tools/call\"")
}

fn rename(message: &mut Value) -> bool {
    let params = &message["params"];
    if !params["_meta"][VERSION].is_null() {
        let is_about_tasks = message["method"] == "subscriptions/listen"
            && params["notifications"]["taskIds"].as_array().is_some_and(|ids| !ids.is_empty());
        if is_about_tasks {
            message["method"] = Value::from(LISTEN);
        }
        return is_about_tasks;
    }
    let name = match message["method"].as_str() {
        Some("tools/call") if params["task"].is_object() => CALL,
        Some("tasks/get") => GET,
        Some("tasks/cancel") => CANCEL,
        _ => return false,
    };
    message["method"] = Value::from(name);
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::rename_older;

    fn method(message: &Value) -> String {
        let bytes = message.to_string().into_bytes();
        let renamed: Value = serde_json::from_slice(&rename_older(&bytes)).expect("it stays JSON");
        assert_eq!(renamed["params"], message["params"]);
        renamed["method"].as_str().unwrap_or_default().to_owned()
    }

    #[test]
    fn only_requests_of_the_older_era_about_tasks_are_renamed() {
        let call =
            |params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        assert_eq!(method(&call(json!({ "name": "x", "task": { "ttl": 1 } }))), "agentd/callAsTask");
        assert_eq!(method(&call(json!({ "name": "x", "arguments": { "task": {} } }))), "tools/call");
        let get = |meta: Value| json!({ "method": "tasks/get", "params": { "taskId": "t", "_meta": meta } });
        assert_eq!(method(&get(json!({}))), "agentd/getTask");
        let version = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        assert_eq!(method(&get(version.clone())), "tasks/get");
        let listen = |filter: Value, meta: &Value| json!({ "method": "subscriptions/listen", "params": { "notifications": filter, "_meta": meta } });
        assert_eq!(method(&listen(json!({ "taskIds": ["t"] }), &version)), "agentd/listen");
        for (filter, meta) in [
            (json!({ "taskIds": [] }), &version),
            (json!({ "resourceSubscriptions": ["\"taskIds\""] }), &version),
            (json!({ "taskIds": ["t"] }), &json!({})),
        ] {
            assert_eq!(method(&listen(filter.clone(), meta)), "subscriptions/listen", "{filter}");
        }
    }

    proptest! {
        #[test]
        fn bytes_that_are_not_a_request_stay_unchanged(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let with = [bytes.as_slice(), br#""tasks/get""#].concat();
            prop_assert!(*rename_older(&with) == *with);
        }
    }
}
