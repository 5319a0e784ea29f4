//! Receipts: a command's refusals by its confinement, as seen by the supervisor.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::child::mode_filter;
use crate::child::refused_calls::{REFUSED, name_and_reason};
use crate::init::forwarder::names;
use crate::init::unix_socket;

/// Most different refusals of one command that are reported.
pub(crate) const MOST_DENIALS: usize = 20;

/// The highest count of one refusal.
pub(crate) const HIGHEST_COUNT: u32 = 1000;

/// The port of name servers.
const NAME_SERVER_PORT: u16 = 53;

/// The reason of refusals for a command that may connect to some names.
const NOT_ALLOWED: &str = "not in the allow-list";

/// The end of a background job.
const KILL_JOB: &str = "kill background job";

/// Something that a command was refused, with the option that would allow it.
///
/// Displays as one line: `connect 192.0.2.1:443 · network is off · --network on`, followed by `· N times`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denied {
    /// The attempt.
    pub what: String,
    /// The reason for the refusal.
    pub why: String,
    /// The option that would allow it; `None` if nothing does.
    pub allow: Option<String>,
    /// The number of refusals, up to 1,000.
    pub count: u32,
}

impl Denied {
    /// A refusal that a [`Carrier`](crate::Carrier) reports.
    pub fn new(what: String, why: String, allow: Option<String>, count: u32) -> Denied {
        Denied { what, why, allow, count }
    }

    /// A background job with these arguments that ended with its command.
    pub(crate) fn of_background_job(arguments: &str) -> Denied {
        let what = format!("{KILL_JOB} \"{arguments}\"");
        Denied::new(what, "ended with the command".into(), Some("background=\"NAME\"".into()), 1)
    }

    /// Checks whether this names a background job that ended with its command.
    pub fn is_of_background_job(&self) -> bool {
        self.what.starts_with(KILL_JOB)
    }
}

impl std::fmt::Display for Denied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} · {}", self.what, self.why)?;
        if let Some(allow) = &self.allow {
            write!(f, " · {allow}")?;
        }
        if self.count > 1 { write!(f, " · {} times", self.count) } else { Ok(()) }
    }
}

/// One refusal, as sent from the supervisor to the launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Denial {
    /// No route leads to this address.
    Unreachable(SocketAddr),
    /// A query to a name server.
    NameLookup,
    /// A query for a name that is not allowed.
    Lookup(String),
    /// A port of an allowed name is not allowed.
    Port(String, u16),
    /// A port at which no name is allowed.
    OtherPort(u16),
    /// A port of the loopback interface at which nothing of the command listens.
    Loopback(SocketAddr),
    /// No socket of the command's own is bound to this file.
    UnixSocket(String),
    /// Nothing is at this path, at which a service of the host or an ssh-agent would listen.
    HostService(String),
    /// A Unix socket for datagrams, or a pair of them.
    UnixDatagrams,
    /// A socket by family, type and protocol.
    Socket([u32; 3]),
    /// A set-user-ID or set-group-ID bit.
    SetId,
    /// A device file.
    Device,
    /// A system call by its number.
    Call(i64),
}

impl Denial {
    /// The first byte of a packet with a refusal.
    pub(crate) const MARK: u8 = b'D';

    /// Returns the refusal of a connection to an address, if there is one.
    pub(crate) fn of_connection(address: &[u8], is_datagram: bool, is_unreachable: bool) -> Option<Denial> {
        let address = internet_address(address)?;
        let is_own_server = names::is_in_range(address.ip());
        if address.port() == NAME_SERVER_PORT && (is_unreachable || is_datagram && !is_own_server) {
            return Some(Denial::NameLookup);
        }
        is_unreachable.then_some(Denial::Unreachable(address))
    }

    /// Returns the refusal of a TCP connection to an address of a name, at a port at which no name is allowed. There is no
    /// listener that could accept it and learn the name.
    pub(crate) fn of_other_port(address: &[u8], allowed: &[u16]) -> Option<Denial> {
        let address = internet_address(address).filter(|address| names::is_in_range(address.ip()))?;
        let port = address.port();
        let is_other = !allowed.is_empty() && port != NAME_SERVER_PORT && !allowed.contains(&port);
        is_other.then_some(Denial::OtherPort(port))
    }

    /// Returns the refusal of a TCP connection to the loopback interface at which no process of the command listens. It was
    /// meant for the host, if that has a server there.
    pub(crate) fn of_loopback(address: &[u8]) -> Option<Denial> {
        internet_address(address).filter(|address| address.ip().is_loopback()).map(Denial::Loopback)
    }

    /// Returns the refusal of a system call other than a connection.
    pub(crate) fn of_call(call: i64, arguments: &[u64; 6]) -> Denial {
        // The kernel reads the lower half.
        let argument = |index: usize| (arguments[index] & 0xffff_ffff) as u32;
        let family = libc::AF_UNIX.unsigned_abs();
        match call {
            libc::SYS_socketpair => Denial::UnixDatagrams,
            libc::SYS_socket if argument(0) == family => Denial::UnixDatagrams,
            libc::SYS_socket => Denial::Socket([argument(0), argument(1) & 0xf, argument(2)]),
            _ if mode_filter::makes_device(call, arguments) => Denial::Device,
            _ if mode_filter::is_mode_call(call) => Denial::SetId,
            _ => Denial::Call(call),
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let (kind, text) = match self {
            Denial::Unreachable(address) => (b'a', address.to_string()),
            Denial::NameLookup => (b'n', String::new()),
            Denial::Lookup(name) => (b'l', name.clone()),
            Denial::Port(name, port) => (b'p', format!("{name} {port}")),
            Denial::OtherPort(port) => (b'o', port.to_string()),
            Denial::Loopback(address) => (b'b', address.to_string()),
            Denial::UnixSocket(path) => (b'u', path.clone()),
            Denial::HostService(path) => (b'h', path.clone()),
            Denial::UnixDatagrams => (b'd', String::new()),
            Denial::SetId => (b'i', String::new()),
            Denial::Device => (b'v', String::new()),
            Denial::Socket([family, kind, protocol]) => (b's', format!("{family} {kind} {protocol}")),
            Denial::Call(number) => (b'c', number.to_string()),
        };
        [&[Denial::MARK, kind], text.as_bytes()].concat()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Denial> {
        let [Denial::MARK, kind, text @ ..] = bytes else { return None };
        let text = std::str::from_utf8(text).ok()?;
        Some(match kind {
            b'a' => Denial::Unreachable(text.parse().ok()?),
            b'n' => Denial::NameLookup,
            b'u' => Denial::UnixSocket(text.to_owned()),
            b'l' => Denial::Lookup(text.to_owned()),
            b'p' => {
                let (name, port) = text.rsplit_once(' ')?;
                Denial::Port(name.to_owned(), port.parse().ok()?)
            }
            b'o' => Denial::OtherPort(text.parse().ok()?),
            b'h' => Denial::HostService(text.to_owned()),
            b'b' => Denial::Loopback(text.parse().ok()?),
            b'd' => Denial::UnixDatagrams,
            b'i' => Denial::SetId,
            b'v' => Denial::Device,
            b's' => {
                let numbers: Option<Vec<u32>> = text.split(' ').map(|number| number.parse().ok()).collect();
                Denial::Socket(numbers?.try_into().ok()?)
            }
            b'c' => Denial::Call(text.parse().ok()?),
            _ => return None,
        })
    }

    /// Describes the refusal; `has_names` is true if the command may connect to some names.
    fn describe(&self, count: u32, has_names: bool) -> Denied {
        match self {
            Denial::Unreachable(address) if has_names => {
                // Clouds serve a machine's credentials on its own segment: do not suggest to allow that.
                let allow = (!is_of_segment(address.ip()))
                    .then(|| format!("--network allow=NAME:{}@{}", address.port(), address.ip()));
                Denied::new(format!("connect {address}"), NOT_ALLOWED.into(), allow, count)
            }
            Denial::NameLookup if has_names => {
                let why = "allowed names are answered by the name server of /etc/resolv.conf alone";
                Denied::new("ask another name server".into(), why.into(), None, count)
            }
            Denial::Lookup(name) => {
                let (what, allow) = (format!("look up {}", one_line(name)), allowing(name, ""));
                Denied::new(what, NOT_ALLOWED.into(), allow, count)
            }
            Denial::Port(name, port) => {
                let what = format!("connect {}:{port}", one_line(name));
                let allow = allowing(name, &format!(":{port}"));
                Denied::new(what, NOT_ALLOWED.into(), allow, count)
            }
            Denial::OtherPort(port) => {
                let allow = format!("--network allow=NAME:{port}");
                Denied::new(format!("connect port {port} of a name"), NOT_ALLOWED.into(), Some(allow), count)
            }
            other => other.describe_without_names(count),
        }
    }

    fn describe_without_names(&self, count: u32) -> Denied {
        const OFF: &str = "network is off";
        const ON: Option<&str> = Some("--network on");
        let (what, why, allow) = match self {
            Denial::Unreachable(address) => (format!("connect {address}"), OFF.to_owned(), ON),
            Denial::NameLookup => ("look up a host name".to_owned(), OFF.to_owned(), ON),
            Denial::UnixSocket(path) => (
                // The command chooses the name, and a receipt is one line.
                format!("connect Unix socket {}", one_line(path)),
                "no process of this command listens there".to_owned(),
                Some("start the server in the same command"),
            ),
            Denial::HostService(path) => {
                let why = if unix_socket::is_of_agent(path.as_bytes()) {
                    "ssh-agents of the host are not visible to commands"
                } else {
                    "services of the host are not visible to commands"
                };
                let instead = Some("use it outside of the sandbox");
                (format!("connect Unix socket {}", one_line(path)), why.to_owned(), instead)
            }
            Denial::SetId => (
                "set a set-user-ID or set-group-ID bit".to_owned(),
                "others could run the file with its owner's rights".to_owned(),
                None,
            ),
            Denial::Device => (
                "make a device file".to_owned(),
                "devices lead around the confinement of files".to_owned(),
                None,
            ),
            Denial::Lookup(name) | Denial::Port(name, _) => (one_line(name), OFF.to_owned(), ON),
            Denial::OtherPort(port) => (format!("connect port {port} of a name"), OFF.to_owned(), ON),
            Denial::Loopback(address) => {
                let why = "a command has a loopback interface of its own, without the host's servers";
                let entry = match address.ip() {
                    IpAddr::V4(ip) => format!("NAME:{}@{ip}", address.port()),
                    IpAddr::V6(ip) => format!("NAME:{}@[{ip}]", address.port()),
                };
                let allow = Some(format!("--network allow={entry}"));
                return Denied::new(format!("connect {address}"), why.to_owned(), allow, count);
            }
            Denial::UnixDatagrams => (
                "make a Unix datagram socket".to_owned(),
                "it could reach other programs, and network is off".to_owned(),
                ON,
            ),
            Denial::Socket([family, kind, protocol]) => (
                format!("make a socket of family {family}, type {kind}, protocol {protocol}"),
                "only TCP, UDP, Unix sockets and netlink routes are made".to_owned(),
                None,
            ),
            Denial::Call(number) => {
                let (name, reason) = name_and_reason(REFUSED, *number);
                (format!("system call {name}"), format!("refused in every command: {reason}"), None)
            }
        };
        Denied { what, why, allow: allow.map(str::to_owned), count }
    }
}

/// The refusals of one command, each once with a count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Denials {
    entries: Vec<(Denial, u32)>,
}

impl Denials {
    /// Counts a refusal, and returns whether that changed anything.
    pub(crate) fn note(&mut self, denial: &Denial) -> bool {
        let is_full = self.entries.len() >= MOST_DENIALS;
        match self.entries.iter_mut().find(|(listed, _)| listed == denial) {
            Some((_, count)) if *count < HIGHEST_COUNT => *count += 1,
            None if !is_full => self.entries.push((denial.clone(), 1)),
            _ => return false,
        }
        true
    }

    /// Drops connections to ports of the loopback interface at which the host has no server either.
    pub(crate) fn retain_loopback(&mut self, is_served: impl Fn(u16) -> bool) {
        self.entries.retain(|(denial, _)| match denial {
            Denial::Loopback(address) => is_served(address.port()),
            _ => true,
        });
    }

    /// Describes the refusals.
    pub(crate) fn describe(&self, has_names: bool) -> Vec<Denied> {
        self.entries.iter().map(|(denial, count)| denial.describe(*count, has_names)).collect()
    }
}

/// Escapes a text that the command has chosen, so that it fits in one line.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

/// Returns the option that allows a name; `None` if it is not a host name, which might be unsafe to paste into a shell.
fn allowing(name: &str, port: &str) -> Option<String> {
    names::is_of_host(name).then(|| format!("--network allow={name}{port}"))
}

/// Checks whether an address belongs to the machine's own network segment.
fn is_of_segment(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// Decodes the kernel's form of an Internet address.
fn internet_address(bytes: &[u8]) -> Option<SocketAddr> {
    let family = i32::from(u16::from_ne_bytes(*bytes.first_chunk()?));
    let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
    let ip = match family {
        libc::AF_INET => IpAddr::from(Ipv4Addr::from(<[u8; 4]>::try_from(bytes.get(4..8)?).ok()?)),
        libc::AF_INET6 => {
            IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(bytes.get(8..24)?).ok()?)).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Denial> {
        vec![
            Denial::Unreachable("192.0.2.1:443".parse().unwrap()),
            Denial::Unreachable("[2001:db8::1]:80".parse().unwrap()),
            Denial::NameLookup,
            Denial::Lookup("b.example".into()),
            Denial::Port("a.example".into(), 22),
            Denial::OtherPort(9418),
            Denial::UnixSocket("./agent.sock".into()),
            Denial::HostService("/run/docker.sock".into()),
            Denial::HostService("/tmp/ssh-a/agent.1".into()),
            Denial::SetId,
            Denial::Device,
            Denial::UnixDatagrams,
            Denial::Socket([17, 3, 768]),
            Denial::Call(libc::SYS_ptrace),
            Denial::Call(libc::SYS_clone),
        ]
    }

    #[test]
    fn a_denial_survives_the_wire() {
        for denial in samples() {
            assert_eq!(Denial::decode(&denial.encode()), Some(denial));
        }
        for other in [b"".as_slice(), b"D", b"Dx", b"Da1", b"Ds1 2", b"S\0\0\0\0\0", b"Du\xff"] {
            assert_eq!(Denial::decode(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_denial_reads_as_one_line() {
        let mut denials = Denials::default();
        for denial in samples() {
            assert!(denials.note(&denial));
        }
        denials.note(&samples()[0]);
        let lines: Vec<String> = denials.describe(false).iter().map(Denied::to_string).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        connect 192.0.2.1:443 · network is off · --network on · 2 times
        connect [2001:db8::1]:80 · network is off · --network on
        look up a host name · network is off · --network on
        look up b.example · not in the allow-list · --network allow=b.example
        connect a.example:22 · not in the allow-list · --network allow=a.example:22
        connect port 9418 of a name · not in the allow-list · --network allow=NAME:9418
        connect Unix socket ./agent.sock · no process of this command listens there · start the server in the same command
        connect Unix socket /run/docker.sock · services of the host are not visible to commands · use it outside of the sandbox
        connect Unix socket /tmp/ssh-a/agent.1 · ssh-agents of the host are not visible to commands · use it outside of the sandbox
        set a set-user-ID or set-group-ID bit · others could run the file with its owner's rights
        make a device file · devices lead around the confinement of files
        make a Unix datagram socket · it could reach other programs, and network is off · --network on
        make a socket of family 17, type 3, protocol 768 · only TCP, UDP, Unix sockets and netlink routes are made
        system call ptrace · refused in every command: they reach into other processes
        system call clone · refused in every command: with such flags it makes a namespace
        ");
    }

    #[test]
    fn a_command_with_names_has_other_reasons() {
        let mut denials = Denials::default();
        samples().iter().take(3).for_each(|denial| assert!(denials.note(denial)));
        denials.note(&Denial::Lookup("a;id".into()));
        for address in ["169.254.169.254:80", "[fe80::1]:80"] {
            denials.note(&Denial::Unreachable(address.parse().unwrap()));
        }
        let lines: Vec<String> = denials.describe(true).iter().map(Denied::to_string).collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        connect 192.0.2.1:443 · not in the allow-list · --network allow=NAME:443@192.0.2.1
        connect [2001:db8::1]:80 · not in the allow-list · --network allow=NAME:80@2001:db8::1
        ask another name server · allowed names are answered by the name server of /etc/resolv.conf alone
        look up a;id · not in the allow-list
        connect 169.254.169.254:80 · not in the allow-list
        connect [fe80::1]:80 · not in the allow-list
        ");
    }

    #[test]
    fn a_name_cannot_add_a_line_to_a_receipt() {
        let mut denials = Denials::default();
        denials.note(&Denial::UnixSocket("a\n[OK] b\u{1b}[0m".into()));
        assert_eq!(denials.describe(false)[0].what, "connect Unix socket a\u{fffd}[OK] b\u{fffd}[0m");
        let mut denials = Denials::default();
        denials.note(&Denial::Port("a\n[OK] b.example".into(), 22));
        assert_eq!(denials.describe(true)[0].what, "connect a\u{fffd}[OK] b.example:22");
    }

    #[test]
    fn denials_are_bounded() {
        let mut denials = Denials::default();
        for number in 0..100 {
            for _ in 0..2000 {
                denials.note(&Denial::Call(number));
            }
        }
        let described = denials.describe(false);
        assert_eq!(described.len(), 20);
        assert!(described.iter().all(|denied| denied.count == 1000));
    }

    #[test]
    fn a_connection_is_denied_by_what_it_leads_to() {
        let v4 =
            |port: u16| [&2_u16.to_ne_bytes()[..], &port.to_be_bytes(), &[192, 0, 2, 1], &[0; 8]].concat();
        let denied =
            |port, is_datagram, is_unreachable| Denial::of_connection(&v4(port), is_datagram, is_unreachable);
        assert_eq!(denied(443, false, true), Some(Denial::Unreachable("192.0.2.1:443".parse().unwrap())));
        assert_eq!(denied(53, true, true), Some(Denial::NameLookup));
        assert_eq!(denied(53, true, false), Some(Denial::NameLookup));
        assert_eq!(denied(443, false, false), None);
        assert_eq!(Denial::of_connection(&v4(443)[..6], false, true), None);
        let named =
            |port: u16| [&2_u16.to_ne_bytes()[..], &port.to_be_bytes(), &[198, 18, 1, 0], &[0; 8]].concat();
        assert_eq!(Denial::of_other_port(&named(22), &[443]), Some(Denial::OtherPort(22)));
        assert_eq!(Denial::of_other_port(&named(443), &[443]), None);
        assert_eq!(Denial::of_other_port(&named(22), &[]), None, "no name at all is allowed");
        assert_eq!(Denial::of_other_port(&v4(22), &[443]), None);
    }
}
