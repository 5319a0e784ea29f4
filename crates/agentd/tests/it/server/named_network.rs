//! `--network allow=…`: each front end's commands reach the names of the list, and nothing else.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde_json::json;

use crate::cocode::desk::Desk;
use crate::fixture::line_client::LineClient;
use crate::fixture::project::{Project, Ran};
use crate::fixture::socket_client::{SocketClient, streamed};
use crate::fixture::web_server::WebServer;

/// Connects to each of its arguments, prints which of them answered, and fails, so that there are receipts.
const TRY: &str = r#"python3 - "$@" <<'END'
import socket, sys
for peer in sys.argv[1:]:
    name, port = peer.rsplit(":", 1)
    try:
        answer = socket.create_connection((name, int(port)), timeout=20).makefile().readline().strip()
    except OSError:
        answer = ""
    print(name, answer or "refused")
sys.exit(1)
END"#;

/// A server of the host that greets its clients, and counts them.
struct Greeter {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<usize>>,
}

impl Greeter {
    fn start() -> Greeter {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let is_ended = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let mut count = 0;
            for stream in listener.incoming() {
                if is_ended.load(Ordering::SeqCst) {
                    break;
                }
                count += 1;
                // The other end may be gone.
                let _ = stream.and_then(|mut stream| stream.write_all(b"hello\n"));
            }
            count
        });
        Greeter { address, is_over, thread: Some(thread) }
    }

    fn port(&self) -> u16 {
        self.address.port()
    }

    /// The value of `--network` that leads one name to this server.
    fn list(&self) -> String {
        format!("allow=served.example:{}@127.0.0.1", self.port())
    }

    /// The command that tries an allowed name, and what is not allowed.
    fn attempt(&self) -> String {
        let port = self.port();
        let peers = format!(
            "served.example:{port} other.example:{port} served.example:1 169.254.169.254:80 127.0.0.1:{port}"
        );
        format!("set -- {peers}\n{TRY}")
    }

    /// Ends it and returns the number of connections.
    fn end(mut self) -> usize {
        self.stop()
    }

    fn stop(&mut self) -> usize {
        self.is_over.store(true, Ordering::SeqCst);
        let Some(thread) = self.thread.take() else { return 0 };
        drop(TcpStream::connect(self.address));
        thread.join().unwrap()
    }
}

impl Drop for Greeter {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The output of the command where the list is kept.
const OUTPUT: [&str; 5] = [
    "served.example hello",
    "other.example refused",
    "served.example refused",
    "169.254.169.254 refused",
    "127.0.0.1 refused",
];

/// Asserts that a text shows that the list was kept, and names what was refused.
#[track_caller]
fn assert_kept(text: &str) {
    for line in OUTPUT {
        assert!(text.contains(line), "{line}: {text}");
    }
    for receipt in [
        "look up other.example · not in the allow-list · --network allow=other.example",
        "connect port 1 of a name · not in the allow-list · --network allow=NAME:1",
        "connect 169.254.169.254:80 · not in the allow-list",
    ] {
        assert!(text.contains(receipt), "{receipt}: {text}");
    }
}

/// Runs a command by a single call; returns its output, its receipts as one line each, and the line about the sandbox.
fn called(project: &Project, network: &str, command: &str) -> String {
    let request = json!({ "command": command }).to_string();
    let call = ["--network", network, "call", "executeCommand", &request];
    let answer = Ran::of(project.command(&call).output().unwrap()).ok().json();
    let mut lines = vec![answer["stdout"].as_str().unwrap().to_owned(), answer["sandbox"].to_string()];
    for denied in answer["denied"].as_array().into_iter().flatten() {
        let part = |name: &str| denied[name].as_str().unwrap_or_default();
        lines.push(format!("{} · {} · {}", part("what"), part("why"), part("allow")));
    }
    lines.join("\n")
}

#[test]
fn a_single_call_reaches_the_names_of_the_list_and_nothing_else() {
    for project in [Project::new(), Project::new().of_an_ordinary_user()] {
        let server = Greeter::start();
        let answer = called(&project, &server.list(), &server.attempt());
        assert_kept(&answer);
        assert!(
            answer.contains("allow=served.example"),
            "the line about the sandbox names the list: {answer}"
        );
        assert_eq!(server.end(), 1, "of five attempts one came through");
    }
}

#[test]
fn the_control_without_a_list_reaches_the_host() {
    let project = Project::new();
    let server = Greeter::start();
    let answer = called(&project, "on", &server.attempt());
    assert!(answer.contains("127.0.0.1 hello"), "{answer}");
    assert_eq!(server.end(), 1);
}

#[test]
fn tools_over_mcp_and_llm4s_reach_the_names_of_the_list_and_nothing_else() {
    let project = Project::new();
    let server = Greeter::start();
    let mut client = LineClient::start(project.command(&["mcp", "--network", &server.list()]));
    client.does("initialize", json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    }));
    client.notify("notifications/initialized", json!({}));
    let call = json!({ "name": "executeCommand", "arguments": { "command": server.attempt() } });
    assert_kept(client.does("tools/call", call)["content"][0]["text"].as_str().unwrap());
    client.end().ok();
    let host = WebServer::start(&project, &["--network", &server.list()]);
    let mut client = SocketClient::connect(&host);
    client.execute("c", &server.attempt());
    let output = streamed(&client.until_completed("c"), "stdout");
    for line in OUTPUT {
        assert!(output.contains(line), "{line}: {output}");
    }
    assert_eq!(server.end(), 2);
}

#[test]
fn replies_with_tags_reach_the_names_of_the_list_and_nothing_else() {
    let project = Project::new();
    let server = Greeter::start();
    let id = project.begin_with(&["--network", &server.list(), "new", "--no-wait", "--json", "fetch"]);
    assert!(project.outbox(&id, 1).contains("served.example"), "the model reads which names it may use");
    project.apply(
        &format!("[RUN_COMMAND]\n{}\n[/RUN_COMMAND]\n", server.attempt()),
        &["--network", &server.list()],
    );
    assert_kept(&project.outbox(&id, 2));
    assert_eq!(server.end(), 1);
}

#[test]
fn agents_reach_the_names_of_their_list_and_nothing_else() {
    let desk = Desk::new();
    let server = Greeter::start();
    let script =
        format!("({}\n) > tried; git add tried; git commit -q -m 'cocode ready for check'", server.attempt());
    let names = server.list().replace("allow=", "");
    desk.define(&format!(
        "[agents.a]\ncommand = 'sh'\nargs = ['-c', {}]\nnetwork = [{}]\n",
        json!(script),
        json!(names)
    ));
    desk.run(&["--agent", "a"]).ok();
    let branch = desk.git(&["for-each-ref", "--format=%(refname)", "refs/heads/cocode"]);
    let tried = desk.git(&["show", &format!("{branch}:tried")]);
    assert_eq!(tried.lines().collect::<Vec<_>>(), OUTPUT);
    assert_eq!(server.end(), 1);
}

#[test]
fn the_limit_of_open_files_is_raised_for_connections() {
    let project = Project::new();
    let limit_with = |network: &str| {
        let command = project.command(&["mcp", "--network", network]);
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -Sn 256; exec \"$@\"", "sh"]).arg(command.get_program());
        limited.args(command.get_args()).stderr(Stdio::piped());
        if let Some(folder) = command.get_current_dir() {
            limited.current_dir(folder);
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => limited.env(name, value),
                None => limited.env_remove(name),
            };
        }
        let mut client = LineClient::start(limited);
        client.does("initialize", json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
        }));
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", client.process_id())).unwrap();
        client.end().ok();
        let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
        line.split_whitespace().nth(3).unwrap().parse::<u64>().unwrap()
    };
    assert!(limit_with("allow=a.example") >= 1024);
    // The control: nothing else needs them.
    assert_eq!(limit_with("off"), 256);
}
