//! Answers of a daemon that are within the length limit, but expensive to read.

use std::io::Write;
use std::time::Instant;

use docdex_client::{RemoteConfig, RemoteIndex};
use wap_core::{CodeIndex, DiagnoseImpact, IndexError, ReadImpact};

use crate::call::call;
use crate::remote_harm::{GUARD, index, search, server, with_body};

/// Returns the peak memory of this process, in bytes.
fn peak_bytes() -> u64 {
    let lines = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = lines.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

fn impact(index: &RemoteIndex) -> Result<wap_core::ReadImpactResponse, IndexError> {
    call(|call| index.impact(call, &ReadImpact { file: "a.rs".into(), max_depth: 1 }))
}

/// An index whose daemon has time to send a long answer.
fn patient(body: String) -> RemoteIndex {
    let url = server(move |stream, _| {
        let length = body.len();
        let _ =
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    });
    RemoteIndex::new(RemoteConfig { url, repo_id: None, token: None, timeout: GUARD })
}

#[test]
fn many_small_values_are_refused_before_they_take_memory() {
    let flood = |value: &str| format!("{{\"hits\":[{}{value}]}}", format!("{value},").repeat((15 << 20) / 8));
    for value in [r#"{"":0}"#, "[[[]]]", "0      "] {
        let answer = search(&patient(flood(value)), 5);
        let too_long = |error: &IndexError| error.to_string().contains("too long");
        assert!(answer.as_ref().is_err_and(too_long), "{value}: {answer:?}");
    }
    assert!(peak_bytes() < 400 << 20, "{}", peak_bytes());
    // The control: a text of that length has no values, with any characters.
    let text = r#"[{:,\"\\"#.repeat(1 << 20);
    let hit = format!(r#"{{"hits":[{{"doc_id":"d","path":"a.rs","snippet":"{text}"}}]}}"#);
    assert_eq!(search(&patient(hit), 5).unwrap().hits[0].snippet.len(), 6 << 20);
}

#[test]
fn many_edges_take_no_longer_than_their_number() {
    let files: Vec<String> = (0..60_000).map(|number| format!("\"{number}.rs\"")).collect();
    let edge = r#"{"source":"a.rs","target":"other.rs","kind":"include"}"#;
    let direct_edge = r#"{"source":"a.rs","target":"7.rs","kind":"include"}"#;
    let body = format!(
        r#"{{"inbound":[],"outbound":[{}],"edges":[{}{direct_edge}]}}"#,
        files.join(","),
        format!("{edge},").repeat(50_000)
    );
    let index = patient(body);
    let began = Instant::now();
    let answer = impact(&index).unwrap();
    assert!(began.elapsed() < GUARD, "{:?}", began.elapsed());
    assert_eq!(answer.outbound.len(), 60_000);
    let direct: Vec<_> = answer.outbound.iter().filter(|edge| edge.depth == 1).collect();
    assert_eq!((direct.len(), direct[0].file.as_str(), direct[0].kind.as_str()), (1, "7.rs", "include"));
}

#[test]
fn many_pages_take_no_longer_than_their_number() {
    let pages: Vec<String> =
        (0..90_000).map(|number| format!(r#"{{"url":"http://{number:06}","content":""}}"#)).collect();
    let last = r#"{"url":"http://last","content":"x"}"#;
    let body = format!(r#"{{"webDiscovery":{{"fetches":[{},{last}]}}}}"#, pages.join(","));
    let index = patient(body);
    let began = Instant::now();
    let answer = call(|call| index.search_web(call, "x", true)).unwrap();
    assert!(began.elapsed() < GUARD, "{:?}", began.elapsed());
    assert_eq!(answer.iter().map(|page| page.url.as_str()).collect::<Vec<_>>(), ["http://last"]);
}

#[test]
fn an_answer_that_is_not_text_is_unreadable_but_its_daemon_reachable() {
    let index = index(server(|stream, _| {
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\n\"\xff\xfe\"");
    }));
    let answer = search(&index, 5);
    assert!(answer.as_ref().is_err_and(|error| error.to_string().contains("cannot be read")), "{answer:?}");
}

#[test]
fn a_total_is_never_less_than_what_the_answer_shows() {
    let one = r#"{"file":"a.rs","line":1,"import":"x"}"#;
    for (listed, total, offset, expected) in
        [(one, "0", 0, 1), (one, "3", 7, 8), (one, "9", 7, 9), ("", "5", 100, 5)]
    {
        let index = with_body(format!(r#"{{"total":{total},"diagnostics":[{listed}]}}"#));
        let request = DiagnoseImpact { file: None, limit: 5, offset };
        let answer = call(|call| index.impact_diagnostics(call, &request)).unwrap();
        assert_eq!(answer.total, expected, "{listed} {total} {offset}");
    }
}
