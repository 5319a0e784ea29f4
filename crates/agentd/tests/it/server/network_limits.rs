//! `--network allow=…` at its limits: very many connections, half-open ones, a killed daemon, names that lead elsewhere.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use test_support::skip;

use crate::fixture::line_client::LineClient;
use crate::fixture::project::{Project, Ran, is_root};

/// The longest wait for an event.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server of the host that keeps its connections, and passes each on to the test.
struct Holder {
    port: u16,
    connections: Receiver<TcpStream>,
}

impl Holder {
    /// `greeting` is sent to each client at once.
    fn start(greeting: &'static [u8]) -> Holder {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, connections) = channel();
        // It ends with the test's process: a test that is over receives nothing more.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                // The other end may be gone.
                let _ = stream.write_all(greeting);
                if sender.send(stream).is_err() {
                    return;
                }
            }
        });
        Holder { port, connections }
    }

    fn list(&self) -> String {
        format!("allow=served.example:{}@127.0.0.1", self.port)
    }

    fn next(&self) -> TcpStream {
        let stream = self.connections.recv_timeout(PATIENCE).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }
}

fn mcp(project: &Project, network: &str) -> LineClient {
    started(project.command(&["mcp", "--network", network]))
}

fn started(command: Command) -> LineClient {
    let mut client = LineClient::start(command);
    client.does("initialize", json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    }));
    client.notify("notifications/initialized", json!({}));
    client
}

fn call(command: &str) -> Value {
    json!({ "name": "executeCommand", "arguments": { "command": command, "timeout": 300_000 } })
}

fn run(client: &mut LineClient, command: &str) -> String {
    client.does("tools/call", call(command))["content"][0]["text"].as_str().unwrap().to_owned()
}

/// A Python program as a command; it holds no `'`.
fn python(program: &str) -> String {
    assert!(!program.contains('\''));
    format!("python3 -c '{program}'")
}

#[test]
fn ten_thousand_connections_of_one_command_are_bounded_and_counted() {
    let project = Project::new();
    let server = Holder::start(b"hello\n");
    let mut client = mcp(&project, &server.list());
    // Each of ten processes opens a thousand, keeps them, and reports each that is answered or refused by a letter.
    let flood = python(&format!(
        "import os, select, socket, sys\n\
         ready, go = os.pipe(), os.pipe()\naddress = socket.gethostbyname(\"served.example\")\n\
         def work():\n  held, poll = {{}}, select.poll()\n  for _ in range(1000):\n    s = socket.socket()\n    \
         s.setblocking(False)\n    s.connect_ex((address, {}))\n    select.select([], [s], [])\n    \
         held[s.fileno()] = s\n    poll.register(s, select.POLLIN)\n  \
         poll.register(go[0], select.POLLIN)\n  while True:\n    for number, _ in poll.poll():\n      \
         if number == go[0]: os._exit(0)\n      poll.unregister(number)\n      \
         try: letter = b\"a\" if held[number].recv(6) else b\"e\"\n      except OSError: letter = b\"r\"\n      \
         os.write(ready[1], letter)\n\
         for _ in range(10):\n  if os.fork() == 0: work()\n\
         letters = b\"\"\nwhile len(letters) < 10000 - 256: letters += os.read(ready[0], 9999)\n\
         print(letters.count(b\"a\"), letters.count(b\"r\"))\nos.write(go[1], b\"x\" * 10)\nsys.exit(1)",
        server.port
    ));
    let request = json!({ "command": flood, "timeout": 600_000 }).to_string();
    let call = ["--network", &server.list(), "call", "executeCommand", &request];
    let answer = Ran::of(project.command(&call).output().unwrap()).ok().json();
    assert_eq!(answer["stdout"], format!("256 {}\n", 10_000 - 2 * 256), "{answer}");
    let why = "256 connections of the command are open and 256 wait";
    let what = format!("connect served.example:{}", server.port);
    assert_eq!(answer["denied"], json!([{ "what": what, "why": why, "count": 1000 }]));
    // The next command works.
    let next = python(&format!(
        "import socket; print(socket.create_connection((\"served.example\", {})).recv(6))",
        server.port
    ));
    let answer = run(&mut client, &next);
    assert!(answer.contains("hello"), "{answer}");
    client.end().ok();
}

#[test]
fn each_half_of_a_connection_ends_by_itself() {
    let project = Project::new();
    let server = Holder::start(b"");
    let mut client = mcp(&project, &server.list());
    let text = python(&format!(
        "import socket\ns = socket.create_connection((\"served.example\", {}))\ns.sendall(b\"request\")\n\
         s.shutdown(socket.SHUT_WR)\nprint(s.makefile().read())",
        server.port
    ));
    let id = client.request("tools/call", call(&text));
    let mut stream = server.next();
    let mut request = String::new();
    stream.read_to_string(&mut request).unwrap();
    assert_eq!(request, "request", "its end has come, and the way back is open");
    stream.write_all(b"answer after the end").unwrap();
    drop(stream);
    let answer = client.answer(id);
    assert!(answer.to_string().contains("answer after the end"), "{answer}");
    // A command that ends with a connection open: its server sees the last bytes and an end.
    let text = python(&format!(
        "import os, socket\ns = socket.create_connection((\"served.example\", {}))\n\
         s.sendall(b\"last words\")\nos._exit(0)",
        server.port
    ));
    run(&mut client, &text);
    let mut last = String::new();
    server.next().read_to_string(&mut last).unwrap();
    assert_eq!(last, "last words");
    client.end().ok();
}

#[test]
fn a_killed_daemon_closes_every_connection_and_leaves_no_process() {
    let project = Project::new();
    let server = Holder::start(b"hello\n");
    let mut client = mcp(&project, &server.list());
    let marker = format!("agentd-test-open-{}", std::process::id());
    let text = python(&format!(
        "import socket, time\n\
         held = [socket.create_connection((\"served.example\", {})) for _ in range(20)]\n\
         [s.sendall(b\"x\") for s in held]\ntime.sleep(600)",
        server.port
    ));
    client.request("tools/call", call(&format!("{text} {marker}")));
    let mut connections: Vec<TcpStream> = (0..20).map(|_| server.next()).collect();
    for connection in &mut connections {
        connection.read_exact(&mut [0]).unwrap();
    }
    assert!(processes_with(&marker) > 0, "the control");
    client.kill();
    for mut connection in connections {
        // An end or a reset.
        assert!(connection.read(&mut [0]).map_or(true, |count| count == 0));
    }
    let started = std::time::Instant::now();
    while processes_with(&marker) > 0 {
        assert!(started.elapsed() < PATIENCE, "a process survives");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn processes_with(marker: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(marker)).count()
}

/// Connects to each of its arguments; prints what answers, and fails, so that there are receipts.
const TRY: &str = "import socket, sys\n\
    for peer in sys.argv[1:]:\n  name, port = peer.rsplit(\":\", 1)\n  \
    try: answer = socket.create_connection((name, int(port)), timeout=60).makefile().readline().strip()\n  \
    except OSError: answer = \"\"\n  print(len(name), answer or \"refused\")\n\
    sys.exit(1)";

#[test]
fn a_name_that_leads_nowhere_is_refused() {
    let project = Project::new();
    let server = Holder::start(b"hello\n");
    let port = server.port;
    // No resolver may have the name.
    let mut client = mcp(&project, &format!("allow=nothing.invalid:{port},served.example:{port}@127.0.0.1"));
    let text = format!("{} nothing.invalid:{port} served.example:{port}", python(TRY));
    let answer = run(&mut client, &text);
    assert!(answer.contains("15 refused") && answer.contains("14 hello"), "{answer}");
    let receipt = format!("refused: connect nothing.invalid:{port} · the name does not resolve");
    assert!(answer.contains(&receipt), "{answer}");
    client.end().ok();
}

#[test]
fn a_name_of_253_characters_and_queries_over_tcp_work() {
    let project = Project::new();
    let server = Holder::start(b"hello\n");
    let port = server.port;
    let labels = ["a", "b", "c"].map(|letter| letter.repeat(63));
    let longest = format!("{}.{}.cdn.example", labels.join("."), "d".repeat(49));
    assert_eq!(longest.len(), 253);
    let mut client = mcp(&project, &format!("allow=*.cdn.example:{port}@127.0.0.1"));
    let answer = run(&mut client, &format!("{} {longest}:{port}", python(TRY)));
    assert!(answer.contains("253 hello"), "{answer}");
    // The same name server over TCP: the answer ends with the address that stands for the name.
    let query = python(
        "import socket, struct\nlabels = b\"\".join(bytes([len(l)]) + l for l in [b\"x\", b\"cdn\", b\"example\"])\n\
         query = struct.pack(\">6H\", 9, 256, 1, 0, 0, 0) + labels + b\"\\0\" + struct.pack(\">2H\", 1, 1)\n\
         s = socket.create_connection((\"198.18.0.1\", 53))\ns.sendall(struct.pack(\">H\", len(query)) + query)\n\
         answer = s.makefile(\"rb\")\nlength = struct.unpack(\">H\", answer.read(2))[0]\n\
         print(socket.inet_ntoa(answer.read(length)[-4:]))",
    );
    let answer = run(&mut client, &query);
    assert!(answer.contains("198.18.1.0"), "{answer}");
    client.end().ok();
}

/// Returns a command that runs the one of its arguments with another file of host names: in a mount namespace, and for an ordinary user in
/// a user namespace. `None` if the machine allows neither.
fn with_hosts(hosts: &Path, test: &str) -> Option<Command> {
    let mut unshare = vec!["--mount"];
    let mut script = "mount --bind \"$0\" /etc/hosts && exec \"$@\"".to_owned();
    if !is_root() {
        unshare.extend(["--user", "--map-root-user"]);
        // The program is an ordinary user again.
        let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        let again = format!("exec unshare --user --map-user={user} --map-group={group} \"$@\"");
        script = script.replace("exec \"$@\"", &again);
    }
    let command = |program: &str| {
        let mut command = Command::new("unshare");
        command.args(&unshare).args(["sh", "-c", &script]).arg(hosts);
        if !program.is_empty() {
            command.arg(program);
        }
        command
    };
    let probe = command("true").output().unwrap();
    if !probe.status.success() {
        let why = String::from_utf8_lossy(&probe.stderr).into_owned();
        skip(test, &format!("no file of host names can be mounted here: {why}"));
        return None;
    }
    Some(command(""))
}

#[test]
fn a_name_that_is_bound_to_this_machine_meanwhile_is_refused() {
    let project = Project::new();
    let server = Holder::start(b"hello\n");
    let port = server.port;
    let hosts = project.folder().join("hosts");
    fs::write(&hosts, "127.0.0.1 localhost\n192.0.2.77 rebound.example\n").unwrap();
    let network = format!("allow=rebound.example:{port},pinned.example:{port}@127.0.0.1");
    let daemon = project.command(&["mcp", "--network", &network]);
    let Some(mut command) = with_hosts(&hosts, "a_name_that_is_bound_to_this_machine_meanwhile_is_refused")
    else {
        return;
    };
    command.arg(daemon.get_program()).args(daemon.get_args());
    command.current_dir(project.workspace()).stderr(std::process::Stdio::piped());
    for (name, value) in daemon.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut client = started(command);
    // The name has been given an address of this machine since the list was read.
    fs::write(&hosts, "127.0.0.1 localhost\n127.0.0.1 rebound.example\n").unwrap();
    let text = format!("{} rebound.example:{port} pinned.example:{port}", python(TRY));
    let answer = run(&mut client, &text);
    assert!(answer.contains("15 refused") && answer.contains("14 hello"), "{answer}");
    let receipt = format!(
        "refused: connect rebound.example:{port} · the name leads to 127.0.0.1, a loopback address · \
         --network allow=rebound.example:{port}@127.0.0.1"
    );
    assert!(answer.contains(&receipt), "{answer}");
    client.end().ok();
}
