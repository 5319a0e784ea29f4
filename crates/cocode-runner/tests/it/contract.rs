use cocode_runner::{AgentCommand, AgentDefinition, CheckContext, CheckReport, StopFlag, check_contract};

use crate::fixture::{Fixture, MARKED, agent};

fn check(definition: &AgentDefinition) -> CheckReport {
    let fixture = Fixture::new();
    let config = fixture.config();
    let context = CheckContext {
        host: config.host,
        spawner: config.spawner,
        scratch: config.scratch,
        least_level: config.least_level,
        limits: cocode_runner::RunLimits::default(),
    };
    check_contract(&context, definition, &StopFlag::new()).unwrap()
}

/// Returns the required parts that do not hold.
fn failures(report: &CheckReport) -> Vec<&'static str> {
    let failed = report.parts.iter().filter(|part| part.required && !part.holds);
    failed.map(|part| part.name).collect()
}

#[test]
fn the_example_in_rust_keeps_the_contract() {
    let program = env!("CARGO_BIN_EXE_minimal-agent").to_owned();
    let mut definition = agent("check", "true");
    definition.command = AgentCommand::Program { program, arguments: Vec::new() };
    let report = check(&definition);
    assert!(report.passed, "{report:?}");
    assert!(report.parts.iter().all(|part| part.holds), "it follows the advice, too: {report:?}");
}

#[test]
fn a_detached_head_is_judged_as_in_a_run() {
    let work = "echo 'for #1' > note && git add . && git checkout -q --detach";
    let report = check(&agent("check", &format!("{work}; {MARKED}")));
    assert!(report.passed, "{report:?}");
    let advice: Vec<_> = report.parts.iter().filter(|part| !part.holds && part.name == "on_branch").collect();
    assert_eq!(advice.len(), 1, "{report:?}");
    assert!(!advice[0].required && advice[0].detail == "HEAD is not on the agent's branch", "{report:?}");
}

#[test]
fn each_breach_of_the_contract_is_named() {
    let work = "echo 'for #1' > note && git add .";
    let cases: [(&str, &[&str]); 6] = [
        ("exit 2", &["exit_code", "descends", "new", "changes", "marker", "commits", "task"]),
        ("true", &["descends", "new", "changes", "marker", "commits", "task"]),
        (&format!("{work}; git commit -q -m x"), &["marker"]),
        (&format!("{work}; {MARKED}; exit 1"), &["exit_code"]),
        // The marker and the commit are right, but the change is another one.
        (MARKED, &["task"]),
        (&format!("echo x > '#1'; git add .; {MARKED}"), &["task"]),
    ];
    for (script, expected) in cases {
        let report = check(&agent("check", script));
        assert_eq!(failures(&report), expected, "{script}");
        assert!(!report.passed);
    }
}

#[test]
fn a_program_that_is_not_found_has_not_started() {
    for script in ["no-such-program-here", "exec no-such-program-here --now"] {
        let report = check(&agent("check", script));
        let part = |name| report.parts.iter().find(|part| part.name == name).unwrap();
        assert!(!part("started").holds, "{report:?}");
        assert_eq!(part("started").detail, "its program was not found", "{report:?}");
    }
    // The control: an agent that ran and failed has started, and the reason is next to its exit code.
    let report = check(&agent("check", "exit 2"));
    let part = |name| report.parts.iter().find(|part| part.name == name).unwrap();
    assert!(part("started").holds && part("started").detail.is_empty(), "{report:?}");
    assert_eq!(part("exit_code").detail, "it exited with 2; check the agent's setup", "{report:?}");
}
