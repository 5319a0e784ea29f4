//! The cases of kind `exec` that need neither a shell nor links, on a workspace in memory.
//!
//! The output of the commands is scripted; other crates test that a shell prints it.

use memory_workspace::MemoryWorkspace;
use serde_json::Value;
use tagproto::Dialect;

use crate::fixture::round_trip::{answer, ended, outbox, session};

/// The cases of every kind.
pub(crate) fn cases() -> Vec<Value> {
    let text = include_str!("../../../../../fixtures/vectors/tagproto.json");
    let mut vectors: Value = serde_json::from_str(text).unwrap();
    vectors["cases"].as_array_mut().unwrap().drain(..).collect()
}

/// Commands of the cases with the results of `/bin/sh`: standard output, standard error, exit code.
const SCRIPT: [(&str, &str, &str, i32); 4] = [
    ("echo a; echo err >&2; exit 3", "a\n", "err\n", 3),
    ("echo hi", "hi\n", "", 0),
    ("echo o; echo e >&2", "o\n", "e\n", 0),
    ("echo a\necho b", "a\nb\n", "", 0),
];

/// Checks for cases that need a real shell or a real file system.
fn needs_an_engine(case: &Value) -> bool {
    let inbox = case["input"]["inbox"].as_str().unwrap();
    let is_scripted = || SCRIPT.iter().any(|(command, ..)| inbox.contains(&format!("]\n{command}\n[")));
    case["input"].get("symlinks").is_some() || (inbox.contains("[RUN_COMMAND]") && !is_scripted())
}

/// Returns the bytes of a text of a case: in some cases, each character is one byte.
fn bytes(case: &Value, text: &str) -> Vec<u8> {
    if case["input"].get("files_encoding").is_some() {
        text.chars().map(|character| u8::try_from(u32::from(character)).unwrap()).collect()
    } else {
        text.as_bytes().to_vec()
    }
}

fn check(case: &Value) {
    let (input, expect) = (&case["input"], &case["expect"]);
    let files = input["files"].as_object().unwrap();
    let workspace = MemoryWorkspace::with_files(
        files.iter().map(|(path, text)| (path, bytes(case, text.as_str().unwrap()))),
    );
    for (command, stdout, stderr, exit_code) in SCRIPT {
        workspace.on_command(command, Ok(ended(stdout, stderr, exit_code)));
    }
    let dialect: Dialect = case["dialect"].as_str().unwrap().parse().unwrap();
    let mut session = session("T", dialect);
    let execution = answer(input["inbox"].as_str().unwrap(), &mut session, &workspace);
    let results = serde_json::to_value(&execution.results).unwrap();

    for (result, expected) in
        results.as_array().unwrap().iter().zip(expect["results"].as_array().into_iter().flatten())
    {
        for (member, value) in expected.as_object().unwrap() {
            if member == "summary" && result["success"] == false {
                assert!(result[member].as_str().unwrap().starts_with(value.as_str().unwrap()), "{result}");
            } else {
                assert_eq!(result[member], *value);
            }
        }
    }
    if let Some(expected) = expect["results"].as_array() {
        assert_eq!(execution.results.len(), expected.len());
    }
    for (result, expected) in
        execution.results.iter().zip(expect["results_types_ok"].as_array().into_iter().flatten())
    {
        assert_eq!(serde_json::json!([result.command_type.name(), result.success]), *expected);
    }
    if let Some(text) = expect["summary_starts"].as_str() {
        assert!(execution.results[0].summary.starts_with(text));
    }
    if let Some(text) = expect["second_summary_contains"].as_str() {
        assert!(execution.results[1].summary.contains(text));
    }
    if let Some(complete) = expect["complete"].as_bool() {
        assert_eq!(session.is_complete, complete);
        assert_eq!(serde_json::to_value(&session.done).unwrap(), expect["done"]);
    }
    if let Some(after) = expect["after"].as_object() {
        let after: Vec<_> =
            after.iter().map(|(path, text)| (path.clone(), bytes(case, text.as_str().unwrap()))).collect();
        assert_eq!(workspace.files().into_iter().collect::<Vec<_>>(), after);
    }
    let next = outbox(&mut session, &workspace);
    if let Some(count) = expect["requested_section_count"].as_u64() {
        let fences = next.lines().filter(|line| line.starts_with("--- end ")).count();
        assert_eq!(fences as u64, count);
    }
    let mut lines = next.lines();
    for start in expect["next_outbox_line_starts_in_order"].as_array().into_iter().flatten() {
        let start = start.as_str().unwrap();
        assert!(lines.any(|line| line.starts_with(start)), "{start} is missing in\n{next}");
    }
}

#[test]
fn every_case_that_needs_no_shell_and_no_links_holds() {
    let (mut held, mut left_to_engines) = (0, 0);
    for case in cases() {
        if case["kind"] != "exec" {
            continue;
        }
        if needs_an_engine(&case) {
            left_to_engines += 1;
            continue;
        }
        println!("{}", case["name"]);
        check(&case);
        held += 1;
    }
    assert_eq!((held, left_to_engines), (31, 7));
}
