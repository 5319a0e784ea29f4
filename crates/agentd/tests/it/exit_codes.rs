//! Exit codes: which there are, and 124 where a time ran out.

use std::collections::BTreeSet;

use crate::cocode::desk::{Desk, MARKED};
use crate::fixture::at_once::at_once;
use crate::fixture::project::Project;

/// The numbers that begin the lines after a mark, in a page of `man`.
fn numbers_of(page: &str) -> BTreeSet<u8> {
    let section = page.split(".SH \"EXIT STATUS\"").nth(1).unwrap();
    let section = section.split(".SH").next().unwrap();
    section.lines().filter_map(|line| line.strip_prefix("\\fB")?.strip_suffix("\\fR")?.parse().ok()).collect()
}

#[test]
fn manual_pages_and_the_guide_have_the_same_codes() {
    let guide = include_str!("../../../../docs/guide.md");
    let table = guide.split("## Exit codes").nth(1).unwrap();
    let documented: BTreeSet<u8> =
        table.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok()).collect();
    assert_eq!(documented, BTreeSet::from([0, 1, 2, 3, 4, 5, 124, 130]));
    let project = Project::new();
    for words in [&["man"][..], &["man", "apply"], &["man", "cocode", "run"]] {
        assert_eq!(numbers_of(&project.run(words).ok().stdout), documented, "{words:?}");
    }
    assert_eq!(numbers_of(&project.run(&["man", "call"]).ok().stdout), BTreeSet::from([0, 1, 2]));
}

/// The situation, the agents with their scripts, further arguments, and the exit code.
type RunCase = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str], i32);

#[test]
fn a_run_ends_with_0_if_enough_agents_are_ready_and_with_1_otherwise() {
    const SLOW: &str = "sleep 60";
    let cases: [RunCase; 7] = [
        ("all were too slow", &[("a", SLOW), ("b", SLOW)], &[], 1),
        ("one was too slow, one has failed", &[("a", SLOW), ("b", "exit 3")], &[], 1),
        ("one was too slow, one is ready", &[("a", SLOW), ("b", MARKED)], &[], 0),
        ("all were wanted, and the others were too slow", &[("a", SLOW), ("b", MARKED)], &["--all"], 1),
        ("all were wanted, and one has failed", &[("a", "exit 1"), ("b", MARKED)], &["--all"], 1),
        ("none was too slow", &[("a", "exit 0")], &[], 1),
        ("it gave up by itself", &[("a", "exit 124")], &[], 1),
    ];
    at_once(&cases, |(what, agents, more, code)| {
        let desk = Desk::new();
        let agents: Vec<String> = agents.iter().map(|(name, script)| format!("{name}={script}")).collect();
        let mut arguments = vec!["--timeout", "8"];
        for agent in &agents {
            arguments.extend(["--agent-cmd", agent]);
        }
        arguments.extend(*more);
        let ran = desk.run(&arguments);
        assert_eq!(ran.code, *code, "{what}: {ran}");
    });
}

#[test]
fn an_agent_that_is_checked_and_too_slow_ends_with_124() {
    let desk = Desk::new();
    desk.cocode(&["check", "--timeout", "2", "--", "sleep", "60"]).exits(124).prints("it timed out");
    desk.cocode(&["check", "--timeout", "20", "--", "false"]).exits(1);
}

#[test]
fn commands_whose_calls_or_blocks_run_out_of_time_end_as_ever() {
    let project = Project::new();
    let sleep = r#"{"command":"sleep 60"}"#;
    project.run(&["call", "executeCommand", sleep, "--timeout", "1"]).exits(1).prints("TIMEOUT");
    project.begin("be quick");
    project.apply("[RUN_COMMAND]\nsleep 60\n[/RUN_COMMAND]\n", &["--timeout", "1"]).ok().prints("timed out");
    let request = "AGENT_REQUEST v1\nrequest_id: 1\nneeds:\n  - type: file.list\n";
    project.run_with_input(&["codali", "--budget", "1"], request).ok();
}
