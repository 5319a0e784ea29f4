//! Tests of `model-program` through its public API.

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use model_program::{ModelProgram, ProgramError};
use proptest::prelude::*;
use wap_core::CancelFlag;

/// Longer than any program here on a busy machine.
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
        "printf 'reading\\nno key is set\\n' >&2; exit 3",
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
fn a_program_that_does_not_read_a_large_prompt_is_heard() {
    let program = ModelProgram::new("echo ready", PATIENCE, 1000);
    assert_eq!(program.ask(&"x".repeat(10_000_000), &CancelFlag::new()).unwrap(), "ready");
}

#[test]
fn a_process_that_is_left_behind_neither_delays_the_reply_nor_survives() {
    let begun = Instant::now();
    let reply = ask("sleep 600 & echo $!").unwrap();
    assert!(begun.elapsed() < PATIENCE);
    // A process that waits to be reaped by its new parent counts as ended.
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
fn a_reply_is_truncated_if_allowed() {
    let program = ModelProgram::new("printf '123\\377567'; cat /dev/zero", PATIENCE, 5).with_cut_reply();
    assert_eq!(program.ask("", &CancelFlag::new()).unwrap(), "123\u{fffd}5");
}

#[test]
fn a_reply_is_cut_between_characters() {
    // Each limit is within a character of two, three and four bytes, and before it.
    for (most, reply) in [(3, "ab"), (4, "abé"), (6, "abé"), (7, "abé€"), (10, "abé€"), (11, "abé€😀")]
    {
        let program = ModelProgram::new("printf 'abé€😀'; cat /dev/zero", PATIENCE, most).with_cut_reply();
        assert_eq!(program.ask("", &CancelFlag::new()).unwrap(), reply, "{most}");
    }
}

#[test]
fn an_infinite_time_or_length_is_no_limit() {
    let program = ModelProgram::new("echo reply", Duration::MAX, usize::MAX);
    assert_eq!(program.ask("", &CancelFlag::new()).unwrap(), "reply");
}

/// Returns the number of processes that have a text in their environment.
fn processes_with(text: &str) -> usize {
    let has_it = |entry: &std::fs::DirEntry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == text.as_bytes())
    };
    std::fs::read_dir("/proc").into_iter().flatten().flatten().filter(has_it).count()
}

#[test]
fn descendants_of_a_program_in_other_groups_end_with_it() {
    // In a pipe, `timeout` is not the leader of the group, and creates its own.
    let mark = format!("{}-{:?}", std::process::id(), std::thread::current().id());
    let program =
        ModelProgram::new("timeout 600 sleep 600 | cat", PATIENCE, 1000).with_variable("MARK", &mark);
    let (cancel, text) = (CancelFlag::new(), format!("MARK={mark}"));
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| program.ask("", &cancel));
        let begun = Instant::now();
        // The shell, `timeout`, `sleep` and `cat`.
        while processes_with(&text) < 4 && begun.elapsed() < PATIENCE {
            std::thread::yield_now();
        }
        cancel.cancel();
        assert!(matches!(asking.join().unwrap(), Err(ProgramError::Cancelled)));
        while processes_with(&text) > 0 {
            assert!(begun.elapsed() < PATIENCE, "{} processes are left", processes_with(&text));
            std::thread::yield_now();
        }
    });
}

/// Returns the number of children of a process.
fn children_of(parent: u32) -> usize {
    let is_child = |entry: &std::fs::DirEntry| {
        let line = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let fields = line.rsplit_once(')').map_or("", |(_, fields)| fields);
        fields.split_whitespace().nth(1) == Some(&parent.to_string())
    };
    std::fs::read_dir("/proc").into_iter().flatten().flatten().filter(is_child).count()
}

/// The variable with the mark for a copy of these tests that is to be killed.
const STAND_IN: &str = "MODEL_PROGRAM_TEST_MARK";

#[test]
fn a_program_does_not_outlive_a_killed_process() {
    if let Ok(mark) = std::env::var(STAND_IN) {
        let program =
            ModelProgram::new("timeout 600 sleep 600 | cat", PATIENCE, 1000).with_variable("MARK", mark);
        let _ = program.ask("", &CancelFlag::new());
        return;
    }
    let mark = format!("killed-{}", std::process::id());
    let mut asking = Command::new(std::env::current_exe().unwrap());
    asking.args(["--exact", "a_program_does_not_outlive_a_killed_process"]).env(STAND_IN, &mark);
    let mut asking = asking.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (begun, text) = (Instant::now(), format!("MARK={mark}"));
    // The control: the shell, `timeout`, `sleep` and `cat` are running, and their guard.
    while processes_with(&text) < 4 || children_of(asking.id()) < 2 {
        assert!(begun.elapsed() < PATIENCE, "{} processes are there", processes_with(&text));
        std::thread::yield_now();
    }
    asking.kill().unwrap();
    asking.wait().unwrap();
    while processes_with(&text) > 0 {
        assert!(begun.elapsed() < PATIENCE, "{} processes are left", processes_with(&text));
        std::thread::yield_now();
    }
}

#[test]
fn output_after_the_end_of_the_program_is_read() {
    // Like a shell that shares its output with another process: it ends before the last words.
    let reply = ask("(for word in late later last; do sleep 0.4; echo $word; done) & echo first");
    assert_eq!(reply.unwrap(), "first\nlate\nlater\nlast");
}

#[test]
fn a_program_that_leaves_its_group_is_not_waited_for() {
    let (sender, answer) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let command = "exec perl -e 'setpgrp(0, getpgrp(getppid)) or die; $| = 1; print 1 x 9; sleep 600'";
        let program = ModelProgram::new(command, PATIENCE, 5);
        let _ = sender.send(program.ask("", &CancelFlag::new()));
    });
    // It prints too much after leaving the group.
    let answer = answer.recv_timeout(PATIENCE).expect("the program is not waited for");
    assert!(matches!(answer, Err(ProgramError::TooLong(5) | ProgramError::NotFound)), "{answer:?}");
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
    fn a_prompt_arrives_unchanged(prompt in "\\PC{1,200}") {
        let reply = ModelProgram::new("cat", PATIENCE, 10_000).ask(&prompt, &CancelFlag::new());
        match prompt.trim_end() {
            "" => prop_assert!(matches!(reply, Err(ProgramError::Empty))),
            text => prop_assert_eq!(reply.unwrap(), text),
        }
    }
}
