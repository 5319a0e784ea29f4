//! One entry of an allow-list.

use std::fmt;
use std::net::IpAddr;

use super::host_name::HostName;

/// The ports of an entry without a port: TLS and plain HTTP.
pub const USUAL_PORTS: [u16; 2] = [443, 80];

/// The names that an entry allows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NamePattern {
    /// This name.
    Exact(HostName),
    /// Every subdomain of this name, one or more labels deeper, but not the name itself.
    Subdomains(HostName),
}

impl NamePattern {
    /// Checks whether a name is allowed.
    #[must_use]
    pub fn matches(&self, name: &HostName) -> bool {
        match self {
            NamePattern::Exact(own) => own == name,
            NamePattern::Subdomains(suffix) => name.is_subdomain_of(suffix),
        }
    }

    /// Returns a sort key: an exact name is narrower than a wildcard, a longer wildcard narrower than a shorter one.
    pub(crate) fn narrowness(&self) -> (bool, usize) {
        match self {
            NamePattern::Exact(name) => (true, name.label_count()),
            NamePattern::Subdomains(suffix) => (false, suffix.label_count()),
        }
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NamePattern::Exact(name) => name.fmt(f),
            NamePattern::Subdomains(suffix) => write!(f, "*.{suffix}"),
        }
    }
}

/// The ports of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ports {
    /// [`USUAL_PORTS`].
    Usual,
    /// This port.
    One(u16),
}

impl Ports {
    /// Checks whether a port is included.
    #[must_use]
    pub fn contains(self, port: u16) -> bool {
        self.as_slice().contains(&port)
    }

    /// Returns the ports.
    #[must_use]
    pub fn as_slice(&self) -> &[u16] {
        match self {
            Ports::Usual => &USUAL_PORTS,
            Ports::One(port) => std::slice::from_ref(port),
        }
    }
}

/// Names, ports, and the address to dial: `NAME[:PORT][@ADDRESS]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AllowEntry {
    /// The names.
    pub names: NamePattern,
    /// The ports.
    pub ports: Ports,
    /// The address that is dialled instead of resolving the name. It may be an address that is otherwise refused, such as a
    /// server's in the user's own network.
    pub address: Option<IpAddr>,
}

impl AllowEntry {
    /// Checks whether connections to a port of a name are allowed.
    #[must_use]
    pub fn allows(&self, name: &HostName, port: u16) -> bool {
        self.ports.contains(port) && self.names.matches(name)
    }
}

impl fmt::Display for AllowEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.names.fmt(f)?;
        match self.ports {
            Ports::One(port) => write!(f, ":{port}")?,
            // Without the dot it would be read as a preset.
            Ports::Usual if self.address.is_none() && self.names.narrowness() == (true, 1) => {
                f.write_str(".")?
            }
            Ports::Usual => {}
        }
        match self.address {
            Some(IpAddr::V6(address)) => write!(f, "@[{address}]"),
            Some(IpAddr::V4(address)) => write!(f, "@{address}"),
            None => Ok(()),
        }
    }
}
