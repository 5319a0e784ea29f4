//! Replies that end inside a block: they are held, and carried out once they are whole.

use tag_session::{Applied, ApplyOptions, SessionError, Sessions};
use tagproto::{CommandResult, Dialect, ExecutionObserver, Item, SessionId};
use wap_core::{CancelFlag, FileChanged};

use crate::desk::{Desk, Shared, TIMEOUT, apply, apply_with, begin, executed};

const START: &str =
    "[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n[CREATE_FILE path=\"a.txt\"]\nthe first line of the file\nthe sec";
const REST: &str = "the first line of the file\nthe second line\n[/CREATE_FILE]\n";

#[test]
fn nothing_is_done_until_the_model_has_gone_on() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let held = executed(apply(&sessions, id, START));
    assert_eq!((held.results.len(), held.session.sequence_number), (0, 2));
    assert_eq!((desk.workspace.0.commands_run().len(), desk.workspace.0.text("a.txt")), (0, None));
    let outbox = sessions.outbox(&held.session).unwrap().unwrap();
    assert!(outbox.contains("begin with these lines\nthe first line of the file\n>>>"), "{outbox}");
    // The same text again is the same reply, and is neither its own continuation nor a new one.
    let again = apply(&sessions, id, START).map(|_| ()).unwrap_err();
    let expected =
        "the same text came already as the answer to message 1: it was cut off, and nothing of it was done";
    assert_eq!(again.to_string(), expected);

    drop(sessions);
    let (sessions, _) = desk.open();
    let whole = executed(apply(&sessions, id, REST));
    let kinds: Vec<String> = whole.results.iter().map(|result| result.command_type.to_string()).collect();
    assert_eq!(kinds, ["RUN_COMMAND", "CREATE_FILE"]);
    assert_eq!(desk.workspace.0.commands_run().len(), 1);
    let text = desk.workspace.0.text("a.txt").unwrap();
    assert_eq!(text, "the first line of the file\nthe second line\n");
    assert_eq!(whole.session.held, None);
    assert!(!sessions.outbox(&whole.session).unwrap().unwrap().contains("cut off"));
    // A continuation that is pasted twice is not a reply of its own.
    let again = apply(&sessions, id, REST).map(|_| ()).unwrap_err();
    assert_eq!(again.to_string(), "the same text was already executed as the answer to message 2");
}

#[test]
fn a_reply_that_does_not_go_on_changes_nothing_and_the_lines_are_shown_again() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    executed(apply(&sessions, id, START));
    let lost = executed(apply(
        &sessions,
        id,
        "ond line\n[/CREATE_FILE]\n[RUN_COMMAND]\nmake test\n[/RUN_COMMAND]\n",
    ));
    assert_eq!((lost.results.len(), desk.workspace.0.commands_run().len()), (0, 0));
    let outbox = sessions.outbox(&lost.session).unwrap().unwrap();
    assert!(outbox.contains("[NOTE] your reply did not begin with the last lines"), "{outbox}");
    assert!(outbox.contains("begin with these lines\nthe first line of the file\n>>>"), "{outbox}");
    assert_eq!(executed(apply(&sessions, id, REST)).results.len(), 2);
}

#[test]
fn another_reply_instead_drops_what_was_held_and_says_so_to_the_model() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    executed(apply(&sessions, id, START));
    let other = executed(apply(&sessions, id, "[RUN_COMMAND]\nmake test\n[/RUN_COMMAND]\n"));
    assert_eq!((other.results.len(), desk.workspace.0.commands_run().len()), (1, 1));
    let outbox = sessions.outbox(&other.session).unwrap().unwrap();
    assert!(outbox.contains("[NOTE] the reply before your last one was cut off and is dropped"), "{outbox}");
    assert_eq!(other.session.held, None);
}

#[test]
fn complete_blocks_run_at_once_where_the_user_wants_it_and_in_the_other_dialect() {
    for (dialect, run_complete) in [(Dialect::Agentd, true), (Dialect::CodingAgent, false)] {
        let desk = Desk::with_files([]);
        let (sessions, _) = desk.open();
        let id = sessions.create("task", dialect, None, &CancelFlag::new()).unwrap().session_id;
        let options = ApplyOptions { run_complete, ..ApplyOptions::default() };
        let Applied::Executed(round) = apply_with(&sessions, id, START, options).unwrap() else { panic!() };
        assert_eq!((round.results.len(), desk.workspace.0.commands_run().len()), (2, 1), "{dialect:?}");
        assert!(round.results[1].summary.contains("missing closing tag"), "{:?}", round.results);
        assert_eq!(desk.workspace.0.text("a.txt"), None);
    }
}

#[test]
fn complete_blocks_of_a_held_reply_can_run_later_once() {
    for token in [None, Some(1), Some(2)] {
        let desk = Desk::with_files([]);
        let (sessions, _) = desk.open();
        let id = begin(&sessions).session_id;
        // The token names the message that was pending when the model wrote it, or the user has corrected it.
        let text = token.map_or_else(|| START.to_owned(), |token| format!("Reply-To: {id}-{token}\n{START}"));
        let first = if token == Some(2) { START } else { &text };
        assert_eq!(executed(apply(&sessions, id, first)).results.len(), 0, "{token:?}");
        assert_eq!(complete(&sessions, id, &text), Ok(2), "{token:?}");
        assert_eq!(desk.workspace.0.commands_run().len(), 1);
        // A process that begins later knows it as well.
        drop(sessions);
        let (sessions, _) = desk.open();
        complete(&sessions, id, &text).unwrap_err();
        complete(&sessions, id, first).unwrap_err();
        assert_eq!(desk.workspace.0.commands_run().len(), 1, "{token:?}");
    }
}

#[test]
fn blocks_that_ran_with_the_continuation_do_not_run_again_as_complete_ones() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    executed(apply(&sessions, id, START));
    assert_eq!(executed(apply(&sessions, id, REST)).results.len(), 2);
    let refused = complete(&sessions, id, START).unwrap_err();
    assert!(refused.contains("KnownWithoutResults { sequence: 1 }"), "{refused}");
    // Nor while another reply is held, even if this one was held anew with it.
    let other = START.replace("a.txt", "b.txt").replace("make\n", "make test\n");
    executed(apply(&sessions, id, &other));
    let refused = complete(&sessions, id, START).unwrap_err();
    assert!(refused.contains("KnownWithoutResults { sequence: 1 }"), "{refused}");
    let again = ApplyOptions { again: true, ..ApplyOptions::default() };
    let Applied::Executed(held) = apply_with(&sessions, id, START, again).unwrap() else { panic!() };
    assert_eq!(held.results.len(), 0);
    complete(&sessions, id, START).unwrap_err();
    assert_eq!(desk.workspace.0.commands_run().len(), 1);
    // The control: what is held and never ran does.
    assert_eq!(complete(&sessions, id, &other), Ok(2));
    assert_eq!(desk.workspace.0.commands_run().len(), 2);
}

#[test]
fn complete_blocks_that_were_stopped_resume_with_those_that_have_not_run() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let text = format!("Reply-To: {id}-1\n[RUN_COMMAND]\nmake test\n[/RUN_COMMAND]\n{START}");
    executed(apply(&sessions, id, &text));
    let cancel = CancelFlag::new();
    let options = ApplyOptions { run_complete: true, ..ApplyOptions::default() };
    let stopped = sessions.apply(id, &text, TIMEOUT, options, &cancel, &mut StopAfterFirst(cancel.clone()));
    assert!(matches!(stopped, Err(SessionError::Interrupted)), "{stopped:?}");
    assert_eq!(desk.workspace.0.commands_run().len(), 1);
    drop(sessions);
    let (sessions, _) = desk.open();
    assert_eq!(complete(&sessions, id, &text), Ok(3));
    assert_eq!(desk.workspace.0.commands_run().len(), 2);
    complete(&sessions, id, &text).unwrap_err();
    assert_eq!(desk.workspace.0.commands_run().len(), 2);
}

/// Cancels a reply behind its first block.
struct StopAfterFirst(CancelFlag);

impl ExecutionObserver for StopAfterFirst {
    fn block_finished(&mut self, _: usize, _: &Item<'_>, _: &CommandResult, _: Option<&FileChanged>) {
        self.0.cancel();
    }
}

#[test]
fn a_text_without_blocks_is_not_called_executed_when_it_comes_again() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    executed(apply(&sessions, id, "I would run make."));
    let again = apply(&sessions, id, "I would run make.").map(|_| ()).unwrap_err();
    let expected = "the same text came already as the answer to message 1, which gave no results";
    assert_eq!(again.to_string(), expected);
}

/// Applies a text with its complete blocks, and returns the number of its results or the refusal.
fn complete(sessions: &Sessions<Shared>, id: SessionId, text: &str) -> Result<usize, String> {
    let options = ApplyOptions { run_complete: true, ..ApplyOptions::default() };
    match apply_with(sessions, id, text, options) {
        Ok(Applied::Executed(round)) => Ok(round.results.len()),
        other => Err(format!("{other:?}")),
    }
}
