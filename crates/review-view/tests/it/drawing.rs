//! The screen at 80 by 24 and at 140 by 40.

use change_review::{FileStep, SinceReview, StepSince};
use review_view::Key;

use crate::fixture::{Host, command_step, proposal, usual};

fn two() -> Host {
    let other = proposal(4, "run cargo fmt", vec![command_step(0, "cargo fmt")]);
    Host::new(vec![usual(), other])
}

fn both(host: &mut Host) -> String {
    format!("{}{}\n{}", host.screen(80, 24), "=".repeat(80), host.screen(140, 40))
}

#[test]
fn a_proposal_with_the_queue() {
    insta::assert_snapshot!(both(&mut two()));
}

#[test]
fn a_hunk_that_is_left_out_and_a_comment() {
    let mut host = two();
    host.keys("jj njust remove it\nk");
    host.keys("Snot yet\n");
    insta::assert_snapshot!(both(&mut host));
}

#[test]
fn a_comment_that_is_typed() {
    let mut host = two();
    host.keys("jnwhy is th");
    insta::assert_snapshot!(host.screen(80, 24));
}

#[test]
fn a_trial_with_folded_output() {
    let mut host = two();
    let output: String = (1..=30).map(|line| format!("test number {line} ... ok\n")).collect();
    host.trial = (101, output);
    host.keys("t");
    insta::assert_snapshot!(both(&mut host));
}

#[test]
fn output_is_unfolded_by_enter() {
    let mut host = two();
    host.trial = (0, (1..=30).map(|line| format!("line {line}\n")).collect());
    host.keys("t");
    assert!(!host.screen(80, 24).contains("line 20"), "{}", host.screen(80, 24));
    host.keys("\n");
    assert!(host.screen(80, 60).contains("line 1\n"), "{}", host.screen(80, 60));
    host.keys("\n");
    assert!(!host.screen(80, 60).contains("line 20"));
}

#[test]
fn the_help() {
    let mut host = two();
    host.keys("?");
    insta::assert_snapshot!(both(&mut host));
}

#[test]
fn landing_is_confirmed() {
    let mut host = two();
    host.keys("jj l");
    insta::assert_snapshot!(host.screen(80, 24));
}

#[test]
fn an_empty_queue() {
    insta::assert_snapshot!(Host::new(Vec::new()).screen(80, 24));
}

#[test]
fn order_and_folds_can_be_changed() {
    let mut host = two();
    host.keys("oof");
    insta::assert_snapshot!(host.screen(80, 40));
}

#[test]
fn a_tiny_terminal_is_drawn_without_a_panic() {
    let mut host = two();
    for (width, height) in [(1, 1), (2, 3), (10, 4), (100, 2), (300, 1)] {
        for mode in ["", "?", "qn", "l", "nabc"] {
            host.keys(mode);
            host.screen(width, height);
            host.key(Key::Escape);
        }
    }
}

#[test]
fn what_is_new_since_the_last_review() {
    let mut host = two();
    let kept = host.kept(change_review::ProposalId(3));
    let before = crate::fixture::lines().replace("let line_3 = 3;\n", "let tertius = 3;\n");
    let after = crate::fixture::lines()
        .replace("let line_3 = 3;\n", "let third = 3;\nlet more = 0;\n")
        .replace("let line_15 = 15;\n", "");
    let changed = FileStep::between("src/lib.rs", Some(before.as_bytes()), Some(after.as_bytes()));
    let news = |changed| StepSince { review: change_review::ProposalId(2), changed };
    let steps = [(0, news(Some(changed))), (3, news(None))].into();
    kept.since = Some(SinceReview { steps, dropped: vec!["run rm -r target".to_owned()] });
    host.show(change_review::ProposalId(3));
    let whole = host.screen(100, 44);
    host.keys("v");
    insta::assert_snapshot!(format!("{whole}{}\n{}", "=".repeat(80), host.screen(100, 44)));
    // Nothing of the difference to the last review can be chosen by itself.
    let draft = host.view.draft().cloned();
    host.keys("j");
    assert_eq!(host.view.draft().cloned(), draft);
    host.keys("v");
    assert!(host.screen(100, 44).contains("[x] hunk 1 of 2"));
}
