//! Web pages in the answers of a docdex daemon.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread;

use docdex_client::{RemoteConfig, RemoteIndex, WebPage};
use serde_json::{Value, json};
use wap_core::IndexError;

use crate::call::call;

/// Searches the web through a daemon that answers with this.
fn search(web_discovery: &Value) -> Result<Vec<WebPage>, IndexError> {
    let body = json!({ "hits": [], "webDiscovery": web_discovery }).to_string();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        while reader.read_line(&mut head).is_ok_and(|count| count > 2) {}
        let length = body.len();
        let _ =
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    });
    let index = RemoteIndex::new(RemoteConfig { url, ..RemoteConfig::default() });
    let pages = call(|call| index.search_web(call, "x", true));
    served.join().unwrap();
    pages
}

fn page(title: &str, url: &str, text: &str) -> WebPage {
    WebPage { title: title.to_owned(), url: url.to_owned(), text: text.to_owned() }
}

#[test]
fn titles_come_from_the_search_and_texts_from_the_pages() {
    let pages = search(&json!({
        "status": "served",
        "discovery": { "results": [
            { "title": "One\n page", "url": "https://a.example/1", "snippet": "in short" },
            { "title": "Two", "url": "https://a.example/2", "snippet": "not fetched" },
            { "title": "Three", "url": "https://a.example/3" },
        ] },
        "fetches": [
            { "url": "https://a.example/1", "content": "the whole text", "ai_digested_content": "a digest" },
            { "url": "http://a.example/4", "content": "  text\n" },
            { "url": "https://a.example/5", "error": "refused" },
        ],
    }));
    let expected = [
        page("One page", "https://a.example/1", "a digest"),
        page("", "http://a.example/4", "text"),
        page("Two", "https://a.example/2", "not fetched"),
    ];
    assert_eq!(pages.unwrap(), expected);
    assert_eq!(search(&json!({ "status": "served", "fetches": [] })), Ok(Vec::new()));
}

#[test]
fn pages_and_their_texts_are_bounded() {
    let long = "\u{e9} line\n".repeat(10_000);
    let fetches: Vec<Value> = (0..60)
        .map(|number| json!({ "url": format!("https://a.example/{number}"), "content": long, "title": long }))
        .collect();
    let pages = search(&json!({ "fetches": fetches })).unwrap();
    assert_eq!(pages.len(), 20);
    for WebPage { title, text, .. } in pages {
        assert!(title.len() <= 2_000 && text.len() <= (8 << 10) + 4, "{} {}", title.len(), text.len());
        let (lines, end) = text.rsplit_once('\n').unwrap();
        assert!(end == "..." && lines.lines().all(|line| line == "\u{e9} line"), "{text}");
    }
}

#[test]
fn an_address_that_is_not_of_the_web_fails_the_answer() {
    for url in [
        "",
        "file:///etc/passwd",
        "javascript:x",
        "https://a b",
        "https://a\nb",
        &format!("https://{}", "a".repeat(3_000)),
    ] {
        let pages = search(&json!({ "fetches": [{ "url": url, "content": "x" }] }));
        assert!(matches!(pages, Err(IndexError::Failed { .. })), "{url}: {pages:?}");
    }
    assert!(search(&json!({ "fetches": [{ "url": "https://a", "content": "x" }] })).is_ok(), "the control");
}
