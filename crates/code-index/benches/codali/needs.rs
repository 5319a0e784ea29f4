//! A request with one need of each of the document's eleven kinds.

use std::path::Path;
use std::time::{Duration, Instant};

use codali_envelope::{AnswerOptions, ReadOptions, Sources, Stopwatch, answer, extract_request};
use code_index::LocalIndex;
use memory_workspace::MemoryWorkspace;
use wap_core::{CodeIndex, SearchCode};

use crate::{call, figure, speed::milliseconds};

struct SinceStart(Instant);

impl Stopwatch for SinceStart {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Measures only the index: files come from memory.
pub(crate) fn measure(index: &LocalIndex, code: &Path, file: &str) {
    let text = std::fs::read_to_string(code.join(file)).unwrap();
    let workspace = MemoryWorkspace::with_files([(file, text.as_str())]);
    let response =
        call(|call| index.search(call, &SearchCode { query: "runtime builder".into(), limit: 1 })).unwrap();
    let doc_id = &response.hits[0].doc_id;
    let needs = format!(
        "AGENT_REQUEST v1\nrole: architect\nrequest_id: eleven\nneeds:\n\
        \x20 - {{type: docdex.search, query: \"spawn blocking thread pool\", limit: 5}}\n\
        \x20 - {{type: docdex.snippet, doc_id: \"{doc_id}\", window: 40}}\n\
        \x20 - {{type: docdex.open, path: \"{file}\", start_line: 1, end_line: 40}}\n\
        \x20 - {{type: docdex.symbols, file: \"{file}\"}}\n\
        \x20 - {{type: docdex.ast, file: \"{file}\", max_nodes: 200}}\n\
        \x20 - {{type: docdex.impact, file: \"{file}\", max_depth: 2}}\n\
        \x20 - {{type: docdex.impact_diagnostics, limit: 20}}\n\
        \x20 - {{type: docdex.tree, path: \".\", max_depth: 3}}\n\
        \x20 - {{type: docdex.web, query: \"tokio\"}}\n\
        \x20 - {{type: file.read, path: \"{file}\"}}\n\
        \x20 - {{type: file.list, root: \".\", pattern: \"**/*.rs\"}}\n"
    );
    let reading = extract_request(&needs, &ReadOptions::default()).unwrap();
    assert_eq!(reading.request.needs.len(), 11);
    let sources =
        Sources { workspace: &workspace, index: Some(index), web: None, command: None, withholds: None };
    let mut times: Vec<f64> = (0..20)
        .map(|_| {
            let stopwatch = SinceStart(Instant::now());
            let response =
                call(|call| answer(&reading, &sources, &AnswerOptions::default(), call, &stopwatch));
            assert_eq!(response.results.len(), 11);
            milliseconds(stopwatch.elapsed())
        })
        .collect();
    times.sort_by(f64::total_cmp);
    figure(
        "a request with eleven kinds of needs, p50",
        format!("{:.1} ms", times[10]),
        "< 50 ms",
        times[10] < 50.0,
    );
}
