//! The first syntax error after a change: the cases in `fixtures/vectors/syntax-errors.json`, and bounds.

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

#[cfg(feature = "more-languages")]
#[test]
fn more_languages_are_checked_if_their_grammars_are_exact() {
    let check = TreeSyntaxCheck::default();
    // Each text is broken by its last replacement, on the line that is expected.
    let cases = [
        ("a.sh", "one() {\n  echo 1\n}\n", "echo 1\n}", "echo $(1\n}", Some((2, "bash"))),
        ("a.dart", "int one() {\n  return f(1);\n}\n", "f(1)", "f(1", Some((2, "dart"))),
        ("a.ex", "defmodule A do\n  def one, do: f(1)\nend\n", "f(1)", "f(1]", Some((2, "elixir"))),
        ("a.erl", "-module(a).\none() -> f(1).\n", "f(1)", "f(1", Some((2, "erlang"))),
        ("a.lua", "function one()\n  return f(1)\nend\n", "f(1)", "f(1", Some((2, "lua"))),
        ("a.php", "<?php\nfunction one() { return f(1); }\n", "f(1)", "f(1", Some((2, "php"))),
        ("a.R", "one <- function() {\n  f(1)\n}\n", "f(1)", "f(1", Some((2, "r"))),
        ("a.rb", "def one\n  f(1)\nend\n", "f(1)", "f(1]", Some((2, "ruby"))),
        ("a.ps1", "function One {\n  Get-Item 1\n}\n", "Get-Item 1", "Get-Item (1", None),
        ("a.zig", "fn one() u8 {\n    return f(1);\n}\n", "f(1)", "f(1", None),
    ];
    for (path, before, from, to, expected) in cases {
        let after = before.replacen(from, to, 1);
        assert_ne!(before, after, "{path}");
        let error = check.first_new_error(path, before, &after);
        let reported = error.map(|error| (error.line, error.language));
        assert_eq!(reported, expected, "{path}");
        // The control: a change without an error.
        let fine = before.replacen("one", "two", 1).replacen("One", "Two", 1);
        assert_ne!(before, fine, "{path}");
        assert_eq!(check.first_new_error(path, before, &fine), None, "{path}");
    }
}
