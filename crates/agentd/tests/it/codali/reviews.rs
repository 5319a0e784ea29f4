//! `agentd codali run --review`: a builder's edits wait for a person.

use super::flow_project::{EDIT, FlowProject, PLAN, SUMMARY};
use crate::fixture::daemon::Daemon;

const OTHER: &str = "[CREATE_FILE path=\"other.txt\"]\nother\n[/CREATE_FILE]\n";
const SALUT: &str =
    "[EDIT_FILE path=\"greet.txt\"]\n<<<<<<< SEARCH\nhello\n=======\nsalut\n>>>>>>> REPLACE\n[/EDIT_FILE]\n";

/// A flow whose first edits wait for a review.
fn waiting(builders: &[&str]) -> (FlowProject, Daemon) {
    let names: Vec<_> = (1..).map(|number| format!("builder-{number}")).take(builders.len()).collect();
    let mut replies = vec![("architect-1", PLAN), ("critic-1", "PASS\n"), ("architect-2", SUMMARY)];
    replies.extend(names.iter().map(String::as_str).zip(builders.iter().copied()));
    let flow = FlowProject::new(&replies);
    let command = flow.command();
    let run = ["codali", "run", "greet in French", "--review", "--model", &command];
    let mut daemon = Daemon::start(flow.project.command(&run));
    daemon.wait_for("waits for your review: `agentd review 1`");
    assert_eq!(flow.project.read("greet.txt"), "hello\n");
    (flow, daemon)
}

#[test]
fn edits_that_land_are_judged() {
    let (flow, daemon) = waiting(&[EDIT]);
    flow.project.run(&["review", "1", "--land"]).ok();
    daemon.wait().ok().prints("PASS after 1 round\n").prints("changed: greet.txt");
    assert_eq!(flow.project.read("greet.txt"), "bonjour\n");
    assert_eq!(flow.calls(), "architect 1\nbuilder 1\ncritic 1\narchitect 2\n");
}

#[test]
fn edits_are_sent_back_with_the_word_of_the_reviewer_as_often_as_it_takes() {
    let (flow, mut daemon) = waiting(&[EDIT, EDIT, SALUT]);
    for number in ["1", "2"] {
        let say = format!("less formal, please: {number}");
        flow.project.run(&["review", number, "--send-back", "--say", &say]).ok();
        let next = number.parse::<u32>().unwrap() + 1;
        daemon.wait_for(&format!("waits for your review: `agentd review {next}`"));
        let prompt = flow.prompt(&format!("builder-{next}"));
        assert!(prompt.contains(&say), "{prompt}");
    }
    flow.project.run(&["review", "3", "--land"]).ok();
    daemon.wait().ok().prints("PASS after 1 round\n");
    assert_eq!(flow.project.read("greet.txt"), "salut\n");
}

#[test]
fn a_builder_may_leave_out_what_the_reviewer_left_out() {
    let both = format!("{EDIT}{OTHER}");
    let (flow, daemon) = waiting(&[&both, "Then it is done.\n"]);
    flow.project.run(&["review", "1", "--leave-out", "2", "--land"]).ok();
    daemon.wait().ok().prints("PASS after 1 round\n").prints("changed: greet.txt");
    assert_eq!(flow.project.read("greet.txt"), "bonjour\n");
    assert!(!flow.project.has("other.txt"));
    let prompt = flow.prompt("builder-2");
    assert!(prompt.contains("Send the edits that the review still wants"), "{prompt}");
    assert_eq!(flow.calls(), "architect 1\nbuilder 1\nbuilder 2\ncritic 1\narchitect 2\n");
}

#[test]
fn a_closed_proposal_whose_session_has_moved_on_is_said_to_the_builder() {
    let (flow, mut daemon) = waiting(&[EDIT, SALUT]);
    flow.project.apply(OTHER, &["--session", &flow.id()]).ok();
    flow.project.run(&["review", "1", "--land"]).exits(4).says("has moved on");
    flow.project.run(&["review", "1", "--send-back"]).ok().says("closed");
    daemon.wait_for("waits for your review: `agentd review 2`");
    let prompt = flow.prompt("builder-2");
    assert!(prompt.contains("nothing of these edits was done"), "{prompt}");
    assert_eq!(flow.project.read("greet.txt"), "hello\n");
    flow.project.run(&["review", "2", "--land"]).ok();
    daemon.wait().ok().prints("PASS after 1 round\n").prints("changed: greet.txt\nchanged: other.txt\n");
    assert_eq!(flow.project.read("greet.txt"), "salut\n");
}
