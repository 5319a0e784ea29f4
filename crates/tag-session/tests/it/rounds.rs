//! Whole rounds, and resuming them in a new process.

use std::fs;

use tag_session::{ApplyOptions, Review, SessionError, read_session, session_steps, session_summaries};
use tagproto::{CommandResult, Dialect, ExecutionObserver, Item, RepairKind};
use wap_core::{CancelFlag, FileChanged};

use crate::desk::{Desk, TIMEOUT, apply, apply_with, begin, executed};

const FIRST: &str = "[READ_FILE path=\"a.txt\"]\n[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n";
const SECOND: &str = "[EDIT_FILE path=\"a.txt\" start_line=\"1\" end_line=\"1\"]\nnew one\nand more\n[/EDIT_FILE]\n\
     [EDIT_FILE path=\"a.txt\" start_line=\"3\" end_line=\"3\"]\nnew three\n[/EDIT_FILE]\n\
     [RUN_COMMAND]\nmake test\n[/RUN_COMMAND]\n";

const HUNKS: &str = "[EDIT_FILE path=\"a.txt\"]\n<<<<<<< SEARCH\none\n=======\nONE\n>>>>>>> REPLACE\n\
     <<<<<<< SEARCH\n  three\n=======\n  THREE\n  four\n>>>>>>> REPLACE\n[/EDIT_FILE]\n";

#[test]
fn an_edit_by_text_is_carried_out_as_one_block() {
    let desk = Desk::with_files([("a.txt", "one\ntwo\nthree\n")]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let round = executed(apply(&sessions, id, HUNKS));
    let [result] = round.results.as_slice() else { panic!("{:?}", round.results) };
    assert_eq!(result.summary, "Edited 'a.txt' (2 hunks, +3 -2 lines)");
    assert!(result.text().contains("apart from its indentation"), "{}", result.text());
    assert_eq!(desk.workspace.0.text("a.txt").unwrap(), "ONE\ntwo\nTHREE\nfour\n");

    // The text of the second hunk occurs twice, so the first is not carried out either.
    desk.workspace.0.set_file("a.txt", "one\nthree\nthree\n");
    let round = executed(apply(&sessions, id, &format!("Once more.\n{HUNKS}")));
    let [result] = round.results.as_slice() else { panic!("{:?}", round.results) };
    assert!(!result.success && result.summary.contains("occurs twice"), "{}", result.summary);
    assert_eq!(desk.workspace.0.text("a.txt").unwrap(), "one\nthree\nthree\n");
}

#[test]
fn edits_in_other_formats_are_carried_out_and_named_as_a_repair() {
    let desk = Desk::with_files([("a.txt", "one\ntwo\n"), ("b.txt", "one\n"), ("old.txt", "x\n")]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let reply = "a.txt\n<<<<<<< SEARCH\none\n=======\nONE\n>>>>>>> REPLACE\n\n\
         --- a/b.txt\n+++ b/b.txt\n@@ -7 +7 @@\n-one\n+uno\n\n\
         *** Begin Patch\n*** Delete File: old.txt\n*** Add File: new/file.txt\n+x\n*** End Patch\n";
    let round = executed(apply(&sessions, id, reply));
    assert!(round.results.iter().all(|result| result.success), "{:?}", round.results);
    assert!(round.repairs.contains(RepairKind::OtherFormat));
    let text = |path: &str| desk.workspace.0.text(path);
    assert_eq!((text("a.txt").as_deref(), text("b.txt").as_deref()), (Some("ONE\ntwo\n"), Some("uno\n")));
    assert_eq!((text("old.txt"), text("new/file.txt").as_deref()), (None, Some("x\n")));

    // In a message, the same text is just text.
    let quoted =
        format!("[MESSAGE]\n{}[/MESSAGE]\n", reply.replace("ONE", "EINS").replace("\none\n", "\nONE\n"));
    let round = executed(apply(&sessions, id, &quoted));
    assert_eq!((round.results.len(), round.repairs.is_empty()), (1, true));
    assert_eq!(text("a.txt").as_deref(), Some("ONE\ntwo\n"));
}

#[test]
fn the_original_dialect_carries_out_no_other_format() {
    let desk = Desk::with_files([("a.txt", "one\n")]);
    let (sessions, _) = desk.open();
    let session = sessions.create("t", Dialect::CodingAgent, None, &CancelFlag::new()).unwrap();
    let reply = "a.txt\n<<<<<<< SEARCH\none\n=======\nONE\n>>>>>>> REPLACE\n";
    let round = executed(apply(&sessions, session.session_id, reply));
    assert!(round.results.is_empty(), "{:?}", round.results);
    assert_eq!(desk.workspace.0.text("a.txt").unwrap(), "one\n");
}

#[test]
fn a_session_goes_from_its_first_message_to_done() {
    let desk = Desk::with_files([("a.txt", "one\ntwo\nthree\n")]);
    let (sessions, _) = desk.open();
    let session = begin(&sessions);
    let id = session.session_id;
    assert_eq!(
        fs::read_to_string(desk.outbox_file(&session)).unwrap(),
        sessions.outbox(&session).unwrap().unwrap()
    );

    let first = executed(apply(&sessions, id, FIRST));
    assert_eq!((first.sequence, first.session.sequence_number, first.was_resumed), (1, 2, false));
    let outbox = fs::read_to_string(desk.outbox_file(&first.session)).unwrap();
    assert!(outbox.contains("--- a.txt ---\n1|one\n2|two\n3|three\n"), "{outbox}");
    assert!(outbox.contains("make ran"), "{outbox}");

    let second = executed(apply(&sessions, id, SECOND));
    assert!(second.results.iter().all(|result| result.success), "{:?}", second.results);
    assert_eq!(desk.workspace.0.text("a.txt").unwrap(), "new one\nand more\ntwo\nnew three\n");

    let done = executed(apply(&sessions, id, "[DONE]\nit works\n[/DONE]\n"));
    assert!(done.session.is_complete);
    assert_eq!(done.session.done.as_deref(), Some("it works"));
    assert_eq!(done.session.sequence_number, 3);
    assert_eq!(sessions.newest_unfinished().unwrap(), None);
    assert_eq!(desk.names("outbox").len(), 3);
    let file: tagproto::Session =
        serde_json::from_slice(&fs::read(desk.session_file(&session)).unwrap()).unwrap();
    assert_eq!(file, done.session);
    assert_eq!(desk.workspace.0.commands_run(), ["make", "make test"]);
}

#[test]
fn a_new_process_continues_at_the_pending_message_with_the_same_bytes() {
    let desk = Desk::with_files([("a.txt", "one\ntwo\nthree\n")]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let pending = executed(apply(&sessions, id, FIRST)).session;
    let outbox = fs::read(desk.outbox_file(&pending)).unwrap();
    drop(sessions);
    // Later changes do not alter a message that may already be in a chat window.
    desk.workspace.0.set_file("a.txt", "zero\none\ntwo\nthree\n");
    desk.workspace.0.set_file("b.txt", "b\n");
    let (sessions, reconciled) = desk.open();
    assert_eq!(reconciled, tag_session::Reconciled::default());
    assert_eq!(sessions.newest_unfinished().unwrap(), Some(pending.clone()));
    assert_eq!(sessions.outbox(&pending).unwrap().unwrap().into_bytes(), outbox);
    assert_eq!(fs::read(desk.outbox_file(&pending)).unwrap(), outbox);
    // The line numbers still refer to the shown version.
    let second = executed(apply(&sessions, id, SECOND));
    assert!(second.results.iter().all(|result| result.success), "{:?}", second.results);
    assert_eq!(desk.workspace.0.text("a.txt").unwrap(), "zero\nnew one\nand more\ntwo\nnew three\n");
}

/// Raises a flag after the given number of blocks.
struct StopAfter<'a>(usize, &'a CancelFlag);

impl ExecutionObserver for StopAfter<'_> {
    fn block_finished(&mut self, index: usize, _: &Item<'_>, _: &CommandResult, _: Option<&FileChanged>) {
        if index + 1 == self.0 {
            self.1.cancel();
        }
    }
}

#[test]
fn a_reply_that_was_stopped_continues_with_the_rest_in_a_new_process() {
    let reply = "[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n\
         [EDIT_FILE path=\"a.txt\" start_line=\"2\" end_line=\"2\"]\nnew two\n[/EDIT_FILE]\n\
         [RUN_COMMAND]\nmake test\n[/RUN_COMMAND]\n\
         [EDIT_FILE path=\"a.txt\" start_line=\"3\" end_line=\"3\"]\nnew three\n[/EDIT_FILE]\n";
    for stop_after in 1..=3 {
        let desk = Desk::with_files([("a.txt", "one\ntwo\nthree\n")]);
        let (sessions, _) = desk.open();
        let session = begin(&sessions);
        let id = session.session_id;
        let cancel = CancelFlag::new();
        let mut stop = StopAfter(stop_after, &cancel);
        let stopped = sessions.apply(id, reply, TIMEOUT, ApplyOptions::default(), &cancel, &mut stop);
        assert!(matches!(stopped, Err(SessionError::Interrupted)), "{stopped:?}");
        assert_eq!(sessions.session(id).unwrap(), session);
        drop(sessions);
        // The file was never shown. Its line numbers refer to its version when the reply began.
        let text = desk.workspace.0.text("a.txt").unwrap();
        desk.workspace.0.set_file("a.txt", format!("zero\n{text}"));
        let (sessions, _) = desk.open();
        let executed = executed(apply(&sessions, id, reply));
        assert!(executed.results.iter().all(|result| result.success), "{stop_after}: {:?}", executed.results);
        assert_eq!(
            desk.workspace.0.text("a.txt").unwrap(),
            "zero\none\nnew two\nnew three\n",
            "{stop_after}"
        );
        assert_eq!(desk.workspace.0.commands_run(), ["make", "make test"], "{stop_after}");
    }
}

#[test]
fn a_reply_that_was_stopped_at_its_very_end_is_executed_once() {
    // The flag is raised when all of the reply is done: there is nothing left to stop.
    let desk = Desk::with_files([("a.txt", "one\n")]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let cancel = CancelFlag::new();
    let mut stop = StopAfter(2, &cancel);
    let done = executed(sessions.apply(id, FIRST, TIMEOUT, ApplyOptions::default(), &cancel, &mut stop));
    assert!(cancel.is_cancelled());
    assert_eq!((done.session.sequence_number, done.results.len()), (2, 2));
    assert!(sessions.outbox(&done.session).unwrap().unwrap().contains("--- a.txt ---\n1|one\n"));
    assert_eq!(desk.workspace.0.commands_run(), ["make"]);
}

#[test]
fn results_of_an_interrupted_reply_are_reported_before_those_of_the_superseding_reply() {
    let stopped_reply = "[CREATE_FILE path=\"made.txt\"]\nmade\n[/CREATE_FILE]\n[READ_FILE path=\"a.txt\"]\n\
         [EDIT_FILE path=\"a.txt\" start_line=\"1\" end_line=\"1\"]\nnew one\n[/EDIT_FILE]\n\
         [MESSAGE]\nhello\n[/MESSAGE]\n[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n\
         [RUN_COMMAND]\nmake test\n[/RUN_COMMAND]\n[DONE]\nended\n[/DONE]\n";
    for in_a_new_process in [false, true] {
        let desk = Desk::with_files([("a.txt", "one\ntwo\n")]);
        let (mut sessions, _) = desk.open();
        let session = begin(&sessions);
        let id = session.session_id;
        let cancel = CancelFlag::new();
        let mut stop = StopAfter(5, &cancel);
        let stopped = sessions.apply(id, stopped_reply, TIMEOUT, ApplyOptions::default(), &cancel, &mut stop);
        assert!(matches!(stopped, Err(SessionError::Interrupted)), "{stopped:?}");
        if in_a_new_process {
            drop(sessions);
            sessions = desk.open().0;
        }
        // Checking it has no effect.
        assert!(sessions.would_execute(id, "[MESSAGE]\nother\n[/MESSAGE]\n", false, false).unwrap());
        let mut decline = |_: &tagproto::Reply<'_>| Review::Decline;
        let options = ApplyOptions { review: Some(&mut decline), ..ApplyOptions::default() };
        apply_with(&sessions, id, "[MESSAGE]\nother\n[/MESSAGE]\n", options).unwrap_err();

        let other = executed(apply(
            &sessions,
            id,
            "[EDIT_FILE path=\"a.txt\" start_line=\"2\" end_line=\"2\"]\nnew two\n[/EDIT_FILE]\n",
        ));
        assert_eq!((other.sequence, other.results.len(), other.session.is_complete), (1, 1, false));
        let summaries: Vec<_> = other.taken_over.iter().map(|result| result.summary.as_str()).collect();
        assert_eq!(summaries, ["Created 'made.txt'", "Edited 'a.txt' lines 1-1", "Ran 'make' (exit code 0)"]);
        assert_eq!(desk.workspace.0.text("a.txt").unwrap(), "new one\nnew two\n");
        let outbox = sessions.outbox(&other.session).unwrap().unwrap();
        let parts = tagproto::read_outbox(&outbox).unwrap();
        // The file that was only requested, and the command after it.
        let note = "an earlier reply to the same message was stopped before this one: the first 3 results are of \
                    what it had done; 2 blocks of it were not carried out";
        assert_eq!(parts.notes, [note]);
        assert_eq!(parts.results.len(), 4);
        assert_eq!(parts.results[2].output, "make ran");
        assert_eq!(desk.workspace.0.commands_run(), ["make"]);
        // The interrupted reply is finished, and reported once.
        let refused = apply(&sessions, id, &format!("Reply-To: {id}-1\n{stopped_reply}"));
        assert!(matches!(refused, Err(SessionError::OtherSequence { .. })), "{refused:?}");
        let refused = apply(&sessions, id, stopped_reply);
        assert!(matches!(refused, Err(SessionError::KnownText { sequence: 1 })), "{refused:?}");
        let next = executed(apply(&sessions, id, FIRST));
        let parts = tagproto::read_outbox(&sessions.outbox(&next.session).unwrap().unwrap()).unwrap();
        assert_eq!((parts.notes.len(), parts.results.len()), (0, 2));
    }
}

#[test]
fn several_interrupted_replies_are_all_reported() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let create = |name: &str| {
        format!("[CREATE_FILE path=\"{name}\"]\n[/CREATE_FILE]\n[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n")
    };
    for name in ["one", "two"] {
        let cancel = CancelFlag::new();
        let mut stop = StopAfter(1, &cancel);
        let stopped = sessions.apply(id, &create(name), TIMEOUT, ApplyOptions::default(), &cancel, &mut stop);
        assert!(matches!(stopped, Err(SessionError::Interrupted)), "{stopped:?}");
    }
    // The second one is resumed.
    let second = executed(apply(&sessions, id, &create("two")));
    assert!(second.was_resumed || second.results[0].success);
    let summaries: Vec<_> = second.session.last_results.iter().map(|result| &*result.summary).collect();
    assert_eq!(summaries, ["Created 'one'", "Created 'two'", "Ran 'make' (exit code 0)"]);
    assert_eq!(second.session.notes.len(), 1);
}

#[test]
fn files_that_cannot_be_written_do_not_fail_an_executed_reply() {
    let desk = Desk::with_files([("a.txt", "one\n")]);
    let (sessions, _) = desk.open();
    let session = begin(&sessions);
    let id = session.session_id;
    // Not even root can replace a folder with a file.
    let next = desk.base().join("outbox").join(format!("{id}_seq0002.txt"));
    fs::create_dir(&next).unwrap();
    let done = executed(apply(&sessions, id, FIRST));
    assert!(done.not_written.is_some());
    assert_eq!(done.session.sequence_number, 2);
    drop(sessions);
    fs::remove_dir(&next).unwrap();
    let (sessions, reconciled) = desk.open();
    assert!(reconciled.rewritten.contains(&format!("outbox/{id}_seq0002.txt")), "{reconciled:?}");
    assert_eq!(fs::read_to_string(&next).unwrap(), sessions.outbox(&done.session).unwrap().unwrap());
}

#[test]
fn the_recorded_versions_of_line_numbers_are_not_replaced_by_newer_ones() {
    // Too large to be shown without a request: for a file that a message showed, the session keeps the version.
    let large = "a long line of text\n".repeat(4_000);
    let desk = Desk::with_files([("a.txt", "one\ntwo\n"), ("large.txt", &large)]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let reply = "[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n[EDIT_FILE path=\"a.txt\" start_line=\"2\" end_line=\"2\"]\nnew\n[/EDIT_FILE]\n";
    let cancel = CancelFlag::new();
    let mut stop = StopAfter(1, &cancel);
    sessions.apply(id, reply, TIMEOUT, ApplyOptions::default(), &cancel, &mut stop).unwrap_err();
    drop(sessions);
    let (journal, _) =
        change_journal::Journal::open(&desk.base().join("journal"), Default::default()).unwrap();
    let [name] = &journal.reader().documents("base/").unwrap()[..] else { panic!("one reply is under way") };
    let put = change_journal::DocumentWrite::Put { name: &name.name, bytes: b"{" };
    journal.write_documents(&[put]).unwrap();
    drop(journal);
    desk.workspace.0.set_file("a.txt", "zero\none\ntwo\n");
    let (sessions, _) = desk.open();
    let refused = apply(&sessions, id, reply);
    assert!(matches!(refused, Err(SessionError::Damaged { .. })), "{refused:?}");
    assert_eq!(desk.workspace.0.text("a.txt").unwrap(), "zero\none\ntwo\n");
}

#[test]
fn a_reviewer_sees_the_reply_before_anything_happens() {
    let desk = Desk::with_files([("a.txt", "one\n")]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let mut item_count = 0;
    let mut decline = |reply: &tagproto::Reply<'_>| {
        item_count = reply.items.len();
        Review::Decline
    };
    let options = ApplyOptions { review: Some(&mut decline), ..ApplyOptions::default() };
    let declined = apply_with(&sessions, id, FIRST, options);
    assert!(matches!(declined, Err(SessionError::Declined)), "{declined:?}");
    assert_eq!(item_count, 2);
    assert!(desk.workspace.0.commands_run().is_empty());
    let mut accept = |_: &tagproto::Reply<'_>| Review::Accept;
    let options = ApplyOptions { review: Some(&mut accept), ..ApplyOptions::default() };
    assert_eq!(executed(apply_with(&sessions, id, FIRST, options)).session.sequence_number, 2);
}

#[test]
fn summaries_and_steps_are_read_from_the_journal_alone() {
    let desk = Desk::with_files([("a.txt", "one\n")]);
    let (sessions, _) = desk.open();
    let first = begin(&sessions).session_id;
    executed(apply(&sessions, first, FIRST));
    executed(apply(&sessions, first, "[DONE]\nended\n[/DONE]\n"));
    let second = sessions.create("another", Dialect::CodingAgent, Some(5_000), &CancelFlag::new()).unwrap();
    let journal = change_journal::Journal::open_read_only(&desk.base().join("journal")).unwrap();
    let summaries = session_summaries(&journal).unwrap();
    assert_eq!(summaries.len(), 2);
    let of = |id: tagproto::SessionId| {
        summaries.iter().find(|summary| summary.session == id.to_string()).unwrap().clone()
    };
    assert!(of(first).complete && !of(second.session_id).complete);
    assert_eq!(of(second.session_id).task, "another");
    let steps = session_steps(&journal, first).unwrap();
    assert_eq!(
        steps.iter().map(|step| (step.sequence, step.finished)).collect::<Vec<_>>(),
        [(1, true), (2, true)]
    );
    assert_eq!(steps[0].results.len(), 2);
    assert_eq!(read_session(&journal, second.session_id).unwrap(), second);
    assert!(matches!(read_session(&journal, "0123abcd".parse().unwrap()), Err(SessionError::Unknown { .. })));
}
