//! The client that outlasts a request of 2026-07-28 over HTTP, where each request is a client of its own.
//!
//! Line numbers must not mean what another client was shown, so that such a client keeps nothing. A process that is left running
//! would end with it, though, at once and after an answer that says that it runs: commands, and what asks about processes, are
//! those of one client that lasts as long as the service.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::RequestContext;
use serde_json::Value;
use wap_core::{PROCESS_PREFIX, Tool};

use crate::McpServer;

/// Reports whether a request is of 2026-07-28 or later.
pub(crate) fn is_newer(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    // ISO dates compare as their times do.
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

impl McpServer {
    /// Has `lasting` keep what outlasts a request without a session.
    pub(crate) fn with_lasting(mut self, lasting: &Arc<McpServer>) -> McpServer {
        self.lasting = Some(Arc::clone(lasting));
        self
    }

    /// Returns the server that knows the processes of a client.
    pub(crate) fn with_processes(&self, context: &RequestContext<RoleServer>) -> &McpServer {
        self.lasting.as_deref().filter(|_| is_newer(context)).unwrap_or(self)
    }

    /// Returns the server that carries out a call.
    pub(crate) fn for_call(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> &McpServer {
        if is_about_processes(request) { self.with_processes(context) } else { self }
    }
}

/// Reports whether a call runs something, or asks about what was left running.
fn is_about_processes(request: &CallToolRequestParams) -> bool {
    let is = |tool: Tool| request.name == tool.name();
    let path =
        || request.arguments.as_ref().and_then(|arguments| arguments.get("path")).and_then(Value::as_str);
    is(Tool::ExecuteCommand)
        || is(Tool::StopProcess)
        || is(Tool::ReadFile) && path().is_some_and(|path| path.starts_with(PROCESS_PREFIX))
}

#[cfg(test)]
mod tests {
    use rmcp::model::CallToolRequestParams;
    use serde_json::{Value, json};

    use super::is_about_processes;

    #[test]
    fn commands_and_reads_of_processes_are_about_processes() {
        for (tool, arguments, expected) in [
            ("executeCommand", json!({ "command": "true" }), true),
            ("stopProcess", json!({ "name": "web" }), true),
            ("readFile", json!({ "path": "@process/web" }), true),
            ("readFile", json!({ "path": "src/@process/web" }), false),
            ("readFile", json!({ "path": 1 }), false),
            ("writeFile", json!({ "path": "@process/web" }), false),
            ("reviewDecide", json!({}), false),
        ] {
            let Value::Object(arguments) = arguments else { unreachable!("they are objects") };
            let request = CallToolRequestParams::new(tool).with_arguments(arguments);
            assert_eq!(is_about_processes(&request), expected, "{tool}");
        }
    }
}
