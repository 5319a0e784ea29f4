//! Tests of `wap-http` through its public API, over loopback.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod server;

use proptest::prelude::*;
use server::Server;

const TOKEN: &str = "a-secret-of-16-characters";

/// Returns the status line and the body of an answer.
fn summary(answer: &str) -> String {
    let status = answer.lines().next().unwrap_or_default();
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    format!("{status}\n    {body}\n")
}

#[test]
fn requests_and_their_answers() {
    let server = Server::start(Some(TOKEN));
    let authorized = format!("Authorization: Bearer {TOKEN}\r\n");
    let host = format!("Host: {}\r\n", server.address);
    let requests = [
        ("the health of the server", "GET /healthz", host.clone()),
        ("no token", "GET /v1/info", host.clone()),
        ("a wrong token", "GET /v1/info", format!("{host}Authorization: Bearer {TOKEN}x\r\n")),
        ("the token", "GET /v1/info", format!("{host}{authorized}")),
        ("another host", "GET /v1/info", format!("Host: rebound.example\r\n{authorized}")),
        ("two hosts", "GET /v1/info", format!("{host}Host: rebound.example\r\n{authorized}")),
        ("another host in the address", "GET http://rebound.example/v1/info", format!("{host}{authorized}")),
        (
            "a page from elsewhere",
            "GET /v1/info",
            format!("{host}{authorized}Origin: http://evil.example\r\n"),
        ),
        ("no such address", "GET /v2/info", format!("{host}{authorized}")),
        ("no such method", "DELETE /v1/info", format!("{host}{authorized}")),
        ("no such tool", "POST /v1/tools/format", format!("{host}{authorized}Content-Length: 0\r\n")),
    ];
    let mut text = String::new();
    for (what, line, headers) in requests {
        let answer = server.ask(&format!("{line} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"));
        text.push_str(&format!("{what}: {}", summary(&answer)));
    }
    insta::assert_snapshot!(text);
}

/// Sends a JSON body to an address, with more header lines.
fn post(server: &Server, path: &str, headers: &str, body: &str) -> String {
    server.ask(&format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n{headers}\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        server.address,
        body.len(),
    ))
}

#[test]
fn a_background_process_without_a_conversation_is_refused_by_both_ways_in() {
    let server = Server::start(Some(TOKEN));
    let native = ("/v1/tools/executeCommand", r#"{"command":"serve","background":"web"}"#);
    let llm4s = (
        "/agent",
        r#"{"$type":"ExecuteCommandCommand","commandId":"1","command":"serve","background":"web"}"#,
    );
    for (path, body) in [native, llm4s] {
        let answer = post(&server, path, "", body);
        assert!(answer.contains("a background process ends with its conversation"), "{path}: {answer}");
        // The control: with a conversation, the call reaches the workspace, which here only runs scripted commands.
        let answer = post(&server, path, "Agentd-Conversation: mine\r\n", body);
        assert!(!answer.contains("a background process ends with its conversation"), "{path}: {answer}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_other_host_and_no_other_token_reads_a_file(host in "[a-z0-9.:\\[\\]-]{0,30}", token in "[!-~]{0,40}") {
        let server = Server::start(Some(TOKEN));
        let address = server.address.to_string();
        let body = r#"{"path":"hello.txt"}"#;
        let ask = |host: &str, token: &str| server.ask(&format!(
            "POST /v1/tools/readFile HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len(),
        ));
        let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
        let is_own_host = ["localhost", "127.0.0.1", "[::1]", "::1"].iter().any(|own| *own == host || *own == name);
        prop_assert!(is_own_host || !ask(&host, TOKEN).contains("Hello!"));
        prop_assert!(token == TOKEN || !ask(&address, &token).contains("Hello!"));
        // The control: with both right, the same request is answered.
        prop_assert!(ask(&address, TOKEN).contains("Hello!"));
    }
}
