//! Every example of the document, read and written.

use codali_envelope::{
    Form, ReadLimits, ReadOptions, Strictness, extract_request, read_request, read_response, render_request,
    render_response,
};

const SECTION_1_REQUEST: &str = "\
AGENT_REQUEST v1
role: <librarian|architect|builder|critic|interpreter>
request_id: <uuid>
needs:
  - type: docdex.search
    query: \"...\"
    limit: 5
  - type: docdex.snippet
    doc_id: \"...\"
    window: 15
  - type: docdex.open
    path: \"src/public/index.html\"
    start_line: 1
    end_line: 200
  - type: docdex.impact
    file: \"src/auth/login.ts\"
  - type: docdex.web
    query: \"...\"
  - type: file.read
    path: \"src/public/index.html\"
  - type: file.list
    root: \".\"
    pattern: \"**/*.html\"
context:
  summary: \"Need file contents to finalize plan\"
  constraints:
    - \"Only touch HTML\"
";

/// The response of section 1, which prints hits and dependencies as `[...]`.
const SECTION_1_RESPONSE: &str = "\
CODALI_RESPONSE v1
request_id: <uuid>
results:
  - type: docdex.search
    query: \"auth login\"
    hits: [...]
  - type: docdex.open
    path: \"src/public/index.html\"
    content: \"...\"
  - type: docdex.impact
    file: \"src/auth/login.ts\"
    inbound: [...]
    outbound: [...]
  - type: file.read
    path: \"src/public/index.html\"
    content: \"...\"
meta:
  repo_root: \"repo\"
  warnings:
    - \"docdex_index_stale\"
  elapsed_ms: 1234
";

const SECTION_3_CRITIC: &str = "\
CODALI_RESPONSE v1
request_id: critic-<ts>
results:
  - type: critic.result
    status: FAIL
    reasons:
      - \"touched files outside allowed paths: ...\"
    suggested_fixes:
      - \"Address: touched files outside allowed paths: ...\"
    touched_files:
      - \"src/public/index.html\"
    plan_targets:
      - \"src/public/index.html\"
meta:
  warnings:
    - \"critic_failed\"
";

const SECTION_5_FAILURE: &str = "\
CODALI_RESPONSE v1
request_id: <uuid>
results: []
meta:
  warnings:
    - \"docdex_search_failed\"
    - \"file_not_found: src/public/index.html\"
";

const SECTION_7_REQUEST: &str = "\
AGENT_REQUEST v1
role: architect
request_id: 123
needs:
  - type: docdex.search
    query: \"landing page HTML\"
    limit: 5
  - type: file.read
    path: \"src/public/index.html\"
context:
  summary: \"Need root page HTML to finish plan\"
";

/// A request for everything that section 2 names.
const SECTION_2_NEEDS: &str = "\
AGENT_REQUEST v1
role: librarian
request_id: all
needs:
  - type: docdex.search
    query: auth
    limit: 3
  - type: docdex.snippet
    doc_id: d1
    window: 20
  - type: docdex.open
    doc_id: d1
    window: 40
  - type: docdex.symbols
    file: src/a.ts
  - type: docdex.ast
    file: src/a.ts
  - type: docdex.impact
    file: src/a.ts
  - type: docdex.impact_diagnostics
    file: src/a.ts
    limit: 5
  - type: docdex.tree
    maxDepth: 2
  - type: docdex.web
    query: auth
    force_web: true
  - type: file.read
    path: src/a.ts
  - type: file.list
    root: src
    pattern: \"*.ts\"
";

fn request_snapshot(name: &str, text: &str) {
    let tolerant = read_request(text, &ReadOptions::default()).unwrap();
    let strict =
        read_request(text, &ReadOptions { strictness: Strictness::Strict, ..ReadOptions::default() })
            .unwrap();
    assert_eq!(tolerant, strict);
    assert_eq!(extract_request(text, &ReadOptions::default()).unwrap(), tolerant);
    let (yaml, json) =
        (render_request(&tolerant.request, Form::Yaml), render_request(&tolerant.request, Form::JsonBody));
    insta::assert_snapshot!(name, format!("{:#?}\n\n{yaml}\n{json}", tolerant.request));
}

fn response_snapshot(name: &str, text: &str) {
    let response = read_response(text, &ReadLimits::for_responses()).unwrap();
    let (yaml, json) = (render_response(&response, Form::Yaml), render_response(&response, Form::JsonBody));
    insta::assert_snapshot!(name, format!("{response:#?}\n\n{yaml}\n{json}"));
}

#[test]
fn requests_of_the_document() {
    request_snapshot("section_1_request", SECTION_1_REQUEST);
    request_snapshot("section_2_needs", SECTION_2_NEEDS);
    request_snapshot("section_7_request", SECTION_7_REQUEST);
}

#[test]
fn responses_of_the_document() {
    response_snapshot("section_1_response", SECTION_1_RESPONSE);
    response_snapshot("section_3_critic", SECTION_3_CRITIC);
    response_snapshot("section_5_failure", SECTION_5_FAILURE);
}
