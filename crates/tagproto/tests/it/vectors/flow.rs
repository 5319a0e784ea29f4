//! The cases of kind `flow` that are about the form of an outbox. The others are about files and crashes.

use serde_json::Value;
use tagproto::{BlockKind, CommandResult, Context, Dialect, RequestedFile, RequestedText, render_outbox};

use super::exec::cases;
use crate::fixture::round_trip::session;

fn case(name: &str) -> Value {
    cases().into_iter().find(|case| case["name"] == name).unwrap()
}

fn result(output: &str) -> CommandResult {
    CommandResult {
        command_type: BlockKind::RunCommand.into(),
        summary: "Ran 'x' (exit code 0)".into(),
        success: true,
        output: output.into(),
        notes: Vec::new(),
        denied: Vec::new(),
    }
}

fn file(path: &str, text: &str) -> RequestedFile {
    let text = RequestedText {
        text: text.into(),
        version: None,
        total_lines: text.lines().count() as u64,
        lines: None,
        is_cut: false,
        warnings: Vec::new(),
    };
    RequestedFile { path: path.into(), text: Some(text) }
}

/// Checks that each text of a case's list is a whole line, in this order.
fn assert_order(text: &str, order: &Value) {
    let mut lines = text.lines();
    for marker in order.as_array().unwrap() {
        assert!(lines.any(|line| *marker == line), "{marker} is missing in\n{text}");
    }
}

#[test]
fn first_outbox_has_its_sections_in_order() {
    let text = render_outbox(&session("T", Dialect::Agentd), &Context::default(), "").text;
    assert_order(&text, &case("flow_section_order")["expect"]["order"]);
    assert!(!text.contains("## Previous Command Results") && !text.contains("## Requested File Contents"));
}

#[test]
fn later_outbox_has_its_sections_in_order() {
    let mut session = session("T", Dialect::Agentd);
    (session.sequence_number, session.last_results) = (2, vec![result("")]);
    let context = Context { files: vec![file("a", "A\n")], ..Context::default() };
    let text = render_outbox(&session, &context, "").text;
    assert_order(&text, &case("flow_section_order_seq2_full")["expect"]["order"]);
}

#[test]
fn outbox_without_results_has_no_heading_for_them() {
    let mut session = session("T", Dialect::Agentd);
    session.sequence_number = 2;
    let text = render_outbox(&session, &Context::default(), "").text;
    for absent in case("flow_no_results_section_when_empty")["expect"]["absent"].as_array().unwrap() {
        assert!(text.lines().all(|line| *absent != line));
    }
}

#[test]
fn output_cannot_forge_a_section() {
    let case = case("flow_output_cannot_forge_section");
    let mut session = session("T", Dialect::Agentd);
    session.sequence_number = 2;
    session.last_results = vec![result(case["input"]["run_output"].as_str().unwrap())];
    let text = render_outbox(&session, &Context::default(), "").text;
    for (marker, count) in case["expect"]["line_equal_marker_count"].as_object().unwrap() {
        assert_eq!(text.lines().filter(|line| line == marker).count() as u64, count.as_u64().unwrap());
    }
}

#[test]
fn task_stays_on_one_line_of_the_header_and_forges_no_section() {
    let case = case("flow_task_with_newline_or_marker");
    let text = render_outbox(
        &session(case["input"]["task"].as_str().unwrap(), Dialect::Agentd),
        &Context::default(),
        "",
    )
    .text;
    assert!(text.contains("\nTask: a === CONTEXT === b\n"), "{text}");
    let sections = text.lines().filter(|line| line.starts_with("=== ")).count();
    assert_eq!(sections as u64, case["expect"]["sections_count"].as_u64().unwrap());
}
