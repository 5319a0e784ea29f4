//! The effect of keys on the draft, and their requests.

use change_review::{CommentPosition, ProposalId, Side, StepVerdict};
use review_view::{Event, Key, Request};

use crate::fixture::{Host, command_step, file_step, lines, proposal, usual};

fn host() -> Host {
    Host::new(vec![usual(), proposal(4, "run", vec![command_step(0, "true")])])
}

const USUAL: ProposalId = ProposalId(3);

#[test]
fn space_takes_and_leaves_out_the_hunk_or_the_step() {
    let mut host = host();
    host.keys("j ");
    let hunk = |host: &mut Host| match host.kept(USUAL).draft.selection.verdict(0).clone() {
        StepVerdict::Hunks(taken) => taken.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(hunk(&mut host), 1);
    // The step as a whole: first all of it, then nothing.
    host.keys("k ");
    assert_eq!(*host.kept(USUAL).draft.selection.verdict(0), StepVerdict::Take);
    host.keys(" ");
    assert_eq!(*host.kept(USUAL).draft.selection.verdict(0), StepVerdict::LeaveOut);
    // A hunk of a step that is left out takes just this one.
    host.keys("jj ");
    assert_eq!(hunk(&mut host), 1);
}

#[test]
fn all_and_none() {
    let mut host = host();
    host.keys("x");
    let steps = host.kept(USUAL).proposal.steps.clone();
    assert!(host.kept(USUAL).draft.selection.takes_nothing_of(&steps));
    host.keys("a");
    assert!(host.kept(USUAL).draft.selection.0.is_empty());
}

#[test]
fn a_comment_is_on_the_lines_of_its_hunk_or_on_the_line_of_the_cursor() {
    let mut host = host();
    host.keys("jnon a hunk\n").keys("jnon what goes\n");
    host.key(Key::Down).keys("non a line\n");
    host.keys("gnon a step\n");
    let steps = host.kept(USUAL).proposal.steps.clone();
    let comments = host.kept(USUAL).draft.comments.clone();
    let positions: Vec<_> = comments
        .iter()
        .map(|comment| (comment.text.as_str(), comment.side, comment.position(&steps)))
        .collect();
    let lines = |first, last| CommentPosition::Lines { first, last };
    assert_eq!(
        positions,
        [
            ("on a hunk", Side::After, lines(3, 4)),
            ("on what goes", Side::Before, lines(15, 15)),
            ("on a line", Side::After, lines(13, 13)),
            ("on a step", Side::After, CommentPosition::Step),
        ]
    );
}

#[test]
fn a_comment_is_changed_and_removed_at_its_row() {
    let mut host = host();
    host.keys("nfirst\n");
    let row = host.screen(80, 40).lines().position(|line| line.contains("» first")).unwrap();
    assert!(row > 0);
    // It is at the end of its step, before the second one.
    host.keys("jjj");
    host.key(Key::Up).key(Key::Up).keys("n, really\n");
    assert_eq!(host.kept(USUAL).draft.comments[0].text, "first, really");
    host.keys("d");
    assert!(host.kept(USUAL).draft.comments.is_empty());
    host.keys("d");
    assert!(host.screen(80, 24).contains("there is none"));
}

#[test]
fn escape_cancels_a_comment() {
    let mut host = host();
    host.keys("nnever").key(Key::Escape).keys("n  \n");
    assert!(host.kept(USUAL).draft.comments.is_empty());
    assert!(!host.has_quit);
}

#[test]
fn typing_takes_every_key_and_pasted_lines_as_text() {
    let mut host = host();
    host.keys("nqlbtx").key(Key::Paste("two\nlines\u{1b}[31m\r\n".to_owned()));
    host.key(Key::Home).key(Key::Delete).key(Key::End).key(Key::Backspace).key(Key::Enter);
    assert_eq!(host.kept(USUAL).draft.comments[0].text, "lbtxtwo lines[31");
    assert!(!host.has_quit);
}

#[test]
fn a_choice_with_a_command_is_tried_before_it_lands_and_asked_about_again() {
    let mut host = host();
    host.keys("l");
    assert!(matches!(host.done.last(), Some(Request::Open(_))), "{:?}", host.done);
    assert!(host.done.iter().any(|request| matches!(request, Request::Try { .. })));
    assert!(host.kept(USUAL).proposal.is_pending());
    host.keys("y");
    assert!(!host.kept(USUAL).proposal.is_pending());
    assert_eq!(host.view.opened_id(), Some(ProposalId(4)), "the next one is opened");
}

#[test]
fn a_choice_that_changed_after_its_trial_is_tried_again() {
    let mut host = host();
    host.keys("tgj l");
    let trials = host.done.iter().filter(|request| matches!(request, Request::Try { .. })).count();
    assert_eq!(trials, 2);
    // As it was tried, it is not tried a third time.
    host.keys("nl");
    let trials = host.done.iter().filter(|request| matches!(request, Request::Try { .. })).count();
    assert_eq!(trials, 2);
}

#[test]
fn nothing_lands_without_a_yes() {
    for no in ["n", "\n", "q"] {
        let mut host = host();
        host.keys("jjjj j j ").keys("l").keys(no);
        host.keys("b").keys(no);
        assert!(host.kept(USUAL).proposal.is_pending(), "{no:?}");
        assert!(!host.has_quit, "{no:?}");
    }
}

#[test]
fn nothing_taken_cannot_land_and_is_sent_back() {
    let mut host = host();
    host.keys("xl");
    assert!(host.screen(80, 24).contains("b sends the proposal back"));
    host.keys("by");
    assert!(!host.kept(USUAL).proposal.is_pending());
}

#[test]
fn escape_and_interrupt_stop_a_trial_and_do_not_quit() {
    for stop in [Key::Escape, Key::Interrupt] {
        let mut host = host();
        host.press(Key::Character('t'));
        host.press(stop);
        let id = USUAL;
        host.send(Event::Tried { id, outcome: Err("cancelled".to_owned()) });
        assert!(host.screen(80, 24).contains("the trial was stopped"));
        host.answer_all();
        assert!(host.done.contains(&Request::StopTrial) && !host.has_quit);
    }
}

#[test]
fn tab_goes_round_the_queue() {
    let mut host = host();
    host.key(Key::Tab);
    assert_eq!(host.view.opened_id(), Some(ProposalId(4)));
    host.key(Key::Tab);
    assert_eq!(host.view.opened_id(), Some(USUAL));
    host.key(Key::BackTab);
    assert_eq!(host.view.opened_id(), Some(ProposalId(4)));
}

#[test]
fn order_keeps_the_cursor_at_its_hunk() {
    let before = lines();
    let after = before.replace("line_3", "third").replace("line_15", "other");
    let steps = vec![
        file_step(0, "z.rs", Some(&before), Some(&after)),
        file_step(1, "a.rs", Some(&before), Some(&after)),
    ];
    let mut host = Host::new(vec![proposal(1, "two files", steps)]);
    host.keys("jjoo ");
    let draft = host.kept(ProposalId(1)).draft.clone();
    assert!(matches!(draft.selection.verdict(0), StepVerdict::Hunks(_)), "{draft:?}");
    assert_eq!(*draft.selection.verdict(1), StepVerdict::Take);
}

#[test]
fn quitting_requests_nothing_else() {
    let mut host = host();
    host.keys("j q");
    assert!(host.has_quit);
    assert_eq!(host.kept(USUAL).draft.revision, 1, "the draft is kept");
}

#[test]
fn keys_after_tab_do_nothing_to_the_proposal_that_is_left() {
    for key in [' ', 'x', 'd', 'n', 'S', 't', 'l', 'b'] {
        let mut host = host();
        host.keys("j");
        host.press(Key::Tab);
        // Before the next proposal was read.
        host.press(Key::Character(key));
        host.press(Key::Character('y'));
        host.answer_all();
        assert_eq!(host.view.opened_id(), Some(ProposalId(4)), "{key}");
        for id in [USUAL, ProposalId(4)] {
            assert_eq!(host.kept(id).draft, change_review::Draft::default(), "{key}");
            assert!(host.kept(id).proposal.is_pending() && host.kept(id).tried.is_none(), "{key}");
        }
    }
}
