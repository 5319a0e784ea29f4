//! The changed lines in the results of edits.

use memory_workspace::MemoryWorkspace;
use tagproto::{Dialect, Execution, Strictness, base_versions, read_in};

use crate::fixture::call_frame::Frame;
use crate::fixture::round_trip::{answer, outbox, run_items, session};

fn edit(first: i32, last: i32, body: &str) -> String {
    format!("[EDIT_FILE path=\"a.txt\" start_line=\"{first}\" end_line=\"{last}\"]\n{body}[/EDIT_FILE]\n")
}

/// Carries out a reply to a message that showed `a.txt` with 20 lines.
fn execution_of(reply: &str, dialect: Dialect) -> Execution {
    let text: String = (1..=20).map(|number| format!("line {number}\n")).collect();
    let workspace = MemoryWorkspace::with_files([("a.txt", text)]);
    let mut session = session("T", dialect);
    answer("[READ_FILE path=\"a.txt\"]", &mut session, &workspace);
    outbox(&mut session, &workspace);
    answer(reply, &mut session, &workspace)
}

fn outputs(reply: &str) -> Vec<String> {
    let execution = execution_of(reply, Dialect::Agentd);
    assert!(execution.results.iter().all(|result| result.success), "{execution:?}");
    execution.results.iter().map(|result| result.text().into_owned()).collect()
}

const WITHDRAWN: &str =
    "(a later block of this reply changed this file at or above these lines: they are not shown here)\n";

#[test]
fn an_edit_shows_the_changed_lines_with_their_new_numbers() {
    insta::assert_snapshot!(outputs(&edit(5, 5, "five\nand a half\n"))[0], @r"
    The text is now:
    3|line 3
    4|line 4
    5|five
    6|and a half
    7|line 6
    8|line 7
    (old lines from 6 on moved down by 1 line)
    ");
}

#[test]
fn an_edit_by_text_shows_them_too() {
    let reply =
        "[EDIT_FILE path=\"a.txt\"]\n<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n[/EDIT_FILE]\n";
    let workspace = MemoryWorkspace::with_files([("a.txt", "one\ntwo\n")]);
    let read = read_in(reply, Strictness::Repair, Dialect::Agentd);
    let session = session("T", Dialect::Agentd);
    let frame = Frame::new(reply);
    let base = base_versions(&read.items, &session, &workspace, &frame.call()).unwrap();
    let execution = run_items(&read.items, &session, base, &workspace);
    assert_eq!(execution.results[0].output, "The text is now:\n1|one\n2|2\n");
}

#[test]
fn edits_further_down_leave_the_numbers_of_earlier_results_valid() {
    let outputs = outputs(&(edit(2, 2, "A\nB\n") + &edit(12, 12, "C\n")));
    assert!(outputs[0].starts_with("The text is now:\n1|line 1\n2|A\n3|B\n"), "{}", outputs[0]);
    assert!(outputs[1].contains("13|C\n"), "{}", outputs[1]);
}

#[test]
fn numbers_that_a_later_block_moves_are_not_shown() {
    let outputs = outputs(&(edit(12, 12, "C\n") + &edit(2, 2, "A\nB\n")));
    assert_eq!(outputs[0], WITHDRAWN);
    assert!(outputs[1].starts_with("The text is now:\n1|line 1\n2|A\n3|B\n"), "{}", outputs[1]);
}

#[test]
fn lines_of_a_file_that_is_deleted_later_are_not_shown() {
    let outputs = outputs(&(edit(2, 2, "A\n") + "[DELETE_FILE path=\"a.txt\"]\n"));
    assert_eq!(outputs, [WITHDRAWN, ""]);
}

#[test]
fn a_body_that_repeats_the_next_line_is_noted() {
    let output = &outputs(&edit(5, 5, "five\nline 6\n"))[0];
    let note =
        "note: line 6 repeats line 7, just after the edited lines: check that the line numbers were right\n";
    assert!(output.starts_with(note), "{output}");
}

#[test]
fn the_changed_lines_of_one_reply_are_bounded() {
    let long = "x".repeat(150);
    let workspace =
        MemoryWorkspace::with_files((0..200).map(|file| (format!("{file}.txt"), "1\n".to_owned())));
    let mut session = session("T", Dialect::Agentd);
    let blocks = (0..200).map(|file| {
        let body = format!("{long}\n").repeat(12);
        format!("[EDIT_FILE path=\"{file}.txt\" start_line=\"1\" end_line=\"1\"]\n{body}[/EDIT_FILE]\n")
    });
    let execution = answer(&blocks.collect::<String>(), &mut session, &workspace);
    let characters: usize = execution.results.iter().map(|result| result.output.chars().count()).sum();
    assert!(characters < 8_000 + 200 * 80, "{characters} characters");
    assert_eq!(
        execution.results[199].output,
        "(the changed lines are not shown: there are too many in this reply)\n"
    );
}

#[test]
fn the_original_dialect_has_no_report() {
    let execution = execution_of(&edit(5, 5, "five\nline 6\n"), Dialect::CodingAgent);
    assert_eq!(execution.results[0].output, "");
}
