//! Replies that end inside a block: they are held, and carried out once they are whole.

use tag_session::{Applied, ApplyOptions, SessionError, Sessions};
use tagproto::{CommandResult, Dialect, ExecutionObserver, Item, SessionId};
use wap_core::{CancelFlag, FileChanged};

use crate::desk::{Desk, Shared, TIMEOUT, apply, apply_with, begin, executed};

const START: &str =
    "[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n[CREATE_FILE path=\"a.txt\"]\nthe first line of the file\nthe sec";
const REST: &str = "the first line of the file\nthe second line\n[/CREATE_FILE]\n";

#[test]
fn nothing_is_done_until_the_model_continues() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    let held = executed(apply(&sessions, id, START));
    assert_eq!((held.results.len(), held.session.sequence_number), (0, 2));
    assert_eq!((desk.workspace.0.commands_run().len(), desk.workspace.0.text("a.txt")), (0, None));
    let outbox = sessions.outbox(&held.session).unwrap().unwrap();
    assert!(outbox.contains("begin with these lines\nthe first line of the file\n>>>"), "{outbox}");
    // The same text again is the same reply: neither its own continuation nor a new reply.
    let again = apply(&sessions, id, START).map(|_| ()).unwrap_err();
    let expected = "the same text already arrived as the answer to message 1: it was cut off, and nothing of it was done";
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
    // A continuation that is pasted twice is not a separate reply.
    let again = apply(&sessions, id, REST).map(|_| ()).unwrap_err();
    assert_eq!(again.to_string(), "the same text was already executed as the answer to message 2");
}

#[test]
fn a_reply_that_does_not_continue_changes_nothing_and_the_lines_are_shown_again() {
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
    assert!(outbox.contains("[NOTE] your reply could not be joined to the one that was cut off"), "{outbox}");
    assert!(outbox.contains("begin with these lines\nthe first line of the file\n>>>"), "{outbox}");
    assert_eq!(executed(apply(&sessions, id, REST)).results.len(), 2);
}

#[test]
fn an_unrelated_reply_drops_the_held_one_with_a_note_for_the_model() {
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
fn complete_blocks_run_at_once_if_the_user_wants_it_and_in_the_other_dialect() {
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
        // The token names the message that was pending when the model wrote it, or the user corrected it.
        let text = token.map_or_else(|| START.to_owned(), |token| format!("Reply-To: {id}-{token}\n{START}"));
        let first = if token == Some(2) { START } else { &text };
        assert_eq!(executed(apply(&sessions, id, first)).results.len(), 0, "{token:?}");
        assert_eq!(complete(&sessions, id, &text), Ok(2), "{token:?}");
        assert_eq!(desk.workspace.0.commands_run().len(), 1);
        // A later process knows it as well.
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
    // Nor while another reply is held, even if this reply was held again with it.
    let other = START.replace("a.txt", "b.txt").replace("make\n", "make test\n");
    executed(apply(&sessions, id, &other));
    let refused = complete(&sessions, id, START).unwrap_err();
    assert!(refused.contains("KnownWithoutResults { sequence: 1 }"), "{refused}");
    let again = ApplyOptions { again: true, ..ApplyOptions::default() };
    let Applied::Executed(held) = apply_with(&sessions, id, START, again).unwrap() else { panic!() };
    assert_eq!(held.results.len(), 0);
    complete(&sessions, id, START).unwrap_err();
    assert_eq!(desk.workspace.0.commands_run().len(), 1);
    // The control: held blocks that never ran do run.
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

/// Cancels a reply after its first block.
struct StopAfterFirst(CancelFlag);

impl ExecutionObserver for StopAfterFirst {
    fn block_finished(&mut self, _: usize, _: &Item<'_>, _: &CommandResult, _: Option<&FileChanged>) {
        self.0.cancel();
    }
}

#[test]
fn a_repeated_text_without_blocks_is_not_reported_as_executed() {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    executed(apply(&sessions, id, "I would run make."));
    let again = apply(&sessions, id, "I would run make.").map(|_| ()).unwrap_err();
    let expected = "the same text already arrived as the answer to message 1, which gave no results";
    assert_eq!(again.to_string(), expected);
}

/// Two commands with the same tags, and a block that does not end.
const TWO: &str = "[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n[RUN_COMMAND]\nmake test\n[/RUN_COMMAND]\n[RUN_COMMAND]\ncat a-file-with-a-long-name\ncat b";
const TWO_REST: &str =
    "cat a-file-with-a-long-name\ncat b\n[/RUN_COMMAND]\n[CREATE_FILE path=\"c\"]\nc\n[/CREATE_FILE]\n";

fn again() -> ApplyOptions<'static> {
    ApplyOptions { again: true, ..ApplyOptions::default() }
}

fn runs(desk: &Desk, command: &str) -> usize {
    desk.workspace.0.commands_run().iter().filter(|run| *run == command).count()
}

#[test]
fn a_reply_that_is_repeated_from_its_beginning_runs_each_block_once() {
    let whole = TWO.replace("\ncat b", "\ncat b\n[/RUN_COMMAND]\n");
    let further = TWO.replace("\ncat b", "\ncat b\ncat another-file-with-a-name\ncat d");
    let shorter = &TWO[..TWO.len() - 12];
    // True for a text that the user wants to repeat.
    let reads: [&[(&str, bool)]; 5] = [
        &[(TWO, false)],
        &[(TWO, false), (&further, false)],
        &[(&further, false), (TWO, false)],
        &[(TWO, false), (TWO, true)],
        &[(TWO, false), (shorter, false)],
    ];
    for held in reads {
        for ends_with_complete_blocks in [false, true] {
            let desk = Desk::with_files([]);
            let (sessions, _) = desk.open();
            let id = begin(&sessions).session_id;
            for (text, again) in held {
                let options = ApplyOptions { again: *again, ..ApplyOptions::default() };
                assert_eq!(executed(apply_with(&sessions, id, text, options)).results.len(), 0);
            }
            let results = if ends_with_complete_blocks {
                complete(&sessions, id, TWO).unwrap()
            } else {
                executed(apply(&sessions, id, &format!("Here it is:\n\n{whole}"))).results.len()
            };
            assert_eq!((results, runs(&desk, "make"), runs(&desk, "make test")), (3, 1, 1), "{held:?}");
            assert_eq!(sessions.session(id).unwrap().held, None);
        }
    }
}

#[test]
fn lines_outside_of_blocks_are_carried_out_with_them_or_nothing_is() {
    // Other blocks and the open tag after them: a separate reply.
    let desk = Desk::with_files([("big", "big\n")]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    executed(apply(
        &sessions,
        id,
        "[CREATE_FILE path=\"big\"]\nbigger\n[/CREATE_FILE]\n[RUN_COMMAND]\nmake te",
    ));
    let other = "[CREATE_FILE path=\"small\"]\ns\n[/CREATE_FILE]\n[DELETE_FILE path=\"big\"]\n[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n";
    let whole = executed(apply(&sessions, id, other));
    assert_eq!((whole.results.len(), runs(&desk, "make")), (3, 1));
    assert_eq!(
        (desk.workspace.0.text("small").as_deref(), desk.workspace.0.text("big")),
        (Some("s\n"), None)
    );
    let outbox = sessions.outbox(&whole.session).unwrap().unwrap();
    assert!(outbox.contains("cut off and is dropped: nothing of it was ever done"), "{outbox}");

    // Its DONE does not end the session, in which the blocks of the dropped reply were never done. The control: the next DONE
    // does.
    let id = begin(&sessions).session_id;
    executed(apply(&sessions, id, TWO));
    let early = executed(apply(&sessions, id, "[MESSAGE]\nm\n[/MESSAGE]\n[DONE]\nall\n[/DONE]\n"));
    let outbox = sessions.outbox(&early.session).unwrap().unwrap();
    assert!(!early.session.is_complete && outbox.contains("DONE did not end the session"), "{outbox}");
    assert!(executed(apply(&sessions, id, "[DONE]\nall\n[/DONE]\n")).session.is_complete);

    // Other blocks and then the requested lines: nothing, until the model decides.
    let id = begin(&sessions).session_id;
    executed(apply(&sessions, id, TWO));
    let mixed = format!("[DELETE_FILE path=\"small\"]\n[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n{TWO_REST}");
    let lost = executed(apply(&sessions, id, &mixed));
    assert_eq!(
        (lost.results.len(), runs(&desk, "make"), desk.workspace.0.text("small").is_some()),
        (0, 1, true)
    );
    let outbox = sessions.outbox(&lost.session).unwrap().unwrap();
    assert!(
        outbox.contains("could not be joined to the one that was cut off, and nothing was done"),
        "{outbox}"
    );
    // The control: the lines alone.
    assert_eq!(executed(apply(&sessions, id, TWO_REST)).results.len(), 4);
    assert_eq!((runs(&desk, "make"), runs(&desk, "make test")), (2, 1));
}

#[test]
fn a_reply_that_ends_in_a_tag_is_held_and_reported_where_it_is_not() {
    for (tag, block) in [
        (
            "[EDIT_FILE path=\"src/ma",
            "[EDIT_FILE path=\"src/main.rs\" start_line=\"1\" end_line=\"1\"]\n[/EDIT_FILE]",
        ),
        ("[EDIT_FILE", "[READ_FILE path=\"a\"]"),
        ("[RUN_COMM", "[RUN_COMMAND]\nmake test\n[/RUN_COMMAND]"),
        ("[CREATE_FILE path=\"a.py\"", "[CREATE_FILE path=\"a.py\"]\n[/CREATE_FILE]"),
        ("[/RUN_COMM", "[READ_FILE path=\"a\"]"),
    ] {
        let text = format!("[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n{tag}");
        let desk = Desk::with_files([]);
        let (sessions, _) = desk.open();
        let id = begin(&sessions).session_id;
        let held = executed(apply(&sessions, id, &text));
        assert_eq!((held.results.len(), runs(&desk, "make")), (0, 0), "{tag}");
        let outbox = sessions.outbox(&held.session).unwrap().unwrap();
        assert!(outbox.contains(&format!("cut off inside {tag}.")), "{outbox}");
        assert!(outbox.contains("these lines\n[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n>>>"), "{outbox}");
        let rest = format!("[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n{block}\n");
        assert_eq!(executed(apply(&sessions, id, &rest)).results.len(), 2, "{tag}");
        assert_eq!(runs(&desk, "make"), 1);

        let id = begin(&sessions).session_id;
        assert_eq!(complete(&sessions, id, &text), Ok(2), "{tag}");
        let session = sessions.session(id).unwrap();
        let reported = session.last_results[1].summary.clone();
        assert!(
            reported.ends_with(&format!("was cut off in its tag: '{tag}'; send the block again")),
            "{reported}"
        );
        // No block is complete before the first tag.
        let id = begin(&sessions).session_id;
        assert_eq!(executed(apply(&sessions, id, &format!("I begin:\n{tag}"))).results.len(), 1, "{tag}");
    }
}

/// Tests every stopped reply with every reply that may follow it.
#[test]
fn blocks_that_ran_before_a_stop_never_run_again_with_another_reply() {
    let whole = TWO.replace("\ncat b", "\ncat b\n[/RUN_COMMAND]\n");
    let anew = format!("{whole}[CREATE_FILE path=\"d\"]\nd\n[/CREATE_FILE]\n");
    let cut_again = "cat a-file-with-a-long-name\ncat another-file-with-a-name\ncat";
    let longer = TWO.replace("\ncat b", "\ncat b\ncat another-file-with-a-name\ncat");
    let replies = ["I am sorry, what shall I do?", TWO_REST, &whole, &anew, cut_again, &longer];
    let other = "[CREATE_FILE path=\"other\"]\no\n[/CREATE_FILE]\n";
    // The complete blocks of a reply end with its second one.
    let begun = [(TWO, true, 1), (TWO_REST, false, 2), (&whole, false, 2)];
    for (begun, run_complete, most_blocks) in begun {
        for blocks in 0..=most_blocks {
            for reply in replies.into_iter().filter(|reply| *reply != begun) {
                let (desk, id) = stopped(begun, run_complete, blocks);
                let (sessions, _) = desk.open();
                let before = desk.workspace.0.commands_run();
                match apply(&sessions, id, reply) {
                    // Nothing had begun: any reply is accepted.
                    Ok(_) => assert_eq!(blocks, 0, "{begun:?} then {reply:?}"),
                    Err(refused) => {
                        assert!(matches!(refused, SessionError::HeldHasBegun), "{refused}");
                        assert_eq!(desk.workspace.0.commands_run(), before);
                        // The stopped reply resumes.
                        let options = ApplyOptions { run_complete, ..ApplyOptions::default() };
                        apply_with(&sessions, id, begun, options).unwrap();
                    }
                }
                assert!(
                    runs(&desk, "make") <= 1 && runs(&desk, "make test") <= 1,
                    "{begun:?} then {reply:?}"
                );
                let session = sessions.session(id).unwrap();
                let outbox = sessions.outbox(&session).unwrap().unwrap();
                let is_untouched = desk.workspace.0.commands_run().is_empty();
                assert_eq!(session.held.is_some(), is_untouched, "{begun:?} then {reply:?}: {outbox}");
                assert_eq!(outbox.contains("nothing of it was done yet"), is_untouched, "{outbox}");
            }
            // A separate reply supersedes it, even if that reply is stopped as well.
            let (desk, id) = stopped(begun, run_complete, blocks);
            let (sessions, _) = desk.open();
            let done = executed(apply(&sessions, id, other));
            let (ran, outbox) =
                (desk.workspace.0.commands_run(), sessions.outbox(&done.session).unwrap().unwrap());
            assert_eq!((ran.len(), done.session.held.is_none()), (blocks, true), "{begun:?}");
            assert_eq!(outbox.contains("nothing of it was ever done"), blocks == 0, "{outbox}");
            assert_eq!(outbox.contains("was stopped before this one"), blocks > 0, "{outbox}");
        }
    }
}

#[test]
fn blocks_that_ran_are_no_longer_held_even_if_the_user_insists() {
    let cut_again = "cat a-file-with-a-long-name\ncat another-file-with-a-name\ncat";
    for reply in ["I am sorry, what shall I do?", cut_again] {
        let (desk, id) = stopped(TWO, true, 1);
        let (sessions, _) = desk.open();
        let Applied::Executed(round) = apply_with(&sessions, id, reply, again()).unwrap() else { panic!() };
        assert_eq!((round.results.len(), round.taken_over.len(), round.session.held.is_none()), (0, 1, true));
        let outbox = sessions.outbox(&round.session).unwrap().unwrap();
        assert!(
            outbox.contains("[OK] RUN_COMMAND: Ran 'make'") && outbox.contains("is dropped, because a part"),
            "{outbox}"
        );
        assert!(!outbox.contains("nothing of it was done yet"), "{outbox}");
        executed(apply(&sessions, id, "[RUN_COMMAND]\nmake test\n[/RUN_COMMAND]\n"));
        assert_eq!((runs(&desk, "make"), runs(&desk, "make test")), (1, 1));
    }
}

#[test]
fn a_second_stop_does_not_forget_the_first() {
    let (desk, id) = stopped(TWO, true, 1);
    let other = "[RUN_COMMAND]\nmake\n[/RUN_COMMAND]\n[DELETE_FILE path=\"none\"]\n[CREATE_FILE path=\"o\"]\no\n[/CREATE_FILE]\n";
    let other = format!("[MESSAGE]\nSomething else.\n[/MESSAGE]\n{other}");
    stop(&desk, id, &other, false, 2);
    let (sessions, _) = desk.open();
    for reply in ["I am sorry, what shall I do?", TWO_REST] {
        let refused = apply(&sessions, id, reply).map(|_| ()).unwrap_err();
        assert!(matches!(refused, SessionError::HeldHasBegun), "{refused}");
    }
    let options = ApplyOptions { run_complete: true, ..ApplyOptions::default() };
    assert!(matches!(apply_with(&sessions, id, TWO, options).unwrap(), Applied::AlreadyDone { .. }));
    assert_eq!(executed(apply(&sessions, id, &other)).session.held, None);
    assert_eq!((runs(&desk, "make"), runs(&desk, "make test")), (2, 0));
}

/// Tests a reply that was stopped without being held, whole or with its complete blocks, and then arrives cut at another byte.
#[test]
fn blocks_that_ran_before_a_stop_do_not_run_again_as_part_of_a_held_reply() {
    let whole = TWO.replace("\ncat b", "\ncat b\n[/RUN_COMMAND]\n");
    let further = TWO.replace("\ncat b", "\ncat b\ncat another-file-with-a-name\ncat d");
    for (begun, run_complete, blocks) in
        [(&*whole, false, 1), (&*whole, false, 2), (TWO, true, 1), (TWO, true, 0)]
    {
        for (cut, rest) in [
            (&TWO[..TWO.len() - 3], TWO_REST),
            (
                &TWO[..TWO.len() - 30],
                &format!(
                    "make test
[/RUN_COMMAND]
[RUN_COMMAND]
{TWO_REST}"
                ),
            ),
            (
                &*further,
                "cat another-file-with-a-name
cat d
[/RUN_COMMAND]
",
            ),
        ] {
            let desk = Desk::with_files([]);
            let id = begin(&desk.open().0).session_id;
            stop(&desk, id, begun, run_complete, blocks);
            let (sessions, _) = desk.open();
            let held = executed(apply(&sessions, id, cut));
            let outbox = sessions.outbox(&held.session).unwrap().unwrap();
            assert_eq!((held.results.len(), held.taken_over.len()), (0, blocks), "{cut:?}");
            assert_eq!(outbox.contains("is dropped, because a part of it"), blocks > 0, "{outbox}");
            // The control: a reply without executed blocks is held.
            assert_eq!(outbox.contains("nothing of it was done yet"), blocks == 0, "{outbox}");
            executed(apply(&sessions, id, rest));
            assert_eq!(runs(&desk, "make"), 1, "{cut:?}");
            assert!(runs(&desk, "make test") <= 1);
        }
    }
}

/// The chat continues its answer, and the user copies all of it, with the token of the previous message.
#[test]
fn an_answer_that_the_chat_continued_itself_is_carried_out() {
    for (start, rest) in [(START, "ond line\n[/CREATE_FILE]\n"), (TWO, "\n[/RUN_COMMAND]\n")] {
        let desk = Desk::with_files([]);
        let (sessions, _) = desk.open();
        let id = begin(&sessions).session_id;
        let start = format!("Reply-To: {id}-1\n\n{start}");
        assert_eq!(executed(apply(&sessions, id, &start)).session.sequence_number, 2);
        // Other texts with that token are not the held reply, and are still refused.
        let other = format!("Reply-To: {id}-1\n\n[RUN_COMMAND]\nmake test\n[/RUN_COMMAND]\n");
        for refused in [&*other, &format!("Reply-To: {id}-1\n\nI am sorry."), &start] {
            apply(&sessions, id, refused).map(|_| ()).unwrap_err();
        }
        let whole = executed(apply(&sessions, id, &format!("{start}{rest}")));
        assert_eq!(whole.session.held, None);
        assert_eq!((whole.results.len() >= 2, runs(&desk, "make")), (true, 1));
        apply(&sessions, id, &format!("{start}{rest}")).map(|_| ()).unwrap_err();
        assert_eq!(runs(&desk, "make"), 1);
    }
}

/// Holds the two commands, and stops a reply after some of its blocks.
fn stopped(begun: &str, run_complete: bool, blocks: usize) -> (Desk, SessionId) {
    let desk = Desk::with_files([]);
    let (sessions, _) = desk.open();
    let id = begin(&sessions).session_id;
    executed(apply(&sessions, id, TWO));
    drop(sessions);
    stop(&desk, id, begun, run_complete, blocks);
    (desk, id)
}

fn stop(desk: &Desk, id: SessionId, text: &str, run_complete: bool, blocks: usize) {
    let (sessions, _) = desk.open();
    let cancel = CancelFlag::new();
    if blocks == 0 {
        cancel.cancel();
    }
    let options = ApplyOptions { run_complete, ..ApplyOptions::default() };
    let stopped = sessions.apply(
        id,
        text,
        TIMEOUT,
        options,
        &cancel,
        &mut StopAfter { blocks, cancel: cancel.clone() },
    );
    assert!(matches!(stopped, Err(SessionError::Interrupted)), "{stopped:?}");
}

/// Cancels a reply after some of its blocks.
struct StopAfter {
    blocks: usize,
    cancel: CancelFlag,
}

impl ExecutionObserver for StopAfter {
    fn block_finished(&mut self, index: usize, _: &Item<'_>, _: &CommandResult, _: Option<&FileChanged>) {
        if index + 1 == self.blocks {
            self.cancel.cancel();
        }
    }
}

/// Applies a text with its complete blocks, and returns the number of its results or the refusal.
fn complete(sessions: &Sessions<Shared>, id: SessionId, text: &str) -> Result<usize, String> {
    let options = ApplyOptions { run_complete: true, ..ApplyOptions::default() };
    match apply_with(sessions, id, text, options) {
        Ok(Applied::Executed(round)) => Ok(round.results.len()),
        other => Err(format!("{other:?}")),
    }
}
