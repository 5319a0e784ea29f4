//! The set-up of the cases of the attack corpus.

use std::fs;
use std::io::ErrorKind;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use sandbox_exec::{Killer, Level, ShellCommand};
use serde_json::Value;
use tempfile::TempDir;

use crate::attack::blocked;
use crate::attack::case_kind::{self, Kind};
use crate::fixture::{CANARY, Fixture, traced_spawner};
use test_support::write_program;

/// A process that a step of the set-up has started.
enum Beside {
    Nothing,
    /// A process outside.
    Host(Child),
    /// A confined command.
    Command(Killer, JoinHandle<()>),
}

/// A fixture prepared for one case.
pub(crate) struct Scene {
    pub(crate) fixture: Fixture,
    case: Value,
    /// Digits in the arguments of every long sleep, to find survivors by.
    pub(crate) marker: String,
    listener: TcpListener,
    abstract_listener: UnixListener,
    workspace_listener: UnixListener,
    datagrams: UnixDatagram,
    /// A name server of the host, at the port of the listener.
    name_server: UdpSocket,
    /// State that must be the same afterwards: the outside file's mode, its modification time, the host's core pattern.
    before: (Option<(u32, i64)>, Option<String>),
    level: Level,
    tools: TempDir,
    /// A mark in the arguments of the next.
    bystander_mark: String,
    /// A process outside with a secret among its variables.
    bystander: Child,
    /// Further processes outside that the set-up asks for.
    servers: Vec<Child>,
    /// Commands of other conversations that the set-up asks for. They end with the scene.
    others: Vec<(Killer, JoinHandle<()>)>,
}

impl Drop for Scene {
    fn drop(&mut self) {
        for child in self.servers.iter_mut().chain([&mut self.bystander]) {
            let _ = child.kill();
            let _ = child.wait();
        }
        for (killer, thread) in self.others.drain(..) {
            killer.cancel();
            let _ = thread.join();
        }
    }
}

impl Scene {
    pub(crate) fn new(case: &Value, level: Level) -> Scene {
        let tools = tempfile::tempdir().unwrap();
        let mut fixture = if Kind::of(case).needs_spawner() {
            Fixture::with_spawner(traced_spawner(tools.path()), level)
        } else {
            Fixture::at_level(level)
        };
        let (root, workspace) = (fixture.root(), fixture.workspace());
        fs::create_dir(root.join("tools")).unwrap();
        write_program(&root.join("tools/probe"), include_str!("../probe.py"));
        fixture.policy.readable.push(root.join("tools"));
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", root.join("tools").display());
        fixture.policy.environment.insert("PATH".into(), path.into());
        for name in ["sessions", "inbox"] {
            fs::create_dir_all(workspace.join(".agentd").join(name)).unwrap();
        }
        fs::write(workspace.join(".agentd/sessions/1.json"), CANARY).unwrap();
        fixture.policy.hidden.push(fixture.policy.workspace.join(".agentd"));
        fs::write(workspace.join("not-executable"), "#!/bin/sh\n").unwrap();
        let limits = &mut fixture.policy.limits;
        if blocked::is_bomb(case) {
            limits.processes = 64;
        } else if case["class"] == "tree" {
            limits.processes = 4096;
        }
        if blocked::names_layer(case, "memory cgroup") {
            limits.memory_bytes = 256 << 20;
        }
        let steps = case["setup"].as_array().into_iter().flatten();
        let (mut servers, mut others) = (Vec::new(), Vec::new());
        for step in steps {
            match set_up(&fixture, step) {
                Beside::Nothing => {}
                Beside::Host(server) => servers.push(server),
                Beside::Command(killer, thread) => others.push((killer, thread)),
            }
        }
        let abstract_name = SocketAddr::from_abstract_name(abstract_name(&fixture)).unwrap();
        let datagrams = UnixDatagram::bind(root.join("outside/dsock")).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        let (listener, name_server) = bind_both();
        listener.set_nonblocking(true).unwrap();
        name_server.set_nonblocking(true).unwrap();
        let marker = digits();
        let bystander_mark = format!("299.{}", digits());
        let mut bystander = Command::new("sleep");
        let bystander = bystander.arg(&bystander_mark).env("CANARY_TOKEN", CANARY).spawn().unwrap();
        let mut scene = Scene {
            bystander_mark,
            bystander,
            abstract_listener: UnixListener::bind_addr(&abstract_name).unwrap(),
            workspace_listener: UnixListener::bind(workspace.join("agent.sock")).unwrap(),
            before: (None, None),
            level,
            tools,
            fixture,
            case: case.clone(),
            marker,
            listener,
            datagrams,
            name_server,
            servers,
            others,
        };
        for listener in [&scene.abstract_listener, &scene.workspace_listener] {
            listener.set_nonblocking(true).unwrap();
        }
        scene.before = scene.state();
        scene
    }

    /// Returns how long the case may take.
    pub(crate) fn timeout(&self, expected: &str) -> Duration {
        let is_to_be_killed = matches!(expected, "timeout" | "killed");
        // Python waits for the threads that it could start.
        let is_endless = is_to_be_killed || self.says("capped");
        // An attack that is not stopped may run for ever.
        let longest = if self.level != Level::Full && self.case["class"] == "net" { 5 } else { 60 };
        Duration::from_secs(if is_endless { 1 } else { longest })
    }

    /// Returns the case's command for this fixture.
    pub(crate) fn command(&self, text: &str) -> String {
        let port = self.listener.local_addr().unwrap().port().to_string();
        let state = self.fixture.workspace().join(".agentd");
        let text = case_kind::written_out(text);
        let text = if text.starts_with("python3 ") && text.contains("getppid()") {
            // The shell itself would be the parent that is meant to be the launcher's.
            format!("exec {text}")
        } else if text.matches("probe ").count() > 1 {
            // Each of them counts.
            text.replace("; ", " || ")
        } else if let Some(steps) = text.strip_prefix("renice -n -").and_then(|rest| rest.strip_suffix(" $$"))
        {
            // Independent of the niceness of the tests.
            format!("renice -n $(($(nice) - {steps})) $$")
        } else if text.starts_with("keyctl ") {
            // The same without rarely installed programs.
            "probe keyrings".to_owned()
        } else if text.starts_with("ping ") {
            "probe icmp".to_owned()
        } else {
            text
        };
        let text = with_free_port(&text);
        text.replace("$AGENTD_STATE", state.to_str().unwrap())
            .replace("$PORT", &port)
            .replace("$T", self.fixture.root().to_str().unwrap())
            .replace("@lababs", &format!("@{}", abstract_name(&self.fixture)))
            // Other levels leave the file in the same folder at the same time.
            .replace("/tmp/agent-test", &format!("/tmp/agent-test-{}", self.marker))
            .replace("sleep 300", &format!("sleep 300.{}", self.marker))
            .replace("sleep 60", &format!("sleep 60.{}", self.marker))
            .replace("sleep 100", &format!("sleep 100.{}", self.marker))
    }

    /// Returns the spawner's process, where it was asked to leave its number.
    pub(crate) fn spawner(&self) -> Pid {
        let number = fs::read_to_string(self.tools.path().join("spawner.pid")).unwrap();
        Pid::from_raw(number.trim().parse().unwrap()).unwrap()
    }

    /// Checks whether the case's check contains these words.
    pub(crate) fn says(&self, words: &str) -> bool {
        self.case["check"].as_str().is_some_and(|check| check.contains(words))
    }

    /// Returns the mark in the arguments of a process outside.
    pub(crate) fn bystander_mark(&self) -> &str {
        &self.bystander_mark
    }

    /// Checks whether the state outside is as before.
    pub(crate) fn is_as_before(&self) -> bool {
        self.state() == self.before
    }

    fn state(&self) -> (Option<(u32, i64)>, Option<String>) {
        let secret = fs::metadata(self.fixture.outside("secret.txt")).ok();
        let secret = secret.map(|secret| (secret.mode(), secret.mtime_nsec()));
        (secret, fs::read_to_string("/proc/sys/kernel/core_pattern").ok())
    }

    pub(crate) fn has_connection(&self) -> bool {
        let is_none = |error: Option<ErrorKind>| error == Some(ErrorKind::WouldBlock);
        !(is_none(self.listener.accept().err().map(|error| error.kind()))
            && is_none(self.abstract_listener.accept().err().map(|error| error.kind()))
            && is_none(self.workspace_listener.accept().err().map(|error| error.kind()))
            && is_none(self.name_server.recv(&mut [0; 8]).err().map(|error| error.kind()))
            && is_none(self.datagrams.recv(&mut [0; 8]).err().map(|error| error.kind())))
    }
}

/// Returns digits that no other process has in its arguments.
fn digits() -> String {
    crate::fixture::marker().bytes().filter(u8::is_ascii_digit).map(char::from).collect()
}

/// Carries out a step of the set-up of a case; it may start a process outside.
fn set_up(fixture: &Fixture, step: &Value) -> Beside {
    let words = step.as_str().unwrap_or_default();
    match words {
        "git repo" | "git repo in workspace" => {
            let text = "git init -q . && git config user.name t && git config user.email t@localhost";
            assert!(fixture.run(text).ending.is_success());
            Beside::Nothing
        }
        "a host process hands out a descriptor of the secret at rights.sock" => {
            Beside::Host(hand_out_descriptor(fixture))
        }
        "a command of another conversation serves its token at the port in the file port" => {
            serve_token(fixture)
        }
        _ => panic!("the set-up {step} is not understood"),
    }
}

/// Starts a command that sends a secret to each client of a port, whose number it writes to a file.
fn serve_token(fixture: &Fixture) -> Beside {
    const SERVER: &str = "import os, socket, sys\n\
        server = socket.socket(); server.bind((sys.argv[1], 0)); server.listen()\n\
        open(sys.argv[2], sys.argv[3]).write(str(server.getsockname()[1])); os.rename(sys.argv[2], sys.argv[4])\n\
        while True: server.accept()[0].sendall(sys.argv[5].encode())";
    let text = format!("exec python3 -c '{SERVER}' 127.0.0.1 port.new w port {CANARY}");
    let running = fixture.launcher.spawn(&fixture.policy, &ShellCommand::new(&text).unwrap()).unwrap();
    let killer = running.killer();
    let thread = std::thread::spawn(move || drop(running.wait()));
    let start = Instant::now();
    // Where commands cannot listen, there is nothing to reach either.
    while !fixture.workspace().join("port").exists() && start.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(10));
    }
    Beside::Command(killer, thread)
}

/// Starts a process that sends an open descriptor of the secret to each client of a socket in the workspace.
fn hand_out_descriptor(fixture: &Fixture) -> Child {
    const SERVER: &str = "import socket, sys\n\
        secret = open(sys.argv[2])\n\
        server = socket.socket(socket.AF_UNIX); server.bind(sys.argv[1]); server.listen(); print(flush=True)\n\
        while True: socket.send_fds(server.accept()[0], [b'x'], [secret.fileno()])";
    let mut server = Command::new("python3")
        .args(["-c", SERVER])
        .args([fixture.workspace().join("rights.sock"), fixture.outside("secret.txt")])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // It listens when it has printed a line.
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    server
}

/// Binds a TCP and a UDP socket to one port of the loopback.
fn bind_both() -> (TcpListener, UdpSocket) {
    loop {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        if let Ok(datagrams) = UdpSocket::bind(listener.local_addr().unwrap()) {
            return (listener, datagrams);
        }
    }
}

/// A server is started on a port that is free, whatever port the command names.
fn with_free_port(text: &str) -> String {
    const SERVER: &str = "http.server ";
    let Some(at) = text.find(SERVER).map(|at| at + SERVER.len()) else { return text.to_owned() };
    let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
    format!("{}{}{}", &text[..at], free_port(), &text[at + digits..])
}

/// Returns a port on which no process listens, for a moment at least.
fn free_port() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port().to_string()
}

fn abstract_name(fixture: &Fixture) -> String {
    fixture.root().to_string_lossy().replace('/', ".")
}

/// Returns a variable's value, where the corpus describes a long one.
pub(crate) fn value(text: &str) -> String {
    case_kind::size(text).map_or_else(|| text.to_owned(), |bytes| "x".repeat(bytes))
}
