//! Resources over HTTP.

use std::io::{BufRead, BufReader, Lines, Write};
use std::net::TcpStream;
use std::ops::RangeInclusive;

use serde_json::{Value, json};

use super::client::newer;
use crate::fixture::project::Project;
use crate::fixture::web_server::WebServer;

/// The headers of a request of the newer era.
fn head<'a>(method: &'a str, name: Option<&'a str>) -> Vec<&'a str> {
    let mut lines = vec![
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "Mcp-Protocol-Version: 2026-07-28",
        method,
    ];
    lines.extend(name);
    lines
}

fn message(method: &str, params: Value) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": newer(params) }).to_string().into_bytes()
}

#[test]
fn the_newer_era_reads_and_listens_over_http() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    server.does("writeFile", &json!({ "path": "a.txt", "content": "a\n" }));
    let lines = head("Mcp-Method: resources/list", None);
    let list =
        server.send("POST", "/mcp", &lines, &message("resources/list", json!({}))).has_status(200).text();
    assert!(list.contains("agentd://run/1"), "{list}");
    let lines = head("Mcp-Method: resources/read", Some("Mcp-Name: agentd://run/1"));
    let body = message("resources/read", json!({ "uri": "agentd://run/1" }));
    let read = server.send("POST", "/mcp", &lines, &body).has_status(200).text();
    assert!(read.contains("+a"), "{read}");
    // A run that comes later: its appearance is heard of.
    let mut listening = Listening::to(&server, 2..=2);
    server.does("writeFile", &json!({ "path": "b.txt", "content": "b\n" }));
    assert!(listening.wait_for("notifications/resources/updated").contains("agentd://run/2"));
}

#[test]
fn listeners_that_leave_make_room_for_others() {
    let project = Project::new();
    let server = WebServer::start(&project, &[]);
    // Together three times as many as the server holds.
    for listener in 0..48 {
        drop(Listening::to(&server, 9_000 + listener * 64..=9_063 + listener * 64));
    }
    // The server notices a moment later that they have gone.
    for run in 1.. {
        let mut listening = Listening::to(&server, run..=run);
        server.does("writeFile", &json!({ "path": "a.txt", "content": format!("{run}\n") }));
        let heard = listening.wait_for("\"jsonrpc\"");
        if heard.contains(&format!("agentd://run/{run}")) {
            break;
        }
        assert!(heard.contains("too many subscriptions") && run < 1_000, "{heard}");
    }
}

/// A client of the newer era that listens, acknowledged.
struct Listening(Lines<BufReader<TcpStream>>);

impl Listening {
    /// Listens to runs.
    fn to(server: &WebServer, runs: RangeInclusive<u32>) -> Listening {
        let uris: Vec<_> = runs.map(|run| format!("agentd://run/{run}")).collect();
        let body =
            message("subscriptions/listen", json!({ "notifications": { "resourceSubscriptions": uris } }));
        let length = format!("Content-Length: {}", body.len());
        let mut lines = head("Mcp-Method: subscriptions/listen", None);
        lines.push(&length);
        let mut stream = server.connect();
        stream.write_all(format!("{}\r\n", server.head("POST", "/mcp", &lines)).as_bytes()).unwrap();
        stream.write_all(&body).unwrap();
        let mut listening = Listening(BufReader::new(stream).lines());
        listening.wait_for("notifications/subscriptions/acknowledged");
        listening
    }

    #[track_caller]
    fn wait_for(&mut self, text: &str) -> String {
        let line = self.0.by_ref().map(Result::unwrap).find(|line| line.contains(text));
        line.unwrap_or_else(|| panic!("{text} never came"))
    }
}
