//! A scripted network, a command's side of a connection, and TLS greetings.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use egress::{AllowList, DialLimits, Dialer, Grant, Outside, Proxy, Refusal, ResolveError};

/// The longest that a test waits for an event.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A resolver whose answers are scripted; each connection goes to one server, whatever address is dialled.
#[derive(Clone)]
pub(super) struct Script {
    pub(super) answers: Arc<Mutex<VecDeque<Vec<IpAddr>>>>,
    pub(super) dialled: Arc<Mutex<Vec<SocketAddr>>>,
    pub(super) server: SocketAddr,
    /// An address of the machine in a network.
    pub(super) own: Option<IpAddr>,
}

impl Outside for Script {
    fn resolve(&self, _name: &str, _deadline: Instant) -> Result<Vec<IpAddr>, ResolveError> {
        self.answers.lock().unwrap().pop_front().ok_or(ResolveError::Unresolved)
    }

    fn connect(&self, address: SocketAddr, _deadline: Instant) -> io::Result<TcpStream> {
        self.dialled.lock().unwrap().push(address);
        TcpStream::connect(self.server)
    }

    fn is_own(&self, address: IpAddr) -> bool {
        self.own == Some(address)
    }
}

/// A dialer over a script, a server, and the receipts of a command.
pub(super) struct Network {
    pub(super) script: Script,
    pub(super) server: TcpListener,
    pub(super) dialer: Dialer,
    pub(super) receipts: Receiver<Refusal>,
    report: Sender<Refusal>,
    commands: TcpListener,
}

impl Network {
    /// A network on which names resolve to these addresses, one list for each look-up.
    pub(super) fn new(answers: &[&[&str]]) -> Network {
        Network::with(answers, DialLimits::default(), None)
    }

    pub(super) fn with(answers: &[&[&str]], limits: DialLimits, proxy: Option<Proxy>) -> Network {
        Network::on(answers, limits, proxy, None)
    }

    /// A network of a machine that has this address in it.
    pub(super) fn of_machine(own: &str, answers: &[&[&str]]) -> Network {
        Network::on(answers, DialLimits::default(), None, Some(own.parse().unwrap()))
    }

    fn on(answers: &[&[&str]], limits: DialLimits, proxy: Option<Proxy>, own: Option<IpAddr>) -> Network {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let addresses = |list: &&[&str]| list.iter().map(|address| address.parse().unwrap()).collect();
        let script = Script {
            answers: Arc::new(Mutex::new(answers.iter().map(addresses).collect())),
            dialled: Arc::default(),
            server: server.local_addr().unwrap(),
            own,
        };
        let dialer = Dialer::new(limits, script.clone(), Ok(proxy));
        let (report, receipts) = channel();
        let commands = TcpListener::bind("127.0.0.1:0").unwrap();
        Network { script, server, dialer, receipts, report, commands }
    }

    pub(super) fn grant(&self, list: &str) -> Grant {
        let report = self.report.clone();
        let list: AllowList = list.parse().unwrap();
        Grant::new(&self.dialer, Arc::new(list), move |refusal| report.send(refusal).unwrap())
    }

    /// Opens a connection as a command does, and hands its other end to the grant.
    pub(super) fn open(&self, grant: &Grant, name: &str, port: u16) -> TcpStream {
        let (command, accepted) = self.pair();
        grant.carry(name.parse().unwrap(), port, OwnedFd::from(accepted));
        command
    }

    pub(super) fn pair(&self) -> (TcpStream, TcpStream) {
        let command = TcpStream::connect(self.commands.local_addr().unwrap()).unwrap();
        let (accepted, peer) = self.commands.accept().unwrap();
        assert_eq!(peer, command.local_addr().unwrap(), "connections are opened one after the other");
        command.set_read_timeout(Some(PATIENCE)).unwrap();
        (command, accepted)
    }

    /// Accepts what the dialer connects.
    pub(super) fn accept(&self) -> TcpStream {
        let (stream, _) = self.server.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    pub(super) fn receipt(&self) -> String {
        let refusal = self.receipts.recv_timeout(PATIENCE).unwrap().to_string();
        // The server's port is the system's choice.
        refusal.replace(&self.script.server.port().to_string(), "PORT")
    }

    pub(super) fn dialled(&self) -> Vec<String> {
        self.script.dialled.lock().unwrap().iter().map(ToString::to_string).collect()
    }
}

/// Checks that a command's connection is reset, not ended in order.
pub(super) fn assert_reset(mut command: TcpStream) {
    let error = read_byte(&mut command).map(|count| panic!("read {count} bytes")).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
}

/// Sends a line each way and ends both.
pub(super) fn assert_connected(mut command: TcpStream, mut server: TcpStream) {
    command.write_all(b"ping").unwrap();
    command.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(read_all(&mut server), b"ping");
    server.write_all(b"pong").unwrap();
    drop(server);
    assert_eq!(read_all(&mut command), b"pong");
}

/// Reads one byte, or zero at the end. A read with a deadline is interrupted where the machine is paused, so it is asked again.
pub(super) fn read_byte(stream: &mut TcpStream) -> io::Result<usize> {
    loop {
        match stream.read(&mut [0]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

pub(super) fn read_all(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}

pub(super) fn proxy(variables: &[(&str, &str)]) -> Result<Option<Proxy>, egress::ProxyError> {
    Proxy::from_environment(|name| {
        variables.iter().find(|(own, _)| *own == name).map(|(_, value)| OsString::from(value))
    })
}

/// The first message of a TLS client, with the name of a server and with padding, in one record.
pub(super) fn client_hello(server: Option<&str>, padding: usize) -> Vec<u8> {
    let handshake = handshake(server, padding);
    record(&handshake)
}

/// The same in records of at most `size` bytes.
pub(super) fn client_hello_in_records(server: &str, size: usize) -> Vec<u8> {
    handshake(Some(server), 0).chunks(size).flat_map(record).collect()
}

fn record(fragment: &[u8]) -> Vec<u8> {
    [&[22, 3, 1], short(fragment).as_slice()].concat()
}

/// Prefixes bytes with their length in two bytes.
fn short(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
}

fn extension(number: u16, body: &[u8]) -> Vec<u8> {
    [&number.to_be_bytes(), short(body).as_slice()].concat()
}

fn handshake(server: Option<&str>, padding: usize) -> Vec<u8> {
    let mut extensions = Vec::new();
    if let Some(server) = server {
        let name = [&[0], short(server.as_bytes()).as_slice()].concat();
        extensions.extend(extension(0, &short(&name)));
    }
    extensions.extend(extension(13, &short(&[4, 3, 8, 4])));
    extensions.extend(extension(43, &[2, 3, 4]));
    extensions.extend(extension(21, &vec![0; padding]));
    let body = [[3, 3].as_slice(), &[7; 32], &[0], &short(&[0x13, 1]), &[1, 0], &short(&extensions)].concat();
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&[1], &length[1..], &body].concat()
}
