//! Answers of a docdex daemon, as recorded.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use docdex_client::{FallbackIndex, RemoteConfig, RemoteIndex};
use memory_workspace::MemoryIndex;
use test_support::RefusingAddress;
use wap_core::{
    CodeIndex, DiagnoseImpact, IndexError, ListSymbols, ReadAst, ReadImpact, ReadSnippet, SearchCode,
};

use crate::call::call;

/// A server that answers paths with recorded bodies, and records the heads of the requests.
struct Daemon {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Daemon {
    /// Starts a server that answers each request, by the beginning of its path, with a status and a body, after `delay`.
    fn start(answers: &[(&str, u16, &str)], delay: Duration) -> Daemon {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let answers: Vec<(String, u16, String)> = answers
            .iter()
            .map(|(path, status, body)| ((*path).to_owned(), *status, (*body).to_owned()))
            .collect();
        let heads = Arc::clone(&requests);
        // The thread ends with the test program: it only holds its socket.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { break };
                let mut head = String::new();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                while reader.read_line(&mut head).is_ok_and(|count| count > 2) {}
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                heads.lock().unwrap().push(head);
                thread::sleep(delay);
                let answer = answers.iter().find(|(beginning, ..)| path.starts_with(beginning.as_str()));
                let (status, body) = answer.map_or((404, "{}"), |(_, status, body)| (*status, body.as_str()));
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                );
            }
        });
        Daemon { url, requests }
    }

    fn index(&self) -> RemoteIndex {
        self.index_within(Duration::from_secs(30))
    }

    fn index_within(&self, timeout: Duration) -> RemoteIndex {
        RemoteIndex::new(RemoteConfig {
            url: self.url.clone(),
            repo_id: Some("abc".into()),
            token: Some("secret".into()),
            timeout,
        })
    }

    /// Returns the head of the last request, in lower case.
    fn last_request(&self) -> String {
        self.requests.lock().unwrap().last().unwrap().to_ascii_lowercase()
    }
}

const SEARCH: &str = r#"{"hits": [{"doc_id": "d 1", "rel_path": "src/a.rs", "score": 3.5, "summary": "s", "snippet": "fn a() {}\n", "token_estimate": 7}]}"#;
const SNIPPET: &str = r#"{"doc": {"doc_id": "d 1", "rel_path": "src/a.rs"}, "snippet": {"text": "fn a() {}\nfn b() {}", "html": null, "truncated": false, "origin": "query", "line_start": 4, "line_end": 5}}"#;
const SYMBOLS: &str = r#"{"schema": {"name": "docdex.symbols", "version": 1}, "file": "src/a.rs", "symbols": [{"symbol_id": "x", "name": "a", "kind": "function", "range": {"start_line": 4, "start_col": 1, "end_line": 6, "end_col": 2}, "signature": "fn a()"}]}"#;
const AST: &str = r#"{"file": "src/a.rs", "total_nodes": 9, "nodes": [{"id": 0, "kind": "source_file", "range": {"start_line": 1, "start_col": 1, "end_line": 6, "end_col": 2}}]}"#;
const IMPACT: &str = r#"{"source": "src/a.rs", "inbound": ["src/b.rs"], "outbound": ["src/d.rs", "src/c.rs"], "edges": [{"source": "src/a.rs", "target": "src/c.rs", "kind": "include"}, {"source": "src/b.rs", "target": "src/a.rs", "kind": "import"}]}"#;
const DIAGNOSTICS: &str =
    r#"{"total": 3, "diagnostics": [{"file": "src/a.rs", "line": 2, "import": "./gone"}]}"#;

fn recorded() -> Daemon {
    let answers = [
        ("/healthz", 200, "ok"),
        ("/search?", 200, SEARCH),
        ("/snippet/d%201?", 200, SNIPPET),
        ("/v1/symbols?path=src", 200, SYMBOLS),
        ("/v1/ast?", 200, AST),
        ("/v1/graph/impact?", 200, IMPACT),
        ("/v1/graph/impact/diagnostics?", 200, DIAGNOSTICS),
    ];
    Daemon::start(&answers, Duration::ZERO)
}

#[test]
fn every_operation_is_requested_and_read() {
    let daemon = recorded();
    let index = daemon.index();
    call(|call| {
        index.check(call).unwrap();
        let response = index.search(call, &SearchCode { query: "a & b".into(), limit: 5 }).unwrap();
        let request = daemon.last_request();
        assert!(
            request.starts_with("get /search?q=a%20%26%20b&limit=5&")
                || request.starts_with("get /search?q=a+%26+b&limit=5&"),
            "{request}"
        );
        for header in
            ["x-docdex-repo-id: abc\r\n", "authorization: bearer secret\r\n", "x-api-key: secret\r\n"]
        {
            assert!(request.contains(header), "{request}");
        }
        let hit = &response.hits[0];
        assert_eq!(
            (hit.doc_id.as_str(), hit.path.as_str(), hit.score, hit.token_estimate),
            ("d 1", "src/a.rs", 3.5, 7)
        );

        let snippet = index.snippet(call, &ReadSnippet { doc_id: "d 1".into(), window_lines: 20 }).unwrap();
        assert_eq!(
            (snippet.line_start, snippet.line_end, snippet.path.as_str()),
            (Some(4), Some(5), "src/a.rs")
        );
        assert_eq!((snippet.total_lines, snippet.is_truncated), (None, false));
        let symbols = index.symbols(call, &ListSymbols { file: "src/a.rs".into() }).unwrap().symbols;
        assert_eq!(
            (symbols[0].signature.as_str(), symbols[0].line_start, symbols[0].line_end),
            ("fn a()", 4, 6)
        );
        let ast = index.ast(call, &ReadAst { file: "src/a.rs".into(), max_nodes: 10 }).unwrap();
        assert_eq!((ast.nodes.len(), ast.total_nodes), (1, 9));
        let impact = index.impact(call, &ReadImpact { file: "src/a.rs".into(), max_depth: 2 }).unwrap();
        let edges: Vec<_> =
            impact.outbound.iter().map(|edge| (edge.file.as_str(), edge.kind.as_str(), edge.depth)).collect();
        assert_eq!(edges, [("src/c.rs", "include", 1), ("src/d.rs", "import", 2)]);
        assert_eq!(impact.inbound[0].file, "src/b.rs");
        let response =
            index.impact_diagnostics(call, &DiagnoseImpact { file: None, limit: 5, offset: 0 }).unwrap();
        assert_eq!((response.total, response.diagnostics[0].import.as_str()), (3, "./gone"));

        let unknown = index.symbols(call, &ListSymbols { file: "other.rs".into() });
        assert_eq!(unknown, Err(IndexError::UnknownFile { file: "other.rs".into() }));
        let unknown = index.snippet(call, &ReadSnippet { doc_id: "other".into(), window_lines: 20 });
        assert_eq!(unknown, Err(IndexError::UnknownDocument { doc_id: "other".into() }));
    });
}

#[test]
fn malformed_answers_are_failures() {
    let bodies = [
        "",
        "not json",
        "[]",
        "{\"hits\": 3}",
        "{\"hits\": [{\"doc_id\": \"x\", \"path\": \"../../etc/passwd\"}]}",
        "{\"hits\": [{\"doc_id\": \"x\", \"path\": \"/etc/passwd\"}]}",
        "{\"hits\": [{\"path\": \"a\"}]}",
    ];
    for body in bodies {
        let index = Daemon::start(&[("/search", 200, body)], Duration::ZERO).index();
        let response = call(|call| index.search(call, &SearchCode { query: "a".into(), limit: 5 }));
        assert!(matches!(response, Err(IndexError::Failed { .. })), "{body}: {response:?}");
    }
    for (status, text) in [(401, "token"), (500, "500"), (302, "302")] {
        let index = Daemon::start(&[("/search", status, SEARCH)], Duration::ZERO).index();
        let response = call(|call| index.search(call, &SearchCode { query: "a".into(), limit: 5 }));
        assert!(
            matches!(&response, Err(IndexError::Failed { cause }) if cause.contains(text)),
            "{status}: {response:?}"
        );
    }
}

#[test]
fn a_slow_or_dead_daemon_is_given_up() {
    let slow = Daemon::start(&[("/search", 200, SEARCH)], Duration::from_secs(20));
    let slow = slow.index_within(Duration::from_millis(500));
    let refusing = RefusingAddress::bind();
    let url = format!("http://{}", refusing.address);
    let gone = RemoteIndex::new(RemoteConfig { url, ..RemoteConfig::default() });
    let ask =
        |index: &RemoteIndex| call(|call| index.search(call, &SearchCode { query: "a".into(), limit: 5 }));
    assert_eq!(ask(&slow), Err(IndexError::TimedOut));
    assert_eq!(ask(&gone), Err(IndexError::Unreachable));
}

#[test]
fn the_second_index_answers_when_the_first_does_not() {
    let local = MemoryIndex::with_files([("src/login.rs", "fn login() {}\n")]);
    let daemon = recorded();
    let good = daemon.index();
    let bad = Daemon::start(&[("/search", 500, "")], Duration::ZERO).index();
    call(|call| {
        let search = SearchCode { query: "login".into(), limit: 5 };
        let both = FallbackIndex::new(&good, &local);
        assert_eq!(both.search(call, &search).unwrap().hits[0].path, "src/a.rs");
        assert_eq!(both.failures(), []);
        let both = FallbackIndex::new(&bad, &local);
        assert_eq!(both.search(call, &search).unwrap().hits[0].path, "src/login.rs");
        assert!(matches!(both.failures().as_slice(), [("search", IndexError::Failed { .. })]));
    });
}

#[test]
fn a_snippet_has_the_daemons_facts_and_no_invented_ones() {
    let doc = r#""doc": {"doc_id": "d", "rel_path": "src/a.rs"}"#;
    for (facts, lines, total, is_truncated) in [
        (r#""truncated": true, "line_start": 7, "line_end": 90"#, (Some(7), Some(90)), None, true),
        (r#""truncated": false, "origin": "preview""#, (None, None), None, false),
        (r#""truncated": false, "line_start": 7"#, (Some(7), Some(8)), None, false),
        (r#""line_start": 7, "line_end": 8, "total_lines": 200"#, (Some(7), Some(8)), Some(200), false),
    ] {
        let body = format!(r#"{{{doc}, "snippet": {{"text": "one\ntwo", {facts}}}}}"#);
        let daemon = Daemon::start(&[("/snippet/", 200, &body)], Duration::ZERO);
        let request = ReadSnippet { doc_id: "d".into(), window_lines: 20 };
        let snippet = call(|call| daemon.index().snippet(call, &request)).unwrap();
        assert_eq!((snippet.line_start, snippet.line_end), lines, "{facts}");
        assert_eq!((snippet.total_lines, snippet.is_truncated), (total, is_truncated), "{facts}");
    }
}
