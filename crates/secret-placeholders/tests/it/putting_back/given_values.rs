//! Values given to a command, in its output.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use wap_core::{
    Call, CommandObserver, ExecuteCommand, ExecuteCommandResponse, OutputStream, Reason, Unobserved,
    WapError, Workspace,
};

use crate::over_workspace::{Masked, over, read, with_call};

const PASSWORD: &str = "⟦secret:password-assignment:1⟧";
const NAME: &str = "⟦secret:name-as-password:1⟧";

/// A workspace with a password that is a word, and one that equals a name next to it.
fn file() -> Masked {
    let masked = over([
        ("a.ini", "password = \"postgres\"\n".to_owned()),
        ("b.conf", "POSTGRES_USER=shop2api\nPOSTGRES_PASSWORD=shop2api\n".to_owned()),
        ("@output/1", "one\npostgres\n".to_owned()),
        ("@process/db", "start\npostgres\n".to_owned()),
    ]);
    assert_eq!(read(&masked, "a.ini", None), format!("password = \"{PASSWORD}\"\n"));
    assert!(read(&masked, "b.conf", None).ends_with(&format!("={NAME}\n")));
    masked
}

pub(super) fn printed(stdout: &str, stderr: &str) -> ExecuteCommandResponse {
    let response = json!({
        "stdout": stdout, "stderr": stderr, "exitCode": 0, "isOutputTruncated": false, "durationMs": 5,
    });
    serde_json::from_value(response).unwrap()
}

fn command(text: &str) -> ExecuteCommand {
    ExecuteCommand { command: text.to_owned(), ..ExecuteCommand::default() }
}

fn run(masked: &Masked, request: &ExecuteCommand) -> Result<ExecuteCommandResponse, WapError> {
    // A repeated step is answered from the record.
    static STEP: AtomicU32 = AtomicU32::new(1);
    let step = STEP.fetch_add(1, Ordering::Relaxed);
    with_call(step, |call| masked.execute_command(call, request, &mut Unobserved))
}

#[test]
fn a_value_that_a_command_is_given_is_masked_in_what_it_prints() {
    let masked = file();
    masked.inner().on_command("echo postgres", Ok(printed("postgres\n", "is postgres, postgres_1\n")));
    let ran = run(&masked, &command(&format!("echo {PASSWORD}"))).unwrap();
    assert_eq!(ran.stdout, format!("{PASSWORD}\n"));
    assert_eq!(ran.stderr, format!("is {PASSWORD}, {PASSWORD}_1\n"));
    masked.inner().on_command("echo shop2api", Ok(printed("shop2api\n", "\u{1b}[1mshop\u{1b}[0m2api\n")));
    let ran = run(&masked, &command(&format!("echo {NAME}"))).unwrap();
    assert_eq!(ran.stdout, format!("{NAME}\n"));
    assert!(!ran.stderr.contains("2api"), "{}", ran.stderr);
    // The same by a variable, and in an error.
    masked
        .inner()
        .on_command("echo $X", Err(WapError::new(Reason::Timeout, "too long").with("stdout", "postgres")));
    let environment = Some([("X".to_owned(), PASSWORD.to_owned())].into());
    let error = run(&masked, &ExecuteCommand { environment, ..command("echo $X") }).unwrap_err();
    assert_eq!(error.detail("stdout").unwrap(), PASSWORD);
}

#[test]
fn other_words_and_the_output_of_other_commands_stay() {
    let masked = file();
    let text = "postgresql is not a part of postgres2 shop2api\n";
    masked.inner().on_command("psql postgres", Ok(printed(text, "")));
    assert_eq!(run(&masked, &command(&format!("psql {PASSWORD}"))).unwrap().stdout, text);
    masked.inner().on_command("psql", Ok(printed("postgres shop2api\n", "")));
    assert_eq!(run(&masked, &command("psql")).unwrap().stdout, "postgres shop2api\n");
}

#[test]
fn output_that_is_passed_on_at_once_is_masked_as_well() {
    #[derive(Default)]
    struct Observed(String);
    impl CommandObserver for Observed {
        fn output(&mut self, _: OutputStream, bytes: &[u8]) {
            self.0.push_str(str::from_utf8(bytes).unwrap());
        }
    }
    let masked = file();
    masked.inner().on_command("echo postgres", Ok(printed("postgres\nmore\n", "")));
    let mut observed = Observed::default();
    let run =
        |call: &Call<'_>| masked.execute_command(call, &command(&format!("echo {PASSWORD}")), &mut observed);
    with_call(1, run).unwrap();
    assert_eq!(observed.0, format!("{PASSWORD}\nmore\n"));
}

#[test]
fn the_whole_output_and_that_of_a_process_are_masked_when_they_are_read() {
    let masked = file();
    let whole_output = Some("@output/1".to_owned());
    masked
        .inner()
        .on_command("echo postgres", Ok(ExecuteCommandResponse { whole_output, ..printed("", "") }));
    assert_eq!(read(&masked, "@output/1", None), "one\npostgres\n");
    run(&masked, &command(&format!("echo {PASSWORD}"))).unwrap();
    assert_eq!(read(&masked, "@output/1", None), format!("one\n{PASSWORD}\n"));
    let started = |text: &str| ExecuteCommand { background: Some("db".into()), ..command(text) };
    run(&masked, &started(&format!("echo {PASSWORD}"))).unwrap();
    for lines in [None, Some((2, 2))] {
        let visible = read(&masked, "@process/db", lines);
        assert!(visible.ends_with(&format!("{PASSWORD}\n")), "{visible}");
    }
    // The control: a process of the same name without given values.
    masked.inner().on_command("echo", Ok(printed("", "")));
    run(&masked, &started("echo")).unwrap();
    assert_eq!(read(&masked, "@process/db", None), "start\npostgres\n");
}

#[test]
fn the_outcome_of_a_command_that_is_carried_out_elsewhere_is_masked() {
    let masked = file();
    let environment = Some([("X".to_owned(), PASSWORD.to_owned())].into());
    masked.remember_command("task", &ExecuteCommand { environment, ..command("echo $X") });
    let outcome = |name: &str| {
        with_call(1, |call| masked.masked_outcome(call, name, Ok(printed("postgres\n", "")))).unwrap().stdout
    };
    assert_eq!(outcome("task"), format!("{PASSWORD}\n"));
    assert_eq!(outcome("other"), "postgres\n");
}
