//! The forwarder of a command: a process in its namespaces that answers name queries and hands connections out.
//!
//! Allowed names have addresses of a range that is routed to the loopback interface. A connection to one of them is accepted
//! here and goes to the launcher as a descriptor, with the name and the port. The forwarder connects to nothing itself, reads
//! no byte of a connection, and its namespace has no route to elsewhere.
//!
//! It has the command's own user, no capability, and a filter that leaves it few system calls. The command can neither
//! signal nor inspect it.

mod name_server;
pub(crate) mod names;
mod route;

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_linger;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

use self::name_server::QUERY_LIMIT_BYTES;
use self::names::{NAME_SERVER, Names};
use crate::init::own_ids::OwnIds;
use crate::init::step::{AtStep, Step, StepError};
use crate::init::{EXIT_BROKEN, supervisor};
use crate::policy::network::AllowedName;
use crate::report::denial::{Denial, Denials};
use crate::spawner::channel;
use crate::sys::{self, Cloned};

/// The port of name servers.
const NAME_PORT: u16 = 53;

/// The most connections to the name server at one time; a further one ends the oldest.
const MOST_NAME_CLIENTS: usize = 16;

/// The system calls that it makes; any other one ends it.
const CALLS: &[libc::c_long] = &[
    libc::SYS_accept4,
    libc::SYS_brk,
    libc::SYS_close,
    libc::SYS_exit_group,
    libc::SYS_fcntl,
    libc::SYS_getsockname,
    libc::SYS_ioctl,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_mremap,
    libc::SYS_munmap,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_recvfrom,
    libc::SYS_restart_syscall,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_setsockopt,
];

/// Starts the process. It hands connections to `outward` and writes refusals to `status`.
///
/// The caller still needs its capabilities: the route and low ports take them.
pub(crate) fn start(
    allowed: Vec<AllowedName>,
    own_ids: Option<&OwnIds>,
    outward: &OwnedFd,
    status: &OwnedFd,
) -> Result<(), StepError> {
    route::add().at(Step::Network)?;
    let datagrams = UdpSocket::bind((NAME_SERVER, NAME_PORT)).at(Step::Network)?;
    let ports = Names::ports(&allowed);
    // Where some name is allowed at this port, connections to that name come here as well.
    let own = if ports.contains(&NAME_PORT) { Ipv4Addr::UNSPECIFIED } else { NAME_SERVER };
    let queries = TcpListener::bind((own, NAME_PORT)).at(Step::Network)?;
    let listen = |port| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port));
    let ports: Vec<TcpListener> = ports
        .into_iter()
        .filter(|port| *port != NAME_PORT)
        .map(listen)
        .collect::<Result<_, _>>()
        .at(Step::Network)?;
    datagrams.set_nonblocking(true).at(Step::Network)?;
    for listener in ports.iter().chain([&queries]) {
        listener.set_nonblocking(true).at(Step::Network)?;
    }
    match sys::clone_process(0).at(Step::Network)? {
        Cloned::Child => {
            let [datagrams, queries] = [OwnedFd::from(datagrams), OwnedFd::from(queries)];
            let ports: Vec<OwnedFd> = ports.into_iter().map(OwnedFd::from).collect();
            let kept: Vec<&OwnedFd> = ports.iter().chain([&datagrams, &queries, outward, status]).collect();
            if confine(own_ids, &kept).is_ok() {
                Forwarder {
                    names: Names::new(allowed),
                    datagrams: datagrams.into(),
                    queries: queries.into(),
                    ports: ports.into_iter().map(TcpListener::from).collect(),
                    clients: Vec::new(),
                    denials: Denials::default(),
                    outward,
                    status,
                }
                .serve();
            }
            sys::exit_now(EXIT_BROKEN)
        }
        Cloned::Parent { .. } => Ok(()),
    }
}

/// Confines the process to its sockets.
fn confine(own_ids: Option<&OwnIds>, kept: &[&OwnedFd]) -> rustix::io::Result<()> {
    supervisor::confine(own_ids)?;
    sys::close_all_but(kept)?;
    let program: BpfProgram = TargetArch::try_from(std::env::consts::ARCH)
        .and_then(|architecture| {
            let rules = CALLS.iter().map(|call| (*call, vec![])).collect();
            SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, architecture)
        })
        .and_then(TryInto::try_into)
        .map_err(|_| Errno::NOSYS)?;
    apply_filter(&program).map_err(|_| Errno::PERM)
}

struct Forwarder<'a> {
    names: Names,
    datagrams: UdpSocket,
    queries: TcpListener,
    ports: Vec<TcpListener>,
    clients: Vec<NameClient>,
    denials: Denials,
    outward: &'a OwnedFd,
    status: &'a OwnedFd,
}

/// A connection to the name server.
struct NameClient {
    stream: TcpStream,
    /// Bytes received and not answered yet.
    received: Vec<u8>,
}

impl Forwarder<'_> {
    /// Serves until the launcher is gone, or the namespace ends.
    fn serve(mut self) {
        loop {
            let fixed = [self.outward.as_fd(), self.datagrams.as_fd(), self.queries.as_fd()];
            let streams = self.clients.iter().map(|client| client.stream.as_fd());
            let watched = fixed.into_iter().chain(self.ports.iter().map(AsFd::as_fd)).chain(streams);
            let mut watched: Vec<PollFd<'_>> =
                watched.map(|socket| PollFd::from_borrowed_fd(socket, PollFlags::IN)).collect();
            match poll(&mut watched, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(_) => return,
            }
            let ready: Vec<bool> = watched.iter().map(|socket| !socket.revents().is_empty()).collect();
            let [is_over, has_datagram, has_client, rest @ ..] = ready.as_slice() else { return };
            if *is_over {
                self.hand_out_rest();
                return;
            }
            let (ports, clients) = rest.split_at(self.ports.len());
            // In reverse, since connections that end are removed.
            for index in (0..clients.len()).rev().filter(|index| clients[*index]) {
                self.answer_client(index);
            }
            if *has_datagram {
                self.answer_datagram();
            }
            if *has_client {
                self.accept_client();
            }
            for index in (0..ports.len()).filter(|index| ports[*index]) {
                self.hand_out(index);
            }
        }
    }

    fn answer_datagram(&mut self) {
        let mut query = [0; QUERY_LIMIT_BYTES];
        let Ok((length, sender)) = self.datagrams.recv_from(&mut query) else { return };
        if let Some(reply) = self.answer(&query[..length]) {
            // The sender retries.
            let _ = self.datagrams.send_to(&reply, sender);
        }
    }

    fn accept_client(&mut self) -> bool {
        let Ok((stream, _)) = self.queries.accept() else { return false };
        let is_query = |own: SocketAddr| own.ip() == IpAddr::V4(NAME_SERVER);
        if !stream.local_addr().is_ok_and(is_query) {
            self.pass_on(&stream);
        } else if stream.set_nonblocking(true).is_ok() {
            self.add_client(stream);
        }
        true
    }

    fn add_client(&mut self, stream: TcpStream) {
        if self.clients.len() >= MOST_NAME_CLIENTS {
            self.clients.remove(0);
        }
        self.clients.push(NameClient { stream, received: Vec::new() });
    }

    /// Reads from a connection to the name server and answers what is complete.
    fn answer_client(&mut self, index: usize) {
        let mut client = self.clients.remove(index);
        let mut bytes = [0; QUERY_LIMIT_BYTES];
        match client.stream.read(&mut bytes) {
            Ok(length) if length > 0 => client.received.extend_from_slice(&bytes[..length]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            _ => return,
        }
        while let Some((length, rest)) = client.received.split_first_chunk() {
            let length = usize::from(u16::from_be_bytes(*length));
            if length > QUERY_LIMIT_BYTES {
                return;
            }
            let Some(query) = rest.get(..length) else { break };
            let Some(reply) = self.answer(query) else { return };
            client.received.drain(..2 + length);
            let reply_length = u16::try_from(reply.len()).unwrap_or_default();
            // A client that does not read its answers is disconnected.
            if client.stream.write_all(&[&reply_length.to_be_bytes()[..], &reply].concat()).is_err() {
                return;
            }
        }
        self.clients.push(client);
    }

    fn answer(&mut self, query: &[u8]) -> Option<Vec<u8>> {
        let (reply, denial) = name_server::answer(query, &mut self.names)?;
        if let Some(denial) = denial {
            self.report(denial);
        }
        Some(reply)
    }

    /// Accepts a connection and hands it out, or resets it; false if none waits.
    fn hand_out(&mut self, index: usize) -> bool {
        let Ok((stream, _)) = self.ports[index].accept() else { return false };
        self.pass_on(&stream);
        true
    }

    /// Hands out the connections that still wait to be accepted, when the command has ended or the launcher is gone.
    fn hand_out_rest(&mut self) {
        for index in 0..self.ports.len() {
            while self.hand_out(index) {}
        }
        while self.accept_client() {}
    }

    /// Hands a connection out, or resets it.
    fn pass_on(&mut self, stream: &TcpStream) {
        let Ok(SocketAddr::V4(own)) = stream.local_addr() else { return reset(stream) };
        let (address, port) = (*own.ip(), own.port());
        let Some(name) = self.names.name_of(address).map(str::to_owned) else {
            if names::is_in_range(IpAddr::V4(address)) {
                self.report(Denial::Unreachable(own.into()));
            } else if address.is_loopback() {
                self.report(Denial::Loopback(own.into()));
            }
            return reset(stream);
        };
        if !self.names.allows(&name, port) {
            self.report(Denial::Port(name, port));
            return reset(stream);
        }
        if channel::send(self.outward, &encode(&name, port), &[stream.as_fd()]).is_err() {
            reset(stream);
        }
    }

    /// Reports a refusal, before the caller has its answer: it may end at once.
    fn report(&mut self, denial: Denial) {
        if self.denials.note(&denial) {
            // A launcher that is gone needs no receipts.
            let _ = channel::send(self.status, &denial.encode(), &[]);
        }
    }
}

/// Makes closing a connection an error for its peer.
fn reset(stream: &TcpStream) {
    let _ = set_socket_linger(stream, Some(Duration::ZERO));
}

/// Encodes the message that accompanies a connection.
fn encode(name: &str, port: u16) -> Vec<u8> {
    [&port.to_le_bytes()[..], name.as_bytes()].concat()
}

/// Decodes the message that accompanies a connection.
pub(crate) fn decode(message: &[u8]) -> Option<(&str, u16)> {
    let (port, name) = message.split_first_chunk()?;
    let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?;
    Some((name, u16::from_le_bytes(*port)))
}
