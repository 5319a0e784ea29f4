//! Tests of `model-program` through its public API.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use model_program::{ModelProgram, ProgramError};
use proptest::prelude::*;
use wap_core::CancelFlag;

/// Longer than any program here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn ask(command: &str) -> Result<String, ProgramError> {
    ModelProgram::new(command, PATIENCE, 1000).ask("the prompt\n", &CancelFlag::new())
}

#[test]
fn each_end_as_the_user_reads_it() {
    let mut texts = String::new();
    for command in [
        "cat",
        "printf 'no line end'",
        "echo reply; echo >&2",
        "head -c 7",
        "no-such-program-of-a-model 2>/dev/null",
        "/dev/null 2>/dev/null",
        "echo a good reply; exit 1",
        "true",
        "printf ' \\n\\n'",
        "printf '\\377\\376'",
        "head -c 1000000000 /dev/zero",
        "kill -9 $$",
    ] {
        let answer = match ask(command) {
            Ok(reply) => format!("reply {reply:?}"),
            Err(error) => error.to_string(),
        };
        writeln!(texts, "{command}\n    {answer}").unwrap();
    }
    insta::assert_snapshot!(texts);
}

#[test]
fn a_program_that_reads_nothing_of_a_large_prompt_is_heard() {
    let program = ModelProgram::new("echo ready", PATIENCE, 1000);
    assert_eq!(program.ask(&"x".repeat(10_000_000), &CancelFlag::new()).unwrap(), "ready");
}

#[test]
fn a_process_that_is_left_behind_neither_delays_the_reply_nor_survives() {
    let begun = Instant::now();
    let reply = ask("sleep 600 & echo $!").unwrap();
    assert!(begun.elapsed() < PATIENCE);
    // Whether the process is gone: one that waits to be collected by its new parent is.
    let state = || std::fs::read_to_string(format!("/proc/{reply}/stat")).unwrap_or_default();
    while !(state().is_empty() || state().contains(") Z ")) {
        assert!(begun.elapsed() < PATIENCE, "{}", state());
        std::thread::yield_now();
    }
}

#[test]
fn the_deadline_and_the_user_end_it() {
    let program = ModelProgram::new("sleep 600", Duration::from_millis(50), 1000);
    assert!(matches!(program.ask("", &CancelFlag::new()), Err(ProgramError::TimedOut(_))));
    let cancel = CancelFlag::new();
    cancel.cancel();
    let program = ModelProgram::new("sleep 600", PATIENCE, 1000);
    assert!(matches!(program.ask("", &cancel), Err(ProgramError::Cancelled)));
}

#[test]
fn a_reply_that_may_be_cut_is() {
    let program = ModelProgram::new("printf '123\\377567'; cat /dev/zero", PATIENCE, 5).with_cut_reply();
    assert_eq!(program.ask("", &CancelFlag::new()).unwrap(), "123\u{fffd}5");
}

#[test]
fn variables_and_the_shell_are_as_chosen() {
    let program = ModelProgram::new("echo $SIZE-$0", PATIENCE, 1000).with_variable("SIZE", "12");
    assert_eq!(program.clone().ask("", &CancelFlag::new()).unwrap(), "12-/bin/sh");
    let program = program.in_shell("bash".into());
    assert_eq!(program.clone().ask("", &CancelFlag::new()).unwrap(), "12-/bin/sh", "not an absolute path");
    let program = program.in_shell("/usr/bin/env".into());
    assert!(program.ask("", &CancelFlag::new()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_prompt_arrives_as_it_is(prompt in "\\PC{1,200}") {
        let reply = ModelProgram::new("cat", PATIENCE, 10_000).ask(&prompt, &CancelFlag::new());
        match prompt.trim_end() {
            "" => prop_assert!(matches!(reply, Err(ProgramError::Empty))),
            text => prop_assert_eq!(reply.unwrap(), text),
        }
    }
}
