//! The first error of syntax after a change: the cases in `fixtures/vectors/syntax-errors.json`, and bounds.

use code_index::TreeSyntaxCheck;
use serde_json::{Value, json};
use wap_core::SyntaxCheck;

const VECTORS: &str = include_str!("../../../../fixtures/vectors/syntax-errors.json");

#[test]
fn cases_hold() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() >= 24);
    let check = TreeSyntaxCheck::default();
    let mut failures = Vec::new();
    for case in cases {
        let text = |key: &str| case[key].as_str().unwrap();
        let error = check.first_new_error(text("path"), text("before"), text("after"));
        let error = error
            .map(|error| json!({ "line": error.line, "column": error.column, "language": error.language }));
        if json!(error) != case["expect"] {
            failures.push(format!("{}: {} and not {}", text("name"), json!(error), case["expect"]));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn longest_text_is_a_mebibyte() {
    let check = TreeSyntaxCheck::default();
    let text = |bytes: usize| {
        let call = "    call();\n";
        format!("fn a() {{\n{}}}\n//{}", call.repeat(100), "x".repeat(bytes - 100 * call.len() - 13))
    };
    let broken = |text: &str| text.replacen("call();", "call(;", 1);
    let longest = text(1 << 20);
    assert_eq!(longest.len(), 1 << 20);
    // One byte less, so that the broken text is not longer than the limit either.
    assert!(check.first_new_error("a.rs", &longest, &broken(&longest)).is_some());
    let longer = text((1 << 20) + 1);
    assert_eq!(check.first_new_error("a.rs", &longer, &broken(&longer)), None);
}
