//! Arguments that a tool does not know: ignored, and named.

use serde_json::{Value, json};
use wap_core::*;

use crate::document::examples;

fn note(tool: Tool, arguments: Value) -> Option<String> {
    UnknownArguments::of(tool, &arguments).note()
}

#[test]
fn every_argument_of_the_document_and_of_ours_is_known() {
    for (tool, example) in examples() {
        assert_eq!(note(tool.parse().unwrap(), example.clone()), None, "{tool} {example}");
    }
    // A serialised request holds every field that is read.
    let operations = vec![ModifyOperation::Delete { start_line: 1, end_line: 1, was: None }];
    let modify = ModifyFile {
        path: "a".into(),
        operations,
        expected_version: Some(serde_json::from_value(json!("v")).unwrap()),
        line_numbers: Some(LineNumbers::InTurn),
        seen_versions: None,
        judged: None,
        view_numbers: None,
    };
    assert_eq!(note(Tool::ModifyFile, json!(modify)), None);
    let operation = json!({ "type": "replaceText", "oldText": "a", "newText": "b", "expectedMatches": 2 });
    assert_eq!(note(Tool::ModifyFile, json!({ "path": "a", "operations": [operation] })), None);
    let variables = json!([{ "name": "A", "value": "1" }]);
    for environment in [json!({ "A": "1", "name": "2" }), variables] {
        let arguments = json!({ "command": "ls", "environment": environment });
        assert_eq!(note(Tool::ExecuteCommand, arguments), None);
    }
}

#[test]
fn unknown_arguments_are_named_at_every_depth() {
    let note = |tool, arguments| note(tool, arguments).unwrap();
    let read = json!({ "path": "a", "encoding": "utf-8", "limit": null });
    assert_eq!(note(Tool::ReadFile, read), "unknown argument 'encoding' was ignored");
    // A field of another operation is just as unknown.
    let operations = json!([
        { "type": "insert", "afterLine": 1, "newContent": "x" },
        { "type": "delete", "startLine": 1, "endLine": 2, "newContent": "kept?" }
    ]);
    let modify = json!({ "path": "a", "operations": operations, "dryRun": true });
    let expected = "unknown arguments 'dryRun', 'operations[1].newContent' were ignored";
    assert_eq!(note(Tool::ModifyFile, modify), expected);
    let run = json!({ "command": "ls", "environment": [{ "name": "A", "value": "1", "scope": "all" }] });
    assert_eq!(note(Tool::ExecuteCommand, run), "unknown argument 'environment[0].scope' was ignored");
    assert_eq!(
        note(Tool::GetWorkspaceInfo, json!({ "verbose": true })),
        "unknown argument 'verbose' was ignored"
    );
}

#[test]
fn a_note_is_one_short_line_for_any_names() {
    let many: serde_json::Map<String, Value> =
        (0..5_000).map(|number| (format!("n{number}"), json!(1))).collect();
    let text = note(Tool::ReadFile, Value::Object(many)).unwrap();
    assert!(text.ends_with(" and 4990 more were ignored") && text.len() < 200, "{text}");
    let long = json!({ "path": "a", format!("x\n\u{1b}[31m{}", "y".repeat(100_000)): 1 });
    let text = note(Tool::ReadFile, long).unwrap();
    assert!(text.len() < 200 && !text.contains(['\n', '\u{1b}']), "{text}");
}

#[test]
fn an_answer_names_ignored_arguments() {
    let unknown = UnknownArguments::of(Tool::ReadFile, &json!({ "file": "a" }));
    let missing = Request::parse("readFile", json!({ "file": "a" })).unwrap_err();
    let error = unknown.annotate(Err(missing)).unwrap_err();
    assert_eq!(error.detail("field"), Some(&json!("path")));
    assert_eq!(error.detail("unknownArguments"), Some(&json!(["file"])));
    for response in crate::document::responses() {
        let with_note = serde_json::to_value(unknown.annotate(Ok(response.clone())).unwrap()).unwrap();
        let last = with_note["warnings"].as_array().unwrap().last().cloned();
        assert_eq!(last, Some(json!("unknown argument 'file' was ignored")), "{response:?}");
        let nothing = UnknownArguments::default().annotate(Ok(response.clone())).unwrap();
        assert_eq!(nothing, response);
    }
}
