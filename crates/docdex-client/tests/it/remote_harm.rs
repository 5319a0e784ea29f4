//! A hostile docdex daemon.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use docdex_client::{RemoteConfig, RemoteIndex};
use wap_core::{
    Call, CancelFlag, CodeIndex, DiagnoseImpact, IndexError, ListSymbols, ReadAst, ReadImpact, ReadSnippet,
    SearchCode, SearchCodeResponse,
};

use crate::call::call;

/// A hang guard: far longer than any of these tests takes.
pub(crate) const GUARD: Duration = Duration::from_secs(30);

/// Starts a server that calls `answer` for each connection, after the head of the request; returns its address.
pub(crate) fn server(answer: impl Fn(&mut TcpStream, &str) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // The thread ends with the test program: it only holds its socket.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { break };
            let mut head = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            while reader.read_line(&mut head).is_ok_and(|count| count > 2) {}
            answer(&mut stream, &head);
        }
    });
    url
}

pub(crate) fn index(url: String) -> RemoteIndex {
    let timeout = Duration::from_millis(1_500);
    RemoteIndex::new(RemoteConfig { url, repo_id: None, token: Some("secret".into()), timeout })
}

pub(crate) fn search(index: &RemoteIndex, limit: u32) -> Result<SearchCodeResponse, IndexError> {
    call(|call| index.search(call, &SearchCode { query: "a".into(), limit }))
}

pub(crate) fn with_body(body: impl Into<String>) -> RemoteIndex {
    let body = body.into();
    index(server(move |stream, _| {
        let length = body.len();
        let _ =
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    }))
}

#[test]
fn a_redirect_is_not_followed_and_the_token_goes_nowhere_else() {
    let heads: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&heads);
    let elsewhere = server(move |stream, head| {
        kept.lock().unwrap().push(head.to_owned());
        let _ = write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-length: 11\r\nconnection: close\r\n\r\n{{\"hits\":[]}}"
        );
    });
    for status in [301, 302, 303, 307, 308] {
        for location in
            [format!("{elsewhere}/search"), "/elsewhere".to_owned(), format!("//{}", &elsewhere[7..])]
        {
            let requests = Arc::new(AtomicUsize::new(0));
            let counter = Arc::clone(&requests);
            let index = index(server(move |stream, _| {
                counter.fetch_add(1, Ordering::SeqCst);
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status} X\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                );
            }));
            assert!(search(&index, 5).is_err(), "{status}");
            assert_eq!(requests.load(Ordering::SeqCst), 1, "{status}");
        }
    }
    assert_eq!(*heads.lock().unwrap(), Vec::<String>::new());
    // The control: the other server answers and receives the token if the request goes to it directly.
    assert!(search(&index(elsewhere), 5).is_ok());
    assert!(heads.lock().unwrap()[0].to_lowercase().contains("authorization: bearer secret"));
}

/// Asks a daemon, and cancels the call once the daemon has the request.
fn cancelled_search(index: &RemoteIndex, requests: &Receiver<()>) -> Result<SearchCodeResponse, IndexError> {
    let cancel = CancelFlag::new();
    thread::scope(|scope| {
        let answer = scope.spawn(|| {
            call(|call| {
                let call = Call { cancel: &cancel, ..*call };
                index.search(&call, &SearchCode { query: "a".into(), limit: 5 })
            })
        });
        // A refused request never reaches the daemon.
        while requests.recv_timeout(Duration::from_millis(10)).is_err() && !answer.is_finished() {}
        cancel.cancel();
        answer.join().unwrap()
    })
}

#[test]
fn a_request_that_hangs_is_cancelled_and_does_not_add_up() {
    let (send, requests) = mpsc::channel();
    let streams = Mutex::new(Vec::new());
    let url = server(move |stream, _| {
        streams.lock().unwrap().push(stream.try_clone().unwrap());
        send.send(()).unwrap();
    });
    // Far longer than the test takes.
    let timeout = 4 * GUARD;
    let index = RemoteIndex::new(RemoteConfig { url, repo_id: None, token: None, timeout });
    let began = Instant::now();
    for request in 0..32 {
        assert_eq!(cancelled_search(&index, &requests), Err(IndexError::Cancelled), "{request}");
    }
    let refused = cancelled_search(&index, &requests);
    assert!(
        matches!(&refused, Err(IndexError::Failed { cause }) if cause.contains("too many")),
        "{refused:?}"
    );
    assert!(began.elapsed() < timeout / 2);
}

#[test]
fn endless_answers_are_aborted() {
    type Answer = fn(&mut TcpStream);
    let answers: [(&str, Answer); 6] = [
        ("a body without end", |stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
            while stream.write_all(&[b' '; 65_536]).is_ok() {}
        }),
        ("more than it says", |stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n{\"hits\":");
            while stream.write_all(&[b'['; 65_536]).is_ok() {}
        }),
        ("a drop now and then", |stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n");
            while stream.write_all(b" ").is_ok() {
                thread::sleep(Duration::from_millis(100));
            }
        }),
        ("a head without end", |stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
            while stream.write_all(b"x-more: and more and more\r\n").is_ok() {}
        }),
        ("nothing", |stream| {
            thread::sleep(Duration::from_secs(10));
            drop(stream.flush());
        }),
        ("noise", |stream| drop(stream.write_all(&[0xff; 4_096]))),
    ];
    for (what, answer) in answers {
        let index = index(server(move |stream, _| answer(stream)));
        let began = Instant::now();
        let response = search(&index, 5);
        assert!(
            matches!(
                response,
                Err(IndexError::Failed { .. } | IndexError::TimedOut | IndexError::Unreachable)
            ),
            "{what}: {response:?}"
        );
        assert!(began.elapsed() < GUARD, "{what}");
    }
}

#[test]
fn paths_out_of_the_workspace_make_any_answer_fail() {
    let bad = ["../x.rs", "a/../../x.rs", "/etc/passwd", "", ".", "..", "a\\u0000b"];
    for path in bad {
        let answers = [
            format!(r#"{{"hits": [{{"doc_id": "d", "path": "{path}", "snippet": "x"}}]}}"#),
            format!(r#"{{"doc": {{"rel_path": "{path}"}}, "snippet": {{"text": "x"}}}}"#),
            format!(r#"{{"inbound": ["{path}"], "outbound": []}}"#),
            format!(r#"{{"inbound": [], "outbound": ["{path}"]}}"#),
            format!(r#"{{"total": 1, "diagnostics": [{{"file": "{path}", "line": 1, "import": "x"}}]}}"#),
        ];
        for (number, body) in answers.into_iter().enumerate() {
            let index = with_body(body);
            let failed = call(|call| match number {
                0 => index.search(call, &SearchCode { query: "a".into(), limit: 5 }).err(),
                1 => index.snippet(call, &ReadSnippet { doc_id: "d".into(), window_lines: 10 }).err(),
                2 | 3 => index.impact(call, &ReadImpact { file: "a.rs".into(), max_depth: 1 }).err(),
                _ => {
                    index.impact_diagnostics(call, &DiagnoseImpact { file: None, limit: 5, offset: 0 }).err()
                }
            });
            assert!(matches!(failed, Some(IndexError::Failed { .. })), "{path}, {number}: {failed:?}");
        }
    }
    // The control: a path within the workspace is accepted.
    assert!(search(&with_body(r#"{"hits": [{"doc_id": "d", "path": "a/b.rs"}]}"#), 5).is_ok());
}

#[test]
fn hostile_json_is_refused_or_bounded() {
    let nested = format!("{{\"hits\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    for body in
        [nested, "{\"hits\": [1e999]}".to_owned(), "{\"hits\":[{\"path\":1}]}".to_owned(), "{".to_owned()]
    {
        assert!(matches!(search(&with_body(body), 5), Err(IndexError::Failed { .. })));
    }
    let hit = r#"{"doc_id": "d", "path": "a.rs", "score": -1e300, "line_start": 18446744073709551615, "line_end": 0, "snippet": "a\nb"}"#;
    let many = format!("{{\"hits\": [{}]}}", vec![hit; 10_000].join(","));
    let response = search(&with_body(many), 5).unwrap();
    assert_eq!(response.hits.len(), 5);
    assert!(response.hits[0].line_start <= response.hits[0].line_end);
    let node = r#"{"kind": "k", "depth": 99999999999999, "range": {"start_line": 18446744073709551615, "end_line": 1}}"#;
    let tree = with_body(format!("{{\"total_nodes\": 18446744073709551615, \"nodes\": [{node}]}}"));
    call(|call| tree.ast(call, &ReadAst { file: "a.rs".into(), max_nodes: 1 })).unwrap();
    let symbol = with_body(r#"{"symbols": [{"name": "n", "range": {"start_line": -1}}]}"#);
    assert!(call(|call| symbol.symbols(call, &ListSymbols { file: "a.rs".into() })).is_err());
    let snippet = with_body(
        r#"{"doc": {"path": "a.rs"}, "snippet": {"text": "a\nb", "line_start": 18446744073709551615}}"#,
    );
    let _ = call(|call| snippet.snippet(call, &ReadSnippet { doc_id: "d".into(), window_lines: 10 }));
}

#[test]
fn each_refused_answer_as_an_error() {
    let answers = [
        ("no JSON", "hits: none"),
        ("no hits", "{}"),
        (
            "a path that leads out",
            r#"{"hits":[{"doc_id":"1","rel_path":"../secret","path":"../secret","score":1.0,"snippet":"x","line_start":1,"line_end":1}]}"#,
        ),
        (
            "an absolute path",
            r#"{"hits":[{"doc_id":"1","rel_path":"/etc/passwd","path":"/etc/passwd","score":1.0,"snippet":"x","line_start":1,"line_end":1}]}"#,
        ),
        ("hits that are a number", r#"{"hits":7}"#),
    ];
    let lines = answers.map(|(name, body)| match search(&with_body(body), 3) {
        Ok(answer) => format!("{name}: {} hits", answer.hits.len()),
        Err(error) => format!("{name}: {error}"),
    });
    insta::assert_snapshot!(lines.join("\n"));
}

/// A JSON value of any shape with the names that answers have.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let text = prop_oneof![Just("a.rs".to_owned()), Just("../a".to_owned()), Just("/a".to_owned()), ".{0,8}"];
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        text.prop_map(Into::into),
    ];
    let name = prop::sample::select(vec![
        "hits",
        "rel_path",
        "path",
        "doc_id",
        "snippet",
        "line_start",
        "line_end",
        "score",
        "meta",
    ]);
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Into::into),
            prop::collection::btree_map(name.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_answer_of_a_daemon_names_a_path_that_leads_out(hits in prop::collection::vec(json(), 0..4)) {
        let body = serde_json::json!({ "hits": hits }).to_string();
        if let Ok(answer) = search(&with_body(body), 3) {
            prop_assert!(answer.hits.len() <= 3);
            for hit in answer.hits {
                prop_assert!(!hit.path.starts_with('/') && !hit.path.split('/').any(|name| name == ".."), "{}", hit.path);
            }
        }
    }
}
