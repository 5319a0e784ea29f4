//! The clients that outlast a request of 2026-07-28 over HTTP, where each request is a separate client.
//!
//! Line numbers must not refer to content shown to another client, so such a client keeps no state. But a background process
//! would end with it, right after the answer that reports it as running: so commands, and queries about processes, belong to a
//! client that lasts as long as the service. Each program has its own, and so has each name in the header `Agentd-Conversation`,
//! so that programs that choose the same process name do not meet each other's processes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use content_hash::ContentHash;
use http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::RequestContext;
use serde_json::Value;
use wap_calls::{CallPool, Client};
use wap_core::{PROCESS_PREFIX, Tool, Workspace};

use crate::{McpConfig, McpServer, RecentOutputs};

/// The bound on lasting clients; the one that was silent longest ends first, together with its processes.
const MOST: usize = 256;

/// The header that distinguishes clients of the same program.
const HEADER: &str = "agentd-conversation";

/// The longest name that is kept unchanged, in bytes.
const MOST_NAME_BYTES: usize = 128;

/// The clients that last as long as their service.
pub(crate) struct LastingClients {
    config: Arc<McpConfig>,
    workspace: Arc<dyn Workspace>,
    pool: CallPool,
    outputs: Arc<RecentOutputs>,
    servers: Mutex<HashMap<ClientName, (McpServer, Instant)>>,
}

/// The name of a client, from its requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct ClientName {
    /// The value of the header.
    conversation: Option<String>,
    program: String,
    version: String,
}

impl LastingClients {
    /// Returns a service without such clients.
    pub(crate) fn new(
        config: &Arc<McpConfig>,
        (workspace, pool): (&Arc<dyn Workspace>, &CallPool),
        outputs: &Arc<RecentOutputs>,
    ) -> LastingClients {
        LastingClients {
            config: Arc::clone(config),
            workspace: Arc::clone(workspace),
            pool: pool.clone(),
            outputs: Arc::clone(outputs),
            servers: Mutex::default(),
        }
    }

    /// Returns the server of a known client.
    fn existing(&self, name: &ClientName) -> Option<McpServer> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let (server, last_seen) = servers.get_mut(name)?;
        *last_seen = Instant::now();
        Some(server.clone())
    }

    /// Returns the server of a client, and records the client as known.
    fn named(&self, name: ClientName) -> McpServer {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((server, last_seen)) = servers.get_mut(&name) {
            *last_seen = Instant::now();
            return server.clone();
        }
        let oldest =
            servers.iter().min_by_key(|(_, (_, last_seen))| *last_seen).map(|(name, _)| name.clone());
        let ended = oldest.filter(|_| servers.len() >= MOST).and_then(|oldest| servers.remove(&oldest));
        let client = Client::new("mcp", &self.workspace, &self.pool);
        let server = McpServer::new(&self.config, client, &self.outputs);
        servers.insert(name, (server.clone(), Instant::now()));
        drop(servers);
        if let Some(ended) = ended {
            // Ending it waits for its processes, and this thread serves all clients.
            tokio::task::spawn_blocking(move || drop(ended));
        }
        server
    }
}

impl ClientName {
    fn of(context: &RequestContext<RoleServer>) -> ClientName {
        let header = context.extensions.get::<Parts>().and_then(|parts| parts.headers.get(HEADER));
        let conversation = header.map(|value| short(value.as_bytes()));
        let program = context.client_info();
        let short = |name: &str| short(name.as_bytes());
        let (program, version) =
            program.map(|info| (short(&info.name), short(&info.version))).unwrap_or_default();
        ClientName { conversation, program, version }
    }
}

/// Returns a text of bounded length that is unique to the name: a header may hold any bytes, and clients that share a name can
/// read each other's processes.
fn short(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(text) if text.len() <= MOST_NAME_BYTES => text.to_owned(),
        // Longer than any name that is kept unchanged.
        _ => format!("{:-<MOST_NAME_BYTES$} {}", "", ContentHash::of(name)),
    }
}

/// Checks whether a request is of 2026-07-28 or later.
pub(crate) fn is_newer(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    // ISO dates sort like the dates themselves.
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

impl McpServer {
    /// Uses `lasting` for processes that outlast a request without a session.
    pub(crate) fn with_lasting(mut self, lasting: &Arc<LastingClients>) -> McpServer {
        self.lasting = Some(Arc::clone(lasting));
        self
    }

    /// Returns the server with the processes of a client, and records the client as having some.
    pub(crate) fn with_processes(&self, context: &RequestContext<RoleServer>) -> McpServer {
        let lasting = self.lasting.as_ref().filter(|_| is_newer(context));
        lasting.map_or_else(|| self.clone(), |lasting| lasting.named(ClientName::of(context)))
    }

    /// The same for queries about processes. A client that has run nothing has none, and queries under ever new names must not
    /// end the processes of others.
    pub(crate) fn with_known_processes(&self, context: &RequestContext<RoleServer>) -> McpServer {
        let lasting = self.lasting.as_ref().filter(|_| is_newer(context));
        lasting.and_then(|lasting| lasting.existing(&ClientName::of(context))).unwrap_or_else(|| self.clone())
    }

    /// Returns the server that carries out a call.
    pub(crate) fn for_call(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> McpServer {
        if request.name == Tool::ExecuteCommand.name() {
            self.with_processes(context)
        } else if is_about_processes(request) {
            self.with_known_processes(context)
        } else {
            self.clone()
        }
    }
}

/// Checks whether a call is about background processes: reads their output, or ends one.
fn is_about_processes(request: &CallToolRequestParams) -> bool {
    let is = |tool: Tool| request.name == tool.name();
    let path =
        || request.arguments.as_ref().and_then(|arguments| arguments.get("path")).and_then(Value::as_str);
    is(Tool::StopProcess) || is(Tool::ReadFile) && path().is_some_and(|path| path.starts_with(PROCESS_PREFIX))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use memory_workspace::MemoryWorkspace;
    use rmcp::model::CallToolRequestParams;
    use serde_json::{Value, json};
    use wap_calls::CallPool;
    use wap_core::Workspace;

    use super::{ClientName, LastingClients, MOST, MOST_NAME_BYTES, is_about_processes, short};
    use crate::{McpConfig, RecentOutputs, ServerName};

    #[tokio::test]
    async fn queries_under_new_names_end_no_client() {
        let name = ServerName { name: "test", title: "Test", version: "1" };
        let workspace: Arc<dyn Workspace> = Arc::new(MemoryWorkspace::new());
        let outputs = Arc::new(RecentOutputs::default());
        let config = Arc::new(McpConfig::new(name));
        let lasting = LastingClients::new(&config, (&workspace, &CallPool::new()), &outputs);
        let named = |program: String| ClientName { program, ..ClientName::default() };
        let first = lasting.named(named("first".to_owned()));
        for index in 0..MOST * 2 {
            assert!(lasting.existing(&named(index.to_string())).is_none());
        }
        let same = lasting.existing(&named("first".to_owned())).unwrap();
        assert!(Arc::ptr_eq(&same.client, &first.client));
        // The control: as many clients that run something displace the one that was silent longest.
        (0..MOST).for_each(|index| drop(lasting.named(named(index.to_string()))));
        assert!(lasting.existing(&named("first".to_owned())).is_none());
    }

    #[test]
    fn no_two_names_are_the_same_one() {
        let (long, longer) = ("n".repeat(MOST_NAME_BYTES), "n".repeat(MOST_NAME_BYTES + 1));
        let names: [&[u8]; 7] = [
            b"",
            b"mine",
            "m\u{fc}ller".as_bytes(),
            b"m\xfcller",
            b"m\xfdller",
            long.as_bytes(),
            longer.as_bytes(),
        ];
        let shortened: HashSet<String> = names.iter().map(|name| short(name)).collect();
        assert_eq!(shortened.len(), names.len());
        assert_ne!(short(format!("{longer}a").as_bytes()), short(format!("{longer}b").as_bytes()));
        assert_eq!(short(longer.repeat(1_000).as_bytes()).len(), short(longer.as_bytes()).len());
        // A name that is kept unchanged cannot look like a digest.
        assert_eq!(short(short(longer.as_bytes()).as_bytes()).len(), short(longer.as_bytes()).len());
        assert_ne!(short(short(longer.as_bytes()).as_bytes()), short(longer.as_bytes()));
    }

    #[test]
    fn reads_and_stops_of_processes_are_recognised() {
        for (tool, arguments, expected) in [
            ("executeCommand", json!({ "command": "true" }), false),
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
