//! Addresses that a name on the network must not lead to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The reason that a name may not lead to an address, unless the user names the address itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AddressKind {
    /// No address, or an address of "this network": connections to it reach this machine.
    Unspecified,
    /// This machine.
    Loopback,
    /// The network segment of this machine, where clouds serve their metadata.
    LinkLocal,
    /// A private network, IPv6's unique local and site-local addresses included.
    Private,
    /// Addresses that a provider shares among its customers.
    Shared,
    /// Many machines at once.
    Multicast,
    /// A range with another purpose than hosts: benchmarks, protocols, translation, tunnels, reserved addresses.
    Special,
    /// An address of this machine in a network, such as its public one. [`refused_kind`] does not know it.
    Own,
}

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AddressKind::Unspecified => "an unspecified address",
            AddressKind::Loopback => "a loopback address",
            AddressKind::LinkLocal => "a link-local address",
            AddressKind::Private => "a private address",
            AddressKind::Shared => "an address of a provider's own network",
            AddressKind::Multicast => "a multicast address",
            AddressKind::Special => "an address of a special range",
            AddressKind::Own => "an address of this machine",
        })
    }
}

use AddressKind::{LinkLocal, Loopback, Multicast, Private, Shared, Special, Unspecified};

/// Ranges by network and length of the prefix; the first that contains an address counts.
const V4: &[(Ipv4Addr, u32, AddressKind)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8, Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Shared),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Loopback),
    // The address of Azure's management service, which serves machines their certificates.
    (Ipv4Addr::new(168, 63, 129, 16), 32, LinkLocal),
    (Ipv4Addr::new(169, 254, 0, 0), 16, LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Special),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Private),
    // Commands see allowed names at addresses of this range.
    (Ipv4Addr::new(198, 18, 0, 0), 15, Special),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Multicast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Special),
];

/// The same for IPv6.
const V6: &[(Ipv6Addr, u32, AddressKind)] = &[
    (Ipv6Addr::UNSPECIFIED, 128, Unspecified),
    (Ipv6Addr::LOCALHOST, 128, Loopback),
    // Addresses that contain an IPv4 address in the deprecated form.
    (Ipv6Addr::UNSPECIFIED, 96, Special),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, Special),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64, Special),
    // Protocols, including Teredo.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, Special),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, Special),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, Private),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, LinkLocal),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, Private),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, Multicast),
];

/// The IPv6 addresses that hosts can have, apart from those in the table: all others are reserved, or lead to a translator.
const UNICAST: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// The prefix before the IPv4 address with which gateways translate for machines that only have IPv6.
const TRANSLATED: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);

/// Returns the reason that a name may not lead to an address; `None` if it may.
#[must_use]
pub fn refused_kind(address: IpAddr) -> Option<AddressKind> {
    match address {
        IpAddr::V4(address) => refused_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            // A resolver has no reason to return a mapped address: it is always refused, with the most specific reason.
            Some(mapped) => Some(refused_v4(mapped).unwrap_or(Special)),
            None if is_within(address.to_bits(), TRANSLATED.to_bits(), 96, 128) => {
                refused_v4(Ipv4Addr::from_bits(lowest_32_bits(address)))
            }
            None => V6
                .iter()
                .find(|(network, prefix, _)| is_within(address.to_bits(), network.to_bits(), *prefix, 128))
                .map(|(.., kind)| *kind)
                .or_else(|| {
                    let (network, prefix) = UNICAST;
                    let is_unicast = is_within(address.to_bits(), network.to_bits(), prefix, 128);
                    (!is_unicast).then_some(Special)
                }),
        },
    }
}

fn refused_v4(address: Ipv4Addr) -> Option<AddressKind> {
    V4.iter()
        .find(|(network, prefix, _)| {
            is_within(address.to_bits().into(), network.to_bits().into(), *prefix, 32)
        })
        .map(|(.., kind)| *kind)
}

/// Checks whether the first `prefix` of `width` bits are the same.
fn is_within(address: u128, network: u128, prefix: u32, width: u32) -> bool {
    (address ^ network).checked_shr(width - prefix).unwrap_or(0) == 0
}

fn lowest_32_bits(address: Ipv6Addr) -> u32 {
    let [.., a, b, c, d] = address.octets();
    u32::from_be_bytes([a, b, c, d])
}
