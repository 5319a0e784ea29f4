//! The cases of `fixtures/vectors`, as they stand there.

use serde_json::{Value, json};
use tagproto::{Block, Item};

pub(crate) fn cases(file: &str) -> Vec<Value> {
    let text = match file {
        "tagproto" => include_str!("../../../../fixtures/vectors/tagproto.json"),
        _ => include_str!("../../../../fixtures/vectors/paste.json"),
    };
    let mut vectors: Value = serde_json::from_str(text).unwrap();
    vectors["cases"].as_array_mut().unwrap().drain(..).collect()
}

/// The form that `tagproto.json` states its expectations in.
fn short_form(item: &Item<'_>) -> Value {
    match item {
        Item::Error(error) => json!({"t": "PARSE_ERROR", "error": error.to_string()}),
        Item::Block(block) => match &block.value {
            Block::CreateFile { path, body } => {
                json!({"t": "CREATE_FILE", "path": path, "body": body.text()})
            }
            Block::EditFile { path, start_line, end_line, body } => {
                json!({"t": "EDIT_FILE", "path": path, "start": start_line, "end": end_line, "body": body.text()})
            }
            Block::DeleteFile { path } => json!({"t": "DELETE_FILE", "path": path}),
            Block::ReadFile { path } => json!({"t": "READ_FILE", "path": path}),
            Block::RunCommand { command } => json!({"t": "RUN_COMMAND", "body": command}),
            Block::Message { text } => json!({"t": "MESSAGE", "body": text}),
            Block::Done { summary } => json!({"t": "DONE", "body": summary}),
        },
    }
}

/// Whether `got` says what `expected` says: errors by prefix, and no key that is not expected.
fn agrees(got: &Value, expected: &Value) -> bool {
    expected.as_object().unwrap().iter().all(|(key, expected)| match key.as_str() {
        "error" => got[key].as_str().is_some_and(|got| got.starts_with(expected.as_str().unwrap())),
        _ => got[key] == *expected,
    })
}

fn all_agree(got: &[Value], expected: &[Value]) -> bool {
    got.len() == expected.len() && got.iter().zip(expected).all(|(got, expected)| agrees(got, expected))
}

#[test]
fn every_parse_vector_reads_as_stated() {
    let cases: Vec<Value> = cases("tagproto").into_iter().filter(|case| case["kind"] == "parse").collect();
    assert_eq!(cases.len(), 65);
    let mut failures = Vec::new();
    for case in &cases {
        let items = tagproto::parse(case["input"]["inbox"].as_str().unwrap());
        let got: Vec<Value> = items.iter().map(short_form).collect();
        if !all_agree(&got, case["expect"].as_array().unwrap()) {
            failures.push(format!("{}: {}", case["name"], Value::from(got)));
        }
    }
    assert_eq!(failures, Vec::<String>::new());
}
