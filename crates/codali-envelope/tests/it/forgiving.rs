//! The corrections of tolerant reading, none of which strict reading applies.

use codali_envelope::{
    Form, NeedKind, ReadOptions, Reading, Strictness, WarningCode, extract_request, read_request,
    render_request,
};
use serde_json::{Value, json};

fn strict() -> ReadOptions {
    ReadOptions { strictness: Strictness::Strict, ..ReadOptions::default() }
}

fn request(needs: &str) -> String {
    format!("AGENT_REQUEST v1\nrequest_id: r\nneeds:\n{needs}")
}

fn needs(reading: &Reading) -> Value {
    json!(reading.request.needs)
}

fn read(text: &str) -> (Value, Vec<String>) {
    let reading =
        read_request(text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let extracted =
        extract_request(&format!("I need this:\n\n```yaml\n{text}```\n"), &ReadOptions::default());
    assert_eq!(extracted.as_ref().map(|reading| &reading.request), Ok(&reading.request), "{text}");
    (needs(&reading), reading.warnings.iter().map(ToString::to_string).collect())
}

/// Returns the two needs that every spelling means.
fn two() -> Value {
    json!([
        { "type": "file.read", "path": "src/a.rs" },
        { "type": "docdex.search", "query": "two words", "limit": 3 }
    ])
}

const SPELLINGS: [(&str, &str); 12] = [
    (
        "fields in the column of the dash",
        "  - type: file.read\n  path: src/a.rs\n  - type: docdex.search\n  query: two words\n  limit: 3\n",
    ),
    (
        "fields in the column of the dash, at the margin",
        "- type: file.read\npath: src/a.rs\n- type: docdex.search\nquery: two words\nlimit: 3\n",
    ),
    (
        "and the context after them",
        "- type: file.read\npath: src/a.rs\n- type: docdex.search\nlimit: 3\nquery: two words\ncontext:\n  summary: s\n",
    ),
    (
        "dashes without a blank",
        "  -type: file.read\n   path: src/a.rs\n  -type: docdex.search\n   query: two words\n   limit: 3\n",
    ),
    (
        "dashes without a blank, and fields in their column",
        "  -type: file.read\n  path: src/a.rs\n  -type: docdex.search\n  query: two words\n  limit: 3\n",
    ),
    (
        "colons without a blank",
        "  - type:file.read\n    path:src/a.rs\n  - type:docdex.search\n    query:two words\n    limit:3\n",
    ),
    (
        "colons without a blank here and there",
        "  - type: file.read\n    path:src/a.rs\n  - type: docdex.search\n    query:\"two words\"\n    limit: 3\n",
    ),
    (
        "neither dashes nor colons with a blank",
        "-type:file.read\n path:src/a.rs\n-type:docdex.search\n query:two words\n limit:3\n",
    ),
    (
        "a map right after the dash",
        "  -{type: file.read, path: src/a.rs}\n  -{type: docdex.search, query: two words, limit: 3}\n",
    ),
    (
        "a second key for needs",
        "  - type: file.read\n    path: src/a.rs\nneeds:\n  - type: docdex.search\n    query: two words\n    limit: 3\n",
    ),
    (
        "fields below params",
        "  - type: file.read\n    params:\n      path: src/a.rs\n  - type: docdex.search\n    arguments: {query: two words, limit: 3}\n",
    ),
    (
        "no-break spaces",
        "\u{a0}\u{a0}-\u{a0}type:\u{a0}file.read\n\u{a0}\u{a0}\u{a0} path:\u{a0}src/a.rs\n\u{2003} - type: docdex.search\n    query: two words\n \u{a0}\u{a0} limit: 3\n",
    ),
];

#[test]
fn unambiguous_spellings_are_corrected_except_by_strict_reading() {
    for (name, spelling) in SPELLINGS {
        let text = request(spelling);
        let (corrected, warnings) = read(&text);
        assert_eq!(strip_order(&corrected), strip_order(&two()), "{name}");
        assert_eq!(warnings, Vec::<String>::new(), "{name}");
        let strictly = read_request(&text, &strict());
        assert!(
            !strictly.is_ok_and(|reading| strip_order(&needs(&reading)) == strip_order(&two())),
            "{name}"
        );
    }
    let plain = request("  - type: file.read\n    path: src/a.rs\n");
    assert!(read_request(&plain, &strict()).is_ok());
}

/// Renders fields by name, because their order may differ.
fn strip_order(value: &Value) -> String {
    let needs = value.as_array().unwrap().iter();
    let sorted =
        needs.map(|need| need.as_object().unwrap().iter().collect::<std::collections::BTreeMap<_, _>>());
    format!("{:?}", sorted.collect::<Vec<_>>())
}

#[test]
fn document_markers_after_the_header_are_ignored() {
    let body = "request_id: r\nneeds:\n  - type: file.read\n    path: a\n";
    for text in [
        format!("AGENT_REQUEST v1\n---\n{body}"),
        format!("AGENT_REQUEST v1\n\n---\n\n{body}...\n"),
        format!("AGENT_REQUEST v1\n---\n{body}---\nMore text.\n"),
    ] {
        assert_eq!(read(&text).0, json!([{ "type": "file.read", "path": "a" }]), "{text}");
        assert_eq!(read_request(&text, &strict()).unwrap_err().code(), WarningCode::InvalidYaml, "{text}");
    }
    // A rule below ordinary text is not a marker.
    let rule = extract_request("AGENT_REQUEST v1\n---\nis the header.\n", &ReadOptions::default());
    assert_eq!(rule.unwrap_err().code(), WarningCode::NoRequest);
}

#[test]
fn ambiguous_spellings_are_read_as_yaml() {
    // A second line of a text.
    let (needs, _) = read(&request("  - type: docdex.search\n    query: how does\n      path:src work\n"));
    assert_eq!(needs[0]["query"], "how does path:src work");
    // Lines of a block text.
    let (needs, _) =
        read(&request("  - type: docdex.search\n    query: |\n      path:src\n      -type: x\n"));
    assert_eq!(needs[0]["query"], "path:src\n-type: x\n");
    // A key that is not a field of needs, in the column of the list's key.
    let text = request("- type: file.read\n  path: a\npriority: high\n");
    let reading = read_request(&text, &ReadOptions::default()).unwrap();
    assert_eq!(reading.request.extra["priority"], "high");
    // A negative number, an option, a name with a colon.
    let text = request("  - type: docdex.search\n    query: a::b -type\n    odd:\n    - -5\n    - -rf\n");
    assert_eq!(read(&text).0[0]["query"], "a::b -type");
    assert_eq!(read(&text).0[0]["odd"], json!([-5, "-rf"]));
    // A field that the need has twice, once directly.
    let (needs, warnings) =
        read(&request("  - type: file.read\n    path: a\n    params:\n      path: b\n      mode: x\n"));
    assert_eq!(needs, json!([{ "type": "file.read", "path": "a", "mode": "x" }]));
    assert_eq!(warnings, ["invalid_field: path is given twice; the one outside of params counts"]);
}

#[test]
fn backslashes_in_quotes_are_those_of_paths_and_patterns() {
    for (written, path) in [
        (r#""src\main.rs""#, r"src\main.rs"),
        (r#""src\app.rs""#, r"src\app.rs"),
        (r#""src\build.rs""#, r"src\build.rs"),
        (r#""src\Lib\_x""#, r"src\Lib\_x"),
        (r#""src\new\test\main.rs""#, r"src\new\test\main.rs"),
        (r#""src\utils\x86\Users""#, r"src\utils\u{86}\Users"),
        (r#""src\\main.rs""#, r"src\main.rs"),
        (r#""a \"b\" \u00e9/c""#, "a \"b\" é/c"),
        (r"'src\app.rs'", r"src\app.rs"),
        (r"src\app.rs", r"src\app.rs"),
    ] {
        let path = path.replace(r"\u{86}", "\u{86}");
        let yaml = request(&format!("  - type: file.read\n    path: {written}\n    limit: *1\n"));
        for text in [yaml.replace("    limit: *1\n", ""), yaml] {
            assert_eq!(read(&text).0[0]["path"], json!(path), "{text}");
        }
        if written.starts_with('"') {
            let text = format!(
                "AGENT_REQUEST v1\n{{\"request_id\": \"r\", \"needs\": [{{\"type\": \"file.read\", \"path\": {written}}}]}}\n"
            );
            assert_eq!(read(&text).0[0]["path"], json!(path), "{text}");
            let text = request(&format!("  - {{type: file.read, path: {written}}}\n"));
            assert_eq!(read(&text).0[0]["path"], json!(path), "{text}");
            let text = request(&format!("  - type: file.diff\n    paths: [{written}, b]\n"));
            assert_eq!(read(&text).0[0]["paths"], json!([path, "b"]), "{text}");
        }
    }
    let query = |written: &str| read(&request(&format!("  - type: docdex.search\n    query: {written}\n"))).0;
    assert_eq!(query(r#""\bword\b \d+""#)[0]["query"], json!(r"\bword\b \d+"));
    assert_eq!(query(r#""two\nlines\tand a tab""#)[0]["query"], json!("two\nlines\tand a tab"));
    assert_eq!(query("\"two\n      lines \\d\"")[0]["query"], json!(r"two lines \d"));
    // Strict reading follows YAML.
    let bell = request("  - type: file.read\n    path: \"src\\app.rs\"\n");
    assert_eq!(needs(&read_request(&bell, &strict()).unwrap())[0]["path"], json!("src\u{7}pp.rs"));
}

#[test]
fn control_characters_are_written_as_numeric_escapes() {
    let odd = "\0\u{7}\u{8}\t\n\u{b}\u{c}\r\u{1b}\u{85}\u{a0}\u{2028}\u{2029}\\a\\n\"b\u{7f}\u{9f}";
    let text = request("  - type: docdex.search\n    query: q\n  - type: docdex.search\n    query: q\n");
    let mut request = read_request(&text, &ReadOptions::default()).unwrap().request;
    for (need, text) in request.needs.iter_mut().zip([odd, "plain: |\n  \"\\a\"\n"]) {
        need.kind = NeedKind::Search { query: text.to_owned(), limit: None };
    }
    for form in [Form::Yaml, Form::JsonBody] {
        let written = render_request(&request, form);
        let again = read_request(&written, &ReadOptions::default()).unwrap();
        assert_eq!(again.request, request, "{written}");
        let strictly = read_request(&written, &strict()).unwrap();
        assert_eq!(strictly.request, request, "{written}");
    }
}

#[test]
fn a_number_sign_does_not_cut_a_sentence_silently() {
    for more in ["", "    limit: *1\n"] {
        let search = |query: &str| {
            let (needs, mut warnings) =
                read(&request(&format!("  - type: docdex.search\n    query: {query}\n{more}")));
            warnings.retain(|warning| !warning.contains("limit"));
            (needs[0]["query"].as_str().unwrap().to_owned(), warnings)
        };
        assert_eq!(search("issue #42 crash"), ("issue #42 crash".into(), vec![]));
        assert_eq!(search("issue #42 and #43"), ("issue #42 and #43".into(), vec![]));
        let warned = |comment: &str| {
            vec![format!(
                "invalid_field: query ends before the comment {comment:?}; quote a text with # in it"
            )]
        };
        assert_eq!(search("issue #42 crash # mine"), ("issue #42 crash".into(), warned("# mine")));
        assert_eq!(search("the C #define of it"), ("the C".into(), warned("#define of it")));
        assert_eq!(search("\"a # b\" # c"), ("a # b".into(), vec![]));
        assert_eq!(search("a#b"), ("a#b".into(), vec![]));
    }
    let text = request("  - type: file.read # why\n    path: a # the file\n");
    assert_eq!(read(&text), (json!([{ "type": "file.read", "path": "a" }]), vec![]));
}

#[test]
fn a_snippet_may_name_its_file_by_its_path() {
    for field in ["doc_id", "docId", "path", "file"] {
        let (needs, _) = read(&request(&format!("  - type: docdex.snippet\n    {field}: src/a.rs\n")));
        assert_eq!(needs, json!([{ "type": "docdex.snippet", "doc_id": "src/a.rs" }]), "{field}");
    }
}

#[test]
fn the_word_null_can_be_searched_for() {
    for word in ["null", "Null", "NULL"] {
        assert_eq!(
            read(&request(&format!("  - type: docdex.search\n    query: {word}\n"))).0[0]["query"],
            *word
        );
    }
    for nothing in [
        request("  - type: docdex.search\n    query: ~\n"),
        request("  - type: file.read\n    path: null\n"),
        "AGENT_REQUEST v1\n{\"request_id\": \"r\", \"needs\": [{\"type\": \"docdex.search\", \"query\": null}]}\n".into(),
    ] {
        let error = read_request(&nothing, &ReadOptions::default()).unwrap_err();
        assert_eq!(error.code(), WarningCode::NoValidNeed, "{nothing}");
    }
    let text = request("  - type: docdex.search\n    query: null\n");
    assert_eq!(read_request(&text, &strict()).unwrap_err().code(), WarningCode::NoValidNeed);
}
