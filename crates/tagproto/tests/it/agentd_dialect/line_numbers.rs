//! The meaning of an edit's line numbers, and the refusals of unusable numbers.

use std::time::Duration;

use memory_workspace::MemoryWorkspace;
use tagproto::{
    BaseVersions, Dialect, ExecutionObserver, Item, Session, Strictness, base_versions, execute, parse,
    read_in,
};

use crate::fixture::call_frame::Frame;
use crate::fixture::round_trip::{answer, ended, outbox, run, run_with, session};

fn numbered(count: usize) -> String {
    (1..=count).map(|number| format!("line {number}\n")).collect()
}

fn edit(path: &str, first: i32, last: i32, body: &str) -> String {
    format!("[EDIT_FILE path=\"{path}\" start_line=\"{first}\" end_line=\"{last}\"]\n{body}[/EDIT_FILE]\n")
}

/// Returns a session that was shown `a.txt` with a number of lines.
fn session_after_reading(lines: usize) -> (Session, MemoryWorkspace) {
    let workspace = MemoryWorkspace::with_files([("a.txt", numbered(lines))]);
    let mut session = session("T", Dialect::Agentd);
    answer("[READ_FILE path=\"a.txt\"]", &mut session, &workspace);
    outbox(&mut session, &workspace);
    (session, workspace)
}

#[test]
fn several_edits_of_a_reply_use_the_numbers_that_were_shown() {
    let (session, workspace) = session_after_reading(5);
    let reply = edit("a.txt", 1, 1, "A\nB\nC\n") + &edit("a.txt", 3, 3, "X\n") + &edit("a.txt", 5, 9, "");
    let execution = run(&reply, &session, &workspace);
    assert_eq!(workspace.text("a.txt").unwrap(), "A\nB\nC\nline 2\nX\nline 4\n");
    let summaries: Vec<&str> = execution.results.iter().map(|result| result.summary.as_str()).collect();
    assert_eq!(
        summaries,
        [
            "Edited 'a.txt' lines 1-1",
            "Edited 'a.txt' lines 5-5 (your 3-3)",
            "Edited 'a.txt' lines 7-7 (your 5-9)"
        ]
    );
}

#[test]
fn numbers_that_an_earlier_reply_has_moved_are_refused_unless_the_line_is_named() {
    let (mut session, workspace) = session_after_reading(5);
    answer(&edit("a.txt", 1, 1, "A\nB\n"), &mut session, &workspace);
    outbox(&mut session, &workspace);
    workspace.set_file("a.txt", format!("top\n{}", workspace.text("a.txt").unwrap()));
    let execution = answer(&edit("a.txt", 4, 4, "X\n"), &mut session, &workspace);
    assert_eq!(
        execution.results[0].summary,
        "Failed to edit 'a.txt': lines 4-4 can mean line 5 or line 6 of the file as it is now, so nothing was changed; \
         both are below; send the edit again with the numbers that it has there"
    );
    let named = edit("a.txt", 4, 4, "X\n").replace("\"4\"]", "\"4\" was=\" line 4\"]");
    let (mut session, workspace) = session_after_reading(5);
    answer(&edit("a.txt", 1, 1, "A\nB\n"), &mut session, &workspace);
    outbox(&mut session, &workspace);
    workspace.set_file("a.txt", format!("top\n{}", workspace.text("a.txt").unwrap()));
    let execution = answer(&named, &mut session, &workspace);
    assert_eq!(execution.results[0].summary, "Edited 'a.txt' lines 6-6 (your 4-4)");
    assert_eq!(workspace.text("a.txt").unwrap(), "top\nA\nB\nline 2\nline 3\nX\nline 5\n");
}

#[test]
fn numbers_keep_their_meaning_over_the_users_changes_since_the_message() {
    let (mut session, workspace) = session_after_reading(5);
    workspace.set_file("a.txt", format!("top\n{}", workspace.text("a.txt").unwrap()));
    answer(&edit("a.txt", 4, 4, "X\n"), &mut session, &workspace);
    assert_eq!(workspace.text("a.txt").unwrap(), "top\nline 1\nline 2\nline 3\nX\nline 5\n");
}

#[test]
fn edit_of_changed_lines_is_refused_with_both_texts() {
    let (mut session, workspace) = session_after_reading(3);
    workspace.set_file("a.txt", "line 1\nthe user's\nline 3\n");
    let execution = answer(&edit("a.txt", 2, 2, "X\n"), &mut session, &workspace);
    let result = &execution.results[0];
    assert!(!result.success);
    insta::assert_snapshot!(format!("{}\n{}", result.summary, result.output), @r#"
    Failed to edit 'a.txt': lines 2-2 are not what they were when you saw them; both texts are below; send the edit again with the line numbers of the text as it is now
    You were shown:
    2|line 2
    The text is now:
    1|line 1
    2|the user's
    3|line 3
    "#);
    assert_eq!(workspace.text("a.txt").unwrap(), "line 1\nthe user's\nline 3\n");
    // The refusal showed the current text, so its numbers can be used at once.
    outbox(&mut session, &workspace);
    answer(&edit("a.txt", 2, 2, "Y\n"), &mut session, &workspace);
    assert_eq!(workspace.text("a.txt").unwrap(), "line 1\nY\nline 3\n");
}

#[test]
fn refusal_shows_a_line_that_was_blank() {
    let workspace = MemoryWorkspace::with_files([("a.txt", "one\n\nthree\n")]);
    let mut session = session("T", Dialect::Agentd);
    answer("[READ_FILE path=\"a.txt\"]", &mut session, &workspace);
    outbox(&mut session, &workspace);
    workspace.set_file("a.txt", "one\nthe user's\nthree\n");
    let execution = answer(&edit("a.txt", 2, 2, "X\n"), &mut session, &workspace);
    assert!(execution.results[0].output.starts_with("You were shown:\n2|\nThe text is now:\n1|one\n"));
}

#[test]
fn range_after_the_last_line_says_how_to_add_lines() {
    let (session, workspace) = session_after_reading(2);
    let execution = run(&edit("a.txt", 3, 3, "X\n"), &session, &workspace);
    let advice = "; to add lines at the end, replace the last line with itself and the new ones; the file as it is now is below";
    assert!(execution.results[0].summary.ends_with(advice), "{:?}", execution.results);
    let execution = run(&edit("a.txt", 2, 2, "line 2\nX\n"), &session, &workspace);
    assert!(execution.results[0].success, "{:?}", execution.results);
    assert_eq!(workspace.text("a.txt").unwrap(), "line 1\nline 2\nX\n");
}

#[test]
fn invalid_range_shows_the_text_as_it_is() {
    let (session, workspace) = session_after_reading(2);
    let execution = run(&edit("a.txt", 4, 4, "X\n"), &session, &workspace);
    let result = &execution.results[0];
    insta::assert_snapshot!(format!("{}\n{}", result.summary, result.output), @r#"
    Invalid line range 4-4 for file with 2 lines; the file as it is now is below
    The text is now:
    1|line 1
    2|line 2
    "#);
}

/// Changes a file whenever a command starts, like the command itself would.
struct Meddler<'a>(&'a MemoryWorkspace);

impl ExecutionObserver for Meddler<'_> {
    fn command_started(&mut self, _sandbox: &str) {
        let text = self.0.text("a.txt").unwrap();
        self.0.set_file("a.txt", format!("new first line\n{text}"));
    }
}

#[test]
fn numbers_in_a_file_that_was_never_shown_refer_to_it_before_the_reply() {
    let workspace = MemoryWorkspace::with_files([("a.txt", numbered(3))]);
    workspace.on_command("meddle", Ok(ended("", "", 0)));
    let session = session("T", Dialect::Agentd);
    let reply = format!("[RUN_COMMAND]\nmeddle\n[/RUN_COMMAND]\n{}", edit("./a.txt", 2, 2, "X\n"));
    let (frame, items) = (Frame::new(&reply), parse(&reply));
    let base = base_versions(&items, &session, &workspace, &frame.call()).unwrap();
    let timeout = Duration::from_secs(30);
    let meddler = &mut Meddler(&workspace);
    execute(&items, session.dialect, base, timeout, &workspace, &frame.call(), meddler).unwrap();
    assert_eq!(workspace.text("a.txt").unwrap(), "new first line\nline 1\nX\nline 3\n");
}

#[test]
fn the_meaning_of_numbers_survives_being_stored_with_the_run() {
    let workspace = MemoryWorkspace::with_files([("d/a.txt", numbered(3)), ("d/e/x", String::new())]);
    let session = session("T", Dialect::Agentd);
    let reply = edit("d/e/../a.txt", 2, 2, "X\n");
    let frame = Frame::new(&reply);
    let base = base_versions(&parse(&reply), &session, &workspace, &frame.call()).unwrap();
    let stored = serde_json::to_string(&base).unwrap();
    assert_eq!(serde_json::from_str::<BaseVersions>(&stored).unwrap(), base);
    // Before the run is resumed, the user inserts a line at the top.
    workspace.set_file("d/a.txt", format!("top\n{}", numbered(3)));
    run_with(&reply, &session, serde_json::from_str(&stored).unwrap(), &workspace);
    assert_eq!(workspace.text("d/a.txt").unwrap(), "top\nline 1\nX\nline 3\n");
}

#[test]
fn other_spelling_of_a_shown_file_refers_to_the_shown_version() {
    let (session, workspace) = session_after_reading(3);
    workspace.set_file("d/x", "");
    workspace.set_file("a.txt", format!("top\n{}", numbered(3)));
    run(&edit("d/../a.txt", 2, 2, "X\n"), &session, &workspace);
    assert_eq!(workspace.text("a.txt").unwrap(), "top\nline 1\nX\nline 3\n");
}

#[test]
fn created_file_is_known_to_the_model_that_wrote_it() {
    let (mut session, workspace) = session_after_reading(5);
    let create = "[CREATE_FILE path=\"./a.txt\"]\none\ntwo\nthree\n[/CREATE_FILE]\n";
    let reply = format!("{create}{}{}", edit("a.txt", 1, 1, "1\n1.5\n"), edit("a.txt", 2, 2, "2\n"));
    answer(&reply, &mut session, &workspace);
    assert_eq!(workspace.text("a.txt").unwrap(), "1\n1.5\n2\nthree\n");
    // In later replies too, until the file is shown again; a number beyond its lines refers to the current file.
    outbox(&mut session, &workspace);
    answer(&edit("a.txt", 4, 4, "3\n"), &mut session, &workspace);
    assert_eq!(workspace.text("a.txt").unwrap(), "1\n1.5\n2\n3\n");
}

#[test]
fn original_dialect_counts_current_lines_and_reports_how_they_moved() {
    let workspace = MemoryWorkspace::with_files([("a.txt", numbered(5))]);
    let session = session("T", Dialect::CodingAgent);
    let reply = edit("a.txt", 4, 4, "D\nE\n") + &edit("a.txt", 1, 2, "") + &edit("./a.txt", 2, 2, "X\n");
    let execution = run(&reply, &session, &workspace);
    assert_eq!(workspace.text("a.txt").unwrap(), "line 3\nX\nE\nline 5\n");
    let summaries: Vec<&str> = execution.results.iter().map(|result| result.summary.as_str()).collect();
    assert_eq!(
        summaries,
        ["Edited 'a.txt' lines 4-4", "Edited 'a.txt' lines 1-2", "Edited './a.txt' lines 2-2 (-2)"]
    );
}

#[test]
fn an_edit_without_lines_is_refused_with_both_ways_to_write_it() {
    let fault = |reply: &str, dialect: Dialect| match &read_in(reply, Strictness::Repair, dialect).items[..] {
        [Item::Error(error)] => error.to_string(),
        other => panic!("{other:?}"),
    };
    let reply = "[EDIT_FILE path=\"a.txt\"]\nnew text\n[/EDIT_FILE]\n";
    insta::assert_snapshot!(fault(reply, Dialect::Agentd), @r#"EDIT_FILE missing required attributes (start_line, end_line) for 'a.txt'; give start_line="N" and end_line="M", or write the body as lines <<<<<<< SEARCH, the text as it is in the file, =======, the new text, >>>>>>> REPLACE"#);
    let one = "[EDIT_FILE path=\"a.txt\" start_line=\"1\"]\nnew text\n[/EDIT_FILE]\n";
    insta::assert_snapshot!(fault(one, Dialect::Agentd), @r#"EDIT_FILE missing required attributes (start_line, end_line) for 'a.txt'; give start_line="N" and end_line="M", or write the body as lines <<<<<<< SEARCH, the text as it is in the file, =======, the new text, >>>>>>> REPLACE"#);
    // The path really is missing; and only this dialect has edits by text.
    insta::assert_snapshot!(fault("[EDIT_FILE]\nnew text\n[/EDIT_FILE]\n", Dialect::Agentd), @r#"EDIT_FILE missing required attributes (path, start_line, end_line); write [EDIT_FILE path="relative/path" start_line="N" end_line="M"] with double quotes"#);
    insta::assert_snapshot!(fault(reply, Dialect::CodingAgent), @r#"EDIT_FILE missing required attributes (path, start_line, end_line); write [EDIT_FILE path="relative/path" start_line="N" end_line="M"] with double quotes"#);
}
