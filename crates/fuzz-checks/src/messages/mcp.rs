//! Messages of MCP, as bodies of HTTP requests.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full, Limited};
use memory_workspace::MemoryWorkspace;
use serde_json::Value;
use wap_calls::CallPool;
use wap_core::Workspace;
use wap_mcp::{HttpMcp, McpConfig, ServerName};

const NAME: ServerName = ServerName { name: "fuzz", title: "A server that is fuzzed", version: "1" };
/// The versions that a client may name; the last is invalid.
const VERSIONS: [&str; 4] = ["2026-07-28", "2025-11-25", "2024-11-05", "1"];
const MOST_BODY_BYTES: usize = 1 << 20;
const MOST_ANSWER_BYTES: usize = 8 << 20;

/// Checks that any body is answered with an HTTP status and, if there is an answer, with JSON-RPC.
///
/// The first byte chooses the version that the client names; the rest is the body.
pub fn mcp_messages(data: &[u8]) {
    let Some((choice, body)) = data.split_first() else { return };
    let workspace: Arc<dyn Workspace> =
        Arc::new(MemoryWorkspace::with_files([("a.txt", "one\ntwo\n"), ("src/b.rs", "fn b() {}\n")]));
    let server = HttpMcp {
        config: Arc::new(McpConfig::new(NAME)),
        workspace,
        pool: CallPool::new(),
        hosts: vec!["localhost".to_owned()],
        most_body_bytes: MOST_BODY_BYTES,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (service, end) = server.into_service();
        let version = VERSIONS[usize::from(*choice) % VERSIONS.len()];
        let response = service.handle(request(version, body)).await;
        let status = response.status();
        assert!(!status.is_server_error() || status.as_u16() == 501, "{status}");
        let is_json = response
            .headers()
            .get("content-type")
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        // A stream may stay open; only check complete answers.
        if is_json {
            let answer = Limited::new(response.into_body(), MOST_ANSWER_BYTES)
                .collect()
                .await
                .expect("a bounded answer");
            check_answer(&answer.to_bytes());
        }
        end();
    });
}

fn request(version: &str, body: &[u8]) -> Request<Full<Bytes>> {
    Request::post("http://localhost/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", version)
        .body(Full::new(Bytes::copy_from_slice(body)))
        .expect("a request")
}

fn check_answer(bytes: &[u8]) {
    let answer: Value = serde_json::from_slice(bytes).expect("an answer is JSON");
    assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
    assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{answer}");
}
