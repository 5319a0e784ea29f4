//! The last bytes of a command that has ended.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use egress::{DialLimits, Dialer, Grant, Outside, ResolveError};

use super::fixture::{Network, PATIENCE, read_all, read_byte};

const LIST: &str = "a.example:8080@127.0.0.1";

/// A draining time longer than any test.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A command that is connected with a server.
struct Connected {
    grant: Grant,
    command: TcpStream,
    server: TcpStream,
}

fn connected(draining: Duration) -> Connected {
    let mut limits = DialLimits::default();
    limits.draining = draining;
    let network = Network::with(&[], limits, None);
    let grant = network.grant(LIST);
    let command = network.open(&grant, "a.example", 8080);
    Connected { grant, command, server: network.accept() }
}

/// Ends a command whose connections need no draining.
fn finish_at_once(grant: Grant) {
    let (done, is_done) = channel();
    // In a detached thread, so that the test fails instead of hanging.
    thread::spawn(move || {
        grant.finish();
        let _ = done.send(());
    });
    is_done.recv_timeout(PATIENCE).expect("nothing is waited for");
}

/// A network on which a connection is made when the test says so.
struct Gate {
    server: SocketAddr,
    dialled: Sender<()>,
    opened: Mutex<Receiver<()>>,
}

impl Outside for Gate {
    fn resolve(&self, _name: &str, _deadline: Instant) -> Result<Vec<IpAddr>, ResolveError> {
        Err(ResolveError::Unresolved)
    }

    fn connect(&self, _address: SocketAddr, _deadline: Instant) -> io::Result<TcpStream> {
        self.dialled.send(()).unwrap();
        // A gate that is gone stays closed.
        self.opened.lock().unwrap().recv_timeout(PATIENCE).map_err(io::Error::other)?;
        TcpStream::connect(self.server)
    }
}

/// A command whose connection waits at a gate.
struct Gated {
    grant: Grant,
    server: TcpListener,
    command: TcpStream,
    dialled: Receiver<()>,
    gate: Sender<()>,
}

fn gated(draining: Duration) -> Gated {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let ((dialled, is_dialled), (gate, opened)) = (channel(), channel());
    let outside = Gate { server: server.local_addr().unwrap(), dialled, opened: Mutex::new(opened) };
    let mut limits = DialLimits::default();
    limits.draining = draining;
    let dialer = Dialer::new(limits, outside, Ok(None));
    let grant = Grant::new(&dialer, Arc::new(LIST.parse().unwrap()), |_| ());
    let (command, accepted) = Network::new(&[]).pair();
    grant.carry("a.example".parse().unwrap(), 8080, OwnedFd::from(accepted));
    Gated { grant, server, command, dialled: is_dialled, gate }
}

#[test]
fn bytes_of_a_command_that_ends_before_it_is_connected_arrive() {
    for is_drained in [true, false] {
        let Gated { grant, server, mut command, dialled, gate } = gated(PATIENCE);
        command.write_all(b"last words").unwrap();
        drop(command);
        dialled.recv_timeout(PATIENCE).unwrap();
        if is_drained {
            thread::scope(|scope| {
                scope.spawn(|| grant.finish());
                gate.send(()).unwrap();
            });
        }
        drop(grant);
        // The control: without draining, the connection is made for nothing. A thread that is done has no gate.
        let _ = gate.send(());
        let (mut stream, _) = server.accept().unwrap();
        assert_eq!(read_all(&mut stream), if is_drained { &b"last words"[..] } else { b"" });
    }
}

#[test]
fn a_connection_without_a_byte_is_not_waited_for() {
    let Gated { grant, command, dialled, .. } = gated(A_DAY);
    dialled.recv_timeout(PATIENCE).unwrap();
    drop(command);
    finish_at_once(grant);
}

#[test]
fn a_server_that_reads_nothing_holds_a_command_up_for_a_bounded_time() {
    let Connected { grant, mut command, mut server } = connected(Duration::from_millis(20));
    command.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    while command.write(&[7; 1 << 16]).is_ok() {}
    drop(command);
    grant.finish();
    drop(grant);
    // The end of the stream arrives, whatever arrives of the bytes.
    let mut bytes = vec![0; 1 << 20];
    while io::Read::read(&mut server, &mut bytes).is_ok_and(|count| count > 0) {}
}

#[test]
fn last_sent_bytes_arrive_despite_an_unread_answer() {
    // A machine that is paused must not end the draining before the server reads.
    let Connected { grant, mut command, mut server } = connected(PATIENCE);
    let (begin, begun) = channel();
    let reader = thread::spawn(move || {
        server.write_all(&[1; 1 << 16]).unwrap();
        begun.recv_timeout(PATIENCE).unwrap();
        read_all(&mut server).len()
    });
    // The answer is there, and is not read.
    assert_eq!(read_byte(&mut command).unwrap(), 1);
    command.write_all(&[7; 20_000]).unwrap();
    drop(command);
    begin.send(()).unwrap();
    grant.finish();
    drop(grant);
    assert_eq!(reader.join().unwrap(), 20_000);
}

/// A connection that its command has closed with an unread answer, after it has sent `sent`: it is reset after these bytes.
fn reset_by_command(draining: Duration, sent: &[u8]) -> (Grant, TcpStream) {
    let Connected { grant, mut command, mut server } = connected(draining);
    server.write_all(&[1; 1 << 16]).unwrap();
    assert_eq!(read_byte(&mut command).unwrap(), 1);
    command.write_all(sent).unwrap();
    drop(command);
    let mut received = vec![0; sent.len()];
    io::Read::read_exact(&mut server, &mut received).unwrap();
    assert_eq!(received, sent);
    (grant, server)
}

#[test]
fn a_connection_that_the_end_of_its_command_has_reset_ends_in_order() {
    // The reset comes before the end of the command is known.
    let (grant, mut server) = reset_by_command(A_DAY, &[7; 20_000]);
    finish_at_once(grant);
    assert_eq!(read_all(&mut server), b"");
}

#[test]
fn a_connection_that_a_running_command_has_reset_is_reset() {
    let (_grant, mut server) = reset_by_command(Duration::from_millis(20), b"request");
    let error = read_byte(&mut server).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
}

#[test]
fn an_answer_to_a_half_closed_connection_is_not_waited_for() {
    let Connected { grant, mut command, mut server } = connected(A_DAY);
    command.write_all(b"request").unwrap();
    command.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(read_all(&mut server), b"request");
    drop(command);
    finish_at_once(grant);
}
