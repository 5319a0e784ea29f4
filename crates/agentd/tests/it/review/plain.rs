//! The questions, line by line.

use test_support::skip;

use super::waiting_reply::{landed_without_the_second_hunk, with_a_proposal};
use crate::fixture::tmux::Tmux;

#[test]
fn a_proposal_is_reviewed_line_by_line() {
    let (project, mut daemon, id) = with_a_proposal();
    let answers = "h\ny\nc\nkeep the old name\nn\ny\n?\ny\nt\nl\ny\n";
    let ran = project.run_with_input(&["review", "--plain"], answers).ok();
    let ran = ran.prints("+let twentieth = 20;").prints("$ echo ran").prints("tried out:");
    let ran = ran.says("take it? [y]es, [n]o, [h]unk by hunk, [c]omment, [q]uit");
    let ran = ran.says("[t]ry, [l]and, send [b]ack, keep as [d]raft").says("land it? [y/N]");
    ran.says("proposal 1 landed: 3 done");
    landed_without_the_second_hunk(&project, &mut daemon, &id, "keep the old name");
}

#[test]
fn an_answer_that_ends_keeps_the_draft() {
    let (project, _daemon, _) = with_a_proposal();
    project.run_with_input(&["review", "1", "--plain"], "n\n").ok();
    let kept = project.run(&["review", "1", "--json"]).ok().json();
    assert_eq!(kept["draft"]["selection"]["0"], "leaveOut", "{kept}");
    assert_eq!(kept["proposal"]["state"], "pending");
}

#[test]
fn nothing_is_sent_back_or_landed_without_a_yes() {
    let (project, daemon, _) = with_a_proposal();
    project.run_with_input(&["review", "--plain"], "y\ny\ny\nb\n\nl\n\nd\n").ok();
    let kept = project.run(&["review", "1", "--json"]).ok().json();
    assert_eq!(kept["proposal"]["state"], "pending");
    assert!(!project.has("new.rs"));
    // It removes the overlay of the trial.
    daemon.interrupt().exits(130);
}

#[test]
fn a_dumb_terminal_is_asked_line_by_line() {
    let (project, mut daemon, _) = with_a_proposal();
    let mut command = project.command(&["review"]);
    command.env("TERM", "dumb");
    let Some(tmux) = Tmux::start(&command, &project.folder().join("tmp"), (80, 50)) else {
        return skip("a_dumb_terminal_is_asked_line_by_line", "there is no program `tmux`");
    };
    tmux.wait_for("take it? [y]es, [n]o, [h]unk by hunk");
    tmux.types("n").press("Enter");
    tmux.wait_until("the second step", |screen| screen.matches("take it?").count() == 2);
    tmux.types("n").press("Enter");
    tmux.wait_until("the third step", |screen| screen.matches("take it?").count() == 3);
    tmux.types("n").press("Enter");
    tmux.wait_for("keep as [d]raft");
    tmux.types("b").press("Enter");
    tmux.wait_for("send the comments back? [y/N]");
    tmux.types("y").press("Enter");
    let screen = tmux.ends_and_restores(0);
    assert!(screen.contains("proposal 1 sent back"), "{screen}");
    daemon.wait_for("message 2 to copy");
    assert!(!project.has("new.rs"));
}
