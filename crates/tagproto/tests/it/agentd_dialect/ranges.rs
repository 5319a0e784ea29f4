//! READ_FILE for some lines of a file.

use memory_workspace::MemoryWorkspace;
use tagproto::{Dialect, Execution, Session, ShownLines, read_outbox};
use wap_core::LineSpan;

use crate::fixture::round_trip::{answer, outbox, session};

/// Returns a workspace with a file of 900 lines, each with its number.
fn long() -> MemoryWorkspace {
    let text: String = (1..=900).map(|line| format!("line {line}\n")).collect();
    MemoryWorkspace::with_files([("p", text.as_str()), ("empty", "")])
}

fn ask_and_render(reply: &str, session: &mut Session) -> (Execution, String) {
    let workspace = long();
    let execution = answer(reply, session, &workspace);
    let text = outbox(session, &workspace);
    (execution, text)
}

fn view(first: u32, last: u32) -> String {
    let width = last.to_string().len();
    (first..=last).map(|line| format!("{line:>width$}|line {line}\n")).collect()
}

fn lines(first: u32, last: u32) -> String {
    (first..=last).map(|line| format!("line {line}\n")).collect()
}

#[test]
fn a_range_is_shown_with_its_numbers_and_read_back() {
    let mut session = session("T", Dialect::Agentd);
    let (execution, text) =
        ask_and_render("[READ_FILE path=\"p\" start_line=\"400\" end_line=\"520\"]", &mut session);
    assert_eq!(execution.results[0].summary, "Queued 'p' lines 400-520 for next outbox");
    let expected = format!("--- p --- (lines 400-520 of 900)\n{}--- end p ---\n", view(400, 520));
    assert!(text.contains(&expected), "{text}");
    let file = &read_outbox(&text).unwrap().files[0];
    assert_eq!(file.lines, Some(ShownLines { first: 400, last: 520, total: 900 }));
    assert_eq!(file.text.as_deref(), Some(lines(400, 520).as_str()));
    // Line numbers of these lines refer to this version.
    assert!(session.shown_versions.version_for("p", 400).is_some());
}

#[test]
fn either_end_may_be_left_out_and_both_are_clamped() {
    for (attributes, first, last) in [
        ("start_line=\"890\"", 890, 900),
        ("end_line=\"3\"", 1, 3),
        ("start_line=\"0\" end_line=\"2\"", 1, 2),
        ("start_line=\"899\" end_line=\"100000\"", 899, 900),
        ("start_line=\" +5 \" end_line=\"5\"", 5, 5),
    ] {
        let mut session = session("T", Dialect::Agentd);
        let (execution, text) = ask_and_render(&format!("[READ_FILE path=\"p\" {attributes}]"), &mut session);
        assert_eq!(execution.results[0].summary, format!("Queued 'p' lines {first}-{last} for next outbox"));
        let expected = format!("--- p --- (lines {first}-{last} of 900)\n{}--- end p", view(first, last));
        assert!(text.contains(&expected), "{attributes}: {text}");
    }
}

#[test]
fn a_range_that_is_the_whole_file_is_shown_as_the_whole_file() {
    let mut session = session("T", Dialect::Agentd);
    let (_, text) = ask_and_render("[READ_FILE path=\"p\" start_line=\"1\" end_line=\"900\"]", &mut session);
    assert!(text.contains("\n--- p ---\n  1|line 1\n"), "{text}");
    assert!(session.shown_versions.version_for("p", 900).is_some());
}

#[test]
fn a_range_beyond_the_end_is_refused_with_the_number_of_lines() {
    for (attributes, range) in [
        ("start_line=\"901\"", "901-"),
        ("start_line=\"901\" end_line=\"950\"", "901-950"),
        ("start_line=\"9\" end_line=\"8\"", "9-8"),
        ("end_line=\"-1\"", "1-0"),
    ] {
        let mut session = session("T", Dialect::Agentd);
        let (execution, _) = ask_and_render(&format!("[READ_FILE path=\"p\" {attributes}]"), &mut session);
        let expected = format!("Invalid line range {range} for file with 900 lines; ");
        assert!(execution.results[0].summary.starts_with(&expected), "{:?}", execution.results);
        assert!(!execution.results[0].success && execution.read_file_requests.is_empty());
    }
}

#[test]
fn invalid_line_numbers_fail_the_block() {
    for attributes in ["start_line=\"first\"", "start_line=\"1\" start_line=\"2\"", "end_line=\"\""] {
        let reply = format!("[READ_FILE path=\"p\" {attributes}]");
        let (execution, _) = ask_and_render(&reply, &mut session("T", Dialect::Agentd));
        assert!(execution.results[0].summary.contains("must be integers"), "{:?}", execution.results);
        let (original, _) = ask_and_render(&reply, &mut session("T", Dialect::CodingAgent));
        assert_eq!(original.results[0].summary, "Queued 'p' for next outbox");
    }
}

#[test]
fn the_dialect_of_the_original_shows_the_whole_file() {
    let mut session = session("T", Dialect::CodingAgent);
    let (_, text) =
        ask_and_render("[READ_FILE path=\"p\" start_line=\"400\" end_line=\"520\"]", &mut session);
    assert!(text.contains(&format!("--- p ---\n{}--- end p ---\n", lines(1, 900))), "{text}");
}

#[test]
fn adjacent_ranges_are_joined_and_a_whole_file_includes_all_ranges() {
    let read = |range: &str| format!("[READ_FILE path=\"p\" {range}]\n");
    let apart = [
        read("start_line=\"50\" end_line=\"60\""),
        read("start_line=\"10\" end_line=\"20\""),
        read("start_line=\"21\" end_line=\"30\""),
    ]
    .concat();
    let mut first = session("T", Dialect::Agentd);
    let (execution, text) = ask_and_render(&apart, &mut first);
    let spans = [LineSpan { first: 10, last: 30 }, LineSpan { first: 50, last: 60 }];
    assert_eq!(execution.read_file_ranges["p"], spans);
    assert!(text.contains("(lines 10-30 of 900)") && text.contains("(lines 50-60 of 900)"), "{text}");
    let stored = serde_json::to_string(&first).unwrap();
    assert_eq!(serde_json::from_str::<Session>(&stored).unwrap(), first);
    for reply in [format!("{apart}{}", read("")), format!("{}{apart}", read(""))] {
        let (execution, text) = ask_and_render(&reply, &mut session("T", Dialect::Agentd));
        assert!(execution.read_file_ranges.is_empty(), "{execution:?}");
        assert_eq!(text.matches("\n--- p ---").count(), 1, "{text}");
    }
}

#[test]
fn all_lines_of_an_empty_file_are_shown_as_none() {
    let mut session = session("T", Dialect::Agentd);
    let (execution, text) = ask_and_render("[READ_FILE path=\"empty\" start_line=\"1\"]", &mut session);
    assert!(execution.results[0].success && text.contains("--- end empty --- (empty file)"), "{text}");
}

#[test]
fn a_file_that_became_shorter_is_shown_with_its_number_of_lines() {
    let mut session = session("T", Dialect::Agentd);
    let workspace = long();
    answer("[READ_FILE path=\"p\" start_line=\"400\"]", &mut session, &workspace);
    workspace.set_file("p", "line 1\n");
    let text = outbox(&mut session, &workspace);
    assert!(text.contains("--- p ---\n--- end p --- (none of 1 lines shown)\n"), "{text}");
}
