//! DONE that does not end a session, and sessions that continue after DONE.

use std::fs;

use tag_session::{ApplyOptions, SessionError, Transcript};
use tagproto::{Dialect, read_outbox};
use wap_core::CancelFlag;

use crate::desk::{Desk, apply, apply_with, begin, executed};

const EARLY: &str = "[READ_FILE path=\"missing\"]\n[DONE]\nall is well\n[/DONE]\n";
const DONE: &str = "[DONE]\nit works\n[/DONE]\n";

#[test]
fn done_with_a_failed_block_sends_the_results_with_a_note() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let early = executed(apply(&sessions, id, EARLY));
    assert!(!early.session.is_complete);
    let parts = read_outbox(&fs::read_to_string(desk.outbox_file(&early.session)).unwrap()).unwrap();
    assert!(parts.notes[0].starts_with("your [DONE] did not end the session"), "{:?}", parts.notes);
    assert_eq!(parts.results.iter().filter(|result| !result.success).count(), 1);
    assert!(executed(apply(&sessions, id, DONE)).session.is_complete);
}

#[test]
fn done_with_an_edit_in_another_format_sends_the_results_with_a_note() {
    let diff = "```diff\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+ONE\n```\n\n";
    let desk = Desk::with_files([("a.txt", "one\n"), ("b.txt", "two\n")]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let reply = format!("{diff}[DELETE_FILE path=\"b.txt\"]\n{DONE}");
    let early = executed(apply(&sessions, id, &reply));
    assert!(!early.session.is_complete);
    let parts = read_outbox(&fs::read_to_string(desk.outbox_file(&early.session)).unwrap()).unwrap();
    assert!(parts.notes[0].starts_with("your [DONE] did not end the session"), "{:?}", parts.notes);
    let results: Vec<_> = parts.results.iter().map(|result| (result.success, &*result.summary)).collect();
    let [(false, edit), (true, "Deleted 'b.txt'"), (true, _)] = results.as_slice() else {
        panic!("{results:?}")
    };
    assert!(edit.contains("for 'a.txt' in the format of another program appears alongside blocks"), "{edit}");
    assert!(edit.contains("send [EDIT_FILE path=\"a.txt\"]"), "{edit}");
    let text = |path: &str| desk.workspace.0.text(path);
    assert_eq!((text("a.txt").as_deref(), text("b.txt")), (Some("one\n"), None));

    // The control: the edit alone is carried out, and DONE alone ends the session.
    executed(apply(&sessions, id, diff));
    assert_eq!(text("a.txt").as_deref(), Some("ONE\n"));
    assert!(executed(apply(&sessions, id, DONE)).session.is_complete);
}

#[test]
fn in_the_dialect_of_the_original_it_ends_the_session() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let session = sessions.create("T", Dialect::CodingAgent, None, &CancelFlag::new()).unwrap();
    assert!(executed(apply(&sessions, session.session_id, EARLY)).session.is_complete);
}

#[test]
fn failures_of_a_stopped_reply_do_not_keep_a_later_done_from_ending_the_session() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let cancel = CancelFlag::new();
    let stopped = "[DELETE_FILE path=\"missing\"]\n[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n";
    let mut stop = StopAfterFirst(&cancel);
    let timeout = crate::desk::TIMEOUT;
    let failed = sessions.apply(id, stopped, timeout, ApplyOptions::default(), &cancel, &mut stop);
    assert!(matches!(failed, Err(SessionError::Interrupted)), "{failed:?}");
    let done = executed(apply(&sessions, id, DONE));
    assert!(done.taken_over.iter().any(|result| !result.success), "{:?}", done.taken_over);
    assert!(done.session.is_complete);
}

/// Stops the reply after its first block.
struct StopAfterFirst<'a>(&'a CancelFlag);

impl tagproto::ExecutionObserver for StopAfterFirst<'_> {
    fn block_finished(
        &mut self,
        _: usize,
        _: &tagproto::Item<'_>,
        _: &tagproto::CommandResult,
        _: Option<&wap_core::FileChanged>,
    ) {
        self.0.cancel();
    }
}

#[test]
fn a_complete_session_is_reopened_and_continues() {
    let desk = Desk::with_files([("a.txt", "one\n")]);
    let (sessions, _) = desk.open();
    let first = begin(&sessions);
    let id = first.session_id;
    executed(apply(&sessions, id, DONE));
    let reopened = sessions.reopen(id, &CancelFlag::new()).unwrap();
    assert_eq!((reopened.is_complete, reopened.sequence_number), (false, 2));
    assert_eq!(sessions.newest_unfinished().unwrap().unwrap().session_id, id);
    let outbox = fs::read_to_string(desk.outbox_file(&reopened)).unwrap();
    assert!(read_outbox(&outbox).unwrap().notes[0].starts_with("the user has reopened the session"));
    // Repeating it changes nothing: a process may be killed right afterwards, and another one repeats it.
    assert_eq!(sessions.reopen(id, &CancelFlag::new()).unwrap(), reopened);
    // The reply that ended it is still known.
    assert!(matches!(apply(&sessions, id, DONE), Err(SessionError::KnownText { sequence: 1 })));
    let token = format!("Reply-To: {id}-2\n{DONE}");
    assert!(executed(apply_with(&sessions, id, &token, ApplyOptions::default())).session.is_complete);
}

#[test]
fn a_crash_between_reopening_and_its_files_is_repaired() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let complete = executed(apply(&sessions, id, DONE)).session;
    let before = fs::read(desk.session_file(&complete)).unwrap();
    let reopened = sessions.reopen(id, &CancelFlag::new()).unwrap();
    let after = fs::read(desk.session_file(&reopened)).unwrap();
    drop(sessions);
    fs::remove_file(desk.outbox_file(&reopened)).unwrap();
    fs::write(desk.session_file(&reopened), before).unwrap();
    let (_, reconciled) = desk.open();
    assert!(reconciled.edited.is_empty() && reconciled.damaged.is_empty(), "{reconciled:?}");
    assert_eq!(fs::read(desk.session_file(&reopened)).unwrap(), after);
    assert!(desk.outbox_file(&reopened).exists());
}

#[test]
fn the_transcript_of_a_reopened_session_is_replayed_without_a_difference() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    executed(apply(&sessions, id, DONE));
    sessions.reopen(id, &CancelFlag::new()).unwrap();
    executed(apply(&sessions, id, "[MESSAGE]\nWhat is missing?\n[/MESSAGE]\n"));
    let folder = tempfile::tempdir().unwrap();
    let root = sandbox_fs::FileRoot::open(
        folder.path(),
        &sandbox_fs::RootRules::default(),
        sandbox_fs::FsPolicy::default(),
    );
    let transcript = Transcript::collect(sessions.journal_reader(), id, &root.unwrap()).unwrap();
    assert_eq!(transcript.rounds.len(), 2);
    let fresh = Desk::with_files([]);
    let (again, _) = fresh.open();
    let mut observer = tagproto::UnobservedExecution;
    let differences =
        again.replay(&transcript, crate::desk::TIMEOUT, &CancelFlag::new(), &mut observer).unwrap();
    assert!(differences.is_empty(), "{differences:?}");
    assert_eq!(again.session(id).unwrap().sequence_number, 3);
}
