//! The cases of `fixtures/vectors/unclear-blocks.json`.

use serde_json::{Value, json};
use tagproto::{Dialect, Strictness, read_in};

use crate::other_formats::agrees;

#[test]
fn every_unclear_reply_reads_as_the_vectors_state() {
    let text = include_str!("../../../../../fixtures/vectors/unclear-blocks.json");
    let vectors: Value = serde_json::from_str(text).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() > 100);
    let mut failures = Vec::new();
    for case in cases {
        let read = json!(read_in(case["reply"].as_str().unwrap(), Strictness::Repair, Dialect::Agentd));
        let (got, expected) =
            (read["commands"].as_array().unwrap(), case["expect"]["commands"].as_array().unwrap());
        let agree = got.len() == expected.len()
            && got.iter().zip(expected).all(|(got, expected)| agrees(got, expected));
        if !agree || read["repairs"] != case["expect"]["repairs"] || !read["refused"].is_null() {
            failures.push(format!("{}: {read}\n    expected {}", case["name"], case["expect"]));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
