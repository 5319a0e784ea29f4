//! Requested files that have not changed since an earlier message showed them.

use tagproto::{Dialect, OutboxLimits, Session, gather, read_outbox, whole_outbox};

use crate::fixture::call_frame::Frame;
use crate::fixture::round_trip::{answer, outbox, session};
use memory_workspace::MemoryWorkspace;

const READ: &str = "[READ_FILE path=\"a.py\"]\n";

fn text() -> String {
    (1..=40).map(|line| format!("print({line})\n")).collect()
}

/// Returns the next message after a reply.
fn after(reply: &str, session: &mut Session, workspace: &MemoryWorkspace) -> String {
    answer(reply, session, workspace);
    outbox(session, workspace)
}

fn text_and_note(message: &str) -> (Option<String>, Option<String>) {
    let parts = read_outbox(message).unwrap();
    let file = parts.files.into_iter().find(|file| file.path == "a.py").expect("the file was requested");
    (file.text, file.note)
}

#[test]
fn an_unchanged_file_is_referred_to_once() {
    let workspace = MemoryWorkspace::with_files([("a.py", text())]);
    let mut session = session("task", Dialect::Agentd);
    outbox(&mut session, &workspace);
    assert_eq!(text_and_note(&after(READ, &mut session, &workspace)).0, Some(text()));
    let third = after(READ, &mut session, &workspace);
    assert_eq!(text_and_note(&third), (None, Some("as in message 2; ask again to see it".to_owned())));
    // A model that no longer sees it requests it a second time.
    assert_eq!(text_and_note(&after(READ, &mut session, &workspace)).0, Some(text()));
    assert_eq!(text_and_note(&after(READ, &mut session, &workspace)).0, None, "shown by the message before");
    // Line numbers refer to the shown version.
    let edit = "[EDIT_FILE path=\"a.py\" start_line=\"7\" end_line=\"7\"]\nprint(70)\n[/EDIT_FILE]\n";
    assert!(answer(edit, &mut session, &workspace).results[0].success);
}

#[test]
fn a_file_that_has_changed_is_shown_and_lines_always_are() {
    let workspace = MemoryWorkspace::with_files([("a.py", text())]);
    let mut session = session("task", Dialect::Agentd);
    outbox(&mut session, &workspace);
    after(READ, &mut session, &workspace);
    let edit = "[EDIT_FILE path=\"a.py\" start_line=\"7\" end_line=\"7\"]\nprint(70)\n[/EDIT_FILE]\n";
    let changed = after(&format!("{edit}{READ}"), &mut session, &workspace);
    assert_eq!(text_and_note(&changed).0, Some(text().replace("print(7)\n", "print(70)\n")));
    let lines =
        after("[READ_FILE path=\"a.py\" start_line=\"2\" end_line=\"3\"]\n", &mut session, &workspace);
    assert_eq!(text_and_note(&lines).0.as_deref(), Some("print(2)\nprint(3)\n"));
}

#[test]
fn another_dialect_an_old_view_and_a_reopened_session_have_the_text() {
    let workspace = MemoryWorkspace::with_files([("a.py", text())]);
    let mut original = session("task", Dialect::CodingAgent);
    outbox(&mut original, &workspace);
    after(READ, &mut original, &workspace);
    assert_eq!(text_and_note(&after(READ, &mut original, &workspace)).0, Some(text()));

    let mut session = session("task", Dialect::Agentd);
    outbox(&mut session, &workspace);
    after(READ, &mut session, &workspace);
    for _ in 0..4 {
        after("[MESSAGE]\nWait.\n[/MESSAGE]\n", &mut session, &workspace);
    }
    assert_eq!(text_and_note(&after(READ, &mut session, &workspace)).0, Some(text()), "five messages ago");

    answer(&format!("{READ}[DONE]\nAll.\n[/DONE]\n"), &mut session, &workspace);
    session.reopen("2025-01-15T10:40:00Z");
    assert_eq!(text_and_note(&outbox(&mut session, &workspace)).0, Some(text()), "another chat");
}

#[test]
fn a_message_for_a_new_chat_shows_what_the_pending_one_refers_to() {
    let workspace = MemoryWorkspace::with_files([("a.py", text())]);
    let mut session = session("task", Dialect::Agentd);
    outbox(&mut session, &workspace);
    after(READ, &mut session, &workspace);
    let pending = after(READ, &mut session, &workspace);
    let frame = Frame::new("whole");
    let context = gather(&session, &workspace, &frame.call(), &OutboxLimits::default()).unwrap();
    assert_eq!(text_and_note(&whole_outbox(&pending, &session, &context)).0, Some(text()));
    // A changed file would not be the one to which line numbers refer.
    let changed = MemoryWorkspace::with_files([("a.py", "other\n".repeat(60))]);
    let context = gather(&session, &changed, &frame.call(), &OutboxLimits::default()).unwrap();
    assert_eq!(text_and_note(&whole_outbox(&pending, &session, &context)).0, None);
}
