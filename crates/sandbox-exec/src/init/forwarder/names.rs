//! The names that a command may connect to, and the addresses that stand for them inside.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use crate::policy::network::AllowedName;

/// The range of the addresses, which belongs to no network: it is reserved for tests of network devices.
pub(super) const RANGE: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 0);

/// The leading bits that the addresses of the range share.
pub(super) const PREFIX_BITS: u8 = 15;

/// The address of the command's name server.
pub(crate) const NAME_SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);

/// The address of the first name; the others follow.
const FIRST: Ipv4Addr = Ipv4Addr::new(198, 18, 1, 0);

/// The most names that are given an address: a wildcard matches any number.
const MOST_NAMES: usize = 4096;

/// The longest name in bytes.
pub(crate) const LONGEST_NAME: usize = 253;

/// Checks whether an address stands for a name, or could.
pub(crate) fn is_in_range(address: IpAddr) -> bool {
    let IpAddr::V4(address) = address else { return false };
    (address.to_bits() ^ RANGE.to_bits()) >> (32 - PREFIX_BITS) == 0
}

/// The result of looking up a name's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    Address(Ipv4Addr),
    NotAllowed,
    /// All addresses are in use.
    Full,
}

/// The allowed names, and those that have an address.
pub(crate) struct Names {
    allowed: Vec<AllowedName>,
    indices: BTreeMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    pub(super) fn new(allowed: Vec<AllowedName>) -> Names {
        Names { allowed, indices: BTreeMap::new(), names: Vec::new() }
    }

    /// Returns every port that some name may be connected to.
    pub(crate) fn ports(allowed: &[AllowedName]) -> Vec<u16> {
        let mut ports: Vec<u16> = allowed.iter().flat_map(|name| name.ports.iter().copied()).collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    /// Finds the address of a name in lower case, and assigns one if it has none yet.
    pub(super) fn find(&mut self, name: &str) -> Lookup {
        // A label of a query may hold any byte. Bytes that no host name has match no list; the engine escapes them in receipts.
        if !is_of_host(name) || !self.allowed.iter().any(|allowed| matches(&allowed.pattern, name)) {
            return Lookup::NotAllowed;
        }
        let index = match self.indices.get(name) {
            Some(index) => *index,
            None if self.names.len() >= MOST_NAMES => return Lookup::Full,
            None => {
                let index = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
                self.indices.insert(name.to_owned(), index);
                self.names.push(name.to_owned());
                index
            }
        };
        Lookup::Address(Ipv4Addr::from_bits(FIRST.to_bits() + index))
    }

    /// Returns the name that an address stands for.
    pub(super) fn name_of(&self, address: Ipv4Addr) -> Option<&str> {
        let index = address.to_bits().checked_sub(FIRST.to_bits())?;
        self.names.get(usize::try_from(index).ok()?).map(String::as_str)
    }

    /// Checks whether a name may be connected to at a port.
    pub(super) fn allows(&self, name: &str, port: u16) -> bool {
        self.allowed.iter().any(|allowed| matches(&allowed.pattern, name) && allowed.ports.contains(&port))
    }
}

/// Checks whether a name consists of host name characters.
pub(crate) fn is_of_host(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Checks whether a pattern matches a name.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(end) => end.starts_with('.') && name.len() > end.len() && name.ends_with(end),
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let allowed =
            |pattern: &str, ports: &[u16]| AllowedName { pattern: pattern.into(), ports: ports.into() };
        Names::new(vec![allowed("a.example", &[443, 80]), allowed("*.cdn.example", &[8443])])
    }

    #[test]
    fn a_name_keeps_its_address_and_no_other_has_it() {
        let mut names = names();
        let first = names.find("a.example");
        assert_eq!(first, Lookup::Address(Ipv4Addr::new(198, 18, 1, 0)));
        assert_eq!(names.find("x.y.cdn.example"), Lookup::Address(Ipv4Addr::new(198, 18, 1, 1)));
        assert_eq!(names.find("a.example"), first);
        assert_eq!(names.name_of(Ipv4Addr::new(198, 18, 1, 1)), Some("x.y.cdn.example"));
        for other in [Ipv4Addr::new(198, 18, 1, 2), NAME_SERVER, Ipv4Addr::LOCALHOST, Ipv4Addr::BROADCAST] {
            assert_eq!(names.name_of(other), None);
        }
    }

    #[test]
    fn other_names_and_ports_are_refused() {
        let mut names = names();
        for other in ["cdn.example", ".cdn.example.", "b.example", "xa.example", "xcdn.example", "", "*"] {
            assert_eq!(names.find(other), Lookup::NotAllowed, "{other}");
        }
        for other in ["a\n[OK].cdn.example", "a b.cdn.example", "\u{fffd}.cdn.example", "a/b.cdn.example"] {
            assert_eq!(names.find(other), Lookup::NotAllowed, "{other}");
        }
        assert!(names.allows("a.example", 80) && names.allows("x.cdn.example", 8443));
        assert!(!names.allows("a.example", 8443) && !names.allows("x.cdn.example", 443));
    }

    #[test]
    fn names_of_a_wildcard_are_bounded() {
        let mut names = names();
        let find = |number: usize, names: &mut Names| names.find(&format!("{number}.cdn.example"));
        for number in 0..MOST_NAMES {
            assert!(
                matches!(find(number, &mut names), Lookup::Address(address) if is_in_range(address.into()))
            );
        }
        assert_eq!(find(MOST_NAMES, &mut names), Lookup::Full);
        assert!(matches!(find(7, &mut names), Lookup::Address(_)));
    }
}
