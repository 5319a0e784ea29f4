//! Named background processes: sharing, permissions, and their end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use egress::Network;
use local_workspace::{EngineConfig, LocalWorkspace};
use wap_core::*;

use crate::fixture::workspace::*;

/// Far longer than anything here takes, and shorter than a test may hang.
const HANG_MS: i64 = 60_000;

/// Answers each connection with a word, on a port that it prints.
const SERVER: &str = "exec python3 -c 'import socket
server = socket.create_server((\"127.0.0.1\", 0))
print(\"Listening on\", server.getsockname()[1], flush=True)
while True:
    peer, _ = server.accept()
    peer.sendall(b\"served\")
    peer.close()'";

fn of(conversation: &str) -> Caller {
    let mut caller = Caller::once();
    caller.origin.conversation = ConversationId(conversation.to_owned());
    caller
}

fn background(name: &str, text: &str, ready: &str) -> ExecuteCommand {
    ExecuteCommand {
        background: Some(name.into()),
        ready: Some(ready.into()),
        timeout: Some(HANG_MS),
        ..command(text)
    }
}

fn execute(
    workspace: &LocalWorkspace,
    caller: &Caller,
    request: &ExecuteCommand,
) -> Result<ExecuteCommandResponse, WapError> {
    workspace.execute_command(&caller.call(), request, &mut Unobserved)
}

fn stop(workspace: &LocalWorkspace, caller: &Caller, name: &str) -> Result<StopProcessResponse, WapError> {
    workspace.stop_process(&caller.call(), &StopProcess { name: name.into() })
}

fn output(workspace: &LocalWorkspace, caller: &Caller, name: &str) -> Result<ReadFileResponse, WapError> {
    let request = ReadFile { path: format!("{PROCESS_PREFIX}{name}"), ..ReadFile::default() };
    workspace.read_file(&caller.call(), &request)
}

/// Waits until a condition that the other side brings about holds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn state(response: &ExecuteCommandResponse) -> ProcessState {
    response.background.as_ref().unwrap().state
}

/// The port that the server has printed.
fn port(response: &ExecuteCommandResponse, workspace: &LocalWorkspace, caller: &Caller) -> String {
    assert_eq!(state(response), ProcessState::Ready, "{response:?}");
    let mut text = response.stdout.clone();
    // The answer is given at the text, and the number follows.
    until("the port", || {
        text = output(workspace, caller, "web").unwrap().content;
        text.ends_with('\n')
    });
    text.split_whitespace().last().unwrap().to_owned()
}

fn ask(port: &str) -> ExecuteCommand {
    command(&format!(
        "python3 -c 'import socket; print(socket.create_connection((\"localhost\", {port})).recv(9).decode())'"
    ))
}

#[test]
fn commands_of_the_same_conversation_reach_a_server_and_others_do_not() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        let workspace = fixture.open_layered(layered);
        let mine = of("mine");
        let started = execute(&workspace, &mine, &background("web", SERVER, "Listening on")).unwrap();
        assert_eq!(started.background.as_ref().unwrap().output, "@process/web");
        let port = port(&started, &workspace, &mine);
        let served = execute(&workspace, &of("mine"), &ask(&port)).unwrap();
        assert_eq!((served.exit_code, &*served.stdout), (0, "served\n"), "{served:?}");
        let refused = execute(&workspace, &of("other"), &ask(&port)).unwrap();
        assert!(refused.stderr.contains("refused"), "{refused:?}");
        assert!(std::net::TcpStream::connect(("127.0.0.1", port.parse().unwrap())).is_err());
        // Its output and its end are its own conversation's, too.
        for error in [
            output(&workspace, &of("other"), "web").unwrap_err(),
            stop(&workspace, &of("other"), "web").unwrap_err(),
        ] {
            assert_eq!(error.reason(), Reason::FileNotFound);
            assert!(error.message().contains("this conversation has none"), "{error}");
        }
        let stopped = stop(&workspace, &of("mine"), "web").unwrap();
        assert!(!stopped.had_ended && stopped.output.starts_with("Listening on"), "{stopped:?}");
        assert!(stop(&workspace, &of("mine"), "web").unwrap().had_ended);
        let gone = execute(&workspace, &of("mine"), &ask(&port)).unwrap();
        assert!(gone.stderr.contains("refused"), "{gone:?}");
    }
}

#[test]
fn a_process_sees_later_edits_and_changes_build_folders_only() {
    let fixture = Fixture::new();
    fixture.put(".gitignore", "node_modules/\n");
    fixture.put("kept.txt", "before\n");
    fixture.put("node_modules/a", "x\n");
    let git = "git init -q .";
    assert!(
        std::process::Command::new("sh")
            .args(["-c", git])
            .current_dir(fixture.root())
            .status()
            .unwrap()
            .success()
    );
    let workspace = fixture.open();
    let text = "for file in kept.txt new.txt .git/HEAD; do echo x > $file || echo refused $file; done 2>/dev/null; \
                echo x > node_modules/cache; echo tried; \
                until test -e later.txt; do sleep 0.01; done; cat later.txt; sleep 600";
    let started = execute(&workspace, &of("a"), &background("dev", text, "tried")).unwrap();
    let refused: Vec<_> = started.stdout.lines().filter(|line| line.starts_with("refused")).collect();
    assert_eq!(refused, ["refused kept.txt", "refused new.txt", "refused .git/HEAD"], "{started:?}");
    assert_eq!(fixture.text("node_modules/cache").as_deref(), Some("x\n"));
    assert_eq!((fixture.text("kept.txt").as_deref(), fixture.text("new.txt")), (Some("before\n"), None));
    change(&workspace, write("later.txt", "a later edit\n")).unwrap();
    until("the edit", || output(&workspace, &of("a"), "dev").unwrap().content.contains("a later edit"));
    // The control: without `background` the same redirection changes the file.
    execute(&workspace, &of("a"), &command("echo x > kept.txt")).unwrap();
    assert_eq!(fixture.text("kept.txt").as_deref(), Some("x\n"));
}

#[test]
fn what_git_would_obey_is_taken_out_of_its_way_when_the_process_ends() {
    let fixture = Fixture::new();
    fixture.put(".gitignore", "target/\n");
    fixture.put("target/a", "x\n");
    let git = "git init -q .";
    assert!(
        std::process::Command::new("sh")
            .args(["-c", git])
            .current_dir(fixture.root())
            .status()
            .unwrap()
            .success()
    );
    std::thread::sleep(Duration::from_millis(100));
    let workspace = fixture.open();
    let text = "git init -q target/x && git config -f target/x/.git/config core.fsmonitor evil; echo planted; sleep 600";
    execute(&workspace, &of("a"), &background("planter", text, "planted")).unwrap();
    assert!(fixture.text("target/x/.git/config").unwrap().contains("evil"), "the control");
    let stopped = stop(&workspace, &of("a"), "planter").unwrap();
    assert!(stopped.warnings.iter().any(|warning| warning.contains("target/x/.git/config")), "{stopped:?}");
    assert_eq!(fixture.text("target/x/.git/config"), None);
}

#[test]
fn the_answer_says_how_far_a_process_is() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let failed = execute(&workspace, &of("a"), &background("web", "echo no; exit 3", "up")).unwrap();
    assert_eq!((state(&failed), failed.exit_code, &*failed.stdout), (ProcessState::Ended, 3, "no\n"));
    let late = ExecuteCommand { timeout: Some(50), ..background("web", "echo soon; sleep 600", "up") };
    let late = execute(&workspace, &of("a"), &late).unwrap();
    assert_eq!((state(&late), late.exit_code), (ProcessState::Running, 0));
    assert!(late.warnings[0].contains("`up` has not appeared within 50 ms"), "{late:?}");
    // Without a text it answers after a glance, or at once if it has failed by then.
    let glanced = ExecuteCommand { background: Some("b".into()), ..command("sleep 600") };
    assert_eq!(state(&execute(&workspace, &of("a"), &glanced).unwrap()), ProcessState::Running);
    let missing = ExecuteCommand { background: Some("c".into()), ..command("no-such-program") };
    let missing = execute(&workspace, &of("a"), &missing).unwrap();
    assert_eq!((state(&missing), missing.exit_code), (ProcessState::Ended, 127));
    assert!(missing.stdout.contains("not found"), "{missing:?}");
}

#[test]
fn a_long_text_to_be_ready_by_is_refused_and_quoted_in_short() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let after = |ready: &str| ExecuteCommand { timeout: Some(50), ..background("web", "sleep 600", ready) };
    let error = execute(&workspace, &of("a"), &after(&"r".repeat(1025))).unwrap_err();
    assert_eq!((error.reason(), error.detail("field")), (Reason::InvalidField, Some(&"ready".into())));
    assert!(error.to_string().len() < 300, "{error}");
    // The control: one byte less is waited for, and the answer names its beginning alone.
    let late = execute(&workspace, &of("a"), &after(&"r".repeat(1024))).unwrap();
    assert_eq!(state(&late), ProcessState::Running);
    assert!(late.warnings[0].starts_with("`rrr") && late.warnings[0].len() < 500, "{late:?}");
}

#[test]
fn a_process_is_ready_by_its_text_without_the_colours() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let printed = r"  \033[32m>\033[39m \033[1mLocal\033[22m: http://localhost:\033[1m5173\033[22m/\n";
    let start = |name: &str, end: &str, ready: &str| {
        execute(&workspace, &of("a"), &background(name, &format!("printf '{printed}'; {end}"), ready))
            .unwrap()
    };
    let started = start("web", "exec sleep 600", "> Local: http://localhost:5173/");
    assert_eq!(state(&started), ProcessState::Ready, "{started:?}");
    // The control: another text is not there, up to the end of the process.
    assert_eq!(state(&start("other", "exit", "> Local: http://localhost:5174/")), ProcessState::Ended);
}

#[test]
fn processes_that_start_at_once_share_names_and_numbers() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let start = |conversation: &str, name: &str| {
        execute(&workspace, &of(conversation), &background(name, "echo up; sleep 600", "up"))
    };
    let started = |names: &[(&str, &str)]| {
        std::thread::scope(|scope| {
            let starting: Vec<_> =
                names.iter().map(|(conversation, name)| scope.spawn(|| start(conversation, name))).collect();
            let outcomes = starting.into_iter().map(|starting| starting.join().unwrap());
            outcomes
                .filter(|outcome| outcome.as_ref().is_ok_and(|answer| state(answer) == ProcessState::Ready))
                .count()
        })
    };
    assert_eq!(started(&[("a", "web"); 4]), 1);
    // Two conversations do not take names or numbers from each other.
    assert_eq!(started(&[("a", "db"), ("b", "db"), ("b", "web")]), 3);
    let more: Vec<String> = (0..MOST_PROCESSES).map(|number| format!("p{number}")).collect();
    let more: Vec<(&str, &str)> = more.iter().map(|name| ("a", name.as_str())).collect();
    assert_eq!(started(&more), MOST_PROCESSES - 2);
}

#[test]
fn the_next_command_learns_that_a_process_has_ended() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let text = "echo up; until test -e end; do sleep 0.01; done; exit 7";
    execute(&workspace, &of("a"), &background("web", text, "up")).unwrap();
    fixture.put("end", "");
    until("the end", || !output(&workspace, &of("a"), "web").unwrap().warnings.is_empty());
    let warnings = execute(&workspace, &of("a"), &command("true")).unwrap().warnings;
    assert_eq!(
        warnings,
        ["the background process 'web' has ended with exit code 7; its output is '@process/web'"]
    );
    assert_eq!(execute(&workspace, &of("a"), &command("true")).unwrap().warnings, [""; 0]);
}

#[test]
fn names_and_numbers_are_bounded() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    for name in ["", ".", "../x", "a b", "é", &"x".repeat(41)] {
        let error = execute(&workspace, &of("a"), &background(name, "sleep 600", "")).unwrap_err();
        assert_eq!(error.reason(), Reason::InvalidField);
        assert_eq!(error.detail("field").unwrap(), "background");
    }
    let quick = |name: &str| ExecuteCommand { timeout: Some(1), ..background(name, "sleep 600", "never") };
    execute(&workspace, &of("a"), &background("ended", "true", "never")).unwrap();
    for number in 0..MOST_PROCESSES {
        execute(&workspace, &of("a"), &quick(&format!("p{number}"))).unwrap();
    }
    let error = execute(&workspace, &of("a"), &quick("one-more")).unwrap_err();
    assert!(
        error.message().contains("8 background processes run already") && error.message().contains("'p3'")
    );
    assert!(!error.message().contains("ended"), "one that has ended cannot be stopped: {error}");
    let error = execute(&workspace, &of("a"), &quick("p3")).unwrap_err();
    assert!(error.message().contains("'p3' runs already"), "{error}");
    // Another conversation has its own, and an ended one makes room.
    execute(&workspace, &of("b"), &quick("p3")).unwrap();
    stop(&workspace, &of("a"), "p3").unwrap();
    execute(&workspace, &of("a"), &quick("p3")).unwrap();
    let error = execute(&workspace, &of("a"), &ExecuteCommand { ready: Some("x".into()), ..command("true") });
    assert_eq!(error.unwrap_err().detail("field").unwrap(), "ready");
    assert_eq!(workspace.processes().iter().filter(|process| process.is_running).count(), 9);
}

#[test]
fn the_end_of_a_conversation_a_cancelled_start_and_the_end_of_the_engine_leave_nothing() {
    let fixture = Fixture::new();
    let workspace = Arc::new(fixture.open());
    let marker = format!("marker{}", std::process::id());
    let survivors = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        lines.filter(|line| String::from_utf8_lossy(line).contains(&marker)).count()
    };
    let text =
        format!("(trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 600; : {marker}' &); echo up; sleep 600");
    execute(&workspace, &of("a"), &background("web", &text, "up")).unwrap();
    assert!(survivors() > 0, "the control");
    workspace.end_conversation(&ConversationId("a".into()));
    assert_eq!(survivors(), 0);
    let cancelled = of("b");
    let calling = {
        let (workspace, cancelled, text) = (Arc::clone(&workspace), cancelled.clone(), text.clone());
        std::thread::spawn(move || execute(&workspace, &cancelled, &background("web", &text, "never")))
    };
    until("the process", || survivors() > 0);
    cancelled.cancel.cancel();
    assert_eq!(calling.join().unwrap().unwrap_err().reason(), Reason::Cancelled);
    assert_eq!(survivors(), 0);
    execute(&workspace, &of("c"), &background("web", &text, "up")).unwrap();
    drop(workspace);
    assert_eq!(survivors(), 0);
}

#[test]
fn a_start_and_a_stop_happen_once() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let caller = Caller::numbered(1);
    let request = background("web", "echo x >> /tmp/x; echo up; sleep 600", "up");
    let started = execute(&workspace, &caller, &request).unwrap();
    assert_eq!(execute(&workspace, &caller, &request).unwrap(), started);
    let stopped = stop(&workspace, &caller.at(1), "web").unwrap();
    assert_eq!(stop(&workspace, &caller.at(1), "web").unwrap(), stopped);
    let other = ExecuteCommand { background: Some("other".into()), ..request };
    assert_eq!(execute(&workspace, &caller, &other).unwrap_err().reason(), Reason::Conflict);
}

#[test]
fn where_a_process_cannot_be_kept_to_its_network_or_folder_it_is_refused() {
    let fixture = Fixture::new();
    let names = egress::Network::Names("example.invalid".parse().unwrap());
    let config = EngineConfig { network: names, ..fixture.config() };
    let (workspace, _) = fixture.open_with(fixture.open_journal(), config);
    let error = execute(&workspace, &of("a"), &background("web", "true", "")).unwrap_err();
    assert!(error.message().contains("--network off"), "{error}");
    // What it says instead works there, and its receipt does not say otherwise.
    assert!(error.message().contains("with `&` in the command that uses it"), "{error}");
    let beside = ExecuteCommand {
        command: "(echo up; exec sleep 600) > log & until grep -q up log; do sleep 0.01; done; cat log"
            .into(),
        ..ExecuteCommand::default()
    };
    let allowed = |workspace: &LocalWorkspace| {
        let response = execute(workspace, &of("a"), &beside).unwrap();
        assert_eq!((&*response.stdout, response.exit_code), ("up\n", 0), "{response:?}");
        let [denied] = &response.denied[..] else { panic!("{response:?}") };
        assert!(denied.what.starts_with("kill background job"), "{denied:?}");
        denied.allow.clone()
    };
    assert_eq!(allowed(&workspace), None);
    drop(workspace);
    assert_eq!(allowed(&fixture.open()).as_deref(), Some("background=\"NAME\""), "the control");
    let mut config = EngineConfig { network: Network::Off, ..fixture.config() };
    config.launcher.highest_level = sandbox_exec::Level::Landlock;
    let (workspace, _) = fixture.open_with(fixture.open_journal(), config);
    let error = execute(&workspace, &of("a"), &background("web", "touch made", "")).unwrap_err();
    assert_eq!(error.reason(), Reason::SandboxUnavailable);
    assert!(error.message().contains("without `background`"), "{error}");
}

#[test]
fn names_of_outputs_cannot_be_written() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let error = change(&workspace, write("@process/web", "x")).unwrap_err();
    assert_eq!(error.reason(), Reason::InvalidName);
}
