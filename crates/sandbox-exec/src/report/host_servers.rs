//! Finds servers of the host, for receipts.

use std::fs;

/// The state of a socket that listens, as the kernel writes it.
const LISTENING: &str = "0A";

/// Checks whether a program in this process's network listens on a TCP port, at any address.
pub(crate) fn has_loopback_server(port: u16) -> bool {
    ["/proc/self/net/tcp", "/proc/self/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .any(|table| table.lines().any(|line| is_server(line, port)))
}

/// Checks one line: a number, the local address, the remote address, the state.
fn is_server(line: &str, port: u16) -> bool {
    let mut fields = line.split_whitespace().skip(1);
    let own = fields.next().and_then(|own| own.rsplit_once(':'));
    let is_listening = fields.nth(1) == Some(LISTENING);
    is_listening && own.is_some_and(|(_, own)| u16::from_str_radix(own, 16) == Ok(port))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_server_is_seen_while_it_listens() {
        for address in ["127.0.0.1:0", "[::1]:0", "0.0.0.0:0"] {
            let Ok(server) = TcpListener::bind(address) else { continue };
            let port = server.local_addr().unwrap().port();
            assert!(has_loopback_server(port), "{address}");
        }
        let lines = "  1: 0100007F:1F90 00000000:0000 0A 0\n  2: 0100007F:1F91 0100007F:1F90 01 0";
        let is_served = |port| lines.lines().any(|line| is_server(line, port));
        assert!(is_served(8080) && !is_served(8081) && !is_served(0));
    }
}
