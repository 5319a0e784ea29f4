//! `docdex.web`: a docdex daemon searches the web, if the user allows it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::flow_project::{EDIT, FlowProject, PLAN, SUMMARY};
use crate::fixture::project::Project;

/// A daemon that answers every search with one body, and keeps the first lines of requests.
struct Daemon {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Daemon {
    fn start(body: Value) -> Daemon {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&requests);
        let body = body.to_string();
        // The thread ends with the test program: it holds nothing but its socket.
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut head = String::new();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                while reader.read_line(&mut head).is_ok_and(|count| count > 2) {}
                kept.lock().unwrap().push(head.lines().next().unwrap_or_default().to_owned());
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                );
            }
        });
        Daemon { url, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// A search as a daemon answers it.
fn served() -> Value {
    json!({ "hits": [], "webDiscovery": {
        "status": "served",
        "discovery": { "results": [{ "title": "Greetings in French", "url": "https://example.org/french", "snippet": "short" }] },
        "fetches": [{ "url": "https://example.org/french", "status": 200, "cached": false,
                      "content": "<html>", "ai_digested_content": "Say bonjour.\nAGENT_REQUEST v1\n" }],
    } })
}

const REQUEST: &str =
    "AGENT_REQUEST v1\nrequest_id: w\nneeds:\n  - type: docdex.web\n    query: greetings & more\n";

fn ask(project: &Project, options: &[&str], request: &str) -> Value {
    project.run_with_input(&[&["codali", "--json"], options].concat(), request).ok().json()
}

#[test]
fn the_daemon_searches_the_web_where_that_is_allowed() {
    let (project, daemon) = (Project::new(), Daemon::start(served()));
    let on = ["--docdex", &daemon.url, "--web", "on"];
    let answered = ask(&project, &on, REQUEST);
    let page = json!({ "title": "Greetings in French", "url": "https://example.org/french", "snippet": "Say bonjour.\nAGENT_REQUEST v1" });
    assert_eq!(
        answered["results"],
        json!([{ "type": "docdex.web", "query": "greetings & more", "results": [page] }])
    );
    assert!(daemon.requests()[0].contains("force_web=false"), "{:?}", daemon.requests());
    ask(&project, &on, &format!("{REQUEST}    force_web: true\n"));
    let request = daemon.requests()[1].clone();
    assert!(
        request.starts_with("GET /search?q=greetings") && request.contains("force_web=true"),
        "{request}"
    );

    // Without permission, or without a daemon, nothing is sent.
    for off in
        [&["--docdex", &daemon.url][..], &["--docdex", &daemon.url, "--web", "off"], &["--web", "on"], &[]]
    {
        let project = Project::new();
        let ran = project.run_with_input(&[&["codali", "--json"], off].concat(), REQUEST);
        assert_eq!(ran.json()["results"][0]["error"], "web_disabled", "{off:?}\n{ran}");
        assert_eq!(
            ran.stderr.contains("name one with --docdex URL"),
            off == ["--web", "on"],
            "{off:?}\n{ran}"
        );
    }
    assert_eq!(daemon.requests().len(), 2);
}

#[test]
fn a_daemon_that_does_not_search_is_an_error_with_the_reason() {
    for (body, reason) in [
        (json!({ "hits": [], "webDiscovery": { "status": "skipped" } }), "ask with force_web: true"),
        (json!({ "hits": [], "webDiscovery": { "status": "disabled" } }), "is switched off"),
        (json!({ "hits": [], "webDiscovery": { "status": "unavailable" } }), "cannot search the web now"),
        (json!({ "hits": [] }), "cannot be read"),
        (
            json!({ "webDiscovery": { "fetches": [{ "url": "file:///etc/passwd", "content": "x" }] } }),
            "cannot be read",
        ),
        (json!({ "webDiscovery": { "fetches": 3 } }), "cannot be read"),
    ] {
        let daemon = Daemon::start(body);
        let project = Project::new();
        let ran =
            project.run_with_input(&["codali", "--json", "--docdex", &daemon.url, "--web", "on"], REQUEST);
        let result = &ran.json()["results"][0];
        assert_eq!(result["error"], "docdex_web_failed", "{ran}");
        assert!(result["message"].as_str().unwrap_or_default().contains(reason), "{reason}: {result}");
    }
}

#[test]
fn agents_of_a_flow_may_ask_the_web() {
    let replies = [
        ("architect-1", REQUEST),
        ("architect-2", PLAN),
        ("builder-1", EDIT),
        ("critic-1", "PASS"),
        ("architect-3", SUMMARY),
    ];
    let (flow, daemon) = (FlowProject::new(&replies), Daemon::start(served()));
    flow.run(&["--docdex", &daemon.url, "--web", "on"]).ok().prints("PASS after 1 round\n");
    let prompt = flow.prompt("architect-2");
    assert!(
        prompt.contains("Say bonjour.") && prompt.contains("url: https://example.org/french"),
        "{prompt}"
    );
}
