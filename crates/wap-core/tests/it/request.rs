//! Malformed requests.

use serde_json::{Value, json};
use wap_core::{ErrorCode, Reason, Request, Tool, WapError};

fn refusal(tool: &str, arguments: Value) -> WapError {
    Request::parse(tool, arguments.clone()).expect_err(&format!("{tool} {arguments}"))
}

#[test]
fn a_field_of_the_wrong_type_is_named() {
    let operation = |operation: Value| json!({ "path": "a", "operations": [operation] });
    let cases = [
        ("exploreFiles", json!({ "path": 5 }), "path"),
        ("exploreFiles", json!({ "path": "a", "recursive": "yes" }), "recursive"),
        ("exploreFiles", json!({ "path": "a", "excludePatterns": [1] }), "excludePatterns[0]"),
        ("exploreFiles", json!({ "path": "a", "maxDepth": 1.5 }), "maxDepth"),
        ("readFile", json!({ "path": "a", "startLine": "3" }), "startLine"),
        ("readFile", json!({ "path": null }), "path"),
        ("writeFile", json!({ "path": "a", "content": "", "mode": "truncate" }), "mode"),
        ("writeFile", json!({ "path": "a", "content": ["x"] }), "content"),
        ("modifyFile", operation(json!({ "type": "move" })), "operations[0].type"),
        (
            "modifyFile",
            operation(json!({ "type": "delete", "startLine": "1", "endLine": 2 })),
            "operations[0].startLine",
        ),
        ("modifyFile", json!({ "path": "a", "operations": {} }), "operations"),
        ("searchFiles", json!({ "paths": "src", "query": "x", "type": "literal" }), "paths"),
        ("searchFiles", json!({ "paths": ["a"], "query": "x", "type": "glob" }), "type"),
        ("executeCommand", json!({ "command": "ls", "environment": { "A": 1 } }), "environment.A"),
        ("deleteFile", json!({ "path": true }), "path"),
    ];
    for (tool, arguments, field) in cases {
        let error = refusal(tool, arguments);
        assert_eq!(error.reason(), Reason::InvalidField, "{tool}");
        assert_eq!(error.code(), ErrorCode::InvalidArgument, "{tool}");
        assert_eq!(error.detail("field"), Some(&json!(field)), "{tool}");
        assert!(error.message().contains(field), "{}", error.message());
    }
}

#[test]
fn a_missing_field_is_named() {
    let cases = [
        ("readFile", json!({}), "path"),
        ("readFile", Value::Null, "path"),
        ("writeFile", json!({ "path": "a" }), "content"),
        ("modifyFile", json!({ "path": "a", "operations": [{}] }), "operations[0].type"),
        (
            "modifyFile",
            json!({ "path": "a", "operations": [{ "type": "insert", "newContent": "x" }] }),
            "operations[0].afterLine",
        ),
        (
            "modifyFile",
            json!({ "path": "a", "operations": [{ "type": "replace", "startLine": 1, "endLine": 1, "newContent": null }] }),
            "operations[0].newContent",
        ),
        ("searchFiles", json!({ "paths": ["a"], "query": "x" }), "type"),
    ];
    for (tool, arguments, field) in cases {
        assert_eq!(refusal(tool, arguments).detail("field"), Some(&json!(field)), "{tool}");
    }
}

#[test]
fn null_means_absent() {
    let with_null = json!({
        "path": "a", "recursive": null, "excludePatterns": null, "maxDepth": null, "returnMetadata": null
    });
    let parse = |arguments| Request::parse("exploreFiles", arguments).unwrap();
    assert_eq!(parse(with_null), parse(json!({ "path": "a" })));
    assert_eq!(Request::parse("getWorkspaceInfo", Value::Null).unwrap(), Request::GetWorkspaceInfo);
}

#[test]
fn unknown_fields_are_ignored() {
    let request =
        Request::parse("readFile", json!({ "path": "a", "encoding": "utf-8", "_meta": {} })).unwrap();
    assert_eq!(request, Request::parse("readFile", json!({ "path": "a" })).unwrap());
    let info = Request::parse("getWorkspaceInfo", json!({ "verbose": true })).unwrap();
    assert_eq!(info, Request::GetWorkspaceInfo);
}

#[test]
fn variables_come_as_an_object_or_as_a_list() {
    let parse = |environment: Value| {
        Request::parse("executeCommand", json!({ "command": "ls", "environment": environment }))
    };
    let map = parse(json!({ "A": "1", "B": "" })).unwrap();
    let list = json!([{ "name": "B", "value": "" }, { "name": "A", "value": "1" }]);
    assert_eq!(parse(list).unwrap(), map);
    assert_eq!(parse(json!([])).unwrap(), parse(json!({})).unwrap());
    assert_eq!(
        parse(Value::Null).unwrap(),
        Request::parse("executeCommand", json!({ "command": "ls" })).unwrap()
    );
    let refused = [
        (json!("A=1"), "environment"),
        (json!({ "A": 1 }), "environment.A"),
        (json!([{ "name": "A" }]), "environment[0].value"),
        (json!([{ "name": "A", "value": 1 }]), "environment[0].value"),
        (json!([{ "name": "A", "value": "1" }, { "name": "A", "value": "2" }]), "environment"),
    ];
    for (environment, field) in refused {
        let error = parse(environment.clone()).unwrap_err();
        assert_eq!(error.detail("field"), Some(&json!(field)), "{environment} {error}");
    }
}

#[test]
fn arguments_that_are_not_an_object_are_refused() {
    for arguments in [json!(["a"]), json!("a"), json!(1), json!([])] {
        for tool in Tool::ALL {
            assert_eq!(refusal(tool.name(), arguments.clone()).reason(), Reason::InvalidField, "{tool:?}");
        }
    }
}

#[test]
fn the_refusal_of_an_unknown_tool_lists_the_tools() {
    let error = refusal("moveFile", json!({}));
    assert_eq!(error.reason(), Reason::UnknownTool);
    insta::assert_snapshot!(error, @"there is no tool 'moveFile'; the tools are exploreFiles, readFile, writeFile, modifyFile, deleteFile, searchFiles, executeCommand, stopProcess, getWorkspaceInfo");
}

#[test]
fn an_error_does_not_repeat_a_huge_value() {
    let huge = "x".repeat(1_000_000);
    assert!(refusal("readFile", json!({ "path": "a", "startLine": huge })).message().len() < 1_000);
    assert!(refusal(&huge, json!({})).message().len() < 1_000);
}
