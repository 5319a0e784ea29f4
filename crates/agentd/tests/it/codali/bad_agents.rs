//! Agents of a flow that are not as they should be.

use std::fs;

use super::flow_project::{ASKS, EDIT, FlowProject, PLAN, SUMMARY};
use crate::fixture::at_once::at_once;
use crate::fixture::daemon::{Daemon, eventually, has_ended};

/// An edit of a text that the file does not have.
const REFUSED: &str = "[EDIT_FILE path=\"greet.txt\"]\n<<<<<<< SEARCH\nguten Tag\n=======\nbonjour\n>>>>>>> REPLACE\n[/EDIT_FILE]\n";

#[test]
fn each_bad_program_ends_the_flow_with_its_reason() {
    let good = "printf 'plan_targets: [greet.txt]\\n'";
    let cases = [
        ("no-such-program".to_owned(), "the architect gave no reply: the program was not found"),
        ("cat > /dev/null".to_owned(), "the architect gave no reply: the program has printed nothing"),
        ("head -c 1000000000 /dev/zero".to_owned(), "bytes: that cannot be a reply"),
        ("printf '\\377\\376'".to_owned(), "something that is not UTF-8 text"),
        ("sleep 600".to_owned(), "the program takes longer than 5 s"),
        (
            format!("{good}; exit 1"),
            "the program has failed: exit status: 1; it printed nothing on standard error",
        ),
    ];
    at_once(&cases, |(program, says)| {
        let flow = FlowProject::new(&[("architect-1", PLAN), ("builder-1", EDIT), ("architect-2", SUMMARY)]);
        let builder = flow.command();
        let run = |architect: &[&str]| {
            let rest = ["--builder", &builder, "--model-timeout", "5"];
            flow.project.run(&[&["codali", "run"], architect, &rest].concat())
        };
        let ran =
            run(&["greet", "--architect", program]).exits(1).says(says).says("asks for this reply again");
        assert_eq!(ran.stderr.contains("--model-timeout SECONDS"), program == "sleep 600", "{ran}");
        assert_eq!(flow.calls(), "", "{program}: nothing of it is used");
        let unnamed = flow.project.run(&["codali", "run", "--resume"]).exits(2);
        unnamed
            .says("no program is given for the architect")
            .says("--model COMMAND, or each its own with --architect");
        run(&["--resume", "--architect", &builder]).ok().prints("PASS after 1 round\n");
    });
}

#[test]
fn a_builder_whose_edits_are_refused_gets_the_reasons_and_a_second_try() {
    let flow = FlowProject::new(&[("architect-1", PLAN), ("builder-1", REFUSED), ("builder-2", REFUSED)]);
    let ran = flow.run(&[]).exits(1).says("nothing that the builder wrote could be applied");
    ran.says("describe the task in other words, or use another model");
    assert_eq!(flow.calls(), "architect 1\nbuilder 1\nbuilder 2\n");
    let second = flow.prompt("builder-2");
    assert!(second.contains("FAILED: Failed to edit 'greet.txt'"), "{second}");
    assert!(second.contains("Send the edits that failed once more, corrected, and no others."), "{second}");
    assert_eq!(flow.project.read("greet.txt"), "hello\n");
    // A program that reads the events finds the end among them.
    let flow = FlowProject::new(&[("architect-1", PLAN), ("builder-1", REFUSED), ("builder-2", REFUSED)]);
    let ran = flow.run(&["--json"]).exits(1);
    let last: serde_json::Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["event"], "failed", "{ran}");
    assert!(last["message"].as_str().unwrap().contains("nothing that the builder wrote"), "{last}");
    // Prose without any edit is the same.
    let prose = "I would change the greeting.\n";
    let flow = FlowProject::new(&[("architect-1", PLAN), ("builder-1", prose), ("builder-2", prose)]);
    flow.run(&[]).exits(1).says("the reply holds no edit");
    assert!(flow.prompt("builder-2").contains("no edit was found in the builder's reply"));
}

#[test]
fn an_architect_without_targets_is_asked_once_more_and_given_up() {
    let vague = "Make it French.\n";
    let flow = FlowProject::new(&[("architect-1", vague), ("architect-2", vague)]);
    flow.run(&[]).exits(1).says("the architect's plan names no files under plan_targets");
    assert_eq!(flow.calls(), "architect 1\narchitect 2\n");
    assert!(flow.prompt("architect-2").contains("the plan names no files: give the whole plan again"));
    // The control: with targets the second time it continues.
    let replies = [
        ("architect-1", vague),
        ("architect-2", PLAN),
        ("builder-1", EDIT),
        ("critic-1", "PASS"),
        ("architect-3", SUMMARY),
    ];
    FlowProject::new(&replies).run(&[]).ok().prints("PASS after 1 round\n");
}

#[test]
fn a_critic_that_contradicts_a_failed_check_changes_nothing_and_the_result_says_so() {
    let replies = [("architect-1", PLAN), ("builder-1", EDIT), ("critic-1", "PASS\n")];
    let flow = FlowProject::new(&replies);
    let ran = flow.run(&["--rounds", "1", "--test", "echo three are wrong; exit 3"]).exits(1);
    let ran =
        ran.prints("FAIL after 1 round\n").prints("the command `echo three are wrong; exit 3` has failed");
    ran.prints("the critic agent said PASS: the check wins");
    // The control: the same critic passes what the check passes.
    let replies = [replies.as_slice(), &[("architect-2", SUMMARY)]].concat();
    FlowProject::new(&replies).run(&["--rounds", "1", "--test", "true"]).ok().prints("PASS after 1 round\n");
}

#[test]
fn a_critic_without_a_verdict_is_asked_once_more_and_counts_as_fail() {
    let replies =
        [("architect-1", PLAN), ("builder-1", EDIT), ("critic-1", "Nice."), ("critic-2", "Very nice.")];
    let flow = FlowProject::new(&replies);
    flow.run(&["--rounds", "1"]).exits(1).prints("the critic agent gave no verdict");
    assert!(flow.prompt("critic-2").contains("its first line must be PASS or FAIL"));
}

#[test]
fn an_agent_that_asks_for_ever_is_given_up() {
    let flow = FlowProject::new(&[]);
    let asks = ASKS.replace("  - type: docdex.search\n    query: hello\n", "");
    for number in 1..=20 {
        fs::write(flow.agents().join(format!("architect-{number}")), &asks).unwrap();
    }
    flow.run(&[]).exits(1).says("the architect was still asking after 16 responses");
    assert_eq!(flow.calls().lines().count(), 17);
}

#[test]
fn ctrl_c_during_a_reply_ends_the_program_and_the_flow_resumes() {
    let flow = FlowProject::new(&[
        ("architect-1", PLAN),
        ("builder-1", EDIT),
        ("critic-1", "PASS"),
        ("architect-2", SUMMARY),
    ]);
    let project = &flow.project;
    // The builder hangs, once the architect has replied.
    let (command, agents) = (flow.command(), flow.agents().display().to_string());
    let hanging = format!("echo $$ > '{agents}/pid'; cat > /dev/null; sleep 600");
    let run = ["codali", "run", "greet in French", "--model", &command, "--builder", &hanging];
    let daemon = Daemon::start(project.command(&run));
    let process = || fs::read_to_string(flow.agents().join("pid")).unwrap_or_default();
    eventually("the builder runs", || process().ends_with('\n'));
    assert!(!has_ended(process().trim()));
    daemon.interrupt().exits(130).says("stopped; `agentd codali run --resume");
    eventually("the builder has ended", || has_ended(process().trim()));
    assert_eq!(flow.calls(), "architect 1\n");
    flow.resume(&[]).ok().prints("PASS after 1 round\n");
    assert_eq!(flow.calls(), "architect 1\nbuilder 1\ncritic 1\narchitect 2\n");
}
