//! The supervisor of a command: a process next to its init that answers the system calls which the filter leaves to it.
//!
//! Refused calls are answered with EPERM. Connections are made here, on the caller's socket and to a copy of the address
//! that the caller cannot change any more, so that the address that was checked is the one connected to. On a layer, it
//! also receives renames and removals of folders, and does those that the kernel would refuse there: see
//! [`folder_moves`]. When the supervisor is gone, all of these calls fail.
//!
//! It has no capability and the command's own user; the command can neither signal nor inspect it.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{Errno, Result};
use rustix::net::sockopt::socket_type;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, PidfdGetfdFlags, Signal, WaitOptions, pidfd_getfd, pidfd_open,
    set_dumpable_behavior, set_parent_process_death_signal, wait,
};
use rustix::time::Timespec;

use crate::child::confine;
use crate::init::EXIT_BROKEN;
use crate::init::folder_moves::{self, Answer};
use crate::init::own_ids::OwnIds;
use crate::init::step::{AtStep, Step, StepError};
use crate::init::unix_socket::{self, Target};
use crate::init::unmounter::Unmounter;
use crate::report::denial::{Denial, Denials};
use crate::spawner::channel;
use crate::sys::{self, Cloned, Notification};

/// The kernel's longest socket address.
const ADDRESS_LIMIT_BYTES: u64 = 128;

/// The most ports that are sent. The names of a list have a few; with more, no refused port is reported.
const MOST_PORTS: usize = 1024;

/// A supervisor that waits for its command.
pub(crate) struct SupervisorProcess {
    orders: OwnedFd,
}

impl SupervisorProcess {
    /// Creates the process. The file tree must be the command's, except for mounts that are still to be made.
    pub(crate) fn create(
        listener: OwnedFd,
        own_ids: Option<&OwnIds>,
    ) -> std::result::Result<SupervisorProcess, StepError> {
        let (orders, its_end) = channel::pair().at(Step::Fork)?;
        match sys::clone_process(0).at(Step::Fork)? {
            Cloned::Child => {
                drop(orders);
                // The others include the ends of the command's output: held open here, readers would never see its end.
                if confine(own_ids).and_then(|()| sys::close_all_but(&[&listener, &its_end])).is_err() {
                    sys::exit_now(EXIT_BROKEN)
                }
                if let Ok(Some((ports, descriptors))) = channel::receive(&its_end) {
                    let named_ports = decode_ports(&ports);
                    let mut descriptors = descriptors.into_iter();
                    if let Some(status) = descriptors.next() {
                        let unmounter = descriptors.next().map(Unmounter::new);
                        let denials = Denials::default();
                        Supervisor { listener, status, named_ports, denials, unmounter }.serve();
                    }
                }
                sys::exit_now(0)
            }
            Cloned::Parent { .. } => Ok(SupervisorProcess { orders }),
        }
    }

    /// Lets the supervisor answer calls, report refusals on the command's status socket, and unmount build folders.
    /// `named_ports` are the ports at which some name is allowed.
    pub(crate) fn start(
        self,
        status: &OwnedFd,
        unmounter: Option<&OwnedFd>,
        named_ports: &[u16],
    ) -> std::result::Result<(), StepError> {
        let descriptors: Vec<_> = [Some(status), unmounter].into_iter().flatten().map(AsFd::as_fd).collect();
        channel::send(&self.orders, &encode_ports(named_ports), &descriptors).at(Step::Fork)
    }
}

/// Writes ports as a packet, which is never empty: an empty one would mean the end.
fn encode_ports(ports: &[u16]) -> Vec<u8> {
    let sent = if ports.len() > MOST_PORTS { &[] } else { ports };
    let ports = sent.iter().flat_map(|port| port.to_be_bytes());
    std::iter::once(b'S').chain(ports).collect()
}

fn decode_ports(packet: &[u8]) -> Vec<u16> {
    let ports = packet.get(1..).unwrap_or_default().chunks_exact(2);
    ports.map(|port| u16::from_be_bytes([port[0], port[1]])).collect()
}

/// Confines this process so that it can inspect the command's processes, and otherwise do no more than they can.
pub(crate) fn confine(own_ids: Option<&OwnIds>) -> Result<()> {
    if let Some(own_ids) = own_ids {
        own_ids.enter()?;
        confine::limit_capabilities()?;
    }
    set_parent_process_death_signal(Some(Signal::KILL))?;
    confine::drop_capabilities()?;
    rustix::thread::set_no_new_privs(true)?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// Answers calls until the command has ended.
pub(crate) struct Supervisor {
    listener: OwnedFd,
    /// To the launcher, which receives the refusals.
    status: OwnedFd,
    /// Ports at which some name is allowed; none if there is no such name.
    named_ports: Vec<u16>,
    denials: Denials,
    /// `None` if there is no build folder.
    unmounter: Option<Unmounter>,
}

impl Supervisor {
    fn serve(mut self) {
        loop {
            // Reaps its own children, which have made connections.
            while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
            match sys::receive_notification(self.listener.as_fd()) {
                Ok(call) => self.answer(&call),
                // The caller was killed before the call could be read.
                Err(Errno::NOENT | Errno::INTR) => {
                    if self.is_over() {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }

    /// Checks whether no process is left under the filter.
    fn is_over(&self) -> bool {
        let mut watched = [PollFd::new(&self.listener, PollFlags::IN)];
        poll(&mut watched, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok()
            && watched[0].revents().contains(PollFlags::HUP)
    }

    fn answer(&mut self, call: &Notification) {
        if folder_moves::is_file_call(call) {
            return self.answer_file_call(call);
        }
        if call.call == libc::SYS_sendto {
            return self.look_at_datagram(call);
        }
        if call.call != libc::SYS_connect {
            self.report(Denial::of_call(call.call, &call.arguments));
            return self.send(call, Err(Errno::PERM));
        }
        match self.connection(call) {
            Ok(connection) if connection.may_wait() => {
                // Another call must not wait for this one, which may itself depend on it.
                match sys::clone_process(0) {
                    Ok(Cloned::Child) => {
                        self.connect(call, &connection);
                        sys::exit_now(0)
                    }
                    Ok(Cloned::Parent { .. }) => {}
                    Err(errno) => self.send(call, Err(errno)),
                }
            }
            Ok(connection) => self.connect(call, &connection),
            Err(errno) => self.send(call, Err(errno)),
        }
    }

    fn answer_file_call(&mut self, call: &Notification) {
        let unmounter = self.unmounter.as_ref();
        let is_waiting = || sys::is_waiting(self.listener.as_fd(), call.id);
        match folder_moves::answer(call, is_waiting, unmounter) {
            Answer::LeaveToKernel => {
                // It fails only if the caller was killed.
                let _ = sys::leave_to_kernel(self.listener.as_fd(), call.id);
            }
            Answer::Done(done) => self.send(call, done),
            // Other calls must not wait for it.
            Answer::Move(folder) => match sys::clone_process(0) {
                Ok(Cloned::Child) => {
                    self.send(call, folder.run(unmounter));
                    sys::exit_now(0)
                }
                Ok(Cloned::Parent { .. }) => {}
                Err(errno) => self.send(call, Err(errno)),
            },
        }
    }

    /// Reports a datagram to an address without a route. The kernel judges the call in any case.
    fn look_at_datagram(&mut self, call: &Notification) {
        let [.., at, length] = call.arguments;
        let denial = self.read_address(call, at, length & 0xffff_ffff).ok().and_then(|address| {
            let is_unreachable = is_unreachable(&address);
            Denial::of_connection(&address, true, is_unreachable)
        });
        if let Some(denial) = denial {
            self.report(denial);
        }
        // It fails only if the caller was killed.
        let _ = sys::leave_to_kernel(self.listener.as_fd(), call.id);
    }

    fn connect(&mut self, call: &Notification, connection: &Connection) {
        let made = connection.make();
        if let Some(denial) = connection.denial(made, &self.named_ports) {
            self.report(denial);
        }
        self.send(call, made);
    }

    /// Reports a refusal to the launcher, before the caller has its answer: it may end at once.
    fn report(&mut self, denial: Denial) {
        if self.denials.note(&denial) {
            // A launcher that is gone needs no receipts.
            let _ = channel::send(&self.status, &denial.encode(), &[]);
        }
    }

    fn send(&self, call: &Notification, answer: Result<()>) {
        // It fails only if the caller does not wait for the answer any more.
        let _ = sys::answer_notification(self.listener.as_fd(), call.id, answer);
    }

    /// Copies the socket and the address of a call that connects.
    fn connection(&self, call: &Notification) -> Result<Connection> {
        let [descriptor, at, length, ..] = call.arguments;
        // The kernel reads the lower half of numbers.
        let (descriptor, length) = (descriptor as u32 as i32, length & 0xffff_ffff);
        if length > ADDRESS_LIMIT_BYTES {
            return Err(Errno::INVAL);
        }
        let process = self.process_of(call)?;
        let address = self.read_address(call, at, length)?;
        let socket = pidfd_getfd(&process, descriptor, PidfdGetfdFlags::empty())?;
        let target = match unix_socket::path(&address) {
            Some(path) => match unix_socket::find(call.thread, path) {
                Err(Errno::NOENT) if unix_socket::is_of_host_service(path) => Target::HostService,
                target => target?,
            },
            None => Target::Address,
        };
        if !sys::is_waiting(self.listener.as_fd(), call.id) {
            return Err(Errno::INTR);
        }
        Ok(Connection { socket, address, target })
    }

    /// Copies an address from the caller's memory.
    fn read_address(&self, call: &Notification, at: u64, length: u64) -> Result<Vec<u8>> {
        if length > ADDRESS_LIMIT_BYTES {
            return Err(Errno::INVAL);
        }
        let mut address = vec![0; usize::try_from(length).map_err(|_| Errno::INVAL)?];
        let memory = File::open(format!("/proc/{}/mem", call.thread)).map_err(|_| Errno::PERM)?;
        // Numbers of ended threads are reused: the process is the caller's only if it still waits.
        if !sys::is_waiting(self.listener.as_fd(), call.id) {
            return Err(Errno::INTR);
        }
        memory.read_exact_at(&mut address, at).map_err(|_| Errno::FAULT)?;
        Ok(address)
    }

    /// Opens the process of the calling thread, which holds its descriptors.
    fn process_of(&self, call: &Notification) -> Result<OwnedFd> {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", call.thread)).map_err(|_| Errno::SRCH)?;
        let number = status
            .lines()
            .find_map(|line| line.strip_prefix("Tgid:"))
            .and_then(|text| text.trim().parse().ok());
        let process = pidfd_open(number.and_then(Pid::from_raw).ok_or(Errno::SRCH)?, PidfdFlags::empty())?;
        if sys::is_waiting(self.listener.as_fd(), call.id) { Ok(process) } else { Err(Errno::INTR) }
    }
}

/// A connection that a call asks for.
struct Connection {
    socket: OwnedFd,
    address: Vec<u8>,
    target: Target,
}

impl Connection {
    /// Checks whether the caller may have to wait for the connection.
    fn may_wait(&self) -> bool {
        matches!(self.target, Target::Address | Target::Own(_))
            && fcntl_getfl(&self.socket).is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK))
    }

    fn make(&self) -> Result<()> {
        match &self.target {
            Target::Address => sys::connect(self.socket.as_fd(), &self.address),
            Target::Own(file) => sys::connect(self.socket.as_fd(), &unix_socket::address_of(file)),
            Target::Foreign => Err(Errno::CONNREFUSED),
            Target::HostService => Err(Errno::NOENT),
        }
    }

    /// Returns the refusal to report for a connection attempt, if any.
    fn denial(&self, made: Result<()>, named_ports: &[u16]) -> Option<Denial> {
        let path =
            || String::from_utf8_lossy(unix_socket::path(&self.address).unwrap_or_default()).into_owned();
        match self.target {
            Target::Foreign => return Some(Denial::UnixSocket(path())),
            Target::HostService => return Some(Denial::HostService(path())),
            Target::Address | Target::Own(_) => {}
        }
        let is_unreachable = matches!(made, Err(Errno::NETUNREACH | Errno::HOSTUNREACH));
        let is_datagram = socket_type(&self.socket).is_ok_and(|kind| kind == SocketType::DGRAM);
        Denial::of_connection(&self.address, is_datagram, is_unreachable).or_else(|| {
            let other_port = || Denial::of_other_port(&self.address, named_ports);
            let loopback = || self.is_refused(made).then(|| Denial::of_loopback(&self.address)).flatten();
            other_port().or_else(loopback).filter(|_| !is_datagram)
        })
    }

    /// Checks whether nothing has accepted the connection. On the loopback interface that is known at once.
    fn is_refused(&self, made: Result<()>) -> bool {
        let has_failed = || {
            let mut watched = [PollFd::new(&self.socket, PollFlags::OUT)];
            // Unlike reading the socket's own error, which would consume it, polling leaves the state to the caller.
            poll(&mut watched, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok()
                && watched[0].revents().contains(PollFlags::ERR)
        };
        matches!(made, Err(Errno::CONNREFUSED)) || matches!(made, Err(Errno::INPROGRESS)) && has_failed()
    }
}

/// Checks whether no route leads to an address.
fn is_unreachable(address: &[u8]) -> bool {
    let family = match address.first_chunk().map(|family| i32::from(u16::from_ne_bytes(*family))) {
        Some(libc::AF_INET) => AddressFamily::INET,
        Some(libc::AF_INET6) => AddressFamily::INET6,
        _ => return false,
    };
    // Connecting a datagram socket sends nothing.
    let connected = socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
        .and_then(|socket| sys::connect(socket.as_fd(), address));
    matches!(connected, Err(Errno::NETUNREACH | Errno::HOSTUNREACH))
}
