//! Objects and processes of the host that a command without namespaces could reach by a number or a name.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use rustix::process::geteuid;
use sandbox_exec::{Level, NetworkPolicy};

use crate::attack::exec_attacks::become_ordinary;
use crate::fixture::{CANARY, Fixture, stderr, stdout};

/// Tells a copy of this program that it is the ordinary user.
const STAND_IN: &str = "SANDBOX_EXEC_TEST_HOST_OBJECTS";

/// A program of the host: it has memory with a key that is its own number, and listens in its folder and at an abstract name.
/// When its input ends it says what has come in, and its limit on open files.
const HOST: &str = r#"
import ctypes, os, resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (500, 500))
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
memory = libc.shmget(os.getpid(), 4096, 0o1600)
text = sys.argv[1].encode()
ctypes.memmove(libc.shmat(memory, None, 0), text, len(text))
servers = []
for name, kind in [("datagrams", socket.SOCK_DGRAM), ("stream", socket.SOCK_STREAM), ("\0host", socket.SOCK_STREAM)]:
    server = socket.socket(socket.AF_UNIX, kind)
    server.bind(name + str(os.getpid()))
    server.setblocking(False)
    if kind == socket.SOCK_STREAM:
        server.listen()
    servers.append(server)
print(os.getpid(), flush=True)
sys.stdin.read()
for server in servers:
    try:
        server.recv(9) if server.type == socket.SOCK_DGRAM else server.accept()
        print("came to", server.getsockname(), flush=True)
    except BlockingIOError:
        pass
print("limit", resource.getrlimit(resource.RLIMIT_NOFILE)[0], flush=True)
libc.shmctl(memory, 0, None)
# What the attack has left.
libc.msgctl(libc.msgget(os.getpid(), 0), 0, None)
libc.mq_unlink(b"/left%d" % os.getpid())
"#;

/// Tries to reach all objects of the process with the given number and folder, and prints those that it reached.
const ATTACK: &str = r#"
import ctypes, os, resource, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
number, folder = int(sys.argv[1]), sys.argv[2]
def attempt(what, act):
    try:
        print("reached", what, act())
    except (OSError, ValueError) as error:
        print("refused", what, error)
def called(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result
def memory():
    return ctypes.string_at(libc.shmat(called(libc.shmget(number, 0, 0)), None, 0), 11).decode()
def left():
    return called(libc.msgget(number, 0o1600))
def queue():
    called(libc.mq_open(b"/left%d" % number, 0o102, 0o600, None))
def pair():
    pair = (ctypes.c_int * 2)()
    called(libc.socketpair(1, 2, 0, pair))
    socket.socket(fileno=pair[0]).sendto(b"out", f"{folder}/datagrams{number}")
def connect(name):
    socket.socket(socket.AF_UNIX).connect(name)
attempt("memory", memory)
attempt("a queue", left)
attempt("a named queue", queue)
attempt("a limit", lambda: resource.prlimit(number, resource.RLIMIT_NOFILE, (77, 77)))
attempt("a receiver", pair)
attempt("a server", lambda: connect(f"{folder}/stream{number}"))
attempt("an abstract server", lambda: connect(f"\0host{number}"))
"#;

struct Host {
    process: Child,
    number: u32,
}

impl Host {
    fn start(fixture: &Fixture) -> Host {
        let mut process = Command::new("python3")
            .args(["-c", HOST, CANARY])
            .current_dir(fixture.root().join("outside"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Host { number: line.trim().parse().unwrap(), process }
    }

    /// Ends the host program and returns what it received, with its limit.
    fn end(mut self) -> String {
        self.process.stdin.take().unwrap().flush().unwrap();
        String::from_utf8(self.process.wait_with_output().unwrap().stdout).unwrap()
    }
}

/// Returns what a command at this level reached, and what the host noticed of it.
fn reached(level: Level, network: NetworkPolicy) -> (String, String) {
    let mut fixture = Fixture::at_level(level);
    assert_eq!(fixture.launcher.report().level, level, "not run: {}", fixture.launcher.report());
    fixture.policy.network = network;
    let host = Host::start(&fixture);
    std::fs::write(fixture.workspace().join("attack.py"), ATTACK).unwrap();
    let outside = fixture.root().join("outside");
    let outcome = fixture.run(&format!("python3 attack.py {} {}", host.number, outside.display()));
    assert!(outcome.ending.is_success(), "{}", stderr(&outcome));
    (stdout(&outcome), host.end())
}

fn nothing_is_reached() {
    for level in [Level::Landlock, Level::Full] {
        for network in [NetworkPolicy::Off, NetworkPolicy::Host] {
            let (said, noticed) = reached(level, network.clone());
            // In its own namespace a command can use the objects that it makes there.
            let made = ["reached a queue", "reached a named queue"];
            let is_foreign = |line: &&str| {
                line.starts_with("reached")
                    && !(level == Level::Full && made.iter().any(|own| line.starts_with(own)))
            };
            let reached: Vec<&str> = said.lines().filter(is_foreign).collect();
            assert!(reached.is_empty() && said.lines().count() == 7, "{level} {network:?}: {said}");
            assert_eq!(noticed, "limit 500\n", "{level} {network:?}: {said}");
        }
    }
}

fn everything_is_reached_without_confinement() {
    let (said, noticed) = reached(Level::Process, NetworkPolicy::Off);
    for what in [
        CANARY,
        "reached a queue",
        "reached a named queue",
        "reached a limit",
        "reached a receiver",
        "reached a server",
        "abstract",
    ] {
        assert!(said.contains(what), "{what}: {said}");
    }
    assert!(noticed.matches("came to").count() == 3 && noticed.contains("limit 77"), "{noticed}");
}

#[test]
fn objects_and_processes_of_the_host_are_out_of_reach() {
    nothing_is_reached();
    if geteuid().is_root() {
        become_ordinary("attack::host_objects::objects_and_processes_of_the_host_are_out_of_reach", STAND_IN);
    }
}

#[test]
fn the_same_attacks_bite_without_confinement() {
    everything_is_reached_without_confinement();
    if geteuid().is_root() {
        become_ordinary("attack::host_objects::the_same_attacks_bite_without_confinement", STAND_IN);
    }
}
