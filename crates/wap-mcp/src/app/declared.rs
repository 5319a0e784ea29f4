//! The extension in the capabilities of client and server.

use rmcp::RoleServer;
use rmcp::model::{JsonObject, ServerCapabilities};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::document::KIND;

/// The name of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// Checks whether the client of a request draws apps of this kind.
pub(crate) fn is_declared(context: &RequestContext<RoleServer>) -> bool {
    let extensions = context.client_capabilities().and_then(|capabilities| capabilities.extensions);
    extensions.as_ref().and_then(|all| all.get(EXTENSION)).is_some_and(draws)
}

/// Checks whether the settings of a client name the kind. They must name the kinds that it draws.
fn draws(settings: &JsonObject) -> bool {
    let kinds = settings.get("mimeTypes").and_then(Value::as_array);
    kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == KIND))
}

/// Adds the extension to the capabilities of a server.
pub(crate) fn advertise(capabilities: &mut ServerCapabilities) {
    let settings = JsonObject::from_iter([("mimeTypes".to_owned(), json!([KIND]))]);
    capabilities.extensions.get_or_insert_default().insert(EXTENSION.to_owned(), settings);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::draws;

    #[test]
    fn only_the_kind_itself_counts() {
        let of = |settings: serde_json::Value| draws(settings.as_object().expect("an object"));
        assert!(of(json!({ "mimeTypes": ["text/html", "text/html;profile=mcp-app"] })));
        for other in [
            json!({}),
            json!({ "mimeTypes": [] }),
            json!({ "mimeTypes": ["text/html"] }),
            json!({ "mimeTypes": "text/html;profile=mcp-app" }),
            json!({ "mimeTypes": [["text/html;profile=mcp-app"]] }),
        ] {
            assert!(!of(other.clone()), "{other}");
        }
    }
}
