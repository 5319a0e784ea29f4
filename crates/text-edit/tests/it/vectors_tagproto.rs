//! The `exec_edit_*` cases of `fixtures/vectors/tagproto.json`, as edits of a text without any files.

use serde_json::Value;
use text_edit::{EditErrorKind, EditLimits, Lines, Numbering, Operation, apply};

#[test]
fn exec_edit_cases_hold() {
    let file: Value =
        serde_json::from_str(include_str!("../../../../fixtures/vectors/tagproto.json")).unwrap();
    let cases = file["cases"].as_array().unwrap().iter();
    // `was` is evaluated before the edit reaches this crate.
    let is_edit = |case: &&Value| {
        let inbox = case["input"]["inbox"].as_str().unwrap_or_default();
        case["name"].as_str().unwrap().starts_with("exec_edit_") && !inbox.contains(" was=")
    };
    let mut checked = 0;
    for case in cases.filter(is_edit) {
        check(case);
        checked += 1;
    }
    assert!(checked >= 13, "only {checked} cases were found");
}

/// Every block of a reply is one call that sees the text as the blocks before it have left it.
fn check(case: &Value) {
    let name = case["name"].as_str().unwrap();
    let is_latin1 = case["input"].get("files_encoding").is_some();
    let bytes = |text: &Value| -> Vec<u8> {
        let text = text.as_str().unwrap();
        if is_latin1 {
            text.chars().map(|character| u8::try_from(u32::from(character)).unwrap()).collect()
        } else {
            text.as_bytes().to_vec()
        }
    };
    let mut text = bytes(&case["input"]["files"]["a.txt"]);
    let expect = &case["expect"];
    let mut shift = 0;
    for (nth, operation) in blocks(case["input"]["inbox"].as_str().unwrap()).into_iter().enumerate() {
        let result = &expect["results"][nth];
        let Operation::Replace { start_line, end_line, .. } = operation else { unreachable!() };
        match apply(&text, &[operation], Numbering::Sequential, &EditLimits::default()) {
            Ok(edited) => {
                assert_ne!(result["success"], false, "{name}");
                shift += edited.line_map.line_delta();
                text = edited.bytes;
            }
            Err(error) => {
                assert_eq!(result["success"], false, "{name}: {error}");
                let EditErrorKind::InvalidRange { total_lines, .. } = error.kind else {
                    panic!("{name}: {error}");
                };
                let summary =
                    format!("Invalid line range {start_line}-{end_line} for file with {total_lines} lines");
                assert_eq!(result["summary"], summary, "{name}");
            }
        }
        if nth == 0
            && let Some(contained) = expect.get("second_summary_contains")
        {
            assert_eq!(contained, &format!("{shift:+}"), "{name}");
        }
    }
    assert_eq!(text, bytes(&expect["after"]["a.txt"]), "{name}");
}

/// The edits of an inbox that consists of well-formed blocks only.
fn blocks(inbox: &str) -> Vec<Operation> {
    let mut edits = Vec::new();
    let mut lines = inbox.lines();
    while let Some(head) = lines.next() {
        let attributes: Vec<&str> = head.split('"').collect();
        let number = |name: &str| -> i64 {
            let at = attributes.iter().position(|part| part.trim().trim_end_matches('=') == name).unwrap();
            attributes[at + 1].parse().unwrap()
        };
        let (start_line, end_line) = (number("start_line"), number("end_line"));
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "[/EDIT_FILE]").collect();
        edits.push(Operation::Replace { start_line, end_line, content: Lines::from_body(body) });
    }
    edits
}
