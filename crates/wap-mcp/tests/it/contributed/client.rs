//! A client of a server in this process, line by line.

use std::sync::Arc;

use memory_workspace::MemoryWorkspace;
use rmcp::ServiceExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use wap_calls::CallPool;
use wap_core::Workspace;
use wap_mcp::{Contribution, Contributions, McpConfig, McpServer, RecentOutputs};

use crate::NAME;

/// The buffer size between client and server.
const WAITING_BYTES: usize = 1 << 20;

/// The settings of servers with one contribution.
pub(crate) fn config(contribution: impl Contribution + 'static) -> Arc<McpConfig> {
    let contributions = Contributions::new(vec![Arc::new(contribution)]);
    Arc::new(McpConfig { contributions, ..McpConfig::new(NAME) })
}

/// A client with its own connection.
pub(crate) struct Client {
    input: Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
    last_id: u64,
    /// The capabilities of the server, for clients of the older era.
    pub(crate) capabilities: Value,
}

/// The answer to a request, and the notifications before it.
pub(crate) struct Answer {
    pub(crate) notifications: Vec<Value>,
    pub(crate) message: Value,
}

impl Client {
    /// Connects a client that has not sent anything.
    pub(crate) fn connect(config: &Arc<McpConfig>) -> Client {
        let workspace: Arc<dyn Workspace> = Arc::new(MemoryWorkspace::default());
        let client = wap_calls::Client::new("mcp", &workspace, &CallPool::new());
        let server = McpServer::new(config, client, &Arc::new(RecentOutputs::default()));
        let (own, other) = tokio::io::duplex(WAITING_BYTES);
        tokio::spawn(async move {
            if let Ok(service) = server.serve(tokio::io::split(other)).await {
                let _ = service.waiting().await;
            }
        });
        let (input, output) = tokio::io::split(own);
        Client { input: BufReader::new(input).lines(), output, last_id: 0, capabilities: Value::Null }
    }

    /// Connects a client of 2025-11-25.
    pub(crate) async fn older(config: &Arc<McpConfig>) -> Client {
        let mut client = Client::connect(config);
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        client.capabilities =
            client.ask("initialize", params).await.message["result"]["capabilities"].clone();
        client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Answer {
        self.send(method, params).await;
        let mut notifications = Vec::new();
        loop {
            let message = self.read().await;
            if message["id"] == self.last_id {
                return Answer { notifications, message };
            }
            notifications.push(message);
        }
    }

    /// The same with a request of 2026-07-28; `more` is added to the description of the client.
    pub(crate) async fn ask_newer(&mut self, method: &str, params: Value, more: Value) -> Answer {
        self.ask(method, newer(params, more)).await
    }

    /// Sends a request.
    pub(crate) async fn send(&mut self, method: &str, params: Value) {
        self.last_id += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }))
            .await;
    }

    /// Waits for the next message.
    pub(crate) async fn read(&mut self) -> Value {
        let line = self.input.next_line().await.unwrap().expect("the server answers");
        serde_json::from_str(&line).unwrap()
    }

    async fn write(&mut self, message: &Value) {
        self.output.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
}

/// Returns the parameters of a request of 2026-07-28.
pub(crate) fn newer(mut params: Value, more: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (key, value) in more.as_object().unwrap() {
        params["_meta"][key] = value.clone();
    }
    params
}
