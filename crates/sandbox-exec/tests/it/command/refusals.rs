//! Refusals before anything starts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use sandbox_exec::{
    COMMAND_LIMIT_BYTES, CommandError, ENVIRONMENT_LIMIT_BYTES, Policy, PolicyError, ShellCommand,
    SpawnError, Timeout,
};

use crate::fixture::Fixture;

fn with_variable(name: &str, value: &str) -> Result<ShellCommand, CommandError> {
    ShellCommand::new("true").unwrap().with_environment(BTreeMap::from([(name.into(), value.into())]))
}

#[test]
fn an_empty_command_is_refused() {
    for text in ["", " ", "\r\n\t"] {
        assert_eq!(ShellCommand::new(text).unwrap_err(), CommandError::Empty, "{text:?}");
    }
}

#[test]
fn a_nul_byte_is_refused() {
    assert_eq!(ShellCommand::new("echo \0").unwrap_err(), CommandError::Nul);
}

#[test]
fn a_command_that_the_kernel_cannot_take_is_refused_with_the_limit() {
    let error = ShellCommand::new(&"a".repeat(COMMAND_LIMIT_BYTES + 1)).unwrap_err();
    assert_eq!(
        error,
        CommandError::TooLong { length_bytes: COMMAND_LIMIT_BYTES + 1, limit_bytes: COMMAND_LIMIT_BYTES }
    );
}

#[test]
fn line_ends_become_those_of_the_shell() {
    assert_eq!(ShellCommand::new("echo a\r\necho b\r\n").unwrap().text(), "echo a\necho b\n");
}

#[test]
fn variables_through_which_code_is_loaded_are_refused_by_name() {
    let names = [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "PATH",
        "IFS",
        "ENV",
        "BASH_ENV",
        "GIT_DIR",
        "GIT_SSH_COMMAND",
        "NODE_OPTIONS",
        "BASH_FUNC_ls%%",
        "PYTHONSTARTUP",
        "HOME",
        "GCONV_PATH",
        "LOCPATH",
        "HOSTALIASES",
        "MAKEFLAGS",
        "CARGO_HOME",
        "NPM_CONFIG_REGISTRY",
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER",
    ];
    for name in names {
        let expected = CommandError::VariableRefused { name: name.into() };
        assert_eq!(with_variable(name, "x").unwrap_err(), expected);
        assert!(expected.to_string().contains(name));
    }
}

#[test]
fn ordinary_variables_are_taken() {
    for name in
        ["RUST_BACKTRACE", "CARGO_TARGET_DIR", "NODE_ENV", "PYTHONPATH", "X", "LDFLAGS", "GITHUB_SHA", "path"]
    {
        assert!(with_variable(name, "a=b").is_ok(), "{name}");
    }
}

#[test]
fn malformed_variables_are_refused() {
    for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "\0")] {
        let error = with_variable(name, value).unwrap_err();
        assert!(matches!(error, CommandError::VariableMalformed { .. }), "{name:?}: {error}");
    }
}

#[test]
fn an_environment_is_taken_up_to_its_limit() {
    let value = "v".repeat(ENVIRONMENT_LIMIT_BYTES - 3);
    assert!(with_variable("X", &value).is_ok());
    let error = with_variable("X", &format!("{value}v")).unwrap_err();
    assert!(matches!(error, CommandError::EnvironmentTooLong { .. }), "{error}");
    let many: BTreeMap<OsString, OsString> =
        (0..20_000).map(|number| (format!("NAME{number}").into(), "value".into())).collect();
    assert!(ShellCommand::new("true").unwrap().with_environment(many).is_err());
}

#[test]
fn a_timeout_is_more_than_nothing_and_at_most_an_hour() {
    assert_eq!(Timeout::from_seconds(0), Err(CommandError::Timeout));
    assert_eq!(Timeout::from_seconds(-1), Err(CommandError::Timeout));
    let hour = Timeout::from_seconds(3600).unwrap();
    assert_eq!((hour.duration(), hour.was_clamped()), (Duration::from_secs(3600), false));
    let huge = Timeout::from_seconds(i64::MAX).unwrap();
    assert_eq!((huge.duration(), huge.was_clamped()), (Duration::from_secs(3600), true));
    assert_eq!(Timeout::default().duration(), Duration::from_secs(30));
}

#[test]
fn a_workspace_that_is_the_system_or_is_missing_is_refused() {
    let fixture = Fixture::new();
    let refusal = |workspace: &Path| {
        let command = ShellCommand::new("true").unwrap();
        match fixture.launcher.spawn(&Policy::for_workspace(workspace), &command) {
            Err(SpawnError::Policy(error)) => error,
            other => panic!("{}: {other:?}", workspace.display()),
        }
    };
    for system in ["/", "/usr", "/proc/self", "/dev", "/dev/shm", "/tmp"] {
        assert_eq!(refusal(Path::new(system)), PolicyError::SystemFolder, "{system}");
    }
    assert_eq!(refusal(&fixture.root().join("missing")), PolicyError::NotAFolder);
    assert_eq!(refusal(&fixture.outside("secret.txt")), PolicyError::NotAFolder);
}
