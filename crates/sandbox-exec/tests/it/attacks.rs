//! The attack corpus, `fixtures/vectors/exec-attacks.json`, run case by case.
//!
//! The attacks are real. On a machine that does not contain them they are not run, and the tests fail and say so.

use std::fs;
use std::path::Path;

use sandbox_exec::{Ending, Outcome, ShellCommand, SpawnError, Timeout};
use serde_json::Value;

use crate::cases::{self, Scene};
use crate::ground::survivors;

/// Cases that are not run here, with the reason.
const LEFT: [(&str, &str); 10] = [
    ("concurrent-32", "a test of its own: commands::a_launcher_serves_many_threads_at_once"),
    ("concurrent-kill-one", "a test of its own: kills::cancelling_one_command_leaves_the_other_alone"),
    ("daemon-crash-idempotence", "what runs once is the journal's business"),
    ("git-nested-submodule", "found when a copy-on-write layer is adopted"),
    (
        "proc-mem-parent",
        "its parent is the command's own shell; containment::the_inits_memory_cannot_be_opened",
    ),
    ("sandbox-setup-race", "the shortage cannot be made without hurting other tests"),
    ("suspend", "a machine cannot be suspended by a test; documented at Timeout"),
    (
        "timeout-fires",
        "half a minute long; kills::the_deadline_reaches_everything_and_keeps_what_was_printed",
    ),
    ("utf8-split-at-cap", "the cap in characters is the protocol's; capture::a_cut_never_splits_a_character"),
    ("vscode-tasks", "found when a copy-on-write layer is adopted"),
];

fn corpus() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/vectors/exec-attacks.json");
    let text = fs::read_to_string(path).unwrap();
    let mut corpus: Value = serde_json::from_str(&text).unwrap();
    corpus["cases"].as_array_mut().unwrap().drain(..).collect()
}

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap()
}

#[test]
fn every_case_left_out_is_in_the_corpus() {
    let corpus = corpus();
    for (name, _) in LEFT {
        assert!(corpus.iter().any(|case| text(case, "name") == name), "{name}");
    }
}

/// Runs every case of a class and reports all failures together.
fn hold(class: &str) {
    let cases: Vec<Value> = corpus().into_iter().filter(|case| text(case, "class") == class).collect();
    assert!(!cases.is_empty());
    let mut failures = Vec::new();
    for case in &cases {
        let name = text(case, "name");
        if LEFT.iter().any(|(left, _)| *left == name) {
            continue;
        }
        if let Err(failure) = run(name, case) {
            failures.push(format!("{name}: {failure}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn run(name: &str, case: &Value) -> Result<(), String> {
    let mut scene = Scene::new(name, case["setup"].as_array().is_some_and(|setup| !setup.is_empty()));
    let result = attempt(&scene, case);
    let expected = text(case, "expect");
    if !expected.split("-or-").any(|expected| fits(expected, &result)) {
        return Err(format!("{expected} expected: {result:#?}"));
    }
    let left = survivors(&scene.marker);
    if !left.is_empty() {
        return Err(format!("survivors: {left:?}"));
    }
    cases::check(name, &mut scene, result.as_ref().ok())?;
    // Whatever it did, the next command runs.
    let next = scene.ground.run("echo next");
    if next.ending != Ending::Exited(0) {
        return Err(format!("the next command ended with {}", next.ending));
    }
    Ok(())
}

fn attempt(scene: &Scene, case: &Value) -> Result<Outcome, String> {
    let mut command =
        ShellCommand::new(&scene.command(text(case, "command"))).map_err(|error| error.to_string())?;
    if let Some(variables) = case["args"]["environment"].as_object() {
        let variables =
            variables.iter().map(|(name, value)| (name.into(), cases::value(value.as_str().unwrap()).into()));
        command = command.with_environment(variables.collect()).map_err(|error| error.to_string())?;
    }
    let timeout = match &case["args"]["timeout"] {
        Value::Null => Timeout::new(scene.timeout(text(case, "expect"))),
        seconds => Timeout::from_seconds(seconds.as_i64().unwrap()),
    };
    let command = command.with_timeout(timeout.map_err(|error| error.to_string())?);
    match scene.ground.launcher.spawn(&scene.ground.policy, &command) {
        Ok(running) => running.wait().map_err(|error| panic!("{error}")),
        Err(SpawnError::Policy(error)) => Err(error.to_string()),
        Err(error) => panic!("{error}"),
    }
}

/// Whether a result is what the vector's word for it says; `Err` is a refusal before anything started.
fn fits(expected: &str, result: &Result<Outcome, String>) -> bool {
    let ending = result.as_ref().ok().map(|outcome| outcome.ending);
    let is_failure = ending.is_some_and(|ending| !ending.is_success());
    match expected.split_once(' ').unwrap_or((expected, "")) {
        ("exit", "non-zero") | ("error" | "killed", "") => is_failure,
        ("exit", code) => ending == Some(Ending::Exited(code.parse().unwrap())),
        ("signal", number) => {
            matches!(ending, Some(Ending::Signaled(signal)) if signal.number().to_string() == number)
        }
        ("timeout", "") => matches!(ending, Some(Ending::TimedOut { .. })),
        ("rejected", "") => result.is_err(),
        ("policy" | "any", "") => result.is_ok(),
        _ => panic!("an expectation that this test does not know: {expected}"),
    }
}

macro_rules! classes {
    ($($test:ident = $class:literal;)+) => {
        $(#[test] fn $test() { hold($class) })+

        #[test]
        fn every_class_of_the_corpus_is_run() {
            let classes = [$($class),+];
            for case in corpus() {
                assert!(classes.contains(&text(&case, "class")), "{}", text(&case, "name"));
            }
        }
    };
}

classes! {
    attacks_on_files_fail = "fs";
    attacks_on_the_kernel_fail = "kernel";
    attacks_on_privileges_fail = "priv";
    attacks_on_resources_fail = "resource";
    attacks_on_secrets_fail = "secrets";
    attacks_on_the_terminal_fail = "stdin";
    attacks_through_descendants_fail = "tree";
    attacks_through_the_clock_fail = "time";
    attacks_through_the_network_fail = "net";
    attacks_through_output_fail = "output";
    commands_at_once_hold = "conc";
    exits_are_told_apart = "exit";
}
