//! The cases of kind edit in `fixtures/vectors/text-edits.json`, unchanged.

use serde_json::{Value, json};
use text_edit::{
    EditError, EditErrorKind, EditLimits, Edited, NoMatch, Numbering, Operation, SearchText, apply,
};

const VECTORS: &str = include_str!("../../../../fixtures/vectors/text-edits.json");

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn bytes(case: &Value) -> Vec<u8> {
    match case.get("file_hex") {
        None => text(&case["file"]).as_bytes().to_vec(),
        Some(hex) => {
            let pairs = text(hex).as_bytes().chunks(2);
            pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
        }
    }
}

fn operation(case: &Value, hunk: &Value) -> Operation {
    let search = text(&hunk["search"]);
    let is_anywhere = case["anywhere"].as_bool().unwrap_or(false);
    let line = |index: usize| hunk["within"][index].as_i64();
    Operation::ReplaceText {
        search: if is_anywhere { SearchText::anywhere(search) } else { SearchText::of_lines(search) },
        replacement: text(&hunk["replace"]).to_owned(),
        expected: usize::try_from(case["expected"].as_u64().unwrap_or(1)).unwrap(),
        within: line(0).zip(line(1)),
    }
}

fn refusal(error: &EditError) -> Value {
    let refused = match &error.kind {
        EditErrorKind::NoMatch(reason) => match reason.as_ref() {
            NoMatch::Empty => json!({ "kind": "empty" }),
            NoMatch::NoAnchor { line, .. } => json!({ "kind": "no_anchor", "line": line }),
            NoMatch::Occurs { count, line_numbers, .. } => {
                json!({ "kind": "occurs", "count": count, "lines": line_numbers })
            }
            NoMatch::Absent { nearest, new_text } => {
                let lines = nearest.as_ref().map(|nearest| [*nearest.lines.start(), *nearest.lines.end()]);
                let mut refused = json!({ "kind": "absent", "nearest": lines });
                if let Some(lines) = new_text {
                    refused["new_text"] = json!([lines.start(), lines.end()]);
                }
                refused
            }
        },
        EditErrorKind::UnfitIndentation { lines } => {
            json!({ "kind": "unfit_indentation", "lines": [lines.start(), lines.end()] })
        }
        EditErrorKind::UncertainNumbers { lines } => {
            json!({ "kind": "uncertain_numbers", "lines": [lines.start(), lines.end()] })
        }
        EditErrorKind::OtherIndentation { content_line, given, .. } => {
            json!({ "kind": "other_indentation", "line": content_line, "given": given })
        }
        EditErrorKind::OtherQuotes { content_line, .. } => {
            json!({ "kind": "other_quotes", "line": content_line })
        }
        EditErrorKind::NoBreakSpaces { content_line, .. } => {
            json!({ "kind": "no_break_spaces", "line": content_line })
        }
        EditErrorKind::AlreadyThere { lines } => {
            json!({ "kind": "stands_there", "lines": [lines.start(), lines.end()] })
        }
        EditErrorKind::Unencodable { .. } => json!({ "kind": "unencodable" }),
        EditErrorKind::UndecodableMatch { .. } => json!({ "kind": "undecodable_match" }),
        EditErrorKind::Binary(_) => json!({ "kind": "binary" }),
        other => json!({ "kind": other.to_string() }),
    };
    let mut refused = refused;
    if let Some(index) = error.operation_index {
        refused["hunk"] = json!(index);
    }
    refused
}

fn outcome(case: &Value, edited: &Edited) -> Value {
    let mut outcome = json!({
        "rules": edited.texts.iter().map(|text| {
            text.rules.iter().map(|rule| rule.name()).collect::<Vec<_>>()
        }).collect::<Vec<_>>(),
    });
    if case["expect"].get("file_hex").is_some() {
        let hex: String = edited.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        outcome["file_hex"] = json!(hex);
    } else {
        outcome["file"] = json!(String::from_utf8(edited.bytes.clone()).unwrap());
    }
    if edited.texts.iter().any(|text| text.already_applied) {
        let applied: Vec<bool> = edited.texts.iter().map(|text| text.already_applied).collect();
        outcome["already_applied"] = json!(applied);
    }
    outcome
}

#[test]
fn every_edit_by_text_does_what_the_vectors_state() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    let mut failures = Vec::new();
    let edits: Vec<&Value> = cases.iter().filter(|case| case["kind"] == "edit").collect();
    assert!(edits.len() > 100);
    for case in edits {
        let operations: Vec<Operation> =
            case["hunks"].as_array().unwrap().iter().map(|hunk| operation(case, hunk)).collect();
        let limits = EditLimits::default();
        let got = match apply(&bytes(case), &operations, Numbering::Sequential, &limits) {
            Ok(edited) => outcome(case, &edited),
            Err(error) => {
                let mut expected = case["expect"]["refused"].clone();
                if let Some(expected) = expected.as_object_mut() {
                    expected.remove("expected");
                }
                let refused = refusal(&error);
                let refused = if refused == expected { &case["expect"]["refused"] } else { &refused };
                json!({ "refused": refused })
            }
        };
        if got != case["expect"] {
            failures.push(format!("{}: {got}\n    expected {}", case["name"], case["expect"]));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
