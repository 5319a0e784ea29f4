//! The cases about parsing and paste repair.

use serde_json::{Value, json};
use tagproto::{Block, Item, RepairKind, Strictness, read};

const TAGPROTO: &str = include_str!("../../../../../fixtures/vectors/tagproto.json");
const PASTE: &str = include_str!("../../../../../fixtures/vectors/paste.json");

fn cases(file: &str) -> Vec<Value> {
    let mut vectors: Value = serde_json::from_str(file).unwrap();
    vectors["cases"].as_array_mut().unwrap().drain(..).collect()
}

/// Returns an item in the form of the expectations in `tagproto.json`.
fn short_form(item: &Item<'_>) -> Value {
    match item {
        Item::Error(error) => json!({"t": "PARSE_ERROR", "error": error.to_string()}),
        Item::Block(block) => match &block.value {
            Block::CreateFile { path, body, .. } => {
                json!({"t": "CREATE_FILE", "path": path, "body": body.text()})
            }
            Block::EditFile { path, start_line, end_line, was, body } => {
                let mut form = json!({"t": "EDIT_FILE", "path": path, "start": start_line, "end": end_line, "body": body.text()});
                if let Some(was) = was {
                    form["was"] = json!(was);
                }
                form
            }
            Block::EditText { path, .. } => json!({"t": "EDIT_FILE", "path": path}),
            Block::DeleteFile { path, .. } => json!({"t": "DELETE_FILE", "path": path}),
            Block::ReadFile { path, .. } => json!({"t": "READ_FILE", "path": path}),
            Block::StopProcess { name } => json!({"t": "STOP_PROCESS", "name": name}),
            Block::RunCommand { command, .. } => json!({"t": "RUN_COMMAND", "body": command}),
            Block::Message { text } => json!({"t": "MESSAGE", "body": text}),
            Block::Done { summary } => json!({"t": "DONE", "body": summary}),
        },
    }
}

/// Checks whether `got` has every key of `expected`, errors by prefix.
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
    let cases: Vec<Value> = cases(TAGPROTO).into_iter().filter(|case| case["kind"] == "parse").collect();
    assert_eq!(cases.len(), 68);
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

/// Checks a reply's JSON against a paste case, which has no line numbers and no error texts.
fn agrees_with_paste_case(got: &Value, expected: &Value) -> bool {
    let mut repairs: Vec<&str> =
        expected["repairs"].as_array().unwrap().iter().map(|kind| kind.as_str().unwrap()).collect();
    repairs.sort_unstable();
    all_agree(got["commands"].as_array().unwrap(), expected["commands"].as_array().unwrap())
        && got["repairs"] == json!(repairs)
        && got["refused"] == expected["refused"]
}

#[test]
fn every_paste_vector_reads_as_stated() {
    let cases = cases(PASTE);
    assert_eq!(cases.len(), 160);
    let mut failures = Vec::new();
    for case in &cases {
        let reply = read(case["input"].as_str().unwrap(), Strictness::Repair);
        let got = serde_json::to_value(&reply).unwrap();
        if !agrees_with_paste_case(&got, &case["expect"]) {
            failures.push(format!("{}: {got}", case["name"]));
        }
    }
    assert_eq!(failures, Vec::<String>::new());
}

#[test]
fn strict_reading_gives_the_same_for_every_paste_vector_that_is_kept() {
    let cases: Vec<Value> =
        cases(PASTE).into_iter().filter(|case| case["name"].as_str().unwrap().starts_with("keep_")).collect();
    assert!(cases.len() >= 50);
    for case in &cases {
        let text = case["input"].as_str().unwrap();
        assert_eq!(read(text, Strictness::Strict), read(text, Strictness::Repair), "{}", case["name"]);
    }
}

#[test]
fn every_kind_in_the_vectors_has_the_same_name() {
    let vectors: Value = serde_json::from_str(PASTE).unwrap();
    let mut named: Vec<&str> =
        vectors["repair_kinds"].as_object().unwrap().keys().map(String::as_str).collect();
    named.sort_unstable();
    assert_eq!(RepairKind::ALL.map(RepairKind::name).to_vec(), named);
}
