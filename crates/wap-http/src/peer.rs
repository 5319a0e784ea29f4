//! The two ends of a connection, and the local user who made it.

use std::net::{IpAddr, SocketAddr};

/// The two ends of a connection, in the extensions of each of its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The address of the client.
    pub client: SocketAddr,
    /// The address of the server to which the client connected.
    pub server: SocketAddr,
}

/// The lists of the connections of this network namespace, IPv4 and IPv6 (`proc_pid_net(5)`).
const LISTS: [&str; 2] = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];

impl Peer {
    /// Checks whether another ordinary user of this machine made the connection. This is unknown for a remote client, and if the
    /// system does not list connections.
    #[must_use]
    pub fn is_of_other_user(&self) -> bool {
        let lists: Vec<String> = LISTS.iter().filter_map(|list| std::fs::read_to_string(list).ok()).collect();
        !lists.is_empty() && self.is_of_other_user_by(&lists, own_user())
    }

    /// Checks the same against the lists of connections, for a server of this user.
    fn is_of_other_user_by(&self, lists: &[String], own_user: u32) -> bool {
        match lists.iter().find_map(|list| self.user_in(list)) {
            Some(user) => user != 0 && user != own_user,
            // Its socket is closed, or in another network namespace like those of other machines.
            None => self.is_within_machine(),
        }
    }

    /// Checks whether the addresses prove that the client is on this machine. Otherwise it may still be: a client can connect to
    /// loopback from any of the machine's addresses.
    fn is_within_machine(&self) -> bool {
        [self.client, self.server].iter().any(|end| end.ip().to_canonical().is_loopback())
            || self.client.ip().to_canonical() == self.server.ip().to_canonical()
    }

    /// Returns the user of the client's socket in such a list.
    fn user_in(&self, list: &str) -> Option<u32> {
        // A dual-stack server sees IPv4 clients under mapped addresses, which the clients themselves do not have.
        let canonical = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
        let ends = [[self.client, self.server], [canonical(self.client), canonical(self.server)]]
            .map(|ends| ends.map(encoded));
        list.lines().find_map(|line| {
            let fields: Vec<&str> = line.split_ascii_whitespace().take(8).collect();
            let [_, local, remote, .., user] = fields.as_slice() else { return None };
            ends.iter()
                .any(|[client, server]| local == client && remote == server)
                .then(|| user.parse().ok())?
        })
    }
}

/// Returns the effective user of this process.
fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Encodes an address like the kernel: 32-bit words in native byte order, and the port.
fn encoded(address: SocketAddr) -> String {
    let octets = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let (words, _) = octets.as_chunks::<4>();
    let words: String = words.iter().map(|word| format!("{:08X}", u32::from_ne_bytes(*word))).collect();
    format!("{words}:{:04X}", address.port())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// A list as in `/proc/net/tcp` on a little-endian machine; the server's side of a connection comes first.
    const LIST: &str =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1D4B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     7        0 1 1 0 100 0 0 10 0
   1: 0100007F:1D4B 0100007F:C350 01 00000000:00000000 00:00000000 00000000     7        0 2 1 0 20 4 30 10 -1
   2: 0100007F:C350 0100007F:1D4B 01 00000000:00000000 00:00000000 00000000  1000        0 3 1 0 20 4 30 10 -1
   3: 0100007F:1D4B 020200C0:C350 01 00000000:00000000 00:00000000 00000000     7        0 2 1 0 20 4 30 10 -1
   4: 020200C0:C350 0100007F:1D4B 01 00000000:00000000 00:00000000 00000000  1000        0 3 1 0 20 4 30 10 -1
";

    #[test]
    fn the_user_of_a_connection_is_its_clients() {
        let cases = [
            ("127.0.0.1:50000", "127.0.0.1:7499", 7, true),
            ("127.0.0.1:50000", "127.0.0.1:7499", 1000, false),
            // A client may connect to loopback from another address of the machine.
            ("192.0.2.2:50000", "127.0.0.1:7499", 7, true),
            ("192.0.2.2:50000", "127.0.0.1:7499", 1000, false),
            ("[::ffff:192.0.2.2]:50000", "[::ffff:127.0.0.1]:7499", 7, true),
            // Without a local socket, a client is remote, unless the addresses exclude that.
            ("192.0.2.1:50000", "192.0.2.2:7499", 7, false),
            ("127.0.0.1:50001", "127.0.0.1:7499", 1000, true),
            ("192.0.2.1:50000", "127.0.0.1:7499", 1000, true),
            ("[2001:db8::1]:5", "[::1]:80", 1000, true),
            ("192.0.2.2:50001", "192.0.2.2:7499", 1000, true),
        ];
        let lists = [LIST.to_owned()];
        for (client, server, own_user, is_other) in cases {
            let peer = Peer { client: client.parse().unwrap(), server: server.parse().unwrap() };
            let is_of_other = peer.is_of_other_user_by(&lists, own_user);
            assert_eq!(is_of_other, is_other, "{client} to {server} of {own_user}");
        }
        assert_eq!(encoded("[::1]:80".parse().unwrap()), "00000000000000000000000001000000:0050");
    }

    #[test]
    fn own_connections_are_of_no_other_user() {
        for (address, host) in [("127.0.0.1:0", "127.0.0.1"), ("[::1]:0", "::1"), ("[::]:0", "127.0.0.1")] {
            // Some machines have no IPv6.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().unwrap().port();
            let _client = TcpStream::connect((host, port)).unwrap();
            let (stream, client) = listener.accept().unwrap();
            let peer = Peer { client, server: stream.local_addr().unwrap() };
            assert!(!peer.is_of_other_user(), "{address}");
            // The control: a connection that is not there.
            let other = Peer { client: SocketAddr::new(peer.client.ip(), 1), ..peer };
            assert!(other.is_of_other_user(), "{address}");
        }
    }
}
