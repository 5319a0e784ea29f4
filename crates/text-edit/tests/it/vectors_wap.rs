//! The cases of kind `modify` in `fixtures/vectors/wap.json`.

use serde_json::Value;
use text_edit::{EditErrorKind, Numbering, Operation};

use crate::{delete, edit, insert, regex, replace};

/// The ruling on `modifyFile` says that an insertion past the end appends; the vector says that it is refused. The ruling has
/// precedence, and another test checks this case.
const OVERRULED: &str = "modify_insert_past_end";

#[test]
fn modify_cases_hold_natively() {
    let mut checked = 0;
    for case in cases() {
        if case["name"] != OVERRULED {
            check(&case, Numbering::Original, &case["expect"]);
            checked += 1;
        }
    }
    assert!(checked >= 25, "only {checked} cases were found");
}

#[test]
fn modify_cases_of_the_sequential_dialect_hold() {
    let mut checked = 0;
    for case in cases() {
        if let Some(expect) = case.get("llm4s_expect") {
            check(&case, Numbering::Sequential, expect);
            checked += 1;
        }
    }
    assert!(checked >= 1, "no case states what the dialect does");
}

#[test]
fn insertion_past_the_end_appends() {
    let case = cases().into_iter().find(|case| case["name"] == OVERRULED).unwrap();
    let (source, operations) = request(&case).unwrap();
    let edited = edit(source.as_bytes(), &operations, Numbering::Original).unwrap();
    assert_eq!(edited, b"l1\nl2\nl3\nl4\nl5\nx\n");
}

fn cases() -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../../../../fixtures/vectors/wap.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    cases.iter().filter(|case| case["kind"] == "modify").cloned().collect()
}

fn check(case: &Value, numbering: Numbering, expect: &Value) {
    let name = &case["name"];
    let Some((source, operations)) = request(case) else {
        // An operation of unknown type never reaches an edit: it cannot be expressed.
        assert_eq!(expect["code"], "INVALID_ARGUMENT", "{name}");
        return;
    };
    let edited = edit(source.as_bytes(), &operations, numbering);
    if let Some(code) = expect.get("code") {
        assert_eq!(code, "INVALID_ARGUMENT", "{name}");
        let error = edited.expect_err(&name.to_string());
        assert!(!matches!(error.kind, EditErrorKind::ResultTooLarge { .. }), "{name}: {error}");
        return;
    }
    let edited = String::from_utf8(edited.unwrap_or_else(|error| panic!("{name}: {error}"))).unwrap();
    if let Some(after) = expect.get("after") {
        assert_eq!(after["a"], edited, "{name}");
    }
}

/// The text and the operations of a case, or `None` if an operation has no known type.
fn request(case: &Value) -> Option<(String, Vec<Operation>)> {
    let source = case["input"]["files"]["a"].as_str().unwrap().to_owned();
    let operations = case["input"]["request"]["operations"].as_array().unwrap();
    let operations: Option<Vec<Operation>> = operations.iter().map(operation).collect();
    Some((source, operations?))
}

fn operation(value: &Value) -> Option<Operation> {
    let number = |name: &str| value[name].as_i64().unwrap();
    let text = |name: &str| value[name].as_str().unwrap();
    Some(match value["type"].as_str().unwrap() {
        "replace" => replace(number("startLine"), number("endLine"), text("newContent")),
        "insert" => insert(number("afterLine"), text("newContent")),
        "delete" => delete(number("startLine"), number("endLine")),
        "regexReplace" => regex(text("pattern"), text("replacement"), text("flags")),
        _ => return None,
    })
}
