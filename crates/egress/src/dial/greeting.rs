//! The first message of a TLS connection, which names the server that the client wants.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustls::server::Acceptor;

use crate::allow::HostName;

/// The most bytes of a greeting. Those of browsers with post-quantum keys have about 2,000.
pub(crate) const MOST_GREETING_BYTES: usize = 16 * 1024;

/// The reason that a greeting is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GreetingFault {
    #[error("a connection to port 443 begins with a TLS greeting, and this one does not")]
    NotTls,
    #[error("the TLS greeting names no server")]
    NoName,
    #[error("the TLS greeting names {0}")]
    OtherName(HostName),
    #[error("the TLS greeting has more than {MOST_GREETING_BYTES} bytes")]
    TooLarge,
    #[error("the connection ended within the TLS greeting")]
    Incomplete,
    #[error("no TLS greeting came in time")]
    TimedOut,
}

/// Reads the greeting of a client and checks that it names `name`. Returns every byte that was read.
pub(crate) fn read(
    mut client: &TcpStream,
    name: &HostName,
    deadline: Instant,
) -> Result<Vec<u8>, GreetingFault> {
    let mut acceptor = Acceptor::default();
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        // Zero would mean no limit.
        let limited = client.set_read_timeout(Some(left.max(Duration::from_millis(1))));
        if left.is_zero() || limited.is_err() {
            return Err(GreetingFault::TimedOut);
        }
        let count = match client.read(&mut chunk) {
            Ok(0) => return Err(GreetingFault::Incomplete),
            Ok(count) => count,
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted) => continue,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Err(GreetingFault::TimedOut);
            }
            Err(_) => return Err(GreetingFault::Incomplete),
        };
        bytes.extend_from_slice(&chunk[..count]);
        if bytes.len() > MOST_GREETING_BYTES {
            return Err(GreetingFault::TooLarge);
        }
        if let Some(server) = server_name(&mut acceptor, &chunk[..count])? {
            return if server == *name { Ok(bytes) } else { Err(GreetingFault::OtherName(server)) };
        }
    }
}

/// Passes bytes on to the parser. Returns the server's name once the greeting is complete.
fn server_name(acceptor: &mut Acceptor, mut bytes: &[u8]) -> Result<Option<HostName>, GreetingFault> {
    while !bytes.is_empty() {
        // The parser takes as many bytes as its buffer has room for.
        match acceptor.read_tls(&mut bytes) {
            Ok(0) | Err(_) => return Err(GreetingFault::NotTls),
            Ok(_) => {}
        }
        if let Some(accepted) = acceptor.accept().map_err(|_| GreetingFault::NotTls)? {
            let name = accepted.client_hello().server_name().map(str::parse);
            return name.and_then(Result::ok).map(Some).ok_or(GreetingFault::NoName);
        }
    }
    Ok(None)
}
