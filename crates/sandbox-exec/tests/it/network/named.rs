//! Names that a command may connect to, with a scripted carrier outside.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sandbox_exec::{
    AllowedName, Carrier, Denied, Ending, Level, NetworkPolicy, Outcome, OutputStream, Outward, PolicyError,
    ShellCommand, SpawnError,
};

use crate::fixture::{Fixture, HANG, stderr, stdout};
use crate::network::{at_level_full, python, run};

/// Serves connections itself: sends the name and the port, then echoes everything.
#[derive(Clone, Debug, Default)]
struct Echo {
    names: Vec<AllowedName>,
    carried: Arc<Mutex<Vec<(String, u16)>>>,
    /// Its other end is disconnected when every connection has ended.
    ended: Option<Sender<()>>,
}

impl Outward for Echo {
    fn names(&self) -> Vec<AllowedName> {
        self.names.clone()
    }

    fn begin(&self) -> Box<dyn Carrier> {
        Box::new(self.clone())
    }
}

impl Carrier for Echo {
    fn carry(&mut self, name: &str, port: u16, stream: OwnedFd) {
        self.carried.lock().unwrap().push((name.to_owned(), port));
        let (mut stream, greeting) = (TcpStream::from(stream), format!("{name} {port}\n"));
        let ended = self.ended.clone();
        std::thread::spawn(move || {
            let _ended = ended;
            stream.set_nonblocking(false)?;
            stream.write_all(greeting.as_bytes())?;
            let mut buffer = [0; 1 << 16];
            loop {
                match stream.read(&mut buffer)? {
                    0 => return std::io::Result::Ok(()),
                    length => stream.write_all(&buffer[..length])?,
                }
                // An HTTP client waits for the end.
                if buffer.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
                    return Ok(());
                }
            }
        });
    }

    fn refusals(&mut self) -> Vec<Denied> {
        vec![Denied::new("connect x".into(), "the carrier refused it".into(), None, 1)]
    }
}

/// Returns a carrier for these names at these ports.
fn echo(names: &[(&str, &[u16])]) -> Echo {
    let allowed =
        |(pattern, ports): &(&str, &[u16])| AllowedName { pattern: (*pattern).into(), ports: ports.to_vec() };
    Echo { names: names.iter().map(allowed).collect(), ..Echo::default() }
}

#[test]
fn names_are_refused_where_connections_cannot_be_kept_to_them() {
    for level in [Level::Landlock, Level::Process, Level::None] {
        let mut fixture = Fixture::at_level(level);
        fixture.policy.network = NetworkPolicy::Named(Arc::new(echo(&[("registry.example", &[443])])));
        let spawned = fixture.launcher.spawn(&fixture.policy, &ShellCommand::new("true").unwrap());
        let is_refused = matches!(spawned, Err(SpawnError::Policy(PolicyError::NoNetworkForNames)));
        assert!(is_refused, "{level}: {spawned:?}");
    }
}

/// Runs a command that may connect to these names, and returns its outcome and what was carried.
fn run_named(fixture: &mut Fixture, names: &[(&str, &[u16])], text: &str) -> (Outcome, Vec<(String, u16)>) {
    let outward = echo(names);
    fixture.policy.network = NetworkPolicy::Named(Arc::new(outward.clone()));
    let outcome = run(fixture, text);
    let carried = outward.carried.lock().unwrap().clone();
    (outcome, carried)
}

fn denied(outcome: &Outcome) -> Vec<String> {
    outcome.denied.iter().map(ToString::to_string).collect()
}

/// Says hello to each of its arguments and prints what comes back.
const HELLO: &str = "import socket, sys\n\
    for peer in sys.argv[1:]:\n  name, port = peer.split(\":\")\n  s = socket.create_connection((name, int(port)))\n  \
    s.sendall(b\"hello\\n\")\n  s.shutdown(socket.SHUT_WR)\n  print(s.makefile().read().split())\n";

#[test]
fn allowed_names_are_reached_at_allowed_ports() {
    at_level_full("network::named::allowed_names_are_reached_at_allowed_ports", |fixture| {
        let names: &[(&str, &[u16])] = &[("registry.example", &[443, 80]), ("*.cdn.example", &[8443])];
        let peers = "registry.example:443 Registry.Example:80 a.b.cdn.example:8443";
        let (outcome, carried) = run_named(fixture, names, &format!("{} {peers}", python(HELLO)));
        let expected = "['registry.example', '443', 'hello']\n['registry.example', '80', 'hello']\n\
                        ['a.b.cdn.example', '8443', 'hello']\n";
        assert_eq!(stdout(&outcome), expected, "{}", stderr(&outcome));
        let expected = [("registry.example", 443), ("registry.example", 80), ("a.b.cdn.example", 8443)];
        assert_eq!(carried, expected.map(|(name, port)| (name.to_owned(), port)));
    });
}

#[test]
fn everything_else_is_refused_with_a_receipt() {
    at_level_full("network::named::everything_else_is_refused_with_a_receipt", |fixture| {
        let names: &[(&str, &[u16])] = &[("registry.example", &[443]), ("git.example", &[22])];
        let text = python(
            "import socket\n\
             for name in [\"other.example\"] * 2 + [\"registry.example.evil.example\"]:\n  \
             try: socket.gethostbyname(name); print(\"found\", name)\n  except OSError: pass\n\
             for peer in [(\"169.254.169.254\", 80), (\"10.0.0.1\", 443), (\"registry.example\", 22), \
             (\"198.18.77.7\", 443), (\"192.0.2.53\", 53)]:\n  \
             try: socket.create_connection(peer).recv(1) and print(\"connected\", peer)\n  except OSError: pass\n\
             exit(1)",
        );
        let (outcome, carried) = run_named(fixture, names, &text);
        assert_eq!((stdout(&outcome).as_str(), carried), ("", vec![]), "{}", stderr(&outcome));
        let expected = [
            "look up other.example · not in the allow-list · --network allow=other.example · 2 times",
            "look up registry.example.evil.example · not in the allow-list · \
             --network allow=registry.example.evil.example",
            "connect 169.254.169.254:80 · not in the allow-list",
            "connect 10.0.0.1:443 · not in the allow-list · --network allow=NAME:443@10.0.0.1",
            "connect registry.example:22 · not in the allow-list · --network allow=registry.example:22",
            "connect 198.18.77.7:443 · not in the allow-list · --network allow=NAME:443@198.18.77.7",
            "ask another name server · allowed names are answered by the name server of /etc/resolv.conf alone",
            "connect x · the carrier refused it",
        ];
        assert_eq!(denied(&outcome), expected, "{}", stderr(&outcome));
    });
}

#[test]
fn the_loopback_of_the_host_stays_out_of_reach() {
    at_level_full("network::named::the_loopback_of_the_host_stays_out_of_reach", |fixture| {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let text = format!("{} 127.0.0.1:{port}", python(HELLO));
        // Even if the port is allowed, and so has a listener in the namespace.
        for ports in [&[443][..], &[port][..]] {
            let (outcome, carried) = run_named(fixture, &[("registry.example", ports)], &text);
            assert!(!outcome.ending.is_success() && carried.is_empty(), "{outcome:?}");
            assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
            let receipt = format!(
                "connect 127.0.0.1:{port} · a command has a loopback interface of its own, without the host's servers · \
                 --network allow=NAME:{port}@127.0.0.1"
            );
            assert_eq!(denied(&outcome)[0], receipt);
        }
        // A program that does not wait for its connection, and one without any name.
        let text = python(&format!(
            "import socket, select, sys\ns = socket.socket()\ns.setblocking(False)\n\
             s.connect_ex((\"127.0.0.1\", {port}))\nselect.select([], [s], [])\n\
             sys.exit(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))"
        ));
        fixture.policy.network = NetworkPolicy::Off;
        let outcome = run(fixture, &text);
        assert_eq!(outcome.ending, Ending::Exited(111), "the program has the error: {outcome:?}");
        assert_eq!(denied(&outcome).len(), 1, "{outcome:?}");
        // Where the host has no server, nothing is reported: programs look for their own.
        drop(listener);
        assert_eq!(denied(&run(fixture, &text)), [""; 0]);
    });
}

#[test]
fn a_thousand_connections_are_carried_and_end_with_the_command() {
    at_level_full("network::named::a_thousand_connections_are_carried_and_end_with_the_command", |fixture| {
        let text = python(
            "import socket\n\
             held = [socket.create_connection((\"registry.example\", 443)) for _ in range(1000)]\n\
             print(sum(peer.recv(1) == b\"r\" for peer in held))",
        );
        let (outcome, carried) = run_named(fixture, &[("registry.example", &[443])], &text);
        assert_eq!((stdout(&outcome).as_str(), carried.len()), ("1000\n", 1000), "{}", stderr(&outcome));
    });
}

/// Takes the first connection, and the others only when the command has ended.
#[derive(Clone, Debug)]
struct Late {
    names: Vec<AllowedName>,
    carried: Arc<Mutex<usize>>,
}

impl Outward for Late {
    fn names(&self) -> Vec<AllowedName> {
        self.names.clone()
    }

    fn begin(&self) -> Box<dyn Carrier> {
        Box::new(self.clone())
    }
}

impl Carrier for Late {
    fn carry(&mut self, _: &str, _: u16, stream: OwnedFd) {
        let mut carried = self.carried.lock().unwrap();
        *carried += 1;
        if *carried == 1 {
            let mut stream = TcpStream::from(stream);
            stream.set_nonblocking(false).unwrap();
            // The stream ends when the command does.
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
            // A launcher that does not wait would have killed the forwarder meanwhile.
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn refusals(&mut self) -> Vec<Denied> {
        Vec::new()
    }
}

#[test]
fn connections_that_nothing_has_accepted_when_the_command_ends_are_carried() {
    let name = "network::named::connections_that_nothing_has_accepted_when_the_command_ends_are_carried";
    at_level_full(name, |fixture| {
        // Until no further connection is taken: then the forwarder waits for the carrier, and its queue is full.
        let text = python(
            "import os, socket\n\
             address, held = (socket.gethostbyname(\"registry.example\"), 443), []\n\
             try:\n    \
                 while len(held) < 900: held.append(socket.create_connection(address, timeout=1))\n\
             except TimeoutError: pass\n\
             for peer in held: peer.sendall(b\"last words\")\n\
             print(len(held), flush=True)\n\
             os._exit(0)",
        );
        let mut counts = Vec::new();
        // The launcher waits a quarter of a second for them, which may be too short on a busy machine.
        while counts.len() < 5 && counts.last().is_none_or(|(opened, carried)| opened != carried) {
            let carried = Arc::new(Mutex::new(0));
            let names = echo(&[("registry.example", &[443])]).names;
            fixture.policy.network =
                NetworkPolicy::Named(Arc::new(Late { names, carried: Arc::clone(&carried) }));
            let outcome = run(fixture, &text);
            assert_eq!(outcome.ending, Ending::Exited(0), "{}", stderr(&outcome));
            let opened: usize = stdout(&outcome).trim().parse().unwrap();
            assert!(opened > 100, "as many wait to be accepted");
            counts.push((opened, *carried.lock().unwrap()));
        }
        assert!(counts.last().is_some_and(|(opened, carried)| opened == carried), "{counts:?}");
    });
}

#[test]
fn a_name_at_the_port_of_name_servers_is_reached_over_tcp() {
    at_level_full("network::named::a_name_at_the_port_of_name_servers_is_reached_over_tcp", |fixture| {
        let query = "q = socket.create_connection((\"198.18.0.1\", 53))\n\
             label = lambda text: bytes([len(text)]) + text\n\
             query = struct.pack(\">6H\", 9, 256, 1, 0, 0, 0) + label(b\"dns\") + label(b\"example\") + \
             b\"\\0\" + struct.pack(\">2H\", 1, 1)\n\
             q.sendall(struct.pack(\">H\", len(query)) + query)\nprint(socket.inet_ntoa(q.recv(99)[-4:]))\n";
        let text = python(&format!(
            "import socket, struct\n{query}s = socket.create_connection((\"dns.example\", 53))\n\
             s.sendall(b\"hello\\n\")\ns.shutdown(socket.SHUT_WR)\nprint(s.makefile().read().split())"
        ));
        let (outcome, carried) = run_named(fixture, &[("dns.example", &[53])], &text);
        assert_eq!(stdout(&outcome), "198.18.1.0\n['dns.example', '53', 'hello']\n", "{}", stderr(&outcome));
        assert_eq!(carried, [("dns.example".to_owned(), 53)]);
        // The control: where no name is allowed at that port, nothing but queries is answered there.
        let (outcome, carried) = run_named(fixture, &[("dns.example", &[443])], &text);
        assert!(!outcome.ending.is_success() && carried.is_empty(), "{outcome:?}");
        assert!(stdout(&outcome).starts_with("198.18.1.0\n"), "{}", stderr(&outcome));
    });
}

#[test]
fn names_are_answered_over_tcp_and_to_other_resolvers() {
    at_level_full("network::named::names_are_answered_over_tcp_and_to_other_resolvers", |fixture| {
        let text = python(
            "import socket, struct\n\
             s = socket.create_connection((\"198.18.0.1\", 53))\n\
             label = lambda text: bytes([len(text)]) + text\n\
             query = struct.pack(\">6H\", 9, 256, 1, 0, 0, 0) + label(b\"git\") + label(b\"example\") + \
             b\"\\0\" + struct.pack(\">2H\", 1, 1)\n\
             for part in [query[:5], query[5:]]: s.sendall((struct.pack(\">H\", len(query)) if part == query[:5] \
             else b\"\") + part)\n\
             print(socket.inet_ntoa(s.recv(99)[-4:]))\n\
             long = \".\".join([\"a\" * 63, \"b\" * 63, \"c\" * 63, \"d\" * 49, \"cdn.example\"])\n\
             print(len(long), socket.gethostbyname(long))",
        );
        let (outcome, _) = run_named(fixture, &[("git.example", &[22]), ("*.cdn.example", &[443])], &text);
        assert_eq!(stdout(&outcome), "198.18.1.0\n253 198.18.1.1\n", "{}", stderr(&outcome));
    });
}

#[test]
fn the_end_of_a_command_ends_its_connections() {
    at_level_full("network::named::the_end_of_a_command_ends_its_connections", |fixture| {
        let (ended, connections) = channel();
        let outward = Echo { ended: Some(ended), ..echo(&[("registry.example", &[443])]) };
        fixture.policy.network = NetworkPolicy::Named(Arc::new(outward));
        let text = python(
            "import socket, time\nheld = [socket.create_connection((\"registry.example\", 443)) for _ in range(9)]\n\
             print(all(peer.recv(1) for peer in held), flush=True)\ntime.sleep(600)",
        );
        let running = fixture.launcher.spawn(&fixture.policy, &ShellCommand::new(&text).unwrap()).unwrap();
        let killer = running.killer();
        let mut connected = |_: OutputStream, _: &[u8]| killer.cancel();
        let outcome = running.wait_with(&mut connected, None).unwrap();
        assert_eq!((outcome.ending, stdout(&outcome).as_str()), (Ending::Cancelled, "True\n"), "{outcome:?}");
        // The remaining reference is the policy's.
        fixture.policy.network = NetworkPolicy::Off;
        assert_eq!(connections.recv_timeout(HANG), Err(RecvTimeoutError::Disconnected));
    });
}

#[test]
fn a_flood_of_lookups_is_bounded_and_other_commands_have_no_names() {
    at_level_full(
        "network::named::a_flood_of_lookups_is_bounded_and_other_commands_have_no_names",
        |fixture| {
            let text = python(
                "import socket\nfor number in range(300):\n  \
                 try: socket.gethostbyname(f\"secret-{number}.other.example\")\n  except OSError: pass\nexit(1)",
            );
            let (outcome, carried) = run_named(fixture, &[("registry.example", &[443])], &text);
            assert_eq!((outcome.denied.len(), carried), (20, vec![]), "{}", stderr(&outcome));
            // A command without names has neither the address nor the name server.
            fixture.policy.network = NetworkPolicy::Off;
            let outcome = run(fixture, &format!("{} 198.18.1.0:443", python(HELLO)));
            assert!(stderr(&outcome).contains("unreachable"), "{outcome:?}");
        },
    );
}

#[test]
fn curl_and_node_find_allowed_names() {
    at_level_full("network::named::curl_and_node_find_allowed_names", |fixture| {
        let node = "require(\"net\").connect(80, \"registry.example\").end(\"x\").pipe(process.stdout)";
        let commands =
            ["curl -sS --http0.9 http://registry.example/".to_owned(), format!("node -e '{node}'")];
        for command in commands {
            let (outcome, carried) = run_named(fixture, &[("registry.example", &[80])], &command);
            assert_eq!(carried, [("registry.example".to_owned(), 80)], "{command}: {}", stderr(&outcome));
            assert!(stdout(&outcome).starts_with("registry.example 80"), "{command}: {outcome:?}");
        }
    });
}

#[test]
fn names_are_refused_in_a_network_that_commands_share() {
    let mut fixture = Fixture::contained();
    let network = fixture.launcher.make_network().unwrap();
    let command = ShellCommand::new("true").unwrap();
    assert!(fixture.launcher.spawn_in(&network, &fixture.policy, &command).is_ok());
    fixture.policy.network = NetworkPolicy::Named(Arc::new(Echo::default()));
    let spawned = fixture.launcher.spawn_in(&network, &fixture.policy, &command);
    let is_refused = matches!(spawned, Err(SpawnError::Policy(PolicyError::NamesInSharedNetwork)));
    assert!(is_refused, "{spawned:?}");
}
