//! The address of a fleet, and the role of the program that connects.

use std::fmt;
use std::path::PathBuf;

use super::ConnectError;
use crate::names::{FleetName, HostName};

/// The role of a program that connects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Submits tasks, judges results, and keeps the fleet's streams.
    Home,
    /// Takes tasks.
    Host(HostName),
}

/// The address of a fleet, with the role and the key of the program that connects.
#[derive(Clone)]
pub struct FleetAddress {
    /// The server, such as `nats://localhost:4222`, or `tls://…`.
    pub url: String,
    /// The fleet on that server.
    pub fleet: FleetName,
    /// The role.
    pub role: Role,
    /// The seed of the role's NKey (`SU…`), if the server requires one. It is never logged.
    pub seed: Option<String>,
    /// The certificates of the authority that signed the server's, if it is not one of the machine's.
    pub authority_file: Option<PathBuf>,
}

impl FleetAddress {
    /// Returns the address of a fleet on a server that requires no key.
    #[must_use]
    pub fn new(url: impl Into<String>, fleet: FleetName, role: Role) -> FleetAddress {
        FleetAddress { url: url.into(), fleet, role, seed: None, authority_file: None }
    }

    /// Checks the form of the server's address. Nothing is connected.
    ///
    /// # Errors
    ///
    /// [`ConnectError::Address`].
    pub fn check(&self) -> Result<(), ConnectError> {
        let parsed: Result<async_nats::ServerAddr, _> = self.url.parse();
        parsed.map(drop).map_err(|_| ConnectError::Address { url: without_credentials(&self.url) })
    }
}

impl fmt::Debug for FleetAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FleetAddress")
            .field("url", &without_credentials(&self.url))
            .field("fleet", &self.fleet)
            .field("role", &self.role)
            .field("has_seed", &self.seed.is_some())
            .finish_non_exhaustive()
    }
}

/// Returns an address without the name, password or token before its host.
pub(super) fn without_credentials(url: &str) -> String {
    let (scheme, rest) =
        url.split_once("://").map_or(("", url), |(scheme, rest)| (&url[..scheme.len() + 3], rest));
    let host_end = rest.find('/').unwrap_or(rest.len());
    match rest[..host_end].rfind('@') {
        Some(at) => format!("{scheme}…{}", &rest[at..]),
        None => url.to_owned(),
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Role::Home => formatter.write_str("home"),
            Role::Host(host) => write!(formatter, "the host {host}"),
        }
    }
}

impl Role {
    /// Returns the prefix of the inboxes of this role. No host name can yield the inboxes of home.
    pub(crate) fn inbox_prefix(&self) -> String {
        match self {
            Role::Home => "_INBOX.home".to_owned(),
            Role::Host(host) => format!("_INBOX.host.{host}"),
        }
    }
}
