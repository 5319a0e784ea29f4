//! Whole rounds, and going on with them in a new process.

use std::fs;

use tag_session::{ApplyOptions, Review, SessionError, read_session, session_steps, session_summaries};
use tagproto::{CommandResult, Dialect, ExecutionObserver, Item};
use wap_core::{CancelFlag, FileChanged};

use crate::desk::{Desk, TIMEOUT, apply, apply_with, begin, executed};

const FIRST: &str = "[READ_FILE path=\"a.txt\"]\n[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n";
const SECOND: &str = "[EDIT_FILE path=\"a.txt\" start_line=\"1\" end_line=\"1\"]\nnew one\nand more\n[/EDIT_FILE]\n\
     [EDIT_FILE path=\"a.txt\" start_line=\"3\" end_line=\"3\"]\nnew three\n[/EDIT_FILE]\n\
     [RUN_COMMAND]\nmake test\n[/RUN_COMMAND]\n";

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
    assert!(outbox.contains("--- a.txt ---\none\ntwo\nthree\n"), "{outbox}");
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
fn a_new_process_goes_on_at_the_pending_message_with_the_same_bytes() {
    let desk = Desk::with_files([("a.txt", "one\ntwo\nthree\n")]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let pending = executed(apply(&sessions, id, FIRST)).session;
    let outbox = fs::read(desk.outbox_file(&pending)).unwrap();
    drop(sessions);
    // What has changed since does not change a message that may be in a chat window already.
    desk.workspace.0.set_file("a.txt", "zero\none\ntwo\nthree\n");
    desk.workspace.0.set_file("b.txt", "b\n");
    let (sessions, reconciled) = desk.open();
    assert_eq!(reconciled, tag_session::Reconciled::default());
    assert_eq!(sessions.newest_unfinished().unwrap(), Some(pending.clone()));
    assert_eq!(sessions.outbox(&pending).unwrap().unwrap().into_bytes(), outbox);
    assert_eq!(fs::read(desk.outbox_file(&pending)).unwrap(), outbox);
    // The line numbers still mean what was shown.
    let second = executed(apply(&sessions, id, SECOND));
    assert!(second.results.iter().all(|result| result.success), "{:?}", second.results);
    assert_eq!(desk.workspace.0.text("a.txt").unwrap(), "zero\nnew one\nand more\ntwo\nnew three\n");
}

/// Raises a flag when so many blocks have ended.
struct StopAfter<'a>(usize, &'a CancelFlag);

impl ExecutionObserver for StopAfter<'_> {
    fn block_finished(&mut self, index: usize, _: &Item<'_>, _: &CommandResult, _: Option<&FileChanged>) {
        if index + 1 == self.0 {
            self.1.cancel();
        }
    }
}

#[test]
fn a_reply_that_was_stopped_goes_on_with_the_rest_in_a_new_process() {
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
        // The file was never shown. Its numbers mean what they meant when the reply was begun.
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
    // Everything of the reply is done, and the next message is not.
    let desk = Desk::with_files([("a.txt", "one\n")]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let cancel = CancelFlag::new();
    let mut stop = StopAfter(2, &cancel);
    let stopped = sessions.apply(id, FIRST, TIMEOUT, ApplyOptions::default(), &cancel, &mut stop);
    assert!(matches!(stopped, Err(SessionError::Interrupted)), "{stopped:?}");
    let again = executed(apply(&sessions, id, FIRST));
    assert_eq!(again.session.sequence_number, 2);
    assert_eq!(desk.workspace.0.commands_run(), ["make"]);
}

#[test]
fn a_reviewer_sees_the_reply_before_anything_happens() {
    let desk = Desk::with_files([("a.txt", "one\n")]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let mut seen = 0;
    let mut decline = |reply: &tagproto::Reply<'_>| {
        seen = reply.items.len();
        Review::Decline
    };
    let options = ApplyOptions { review: Some(&mut decline), ..ApplyOptions::default() };
    let declined = apply_with(&sessions, id, FIRST, options);
    assert!(matches!(declined, Err(SessionError::Declined)), "{declined:?}");
    assert_eq!(seen, 2);
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
