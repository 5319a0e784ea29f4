//! Many connections at one time.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use egress::{DialLimits, Dialer, Grant, Outside, ResolveError};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::fixture::{Network, PATIENCE, assert_connected, assert_reset};

const LIST: &str = "a.example:8080@127.0.0.1";

/// Raises the number of files that this process may have open as far as it may.
fn raise_open_files() -> u64 {
    let limits = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limits.maximum, maximum: limits.maximum }).unwrap();
    limits.maximum.unwrap_or(u64::MAX)
}

#[test]
fn a_thousand_connections_are_open_at_one_time() {
    // Each has two ends of two connections in this process.
    let count = 1000.min(usize::try_from(raise_open_files() / 4 - 100).unwrap());
    let mut limits = DialLimits::default();
    limits.open_per_command = limits.open;
    let network = Network::with(&[], limits, None);
    let grant = network.grant(LIST);
    let open = |_| {
        let command = network.open(&grant, "a.example", 8080);
        (command, network.accept())
    };
    let connections: Vec<_> = (0..count).map(open).collect();
    for (command, server) in connections {
        assert_connected(command, server);
    }
    assert!(network.receipts.try_recv().is_err(), "nothing was refused");
}

#[test]
fn connections_beyond_the_bound_wait_and_then_are_refused() {
    let mut limits = DialLimits::default();
    (limits.open, limits.waiting) = (3, 2);
    let network = Network::with(&[], limits, None);
    let grant = network.grant(LIST);
    let open: Vec<_> = (0..3)
        .map(|_| {
            let command = network.open(&grant, "a.example", 8080);
            (command, network.accept())
        })
        .collect();
    let waiting: Vec<_> = (0..2).map(|_| network.open(&grant, "a.example", 8080)).collect();
    let refused = network.open(&grant, "a.example", 8080);
    insta::assert_snapshot!(network.receipt(), @"connect a.example:8080 · 3 connections are open and 2 wait");
    assert_reset(refused);
    // A name that is not allowed does not wait.
    assert_reset(network.open(&grant, "b.example", 8080));
    assert!(network.receipt().contains("b.example"));
    assert_eq!(network.dialled().len(), 3);
    for (command, server) in open {
        assert_connected(command, server);
    }
    for command in waiting {
        assert_connected(command, network.accept());
    }
}

#[test]
fn connections_that_wait_end_with_their_command() {
    let mut limits = DialLimits::default();
    (limits.open, limits.waiting) = (1, 8);
    let network = Network::with(&[], limits, None);
    let (busy, ended) = (network.grant(LIST), network.grant(LIST));
    let open = (network.open(&busy, "a.example", 8080), network.accept());
    let waiting: Vec<_> = (0..4).map(|_| network.open(&ended, "a.example", 8080)).collect();
    drop(ended);
    for mut command in waiting {
        assert_eq!(super::fixture::read_all(&mut command), b"");
    }
    assert_connected(open.0, open.1);
}

#[test]
fn one_command_leaves_connections_to_the_others() {
    let mut limits = DialLimits::default();
    (limits.open, limits.open_per_command, limits.waiting_per_command) = (3, 2, 1);
    let network = Network::with(&[], limits, None);
    let (greedy, other) = (network.grant(LIST), network.grant(LIST));
    let mut open: Vec<_> = (0..2)
        .map(|_| {
            let command = network.open(&greedy, "a.example", 8080);
            (command, network.accept())
        })
        .collect();
    let waiting = network.open(&greedy, "a.example", 8080);
    let refused: Vec<_> = (0..3).map(|_| network.open(&greedy, "a.example", 8080)).collect();
    for command in refused {
        assert_eq!(
            network.receipt(),
            "connect a.example:8080 · 2 connections of the command are open and 1 wait"
        );
        assert_reset(command);
    }
    // The last one of the process, and what waits for it.
    let (held, held_by) = (network.open(&other, "a.example", 8080), network.accept());
    let other_waiting = network.open(&other, "a.example", 8080);
    assert_eq!(network.dialled().len(), 3);
    // The longer waiting connection is of a command at its limit.
    assert_connected(held, held_by);
    assert_connected(other_waiting, network.accept());
    let (command, server) = open.pop().unwrap();
    assert_connected(command, server);
    assert_connected(waiting, network.accept());
}

/// A resolver that answers for slow names when released, and counts concurrent look-ups.
struct SlowResolver {
    server: SocketAddr,
    running: AtomicUsize,
    most: Arc<AtomicUsize>,
    requested: Sender<()>,
    answers: Mutex<Receiver<()>>,
}

impl Outside for SlowResolver {
    fn resolve(&self, name: &str, _deadline: Instant) -> Result<Vec<IpAddr>, ResolveError> {
        if name.starts_with("slow") {
            let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(running, Ordering::SeqCst);
            self.requested.send(()).unwrap();
            let answer = self.answers.lock().unwrap().recv_timeout(PATIENCE);
            self.running.fetch_sub(1, Ordering::SeqCst);
            answer.map_err(|_| ResolveError::TimedOut)?;
        }
        Ok(vec![IpAddr::from([93, 184, 215, 14])])
    }

    fn connect(&self, _address: SocketAddr, _deadline: Instant) -> io::Result<TcpStream> {
        TcpStream::connect(self.server)
    }
}

#[test]
fn one_command_leaves_look_ups_to_the_others() {
    const CONNECTIONS: usize = 60;
    const MOST: usize = 16;
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let ((requested, is_requested), (answer, answers)) = (channel(), channel());
    let most = Arc::new(AtomicUsize::new(0));
    let outside = SlowResolver {
        server: server.local_addr().unwrap(),
        running: AtomicUsize::new(0),
        most: Arc::clone(&most),
        requested,
        answers: Mutex::new(answers),
    };
    let dialer = Dialer::new(DialLimits::default(), outside, Ok(None));
    let grant = |list: &str| Grant::new(&dialer, Arc::new(list.parse().unwrap()), |_| ());
    let (greedy, other, sockets) =
        (grant("slow.example:8080"), grant("quick.example:8080"), Network::new(&[]));
    let open = |grant: &Grant, name: &str| {
        let (command, accepted) = sockets.pair();
        grant.carry(name.parse().unwrap(), 8080, OwnedFd::from(accepted));
        command
    };
    let slow: Vec<_> = (0..CONNECTIONS).map(|_| open(&greedy, "slow.example")).collect();
    for _ in 0..MOST {
        is_requested.recv_timeout(PATIENCE).unwrap();
    }
    let accept = || server.accept().unwrap().0;
    assert_connected(open(&other, "quick.example"), accept());
    for _ in 0..CONNECTIONS {
        answer.send(()).unwrap();
    }
    // Every one has its turn.
    for _ in 0..CONNECTIONS {
        accept();
    }
    assert_eq!(most.load(Ordering::SeqCst), MOST);
    drop((slow, greedy));
}

#[test]
fn all_networks_of_a_process_have_one_dialer() {
    let policy = |list: &str| format!("{:?}", egress::Network::Names(list.parse().unwrap()).policy());
    assert!(policy("a.example").contains("Dialer"));
    let (first, second) = (egress::Dialer::of_process(), egress::Dialer::of_process());
    assert!(first.is_same(&second));
    assert!(!first.is_same(&Network::new(&[]).dialer));
}
