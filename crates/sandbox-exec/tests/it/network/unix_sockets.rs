//! Unix sockets: a command's own work, and the host's are out of reach wherever they are.

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::process::Command;

use crate::fixture::{Fixture, marker, stderr, stdout};
use crate::network::{at_level_full, python, run};

/// Serves one connection on each kind of name, from another process, and prints what came back.
const ECHO: &str = r#"
import os, socket, struct
def serve(kind, name, connect_to):
    server = socket.socket(socket.AF_UNIX, kind)
    server.bind(name)
    server.listen()
    if os.fork() == 0:
        peer, _ = server.accept()
        pid, uid, gid = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        peer.sendall(peer.recv(9) + b" " + str(uid == os.getuid()).encode())
        os._exit(0)
    client = socket.socket(socket.AF_UNIX, kind)
    client.connect(connect_to)
    client.sendall(b"ping")
    print(connect_to, client.recv(20).decode())
    os.wait()
os.mkdir("run")
for kind in [socket.SOCK_STREAM, socket.SOCK_SEQPACKET]:
    serve(kind, f"run/{kind}", f"run/{kind}")
    serve(kind, f"./relative{kind}", os.path.abspath(f"relative{kind}"))
    serve(kind, f"/tmp/temporary{kind}", f"/tmp/temporary{kind}")
    serve(kind, f"\0abstract{kind}", f"\0abstract{kind}")
    os.symlink(f"run/{kind}", f"link{kind}")
os.chdir("run")
client = socket.socket(socket.AF_UNIX)
client.settimeout(20)
try:
    client.connect("1")
except ConnectionRefusedError:
    print("no process listens any more")
a, b = socket.socketpair()
a.sendall(b"pair")
print(b.recv(9).decode())
"#;

#[test]
fn a_command_reaches_its_own_sockets() {
    at_level_full("network::unix_sockets::a_command_reaches_its_own_sockets", |fixture| {
        let outcome = run(fixture, &python(ECHO));
        let said = stdout(&outcome);
        assert_eq!(said.matches(" ping True").count(), 8, "{said}{}", stderr(&outcome));
        assert!(said.contains("no process listens any more\npair\n"), "{said}{}", stderr(&outcome));
    });
}

/// Tries to reach servers of the host by these names, and prints what happened.
const ATTEMPTS: &str = r#"
import ctypes, os, socket, sys
def attempt(kind, name, act):
    try:
        act(socket.socket(socket.AF_UNIX, kind), name)
        print("reached", name)
    except OSError as error:
        print("refused", error.errno)
STREAM, DATAGRAM = socket.SOCK_STREAM, socket.SOCK_DGRAM
def waiting(client, name):
    client.setblocking(False)
    client.connect(name)
for name in sys.argv[2:]:
    name = name.replace("@", "\0")
    attempt(STREAM, name, lambda client, name: client.connect(name))
    attempt(STREAM, name, waiting)
    attempt(DATAGRAM, sys.argv[1], lambda client, name: client.sendto(b"out", name))
# A pair of sockets has datagrams as well, which can be sent elsewhere.
pair = (ctypes.c_int * 2)()
for kind in [2, 3, 2 | 0o2000000, 2 | 0o4000]:
    if ctypes.CDLL(None).socketpair(1, kind, 0, pair) == 0:
        try:
            socket.socket(fileno=pair[0]).sendto(b"out", sys.argv[1])
            print("reached by a pair")
        except OSError as error:
            print("refused", error.errno)
    else:
        print("refused")
"#;

/// Servers of the host: in the workspace, in a folder that the policy shows and one that it opens, and by an abstract name.
struct HostServers {
    listeners: Vec<UnixListener>,
    datagrams: UnixDatagram,
    names: Vec<String>,
    datagram_name: String,
}

impl HostServers {
    fn start(fixture: &mut Fixture) -> HostServers {
        let root = fixture.root();
        let mut names = Vec::new();
        let mut listeners = Vec::new();
        for folder in ["workspace", "workspace/build", "shown", "opened"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
            let name = root.join(folder).join("host.sock");
            listeners.push(UnixListener::bind(&name).unwrap());
            names.push(name.to_str().unwrap().to_owned());
        }
        names.push("host.sock".into());
        fixture.policy.readable.push(root.join("shown"));
        fixture.policy.writable.push(root.join("opened"));
        let name = marker();
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        listeners.push(UnixListener::bind_addr(&address).unwrap());
        names.push(format!("@{name}"));
        let datagram_name = root.join("workspace/datagrams");
        let datagrams = UnixDatagram::bind(&datagram_name).unwrap();
        for listener in &listeners {
            listener.set_nonblocking(true).unwrap();
        }
        datagrams.set_nonblocking(true).unwrap();
        HostServers { listeners, datagrams, names, datagram_name: datagram_name.to_str().unwrap().to_owned() }
    }

    /// Counts the connections that arrived since the last call.
    fn arrivals(&self) -> usize {
        let nothing_more = |error: std::io::Error| assert_eq!(error.kind(), ErrorKind::WouldBlock);
        let mut count = 0;
        for listener in &self.listeners {
            while listener.accept().map_err(nothing_more).is_ok() {
                count += 1;
            }
        }
        while self.datagrams.recv(&mut [0; 9]).map_err(nothing_more).is_ok() {
            count += 1;
        }
        count
    }
}

#[test]
fn sockets_of_the_host_are_out_of_reach() {
    at_level_full("network::unix_sockets::sockets_of_the_host_are_out_of_reach", |fixture| {
        let servers = HostServers::start(fixture);
        let mut attempt = format!("{} {}", python(ATTEMPTS), servers.datagram_name);
        for name in &servers.names {
            attempt += &format!(" {name}");
        }
        let build = fixture.workspace().join("build");
        let outcome = run_with_uncovered(fixture, &attempt, build);
        let said = stdout(&outcome);
        assert_eq!(
            said.matches("refused").count(),
            servers.names.len() * 3 + 4,
            "{said}{}",
            stderr(&outcome)
        );
        assert_eq!((said.matches("reached").count(), servers.arrivals()), (0, 0), "{said}");
        // The control: the same program reaches all of them where nothing confines it.
        let mut outside = Command::new("sh");
        outside.args(["-c", &attempt]).current_dir(fixture.workspace());
        let said = String::from_utf8(outside.output().unwrap().stdout).unwrap();
        assert_eq!(said.matches("refused").count(), 0, "{said}");
        assert_eq!(servers.arrivals(), servers.names.len() * 3 + 4, "{said}");
    });
}

/// Runs a command with a folder that no layer covers.
fn run_with_uncovered(
    fixture: &mut Fixture,
    text: &str,
    folder: std::path::PathBuf,
) -> sandbox_exec::Outcome {
    if let Some(layer) = fixture.policy.layer.take() {
        fixture.policy = fixture.policy.clone().with_layer(layer.with_uncovered(vec![folder]));
    }
    fixture.run(text)
}

/// Exchanges the address while the call is being judged, and the file of the name.
const RACE: &str = r#"
import ctypes, os, socket, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
own, host = sys.argv[1].encode(), sys.argv[2].encode()
server = socket.socket(socket.AF_UNIX)
server.bind(own)
server.listen(4096)
server.setblocking(False)
size = 2 + max(len(own), len(host)) + 1
as_bytes = lambda path: (b"\1\0" + path).ljust(size, b"\0")
address = ctypes.create_string_buffer(as_bytes(own), size)
os.symlink(own, "name.0")
os.symlink(host, "name.1")
os.symlink(own, "name")
is_over = False
def exchange():
    while not is_over:
        ctypes.memmove(address, as_bytes(host), size)
        ctypes.memmove(address, as_bytes(own), size)
def rename():
    while not is_over:
        for number in "01":
            os.symlink(os.readlink("name." + number), "new")
            os.rename("new", "name")
threads = [threading.Thread(target=exchange), threading.Thread(target=rename)]
for thread in threads:
    thread.start()
counts = {True: 0, False: 0}
for number in range(600):
    client = socket.socket(socket.AF_UNIX)
    client.setblocking(False)
    if number % 2:
        result = libc.connect(client.fileno(), address, size)
    else:
        result = client.connect_ex("name")
    counts[result == 0] += 1
    try:
        server.accept()
    except BlockingIOError:
        pass
is_over = True
for thread in threads:
    thread.join()
print(counts[True] > 0, counts[False] > 0)
"#;

#[test]
fn an_address_that_is_exchanged_while_it_is_judged_leads_nowhere_else() {
    at_level_full(
        "network::unix_sockets::an_address_that_is_exchanged_while_it_is_judged_leads_nowhere_else",
        |fixture| {
            let servers = HostServers::start(fixture);
            let own = fixture.workspace().join("own.sock");
            let command = format!("{} {} {}", python(RACE), own.display(), servers.names[0]);
            let outcome = run(fixture, &command);
            // Both happened: the command's own server was reached, and the host's was tried.
            assert_eq!(stdout(&outcome), "True True\n", "{}", stderr(&outcome));
            assert_eq!(servers.arrivals(), 0);
        },
    );
}

/// A connection waits for a server that is busy with another connection.
const BUSY: &str = r#"
import os, socket, threading
busy, other = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
busy.bind("busy")
busy.listen(0)
other.bind("other")
other.listen()
first = socket.socket(socket.AF_UNIX)
first.connect("busy")
begun = threading.Event()
def wait():
    client = socket.socket(socket.AF_UNIX)
    begun.set()
    client.connect("busy")
    client.sendall(b"late")
waiting = threading.Thread(target=wait)
waiting.start()
begun.wait()
# The server asks another one before it takes the next connection.
for _ in range(20):
    socket.socket(socket.AF_UNIX).connect("other")
    other.accept()
busy.accept()
print(busy.accept()[0].recv(9).decode())
waiting.join()
"#;

#[test]
fn a_connection_that_waits_holds_up_no_other() {
    at_level_full("network::unix_sockets::a_connection_that_waits_holds_up_no_other", |fixture| {
        let outcome = run(fixture, &python(BUSY));
        assert_eq!(stdout(&outcome), "late\n", "{}", stderr(&outcome));
    });
}
