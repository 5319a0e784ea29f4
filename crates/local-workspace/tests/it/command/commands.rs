//! Commands: where they run, what they may set, how they end, what is reported of their output.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::Duration;

use egress::Network;
use local_workspace::{EngineConfig, LocalWorkspace, SandboxNeed};
use sandbox_exec::Level;
use wap_core::*;

use crate::fixture::workspace::*;

fn execute(workspace: &LocalWorkspace, request: &ExecuteCommand) -> Result<ExecuteCommandResponse, WapError> {
    workspace.execute_command(&Caller::once().call(), request, &mut Unobserved)
}

#[test]
fn command_runs_in_the_folder_that_is_asked_for() {
    let fixture = Fixture::new();
    fixture.put("a/b/file", "x");
    std::os::unix::fs::symlink("a/b", fixture.root().join("link")).unwrap();
    std::os::unix::fs::symlink(fixture.outside(), fixture.root().join("out")).unwrap();
    let workspace = fixture.open();
    let in_folder = |folder: &str| {
        let request = ExecuteCommand { working_directory: Some(folder.into()), ..command("pwd") };
        execute(&workspace, &request).map(|response| response.stdout)
    };
    let root = fixture.root().to_str().unwrap().to_owned();
    for (requested, expected) in
        [("", ""), (".", ""), ("a/b", "/a/b"), ("a/../a", "/a"), ("link", "/a/b"), (&root, "")]
    {
        assert_eq!(in_folder(requested).unwrap(), format!("{root}{expected}\n"), "{requested}");
    }
    let refused = [
        ("..", Reason::PathEscapeAttempt),
        ("a/../../x", Reason::PathEscapeAttempt),
        ("/etc", Reason::PathEscapeAttempt),
        ("out", Reason::PathEscapeAttempt),
        ("nope", Reason::PathNotFound),
        ("a/b/file", Reason::NotADirectory),
    ];
    for (requested, reason) in refused {
        assert_eq!(in_folder(requested).unwrap_err().reason(), reason, "{requested}");
    }
}

#[test]
fn response_and_error_name_what_was_refused() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let connect = "python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 443))'";
    let expected = vec![Denied {
        what: "connect 192.0.2.1:443".into(),
        why: "network is off".into(),
        allow: Some("--network on".into()),
        count: 1,
    }];
    let response = execute(&workspace, &command(connect)).unwrap();
    assert_eq!((response.exit_code, response.denied), (1, expected.clone()), "{}", response.stderr);
    // The limit leaves time for the connection on a busy machine.
    let waiting = ExecuteCommand { timeout: Some(5_000), ..command(&format!("{connect}; sleep 60")) };
    let error = execute(&workspace, &waiting).unwrap_err();
    assert_eq!((error.reason(), Denied::of_error(&error)), (Reason::Timeout, expected));
    // The controls: the same with success, and a failure without a refusal.
    for clean in [format!("{connect} || true"), "exit 1".to_owned()] {
        assert_eq!(execute(&workspace, &command(&clean)).unwrap().denied, Vec::new(), "{clean}");
    }
}

#[test]
fn request_sets_variables_but_not_those_that_choose_programs() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let with = |name: &str, value: &str| {
        let environment = Some(BTreeMap::from([(name.to_owned(), value.to_owned())]));
        execute(&workspace, &ExecuteCommand { environment, ..command("echo \"$GREETING\"; touch ran") })
    };
    for name in ["LD_PRELOAD", "PATH", "BASH_ENV", "IFS", "GIT_DIR"] {
        let error = with(name, "x").unwrap_err();
        assert_eq!(error.reason(), Reason::EnvironmentNotAllowed, "{name}");
        assert!(error.message().contains(name), "{error}");
    }
    assert_eq!(with("A=B", "x").unwrap_err().reason(), Reason::InvalidField);
    assert_eq!(with("BIG", &"x".repeat(200_000)).unwrap_err().reason(), Reason::RequestTooLarge);
    assert_eq!(fixture.text("ran"), None);
    assert_eq!(with("GREETING", "hello").unwrap().stdout, "hello\n");
}

#[test]
fn what_cannot_be_a_command_is_refused() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let cases = [
        (command(""), Reason::EmptyCommand),
        (command(" \n\t"), Reason::EmptyCommand),
        (command("echo a\0b"), Reason::InvalidField),
        (ExecuteCommand { timeout: Some(-5), ..command("true") }, Reason::InvalidField),
        (ExecuteCommand { timeout: Some(i64::MIN), ..command("true") }, Reason::InvalidField),
    ];
    for (request, reason) in cases {
        assert_eq!(execute(&workspace, &request).unwrap_err().reason(), reason, "{request:?}");
    }
    let late = Caller { time_left: Some(Duration::ZERO), ..Caller::once() };
    let error = workspace.execute_command(&late.call(), &command("true"), &mut Unobserved).unwrap_err();
    assert_eq!(error.reason(), Reason::Timeout);
}

#[test]
fn timeout_keeps_what_was_printed_until_then() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let request =
        ExecuteCommand { timeout: Some(3_000), ..command("echo before; echo err >&2; sleep 60; echo after") };
    let error = execute(&workspace, &request).unwrap_err();
    assert_eq!(error.reason(), Reason::Timeout);
    assert_eq!(error.detail("stdout").unwrap(), "before\n");
    assert_eq!(error.detail("stderr").unwrap(), "err\n");
    // What the caller is going to wait counts as well.
    let hurried = Caller { time_left: Some(Duration::from_millis(700)), ..Caller::once() };
    let error =
        workspace.execute_command(&hurried.call(), &command("sleep 60"), &mut Unobserved).unwrap_err();
    assert_eq!(error.reason(), Reason::Timeout);
    let response =
        execute(&workspace, &ExecuteCommand { timeout: Some(i64::MAX), ..command("true") }).unwrap();
    assert_eq!(response.warnings, ["the timeout was cut to one hour"]);
}

/// Cancels as soon as the command has printed something.
struct CancelAtOutput(mpsc::Sender<()>);

impl CommandObserver for CancelAtOutput {
    fn started(&mut self, _: &str) {}

    fn output(&mut self, _: OutputStream, _: &[u8]) {
        let _ = self.0.send(());
    }
}

#[test]
fn cancelled_command_is_killed_and_keeps_what_was_printed() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let caller = Caller::numbered(1);
    let (sender, printed) = mpsc::channel();
    let request = command("echo started; sleep 100; touch survived");
    let error = std::thread::scope(|scope| {
        let cancel = caller.cancel.clone();
        scope.spawn(move || {
            printed.recv().unwrap();
            cancel.cancel();
        });
        workspace.execute_command(&caller.call(), &request, &mut CancelAtOutput(sender)).unwrap_err()
    });
    assert_eq!(error.reason(), Reason::Cancelled);
    assert_eq!(error.detail("stdout").unwrap(), "started\n");
    // It is an outcome like others: asked again, it is not run again.
    let again = Caller { cancel: CancelFlag::new(), ..caller.clone() };
    let outcome = workspace.execute_command(&again.call(), &request, &mut Unobserved);
    assert_eq!(outcome.unwrap_err(), error);
    assert_eq!(fixture.text("survived"), None);
}

#[test]
fn call_that_was_cancelled_before_leaves_no_trace() {
    let fixture = Fixture::new();
    fixture.put("a", "1\n");
    let workspace = fixture.open();
    let caller = Caller::numbered(1);
    caller.cancel.cancel();
    let call = caller.call();
    let reasons = [
        workspace.execute_command(&call, &command("touch ran"), &mut Unobserved).unwrap_err().reason(),
        workspace.change_files(&call, &[write("a", "2\n")]).unwrap_err().reason(),
        workspace
            .read_file(&call, &ReadFile { path: "a".into(), ..ReadFile::default() })
            .unwrap_err()
            .reason(),
        workspace.explore_files(&call, &ExploreFiles::default()).unwrap_err().reason(),
    ];
    assert_eq!(reasons, [Reason::Cancelled; 4]);
    assert_eq!((fixture.text("a").unwrap(), fixture.text("ran")), ("1\n".to_owned(), None));
    let again = Caller { cancel: CancelFlag::new(), ..caller };
    workspace.change_files(&again.call(), &[write("a", "2\n")]).unwrap().remove(0).unwrap();
    assert_eq!(fixture.text("a").unwrap(), "2\n");
}

#[test]
fn command_that_waits_for_another_one_can_be_cancelled() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let (first, second) = (Caller::once(), Caller::once());
    std::thread::scope(|scope| {
        let (sender, printed) = mpsc::channel();
        let running = scope.spawn({
            let (workspace, first) = (&workspace, &first);
            move || {
                let request = command("echo started; sleep 100");
                workspace.execute_command(&first.call(), &request, &mut CancelAtOutput(sender))
            }
        });
        printed.recv().unwrap();
        let waiting =
            scope.spawn(|| workspace.execute_command(&second.call(), &command("touch ran"), &mut Unobserved));
        second.cancel.cancel();
        assert_eq!(waiting.join().unwrap().unwrap_err().reason(), Reason::Cancelled);
        first.cancel.cancel();
        assert_eq!(running.join().unwrap().unwrap_err().reason(), Reason::Cancelled);
    });
    assert_eq!(fixture.text("ran"), None);
}

#[test]
fn long_output_is_cut_in_the_middle_and_kept_as_a_whole() {
    let fixture = Fixture::new();
    let mut config = fixture.config();
    config.limits.max_output_size = 10_000;
    let workspace = fixture.open_with(fixture.open_journal(), config).0;
    let response = run(&workspace, "seq 1 20000").unwrap();
    assert!(response.is_output_truncated);
    assert!(response.stdout.len() < 10_200, "{}", response.stdout.len());
    assert!(response.stdout.starts_with("1\n2\n") && response.stdout.ends_with("19999\n20000\n"));
    let name = response.whole_output.unwrap();
    assert!(
        response.stdout.contains(&format!("bytes left out; '{name}' has the whole output …")),
        "{}",
        response.stdout
    );

    let whole = read(&workspace, &name).unwrap();
    assert_eq!((whole.total_lines, whole.version), (20_000, None));
    assert_eq!(whole.metadata.path, name);
    let range = |start_line: i64, end_line: i64| {
        let request = ReadFile {
            path: name.clone(),
            start_line: Some(start_line),
            end_line: Some(end_line),
            ..ReadFile::default()
        };
        workspace.read_file(&Caller::once().call(), &request)
    };
    assert_eq!(range(10_000, 10_001).unwrap().content, "10000\n10001\n");
    assert_eq!(range(20_000, 99_999).unwrap().content, "20000\n");
    let past = range(20_001, 20_001).unwrap_err();
    assert_eq!((past.reason(), past.detail("totalLines").unwrap()), (Reason::InvalidRange, &20_000.into()));
    // It outlives the process, but is nothing that could be changed, and there are no other names.
    drop(workspace);
    let workspace = fixture.open();
    assert_eq!(read(&workspace, &name).unwrap().total_lines, 20_000);
    let outputs_parent = format!("@output/../{}", name.strip_prefix("@output/").unwrap());
    for other in ["@output/", "@output/..", "@output/nope.txt", "@output/../journal/x", &outputs_parent] {
        assert_eq!(read(&workspace, other).unwrap_err().reason(), Reason::FileNotFound, "{other}");
    }
}

#[test]
fn small_output_needs_no_file_and_medium_output_has_one() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let small = run(&workspace, "echo small").unwrap();
    assert_eq!((small.whole_output, small.is_output_truncated), (None, false));
    let medium = run(&workspace, "seq 1 3000; printf 'a\\0b\\377' >&2").unwrap();
    assert!(!medium.is_output_truncated);
    let whole = read(&workspace, &medium.whole_output.unwrap()).unwrap().content;
    assert!(whole.contains("\n3000\n") && whole.contains("a\0b\u{fffd}"), "{}", &whole[..100]);
    assert_eq!(std::fs::read_dir(fixture.path().join("state/output")).unwrap().count(), 1);
}

#[test]
fn progress_lines_show_what_stood_there_last() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let response = run(&workspace, "printf '10%%\\r50%%\\r100%%\\ndone\\n'").unwrap();
    assert_eq!(response.stdout, "100%\ndone\n");
}

#[test]
fn read_only_workspace_refuses_changes_and_commands_and_is_read() {
    let fixture = Fixture::new();
    fixture.put("a", "1\n");
    let config = EngineConfig { read_only: true, ..fixture.config() };
    let workspace = fixture.open_with(fixture.open_journal(), config).0;
    let caller = Caller::numbered(1);
    let changes = [write("a", "2\n"), write("b", "2\n"), delete("a"), replace("a", (1, 1), "2", None)];
    for outcome in workspace.change_files(&caller.call(), &changes).unwrap() {
        assert_eq!(outcome.unwrap_err().reason(), Reason::ReadOnly);
    }
    assert_eq!(run(&workspace, "touch b").unwrap_err().reason(), Reason::ReadOnly);
    assert_eq!(read(&workspace, "a").unwrap().content, "1\n");
    assert_eq!(fixture.all_names(), ["a"]);
}

#[test]
fn commands_need_the_confinement_that_was_asked_for() {
    let fixture = Fixture::new();
    let mut config = EngineConfig { sandbox: SandboxNeed::AtLeast(Level::Full), ..fixture.config() };
    config.launcher.highest_level = Level::Process;
    let workspace = fixture.open_with(fixture.open_journal(), config.clone()).0;
    let error = run(&workspace, "touch ran").unwrap_err();
    assert_eq!(error.reason(), Reason::SandboxUnavailable);
    assert!(error.detail("sandbox").unwrap().as_str().unwrap().starts_with("sandbox: level="), "{error:?}");
    assert_eq!(fixture.text("ran"), None);
    drop(workspace);
    config.sandbox = SandboxNeed::Whatever;
    let workspace = fixture.open_with(fixture.open_journal(), config).0;
    let response = run(&workspace, "touch ran").unwrap();
    assert!(response.sandbox.starts_with("sandbox: level="), "{response:?}");
    assert_eq!(fixture.text("ran").unwrap(), "");
}

#[test]
fn the_line_about_confinement_says_which_network_commands_have() {
    let fixture = Fixture::new();
    let names = Network::Names("a.example,git.example:22".parse().unwrap());
    let line = |network: Network| {
        let config = EngineConfig { network, ..fixture.config() };
        let workspace = fixture.open_with(fixture.open_journal(), config).0;
        let info = workspace.workspace_info(&Caller::once().call()).unwrap().sandbox;
        let measured = workspace.sandbox_report().unwrap().net.to_string();
        (info, measured, run(&workspace, "touch ran"))
    };
    let (off, measured, ran) = line(Network::Off);
    assert!(off.contains(&format!("; net={measured}; ")), "{off}");
    assert_eq!(ran.unwrap().sandbox, off);
    let (on, _, ran) = line(Network::On);
    assert!(on.contains("; net=on; "), "{on}");
    assert_eq!(ran.unwrap().sandbox, on, "the record of a command has the network that it had");
    std::fs::remove_file(fixture.root().join("ran")).unwrap();
    let (some, _, ran) = line(names.clone());
    assert!(some.contains(&format!("; net={measured} allow=a.example,git.example:22; ")), "{some}");
    assert_eq!(ran.unwrap().sandbox, some);
    std::fs::remove_file(fixture.root().join("ran")).unwrap();
    // A list that cannot be enforced means neither the whole network nor none.
    let mut config = EngineConfig { network: names, sandbox: SandboxNeed::Whatever, ..fixture.config() };
    config.launcher.highest_level = Level::Landlock;
    let workspace = fixture.open_with(fixture.open_journal(), config).0;
    let refused = run(&workspace, "touch ran").unwrap_err();
    assert_eq!(refused.reason(), Reason::SandboxUnavailable);
    assert!(refused.message().contains("cannot limit the network to names"), "{refused:?}");
    assert_eq!(fixture.text("ran"), None);
}

#[test]
fn no_answer_names_a_path_of_the_host() {
    let fixture = Fixture::new();
    fixture.put("d/file", "x\n");
    std::os::unix::fs::symlink(fixture.outside(), fixture.root().join("out")).unwrap();
    let workspace = fixture.open();
    let absolute = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    for path in ["out", "out/x", "nope/x", "d", "../x", "d/file/x"] {
        let mut errors = vec![
            change(&workspace, write(path, "x")).err(),
            change(&workspace, delete(path)).err(),
            read(&workspace, path).err(),
            execute(&workspace, &ExecuteCommand { working_directory: Some(path.into()), ..command("true") })
                .err(),
        ];
        let explore = ExploreFiles { path: path.into(), ..ExploreFiles::default() };
        errors.push(workspace.explore_files(&Caller::once().call(), &explore).err());
        for error in errors.into_iter().flatten() {
            let text = serde_json::to_string(&error).unwrap();
            assert!(!text.contains(&absolute(fixture.path())), "{text}");
        }
    }
}
