//! MCP over HTTP, as a service for one address.

use std::sync::Arc;

use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::lasting::LastingClients;
use super::sessions::BoundedSessions;
use crate::{McpConfig, McpServer, RecentOutputs};
use wap_calls::{CallPool, Client};
use wap_core::Workspace;

/// The parts of the service.
pub struct HttpMcp {
    /// The settings of the server.
    pub config: Arc<McpConfig>,
    /// The workspace that it serves.
    pub workspace: Arc<dyn Workspace>,
    /// The threads that carry out calls.
    pub pool: CallPool,
    /// The host names under which the server may be addressed; the guard checks them, and they are checked here again.
    pub hosts: Vec<String>,
    /// The longest body; it is complete when the service receives it.
    pub most_body_bytes: usize,
}

impl HttpMcp {
    /// Returns the service, and a hook that ends all sessions.
    ///
    /// In versions of MCP with sessions, each session is a client; in the stateless version each request is. But its commands and
    /// background processes belong to a client that lasts as long as the service: one for each program, and for each name in the
    /// header `Agentd-Conversation`.
    #[must_use]
    pub fn into_service(
        self,
    ) -> (StreamableHttpService<McpServer, BoundedSessions>, Box<dyn FnOnce() + Send>) {
        let HttpMcp { config, workspace, pool, hosts, most_body_bytes } = self;
        let offers_tasks = config.tasks.is_some();
        let outputs = Arc::new(RecentOutputs::default());
        // An IPv6 address is in brackets in an origin, and any port is allowed: the guard has already checked it.
        let origins: Vec<String> = hosts
            .iter()
            .map(|host| if host.contains(':') { format!("[{host}]") } else { host.clone() })
            .flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")])
            .collect();
        let server = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .with_allowed_origins(origins)
            .enforce_origin_validation()
            .with_json_response(true)
            .with_max_request_body_bytes(most_body_bytes);
        let lasting = Arc::new(LastingClients::new(&config, (&workspace, &pool), &outputs));
        // Called for each session: line numbers of one client must not refer to content shown to another.
        let make = move || {
            let client = Client::new("mcp", &workspace, &pool);
            Ok(McpServer::new(&config, client, &outputs).with_lasting(&lasting))
        };
        let ending = server.cancellation_token.clone();
        let sessions = BoundedSessions::offering_tasks(offers_tasks);
        let service = StreamableHttpService::new(make, Arc::new(sessions), server);
        (service, Box::new(move || ending.cancel()))
    }
}
