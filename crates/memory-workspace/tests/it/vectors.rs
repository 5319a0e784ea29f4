//! The conformance cases of the file tools against the workspace in memory.

use memory_workspace::MemoryWorkspace;
use serde_json::{Value, json};
use wap_core::{Limits, Request, Unobserved};

use test_support::Caller;

use crate::workspace::ROOT;

const VECTORS: &str = include_str!("../../../../fixtures/vectors/wap.json");

/// The cases that the workspace in memory cannot represent, and the case that a ruling overrides (inserting past the end
/// appends).
const NOT_HERE: [(&str, &str); 9] = [
    ("explore_start_on_escaping_symlink", "links"),
    ("read_symlink_inside_ok", "links"),
    ("read_symlink_out", "links"),
    ("search_symlinked_file_out", "links"),
    ("write_dangling_symlink", "links"),
    ("write_mkdirs_through_symlink_out", "links"),
    ("read_fifo", "special files"),
    ("write_atomic", "crashes"),
    ("modify_insert_past_end", "overruled"),
];

fn workspace(case: &Value) -> MemoryWorkspace {
    let files = case["input"]["files"].as_object().cloned().unwrap_or_default();
    let workspace = MemoryWorkspace::new();
    for (path, content) in &files {
        match (path.as_str(), content.as_str().unwrap()) {
            ("_generate", "500 empty files") => {
                (0..500).for_each(|number| workspace.set_file(&format!("f{number:03}"), ""));
            }
            ("_generate", "big of 1048576 bytes") => workspace.set_file("big", "x".repeat(1_048_576)),
            ("_generate", "2 MiB, 20000 lines") => {
                workspace.set_file("big", format!("{}\n", "y".repeat(104)).repeat(20_000));
            }
            ("_generate", other) => panic!("unknown generator {other}"),
            (path, content) => workspace.set_file(path, content),
        }
    }
    let limits = case["input"]["request"]["_limits"].clone();
    let limits = if limits.is_null() { Limits::default() } else { serde_json::from_value(limits).unwrap() };
    workspace.with_limits(limits)
}

fn answer(case: &Value, workspace: &MemoryWorkspace) -> Value {
    let tool = match case["kind"].as_str().unwrap() {
        "explore" => "exploreFiles",
        "read" => "readFile",
        "write" => "writeFile",
        "modify" => "modifyFile",
        "search" => "searchFiles",
        other => panic!("unknown kind {other}"),
    };
    let arguments = case["input"]["request"].to_string().replace("<ROOT>", ROOT);
    let arguments = serde_json::from_str(&arguments).unwrap();
    let caller = Caller::once();
    let answer = Request::parse(tool, arguments)
        .and_then(|request| request.answer(workspace, &caller.at(0).call(), &mut Unobserved))
        .map(|response| response.with_absolute_metadata(ROOT));
    match answer {
        Ok(response) => serde_json::to_value(response).unwrap(),
        Err(error) => serde_json::to_value(error).unwrap(),
    }
}

fn check(name: &str, expected: &Value, answer: &Value, workspace: &MemoryWorkspace) {
    let strings = |list: &Value, key: &str| -> Vec<String> {
        list.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
    };
    let paths = || {
        if answer["files"].is_array() {
            strings(&answer["files"], "path")
        } else {
            strings(&answer["matches"], "path")
        }
    };
    let list = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
    };
    for (key, value) in expected.as_object().unwrap() {
        let context = format!("{name}: {key} of {answer}");
        match key.as_str() {
            "code" => assert_eq!(&answer["code"], value, "{context}"),
            "reason" => assert_eq!(&answer["details"]["reason"], value, "{context}"),
            "ok" => assert_eq!(answer.get("error"), None, "{context}"),
            "after" => {
                for (path, content) in value.as_object().unwrap() {
                    assert_eq!(workspace.text(path).as_deref(), content.as_str(), "{context}");
                }
            }
            "paths" => assert_eq!(paths(), list(value), "{context}"),
            "paths_contain" => {
                assert!(list(value).iter().all(|path| paths().contains(path)), "{context}");
            }
            "paths_exclude" => {
                assert!(!list(value).iter().any(|path| paths().contains(path)), "{context}");
            }
            "files_len" => assert_eq!(json!(answer["files"].as_array().unwrap().len()), *value, "{context}"),
            "matches_len" => {
                assert_eq!(json!(answer["matches"].as_array().unwrap().len()), *value, "{context}")
            }
            "lines" => {
                let lines: Vec<&Value> =
                    answer["matches"].as_array().unwrap().iter().map(|m| &m["line"]).collect();
                assert_eq!(json!(lines), *value, "{context}");
            }
            "match" => {
                for (key, value) in value.as_object().unwrap() {
                    assert_eq!(&answer["matches"][0][key], value, "{context}");
                }
            }
            "totalMatches_min" => assert!(answer["totalMatches"].as_u64() >= value.as_u64(), "{context}"),
            "metadata_path" => {
                assert!(answer["metadata"]["path"].as_str().unwrap().starts_with(ROOT), "{context}");
            }
            // A hang fails the whole run; a second more or less proves nothing here.
            "wall_s_max" => {}
            _ => assert_eq!(&answer[key], value, "{context}"),
        }
    }
}

#[test]
fn the_cases_of_the_file_tools_hold() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let kinds = ["explore", "read", "write", "modify", "search"];
    let mut checked = 0;
    for case in vectors["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let kind = case["kind"].as_str().unwrap();
        if !kinds.contains(&kind) || NOT_HERE.iter().any(|(other, _)| *other == name) {
            continue;
        }
        let workspace = workspace(case);
        let answer = answer(case, &workspace);
        check(name, &case["expect"], &answer, &workspace);
        checked += 1;
    }
    assert_eq!(checked, 98, "a case was added or no longer runs");
}
