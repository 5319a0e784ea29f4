//! Other windows, and a folder that changes in the meantime.

use change_review::{
    Comment, Decision, FileStep, ProposalId, ProposalSummary, Resolution, Selection, State, StepEffect, Tried,
};

use crate::fixture::{Host, command_step, file_step, lines, proposal, usual};

const USUAL: ProposalId = ProposalId(3);

/// Saves a draft as another window does.
fn save_elsewhere(host: &mut Host) {
    let kept = host.kept(USUAL);
    kept.draft.selection = Selection::nothing(&kept.proposal.steps);
    kept.draft.revision += 1;
}

#[test]
fn a_draft_that_was_saved_elsewhere_is_read_again_and_said() {
    let mut host = Host::new(vec![usual()]);
    save_elsewhere(&mut host);
    host.keys("j ");
    assert_eq!(host.view.draft(), Some(&host.proposals[0].draft));
    let screen = host.screen(80, 24);
    assert!(screen.contains("saved by another window") && screen.contains("0 of 4 steps"), "{screen}");
}

#[test]
fn a_comment_survives_the_refusal_of_its_save() {
    let mut host = Host::new(vec![usual()]);
    save_elsewhere(&mut host);
    host.keys("jnkeep me\n");
    let draft = host.proposals[0].draft.clone();
    assert_eq!(draft.comments.len(), 1);
    assert!(draft.selection.takes_nothing_of(&host.proposals[0].proposal.steps), "theirs, with our comment");
    assert!(host.screen(100, 24).contains("your comments were added"));
}

#[test]
fn a_read_from_before_a_save_does_not_undo_it() {
    let mut host = Host::new(vec![usual()]);
    // The key's save is pending when an older read arrives.
    host.press(review_view::Key::Character('x'));
    host.show(USUAL);
    host.answer_all();
    let steps = host.proposals[0].proposal.steps.clone();
    assert!(host.view.draft().unwrap().selection.takes_nothing_of(&steps));
    assert_eq!(host.view.draft(), Some(&host.proposals[0].draft));
}

#[test]
fn nothing_is_decided_on_a_draft_that_was_not_reviewed() {
    let mut host = Host::new(vec![usual()]);
    host.keys("tl");
    save_elsewhere(&mut host);
    host.keys("y");
    assert!(host.proposals[0].proposal.is_pending());
    assert!(host.screen(100, 24).contains("0 of 4 steps taken"));
}

#[test]
fn a_changed_folder_is_planned_again_and_said() {
    let mut host = Host::new(vec![usual()]);
    host.keys("jjnstays\n");
    host.keys("nmoves\n");
    let before = format!("// on top\n{}", lines());
    let after = before.replace("line_3 = 3", "third = 3");
    host.kept(USUAL).proposal.steps[0] = file_step(0, "src/lib.rs", Some(&before), Some(&after));
    host.show(USUAL);
    let screen = host.screen(100, 40);
    assert!(screen.contains("the folder has changed: the proposal was planned again"), "{screen}");
}

#[test]
fn a_comment_whose_lines_are_gone_is_marked() {
    let mut host = Host::new(vec![usual()]);
    host.keys("jnabout these\n");
    host.kept(USUAL).proposal.steps[0] = file_step(0, "src/lib.rs", Some("x\n"), Some("y\n"));
    host.show(USUAL);
    assert!(host.screen(100, 40).contains("» outdated: about these"), "{}", host.screen(100, 40));
}

#[test]
fn a_confirmation_does_not_outlive_the_plan_that_it_was_about() {
    let mut host = Host::new(vec![usual()]);
    host.keys("b");
    host.kept(USUAL).proposal.steps[0] = file_step(0, "src/lib.rs", Some("x\n"), Some("y\n"));
    host.show(USUAL);
    host.keys("y");
    assert!(host.proposals[0].proposal.is_pending());
}

/// Tries everything as another window does: the command has changed a file.
fn try_elsewhere(host: &mut Host) {
    let kept = host.kept(USUAL);
    let StepEffect::Command(command) = &mut kept.proposal.steps[3].effect else {
        panic!("it is the command")
    };
    command.effects = vec![FileStep::between("made.txt", None, Some(b"made\n"))];
    kept.proposal.is_tried = true;
    kept.tried = Some(Tried { is_held: true, files: command.effects.clone(), ..Tried::default() });
}

#[test]
fn a_full_trial_by_another_window_is_said_and_nothing_lands_unseen() {
    let mut host = Host::new(vec![usual()]);
    host.keys("tl");
    assert!(host.screen(100, 24).contains("land all 4 steps? [y/N]"));
    // The trial is not read yet when the answer is typed: the mark of the steps prevents the landing.
    try_elsewhere(&mut host);
    host.keys("y");
    assert!(host.proposals[0].proposal.is_pending());
    assert!(host.screen(100, 24).contains("another window has tried all of it"), "{}", host.screen(100, 24));
    // Now it was looked at.
    host.keys("ly");
    assert!(!host.proposals[0].proposal.is_pending());
}

#[test]
fn a_full_trial_by_another_window_ends_a_question() {
    let mut host = Host::new(vec![usual()]);
    host.keys("tl");
    try_elsewhere(&mut host);
    host.show(USUAL);
    let screen = host.screen(100, 60);
    assert!(!screen.contains("[y/N]") && screen.contains("another window has tried all of it"), "{screen}");
    assert!(screen.contains("changes +1 -0  made.txt"), "{screen}");
}

#[test]
fn the_own_full_trial_is_no_news() {
    let mut host = Host::new(vec![usual()]);
    host.press(review_view::Key::Character('l'));
    // The trial has replaced the steps before its answer arrives, and a look at the queue reads them.
    try_elsewhere(&mut host);
    host.show(USUAL);
    host.answer_all();
    let screen = host.screen(100, 24);
    assert!(!screen.contains("another window") && screen.contains("land all 4 steps? [y/N]"), "{screen}");
    host.keys("y");
    assert!(!host.proposals[0].proposal.is_pending());
}

fn decided(has_landed: bool, is_closed: bool) -> State {
    State::Decided(Decision {
        resolution: Resolution::default(),
        review: String::new(),
        has_landed,
        answers: serde_json::Value::Null,
        is_answered: false,
        is_closed,
    })
}

#[test]
fn the_way_in_which_it_ended_elsewhere_is_said() {
    for (state, end) in [
        (decided(true, false), "landed"),
        (decided(false, false), "sent back"),
        (decided(false, true), "closed without an answer"),
    ] {
        let mut host = Host::new(vec![usual()]);
        host.kept(USUAL).proposal.state = state;
        host.list();
        let screen = host.screen(80, 24);
        assert!(screen.contains(&format!("proposal 3 was {end} elsewhere")), "{screen}");
    }
}

#[test]
fn a_proposal_that_was_decided_elsewhere_is_said_and_left_alone() {
    let mut host = Host::new(vec![usual()]);
    host.kept(USUAL).proposal.state = decided(true, false);
    host.list();
    assert!(host.screen(80, 24).contains("proposal 3 was landed elsewhere"));
    let requests = host.done.len();
    host.keys("dx tlbnS");
    assert_eq!(host.done.len(), requests, "{:?}", host.done);
    assert!(host.screen(80, 24).contains("is over"));
}

#[test]
fn a_proposal_that_comes_is_listed_and_said() {
    let mut host = Host::new(vec![usual()]);
    let new = proposal(9, "another one", vec![command_step(0, "true")]);
    host.proposals.push(crate::fixture::Kept {
        proposal: new,
        draft: Default::default(),
        tried: None,
        since: None,
    });
    host.list();
    let screen = host.screen(80, 24);
    assert!(screen.contains("#9") && screen.contains("1 more to review"), "{screen}");
}

#[test]
fn a_proposal_that_cannot_be_read_is_said_and_keeps_no_other_from_being_opened() {
    let mut host = Host::new(vec![usual()]);
    let damaged = ProposalSummary {
        id: ProposalId(1),
        is_pending: false,
        fault: Some("cut".to_owned()),
        ..usual().summary()
    };
    let (view, _) = review_view::ReviewView::new(None, review_view::Palette::plain());
    host.view = view;
    host.send(review_view::Event::Listed(vec![damaged, usual().summary()]));
    host.answer_all();
    let screen = host.screen(100, 24);
    assert!(screen.contains("proposal 1 cannot be read: `agentd review 1 --drop`"), "{screen}");
    assert_eq!(host.view.opened_id(), Some(USUAL));
}

#[test]
fn comments_of_other_windows_are_shown_where_they_belong() {
    let mut host = Host::new(vec![usual()]);
    let kept = host.kept(USUAL);
    kept.draft.comments.push(Comment::on_step(&kept.proposal.steps[3], "why twice?"));
    kept.draft.revision += 1;
    host.show(USUAL);
    let screen = host.screen(100, 60);
    let command = screen.find("$ echo done").unwrap();
    assert!(screen.find("why twice?").unwrap() > command, "{screen}");
}

/// Changes two lines of twenty, or only the second one of them.
fn hunks(host: &mut Host, with_first: bool) {
    let (before, mut after) = (lines(), lines().replace("line_15 = 15", "fifteenth = 15"));
    after = after.replace("line_18 = 18", "eighteenth = 18");
    if with_first {
        after = after.replace("line_3 = 3", "third = 3");
    }
    host.kept(USUAL).proposal.steps[0] = file_step(0, "src/lib.rs", Some(&before), Some(&after));
}

#[test]
fn the_cursor_stays_at_its_hunk_when_one_before_it_is_gone() {
    let mut host = Host::new(vec![usual()]);
    hunks(&mut host, true);
    host.show(USUAL);
    host.keys("jj");
    hunks(&mut host, false);
    host.show(USUAL);
    host.keys(" ");
    let step = host.kept(USUAL).proposal.steps[0].clone();
    let StepEffect::File(file) = &step.effect else { panic!("a file") };
    let selection = host.kept(USUAL).draft.selection.clone();
    let taken: Vec<bool> = file.hunks.iter().map(|hunk| selection.takes_hunk(0, &hunk.id)).collect();
    // The hunk at line 15, where the cursor was, is left out.
    assert_eq!(taken, [false, true]);
}

#[test]
fn a_comment_that_is_typed_while_the_folder_changes_is_about_the_reviewed_lines() {
    let mut host = Host::new(vec![usual()]);
    hunks(&mut host, true);
    host.show(USUAL);
    host.keys("jjnabout fifteen");
    let (before, after) =
        (format!("// on top\n{}", lines()), lines().replace("line_15 = 15", "fifteenth = 15"));
    let after = format!("// on top\n{after}");
    host.kept(USUAL).proposal.steps[0] = file_step(0, "src/lib.rs", Some(&before), Some(&after));
    host.show(USUAL);
    host.keys("\n");
    let (draft, steps) = (host.kept(USUAL).draft.clone(), host.kept(USUAL).proposal.steps.clone());
    assert_eq!(draft.comments.len(), 1);
    let anchor = draft.comments[0].anchor.clone().unwrap();
    assert_eq!(anchor.quoted, "let fifteenth = 15;");
    let position = change_review::CommentPosition::Lines { first: 16, last: 16 };
    assert_eq!(draft.comments[0].position(&steps), position);
}
