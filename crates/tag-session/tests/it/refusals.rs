//! Replies that are refused, and their errors.

use tag_session::{Applied, ApplyOptions, SessionError};

use crate::desk::{Desk, apply, apply_with, begin, executed};

const MAKE: &str = "[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n";
const TEST: &str = "[RUN_COMMAND]\nmake test\n[/RUN_COMMAND]\n";

fn again() -> ApplyOptions<'static> {
    ApplyOptions { again: true, ..ApplyOptions::default() }
}

#[test]
fn a_reply_to_another_session_is_refused_even_again() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let (one, other) = (begin(&sessions).session_id, begin(&sessions).session_id);
    let reply = format!("Reply-To: {other}-1\n{MAKE}");
    let refused = apply_with(&sessions, one, &reply, again());
    assert!(
        matches!(&refused, Err(SessionError::OtherSession { quoted, pending }) if quoted.session == other && *pending == one),
        "{refused:?}"
    );
    assert!(desk.workspace.0.commands_run().is_empty());
    let foreign = apply_with(&sessions, one, &format!("Reply-To: 0badcafe-1\n{MAKE}"), again())
        .map(|_| ())
        .unwrap_err();
    let expected = "the reply answers session 0badcafe, and this workspace has no such session";
    assert_eq!(foreign.to_string(), expected);
    assert!(desk.workspace.0.commands_run().is_empty());
    executed(apply(&sessions, other, &reply));
    assert_eq!(desk.workspace.0.commands_run(), ["make"]);
}

#[test]
fn a_reply_to_an_older_or_later_message_is_refused_unless_again_is_set() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    executed(apply(&sessions, id, MAKE));
    for quoted in [1, 7] {
        let reply = format!("Reply-To: {id}-{quoted}\n{TEST}");
        let refused = apply(&sessions, id, &reply);
        assert!(
            matches!(&refused, Err(SessionError::OtherSequence { quoted: token, pending: 2 }) if token.sequence == quoted),
            "{refused:?}"
        );
    }
    assert_eq!(desk.workspace.0.commands_run(), ["make"]);
    executed(apply_with(&sessions, id, &format!("Reply-To: {id}-1\n{TEST}"), again()));
    assert_eq!(desk.workspace.0.commands_run(), ["make", "make test"]);
}

#[test]
fn a_repetition_is_reported_with_its_results_and_does_nothing() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let reply = format!("Reply-To: {id}-1\n{MAKE}");
    let results = executed(apply(&sessions, id, &reply)).results;
    let expected = Applied::AlreadyDone { sequence: 1, results };
    assert_eq!(apply(&sessions, id, &reply).unwrap(), expected);
    assert!(!sessions.would_execute(id, &reply, false, false).unwrap());
    drop(sessions);
    // A new process knows it as well, even if the session has ended since.
    let (sessions, _) = desk.open();
    assert_eq!(apply(&sessions, id, &reply).unwrap(), expected);
    executed(apply(&sessions, id, "[DONE]\n[/DONE]\n"));
    assert_eq!(apply(&sessions, id, &reply).unwrap(), expected);
    assert_eq!(desk.workspace.0.commands_run(), ["make"]);
}

#[test]
fn a_text_that_answered_another_message_is_refused_unless_a_token_or_again_allows_it() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    executed(apply(&sessions, id, MAKE));
    let refused = apply(&sessions, id, MAKE);
    assert!(matches!(refused, Err(SessionError::KnownText { sequence: 1 })), "{refused:?}");
    assert!(matches!(sessions.would_execute(id, MAKE, false, false), Err(SessionError::KnownText { .. })));
    assert!(sessions.would_execute(id, MAKE, true, false).unwrap());
    assert_eq!(executed(apply_with(&sessions, id, MAKE, again())).session.sequence_number, 3);
    let with_token = format!("Reply-To: {id}-3\n{MAKE}");
    assert_eq!(executed(apply(&sessions, id, &with_token)).session.sequence_number, 4);
    assert_eq!(desk.workspace.0.commands_run(), ["make", "make", "make"]);
}

#[test]
fn a_text_that_was_only_begun_for_another_message_is_not_reported_as_executed() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    drop(sessions);
    // The state after a program did not end a reply that another reply followed.
    let (journal, _) =
        change_journal::Journal::open(&desk.base().join("journal"), Default::default()).unwrap();
    let key = change_journal::RunKey {
        conversation: id.to_string(),
        sequence: 1,
        content: change_journal::ContentHash::of(MAKE.trim().as_bytes()),
    };
    let change_journal::RunState::New(run) = journal.begin_run(&key).unwrap() else { panic!("it is new") };
    journal.start_step(run.number(), 0, change_journal::StepKind::ShellCommand, "make").unwrap();
    drop((run, journal));
    let (sessions, _) = desk.open();
    executed(apply(&sessions, id, TEST));
    let begun = apply(&sessions, id, MAKE);
    assert!(matches!(begun, Err(SessionError::KnownUnfinished { sequence: 1 })), "{begun:?}");
    executed(apply_with(&sessions, id, MAKE, again()));
}

#[test]
fn a_reply_that_is_being_executed_is_busy_for_others() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let mut inner = None;
    let mut review = |_: &tagproto::Reply<'_>| {
        inner = Some(apply(&sessions, id, MAKE));
        tag_session::Review::Accept
    };
    let options = ApplyOptions { review: Some(&mut review), ..ApplyOptions::default() };
    executed(apply_with(&sessions, id, MAKE, options));
    assert!(matches!(inner, Some(Err(SessionError::Busy))), "{inner:?}");
}

#[test]
fn a_complete_session_takes_no_reply() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    executed(apply(&sessions, id, "[DONE]\nended\n[/DONE]\n"));
    let refused = apply_with(&sessions, id, MAKE, again());
    assert!(matches!(refused, Err(SessionError::Complete { id: refused }) if refused == id));
    assert!(desk.workspace.0.commands_run().is_empty());
}

#[test]
fn an_empty_or_damaged_paste_is_refused_as_a_whole() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let session = begin(&sessions);
    let id = session.session_id;
    assert!(matches!(apply(&sessions, id, " \n\t\n"), Err(SessionError::Empty)));
    let outbox = sessions.outbox(&session).unwrap().unwrap();
    let refused = apply(&sessions, id, &format!("{outbox}\n{MAKE}"));
    assert!(matches!(refused, Err(SessionError::Refused(_))), "{refused:?}");
    assert!(desk.workspace.0.commands_run().is_empty());
    assert_eq!(sessions.session(id).unwrap(), session);
}

#[test]
fn prose_alone_is_an_answer_without_results() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let answered = executed(apply(&sessions, id, "Which file do you mean?\n"));
    assert_eq!((answered.results.len(), answered.session.sequence_number), (0, 2));
}

#[test]
fn an_unknown_session_is_reported() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let unknown = apply(&sessions, "0123abcd".parse().unwrap(), MAKE);
    assert!(matches!(&unknown, Err(SessionError::Unknown { id }) if id == "0123abcd"), "{unknown:?}");
}
