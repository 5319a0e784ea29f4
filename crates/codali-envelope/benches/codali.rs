//! The time of reading and writing envelopes: a request of 5 KB, a reply around it, and a response with a megabyte of file
//! content in both forms.

use codali_envelope::{
    FileReadResult, Form, Meta, NeedResult, ReadLimits, ReadOptions, Response, Strictness, extract_request,
    read_request, read_response, render_response,
};
use divan::{Bencher, black_box};
use serde_json::Map;

fn main() {
    divan::main();
}

/// Returns about 5 KB of needs that each search for `query`.
fn request(query: &str) -> String {
    let mut text = "AGENT_REQUEST v1\nrole: architect\nrequest_id: bench\nneeds:\n".to_owned();
    while text.len() < 5_000 {
        text.push_str(&format!("  - type: docdex.search\n    query: {query}\n    limit: 5\n"));
        text.push_str("  - type: docdex.open\n    path: \"src/public/index.html\"\n    start_line: 1\n    end_line: 200\n");
    }
    text
}

/// Returns a response with a megabyte of code.
fn response() -> Response {
    let line = "        let value = self.table.get(&key).copied().unwrap_or(0); // \"quoted\"\n    }\n";
    let content = line.repeat((1 << 20) / line.len());
    let read = FileReadResult { path: "src/large.rs".to_owned(), content, ..FileReadResult::default() };
    Response {
        request_id: "bench".parse().expect("a short text is a name"),
        results: vec![NeedResult::FileRead(read)],
        meta: Meta::default(),
        extra: Map::new(),
    }
}

#[divan::bench]
fn read_5_kb_of_yaml(bencher: Bencher<'_, '_>) {
    let text = request("\"landing page\"");
    bencher.bench_local(|| read_request(black_box(&text), &ReadOptions::default()));
}

#[divan::bench]
fn read_5_kb_of_yaml_strictly(bencher: Bencher<'_, '_>) {
    let text = request("\"landing page\"");
    let options = ReadOptions { strictness: Strictness::Strict, ..ReadOptions::default() };
    bencher.bench_local(|| read_request(black_box(&text), &options));
}

#[divan::bench]
fn read_5_kb_of_almost_yaml(bencher: Bencher<'_, '_>) {
    let text = request("error: not found: `page`");
    bencher.bench_local(|| read_request(black_box(&text), &ReadOptions::default()));
}

#[divan::bench]
fn find_5_kb_in_a_reply(bencher: Bencher<'_, '_>) {
    let prose = "I have looked at the code, and there is more that I need to see first.\n".repeat(40);
    let text = format!("{prose}\n```yaml\n{}```\n{prose}", request("\"landing page\""));
    bencher.bench_local(|| extract_request(black_box(&text), &ReadOptions::default()));
}

#[divan::bench(args = ["yaml", "json-body"], sample_count = 20)]
fn write_a_megabyte(bencher: Bencher<'_, '_>, form: &str) {
    let (response, form) = (response(), form.parse::<Form>().expect("the arguments are forms"));
    bencher.bench_local(|| render_response(black_box(&response), form));
}

#[divan::bench(args = ["yaml", "json-body"], sample_count = 20)]
fn read_a_megabyte(bencher: Bencher<'_, '_>, form: &str) {
    let text = render_response(&response(), form.parse().expect("the arguments are forms"));
    bencher.bench_local(|| read_response(black_box(&text), &ReadLimits::for_responses()));
}
