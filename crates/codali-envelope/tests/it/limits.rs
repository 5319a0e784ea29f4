//! Limits, and the notes in a response about omitted parts.

use std::time::Duration;

use codali_envelope::critic::{CriticStatus, check};
use codali_envelope::{
    Form, ReadLimits, ReadOptions, WarningCode, extract_request, read_response, render_response,
};
use serde_json::{Value, json};
use wap_core::{ExecuteCommandResponse, Limits};

use crate::call_frame::{Bench, warnings};

fn first(response: &codali_envelope::Response) -> Value {
    serde_json::to_value(&response.results[0]).unwrap()
}

#[test]
fn a_listing_of_many_calls_ends_at_the_time_limit_of_its_need() {
    let names: Vec<String> =
        (0..40).flat_map(|folder| (0..30).map(move |file| format!("d{folder:02}/f{file:02}.txt"))).collect();
    let mut bench = Bench::new(names.iter().map(|name| (name.as_str(), "")));
    bench.workspace = bench.workspace.with_limits(Limits { max_directory_entries: 50, ..Limits::default() });
    // Each reading of the stopwatch is a second later, and a need has ten.
    bench.tick = Duration::from_secs(1);
    for (need, what, list) in
        [("docdex.tree", "docdex.tree .", "tree"), ("file.list", "file.list .", "files")]
    {
        let response = bench.needs(&format!("  - type: {need}\n"));
        let said = warnings(&response);
        assert_eq!(said[0], format!("need_timeout: {what}"));
        assert!(said[1].starts_with(&format!("truncated: {what} ")), "{said:?}");
        let result = first(&response);
        assert_eq!(result["truncated"], true);
        let text = result[list].as_str().map_or_else(|| result[list].to_string(), str::to_owned);
        // Results up to then are kept.
        assert!(text.contains("f29.txt") && !text.contains("d39/f"), "{text}");
    }
}

#[test]
fn a_diff_with_a_gap_does_not_say_how_many_lines_it_has() {
    let bench = Bench::new([("a", "a\n")]);
    let git = "git --no-pager --no-optional-locks -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.quotePath=false -c 'safe.directory=*' diff --no-color --no-ext-diff --no-textconv --submodule=short --src-prefix=a/ --dst-prefix=b/ --";
    let ended = ExecuteCommandResponse {
        stdout: "+a\n\n… 900000 bytes left out …\n+z\n".into(),
        stderr: String::new(),
        exit_code: 0,
        is_output_truncated: true,
        duration_ms: 1,
        signal: None,
        background: None,
        whole_output: None,
        sandbox: String::new(),
        warnings: Vec::new(),
        denied: Vec::new(),
    };
    bench.workspace.on_command(git, Ok(ended));
    let response = bench.needs("  - type: file.diff\n");
    assert_eq!(warnings(&response), ["truncated: file.diff has a gap in its middle; ask for fewer paths"]);
    let result = first(&response);
    assert_eq!((&result["truncated"], &result["total_lines"]), (&json!(true), &Value::Null));
}

#[test]
fn a_name_in_a_tree_is_shown_at_its_level() {
    let names = ["a/b", "  b.rs", "\"quoted\"", "plain name.rs"];
    let bench = Bench::new(names.map(|name| (name, "")));
    let tree = first(&bench.needs("  - type: docdex.tree\n"))["tree"].as_str().unwrap().to_owned();
    let expected = "\"  b.rs\"\n\"\\\"quoted\\\"\"\na/\n  b\nplain name.rs\n";
    assert_eq!(tree, expected);
}

#[test]
fn responses_have_the_same_limits_in_both_forms() {
    let response = Bench::new([("a", "a\n")]).needs("  - type: file.read\n    path: a\n");
    let few = ReadLimits { values: 5, ..ReadLimits::for_responses() };
    let flat = ReadLimits { depth: 2, ..ReadLimits::for_responses() };
    for form in [Form::Yaml, Form::JsonBody] {
        let text = render_response(&response, form);
        for limits in [few, flat] {
            let error = read_response(&text, &limits).unwrap_err();
            assert_eq!(error.code(), WarningCode::TooLarge, "{text}");
        }
        // The control.
        let limits = ReadLimits { values: 20, depth: 3, ..ReadLimits::for_responses() };
        assert_eq!(read_response(&text, &limits).as_ref(), Ok(&response));
    }
}

#[test]
fn needs_after_the_end_of_a_request_are_reported() {
    let request = "AGENT_REQUEST v1\nrequest_id: r\nneeds:\n  - type: file.read\n    path: a\n";
    let needs = "  - type: file.read\n    path: b\n";
    let said = |text: &str| {
        let reading = extract_request(text, &ReadOptions::default()).unwrap();
        assert_eq!(reading.request.needs.len(), 1);
        reading.warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let after = |line: u32| {
        [format!(
            "invalid_field: line {line} is after the end of the request; needs from there on were ignored"
        )]
    };
    for between in ["---\n", "...\n", "And this one\n", "\0\n", "\nI also need:\n\n"] {
        let line = 6 + u32::try_from(between.lines().count()).unwrap();
        assert_eq!(said(&format!("{request}{between}{needs}")), after(line), "{between:?}");
    }
    // The control: prose, and the content of another block.
    for text in ["\nThanks.\n- type: of need\n- file: x\n", "```\n- type: file.read\n  path: b\n```\n"] {
        assert_eq!(said(&format!("{request}{text}")), Vec::<String>::new(), "{text:?}");
    }
}

#[test]
fn rules_of_a_critic_are_typed_as_lists() {
    let judged = |touched: &str, allowed: &[&str], read_only: &[&str]| {
        let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        check(&list(&[touched]), &list(&[touched]), &list(allowed), &list(read_only), "done").status
    };
    assert_eq!(judged("src/a.rs", &[], &["docs", " src"]), CriticStatus::Fail);
    assert_eq!(judged(" src/a.rs", &[], &[" src"]), CriticStatus::Fail);
    assert_eq!(judged("src/a.rs", &["docs", ""], &[]), CriticStatus::Fail);
    assert_eq!(judged("src/a.rs", &["docs", " "], &[]), CriticStatus::Fail);
    assert_eq!(judged("src/a.rs", &["docs", " src"], &["docs", ""]), CriticStatus::Pass);
    assert_eq!(judged("src/a.rs", &["."], &[]), CriticStatus::Pass);
}

#[test]
fn a_pattern_that_cannot_be_compiled_is_refused() {
    let bench = Bench::new([("a", "a\n")]);
    let list = |pattern: &str| {
        first(&bench.needs(&format!("  - {{type: file.list, root: '.', pattern: '{pattern}'}}\n")))
    };
    for depth in [1_000, 20_000] {
        let result = list(&format!("{}{}", "{a,".repeat(depth), "}".repeat(depth)));
        assert_eq!(result["error"], "invalid_field", "{depth}");
    }
    // The control: a valid pattern.
    assert_eq!(list(&format!("{}{}", "{a,".repeat(100), "}".repeat(100)))["files"], json!(["a"]));
}
