//! The user's proxy: the names that it is used for, and its CONNECT protocol.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;

use crate::allow::HostName;

/// The most bytes of a proxy's answer, excluding relayed data after it.
const MOST_ANSWER_BYTES: usize = 8 * 1024;

/// The most header lines of an answer.
const MOST_HEADERS: usize = 64;

/// The port of a proxy whose address has none.
const USUAL_PORT: u16 = 80;

/// A proxy for HTTP CONNECT, and the names that are exempt from it.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    host: String,
    port: u16,
    /// The value of `Proxy-Authorization`.
    credentials: Option<String>,
    exempt: Vec<Exempt>,
}

/// An entry of `NO_PROXY`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Exempt {
    Everything,
    /// A name and its subdomains, at one port or all.
    Name(String, Option<u16>),
}

/// The reason that the user's proxy cannot be used. No text repeats its address, which may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// The variable does not hold an address.
    #[error("the proxy of HTTPS_PROXY cannot be used: give it as http://HOST:PORT")]
    Address,
    /// A scheme other than `http`.
    #[error("the proxy of HTTPS_PROXY cannot be used: only http:// proxies are supported")]
    Scheme,
}

/// The reason that a proxy did not connect.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("the proxy does not answer: {0}")]
    Io(#[from] io::Error),
    #[error("the proxy answers with status {0}")]
    Status(u16),
    #[error("the proxy's answer is not HTTP")]
    NotHttp,
}

impl Proxy {
    /// Returns the proxy of the environment: `https_proxy`, or else `HTTPS_PROXY`, and `no_proxy`, or else `NO_PROXY`.
    ///
    /// # Errors
    ///
    /// If there is one and it cannot be used.
    pub fn from_environment(
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Option<Proxy>, ProxyError> {
        let text = |names: [&str; 2]| {
            let value = names.into_iter().filter_map(&variable).find(|value| !value.is_empty());
            value.map(|value| value.into_string().map_err(|_| ProxyError::Address)).transpose()
        };
        let Some(address) = text(["https_proxy", "HTTPS_PROXY"])? else { return Ok(None) };
        let exempt = text(["no_proxy", "NO_PROXY"])?.unwrap_or_default();
        Proxy::parse(address.trim(), &exempt).map(Some)
    }

    /// Parses a proxy's address, `http://USER:PASSWORD@HOST:PORT`, in which only the host is required, and a list of exempt names.
    fn parse(address: &str, exempt: &str) -> Result<Proxy, ProxyError> {
        let authority = match address.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some(_) => return Err(ProxyError::Scheme),
            None => address,
        };
        let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, host) =
            authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        let parsed: http::uri::Authority = host.parse().map_err(|_| ProxyError::Address)?;
        let port = match parsed.port() {
            Some(port) => port.as_u16(),
            // The parser ignores an empty or out-of-range port.
            None if host == parsed.host() => USUAL_PORT,
            None => return Err(ProxyError::Address),
        };
        let host = parsed.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(ProxyError::Address);
        }
        let exempt = exempt.split([',', ' ']).filter_map(Exempt::parse).collect();
        Ok(Proxy { host, port, credentials: user.map(credentials), exempt })
    }

    /// Returns the host, as a name or an address.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Checks whether connections to a port of a name go through the proxy.
    pub(crate) fn is_used_for(&self, name: &HostName, port: u16) -> bool {
        !self.exempt.iter().any(|exempt| exempt.covers(name, port))
    }

    /// Requests a connection over a connection to the proxy. Returns bytes of the other side that came with the answer.
    pub(crate) fn connect(
        &self,
        mut stream: &TcpStream,
        name: &HostName,
        port: u16,
        deadline: Instant,
    ) -> Result<Vec<u8>, ConnectError> {
        let mut request = format!("CONNECT {name}:{port} HTTP/1.1\r\nHost: {name}:{port}\r\n");
        if let Some(credentials) = &self.credentials {
            request.push_str(&format!("Proxy-Authorization: {credentials}\r\n"));
        }
        request.push_str("\r\n");
        stream.set_write_timeout(Some(time_left(deadline)?))?;
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        let mut chunk = [0; 1024];
        loop {
            stream.set_read_timeout(Some(time_left(deadline)?))?;
            let count = match stream.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if count == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            answer.extend_from_slice(&chunk[..count]);
            let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
            let mut response = httparse::Response::new(&mut headers);
            match response.parse(&answer) {
                Ok(httparse::Status::Complete(length)) => {
                    let status = response.code.ok_or(ConnectError::NotHttp)?;
                    let is_connected = (200..300).contains(&status);
                    return if is_connected {
                        Ok(answer.split_off(length))
                    } else {
                        Err(ConnectError::Status(status))
                    };
                }
                Ok(httparse::Status::Partial) if answer.len() < MOST_ANSWER_BYTES => {}
                Ok(httparse::Status::Partial) | Err(_) => return Err(ConnectError::NotHttp),
            }
        }
    }
}

impl fmt::Debug for Proxy {
    /// Omits the credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("host", &self.host).field("port", &self.port).finish_non_exhaustive()
    }
}

impl Exempt {
    /// Parses `*`, `NAME`, `.NAME`, `*.NAME` or `NAME:PORT`. Addresses and networks exempt no name.
    fn parse(text: &str) -> Option<Exempt> {
        if text == "*" {
            return Some(Exempt::Everything);
        }
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => (name, Some(port.parse().ok()?)),
            None => (text, None),
        };
        let name = name.strip_prefix('*').unwrap_or(name).trim_matches('.').to_ascii_lowercase();
        (!name.is_empty()).then_some(Exempt::Name(name, port))
    }

    fn covers(&self, name: &HostName, port: u16) -> bool {
        match self {
            Exempt::Everything => true,
            Exempt::Name(own, own_port) => {
                let name = name.as_str();
                let is_name = name
                    .strip_suffix(own.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
                is_name && own_port.is_none_or(|own| own == port)
            }
        }
    }
}

fn credentials(user: &str) -> String {
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let decoded = |text: &str| Vec::from_iter(percent_decode_str(text));
    format!("Basic {}", STANDARD.encode([decoded(name), b":".to_vec(), decoded(password)].concat()))
}

/// Returns the time until a deadline, or an error after it.
fn time_left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}
