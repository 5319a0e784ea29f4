//! Requests on their way to the owner of a state folder.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use change_journal::{Journal, JournalLimits};
use serde_json::{Value, json};
use test_support::Caller;
use wap_core::{CommandObserver, ExecuteCommand, OutputStream, Reason, SearchFiles, Unobserved, Workspace};
use workspace_host::{
    HostOptions, NoNotices, Notices, SecretUse, SharedNotices, SharedWorkspace, WorkspacePaths,
};

/// The time after which a test has failed that waits for an event.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_request_of_more_values_than_the_owner_reads_is_refused_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions::new(folder.path());
    let paths = WorkspacePaths::find(&options).unwrap();
    let notices: SharedNotices = Arc::new(NoNotices);
    let owner = SharedWorkspace::staying(&options, &paths, &notices);
    owner.open().unwrap();
    let client = Arc::new(SharedWorkspace::new(&options, &paths, &notices));
    let search = |paths: usize| {
        let (client, (sender, answer)) = (Arc::clone(&client), channel());
        let caller = Caller::once();
        let cancel = caller.cancel.clone();
        thread::spawn(move || {
            let request = json!({ "paths": vec!["a"; paths], "query": "x", "type": "literal" });
            let request: SearchFiles = serde_json::from_value(request).unwrap();
            sender.send(client.search_files(&caller.call(), &request).map_err(|error| error.reason()))
        });
        let answer = answer.recv_timeout(LONG);
        cancel.cancel();
        answer.expect("the call is answered").expect_err("it is refused")
    };
    // As many as a front end lets through, in a message of the protocol between the two.
    assert_eq!(search(99_995), Reason::RequestTooLarge);
    // The control: the owner reads one of fewer, and says itself that there are too many paths.
    assert_eq!(search(90_000), Reason::InvalidField);
}

/// A process that owns a state folder, as its clients see it.
struct FakeOwner {
    _journal: Journal,
    messages: Receiver<Value>,
}

impl FakeOwner {
    fn of(base: &Path) -> FakeOwner {
        let (journal, _) = Journal::open(&base.join("journal"), JournalLimits::default()).unwrap();
        let listener = UnixListener::bind(base.join("agentd.sock")).unwrap();
        let (sender, messages) = channel();
        thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let send = |message: Value| (&stream).write_all(format!("{message}\n").as_bytes()).unwrap();
            let answer = |id: &Value, name: &str, content: Value| {
                send(json!({ "jsonrpc": "2.0", "id": id, name: content }));
            };
            for line in BufReader::new(stream.try_clone().unwrap()).lines() {
                let Ok(line) = line else { break };
                let message: Value = serde_json::from_str(&line).unwrap();
                match message["method"].as_str().unwrap() {
                    "agentd/hello" => answer(
                        &message["id"],
                        "result",
                        json!({ "processId": 1, "command": "test", "since": 0 }),
                    ),
                    "executeCommand" => {
                        let prints = message["params"]["request"]["command"].as_str().unwrap();
                        for _ in 0..prints.parse().unwrap_or(0) {
                            let text = format!("{}\n", "x".repeat(2_000));
                            let params = json!({ "id": message["id"], "is_error": false, "text": text });
                            send(json!({ "jsonrpc": "2.0", "method": "agentd/printed", "params": params }));
                        }
                        answer(&message["id"], "error", json!({ "code": -32_000, "message": "no" }))
                    }
                    _ => {}
                }
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        FakeOwner { _journal: journal, messages }
    }

    fn methods(&self, count: usize) -> Vec<String> {
        let method = |_| {
            let message = self.messages.recv_timeout(LONG).expect("a message");
            message["method"].as_str().unwrap().to_owned()
        };
        (0..count).map(method).collect()
    }
}

/// A state folder whose owner is to be faked.
fn own_folder() -> (tempfile::TempDir, HostOptions, WorkspacePaths) {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions::new(folder.path());
    let paths = WorkspacePaths::find(&options).unwrap();
    workspace_host::state::make_state_folder(&paths).unwrap();
    (folder, options, paths)
}

#[test]
fn what_the_first_call_leaves_running_ends_with_its_conversation() {
    let (_folder, options, paths) = own_folder();
    let owner = FakeOwner::of(&paths.base);
    let notices: SharedNotices = Arc::new(NoNotices);
    let client = SharedWorkspace::new(&options, &paths, &notices);
    let caller = Caller::once();
    let server = ExecuteCommand {
        command: "serve".into(),
        background: Some("server".into()),
        ..ExecuteCommand::default()
    };
    client.execute_command(&caller.call(), &server, &mut Unobserved).unwrap_err();
    client.end_conversation(&caller.origin.conversation);
    assert_eq!(owner.methods(3), ["agentd/hello", "executeCommand", "agentd/endConversation"]);
}

#[test]
fn nothing_is_ended_where_nothing_was_left_running() {
    let (_folder, options, paths) = own_folder();
    let owner = FakeOwner::of(&paths.base);
    let notices: SharedNotices = Arc::new(NoNotices);
    let client = SharedWorkspace::new(&options, &paths, &notices);
    let caller = Caller::once();
    for command in ["one", "two"] {
        let command = ExecuteCommand { command: command.into(), ..ExecuteCommand::default() };
        client.execute_command(&caller.call(), &command, &mut Unobserved).unwrap_err();
        client.end_conversation(&caller.origin.conversation);
    }
    assert_eq!(owner.methods(3), ["agentd/hello", "executeCommand", "executeCommand"]);
}

/// Notices that are counted.
#[derive(Debug, Default)]
struct Counted(Mutex<Vec<String>>);

impl Notices for Counted {
    fn notice(&self, line: &str) {
        self.0.lock().unwrap().push(line.to_owned());
    }
}

#[test]
fn a_process_that_waits_for_the_state_folder_reports_its_options_once() {
    let (_folder, options, paths) = own_folder();
    let options = HostOptions { secrets: SecretUse::Show, ..options };
    let line = "models see secrets as they are: --secrets show";
    let opened = |paths: &WorkspacePaths| {
        let counted = Arc::new(Counted::default());
        let notices: SharedNotices = counted.clone();
        let is_open = SharedWorkspace::new(&options, paths, &notices).open().is_ok();
        let lines = counted.0.lock().unwrap().iter().filter(|one| *one == line).count();
        (is_open, lines)
    };
    // Another process holds it and does not listen: this one tries again for some seconds.
    let (journal, _) = Journal::open(&paths.base.join("journal"), JournalLimits::default()).unwrap();
    assert_eq!(opened(&paths), (false, 0));
    drop(journal);
    assert_eq!(opened(&paths), (true, 1), "the control");
    let owner = FakeOwner::of(&paths.base);
    assert_eq!(opened(&paths), (true, 1), "a client reports them, too");
    drop(owner);
}

/// A person whose terminal is paused at the first line of output, until the owner has sent everything.
struct Slow {
    owner: FakeOwner,
    lines: usize,
}

impl CommandObserver for Slow {
    fn output(&mut self, _: OutputStream, _: &[u8]) {
        if self.lines == 0 {
            assert_eq!(self.owner.methods(2), ["agentd/hello", "executeCommand"]);
        }
        self.lines += 1;
    }
}

#[test]
fn unread_output_is_bounded() {
    for (prints, expected) in [(100, 100..=100), (10_000, 100..=2_000)] {
        let (_folder, options, paths) = own_folder();
        let owner = FakeOwner::of(&paths.base);
        let notices: SharedNotices = Arc::new(NoNotices);
        let client = SharedWorkspace::new(&options, &paths, &notices);
        let command = ExecuteCommand { command: prints.to_string(), ..ExecuteCommand::default() };
        let mut slow = Slow { owner, lines: 0 };
        let answer = client.execute_command(&Caller::once().call(), &command, &mut slow);
        assert_eq!(answer.unwrap_err().message(), "no");
        assert!(expected.contains(&slow.lines), "{} of {prints}", slow.lines);
    }
}
