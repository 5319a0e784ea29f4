//! The value of `--network`, in the user's syntax.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::entry::{AllowEntry, NamePattern, Ports};
use super::error::{AllowError, AllowErrorKind};
use super::host_name::{HostName, NameFault};
use super::list::MOST_ENTRIES;

/// One value of `--network`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkChoice {
    /// No network.
    Off,
    /// The whole network.
    On,
    /// These names, and those of presets.
    Allow(Vec<AllowItem>),
}

/// One item between two commas of `allow=…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowItem {
    /// Names with ports.
    Entry(AllowEntry),
    /// The names that a tool fetches from: a single label without port and address.
    Preset(String),
}

impl FromStr for NetworkChoice {
    type Err = AllowError;

    fn from_str(text: &str) -> Result<NetworkChoice, AllowError> {
        match text.split_once('=') {
            Some(("allow", list)) => parse_items(list).map(NetworkChoice::Allow),
            None if text == "on" => Ok(NetworkChoice::On),
            None if text == "off" => Ok(NetworkChoice::Off),
            _ => Err(AllowErrorKind::Choice.into()),
        }
    }
}

impl fmt::Display for NetworkChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkChoice::Off => f.write_str("off"),
            NetworkChoice::On => f.write_str("on"),
            NetworkChoice::Allow(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "allow={}", items.join(","))
            }
        }
    }
}

impl fmt::Display for AllowItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AllowItem::Entry(entry) => entry.fmt(f),
            AllowItem::Preset(name) => f.write_str(name),
        }
    }
}

impl FromStr for AllowItem {
    type Err = AllowError;

    fn from_str(text: &str) -> Result<AllowItem, AllowError> {
        let mut items = parse_items(text)?;
        match items.pop() {
            Some(item) if items.is_empty() => Ok(item),
            _ => Err(AllowErrorKind::TooMany.into()),
        }
    }
}

/// Parses items between commas. Spaces around an item are ignored.
pub(super) fn parse_items(text: &str) -> Result<Vec<AllowItem>, AllowError> {
    let mut items = Vec::new();
    let mut start = 0;
    for (index, written) in text.split(',').enumerate() {
        let item = written.trim_matches(' ');
        let spaces = written.len() - written.trim_start_matches(' ').len();
        let fail = |(kind, offset): (AllowErrorKind, usize)| {
            let column = 1 + text[..start + spaces + offset].chars().count();
            AllowError { kind, position: Some((index + 1, column)) }
        };
        if index == MOST_ENTRIES {
            return Err(fail((AllowErrorKind::TooMany, 0)));
        }
        items.push(parse_item(item).map_err(fail)?);
        start += written.len() + 1;
    }
    Ok(items)
}

/// Parses one item; an error includes the byte offset of its cause.
fn parse_item(item: &str) -> Result<AllowItem, (AllowErrorKind, usize)> {
    if item.is_empty() {
        return Err((AllowErrorKind::EmptyEntry, 0));
    }
    // Neither names nor addresses contain `@`.
    let (host, address) = match item.split_once('@') {
        Some((host, address)) => (host, Some((address, host.len() + 1))),
        None => (item, None),
    };
    for part in ["://", "/"] {
        if let Some(at) = host.find(part) {
            return Err((AllowErrorKind::NotOnlyAName(part), at));
        }
    }
    // An IPv6 address is reported as one, not as a name with a bad port.
    if host.matches(':').count() > 1 || host.starts_with('[') {
        return Err((NameFault::Address.into(), 0));
    }
    let (name, port) = match host.split_once(':') {
        Some((name, port)) => (name, Some((port, name.len() + 1))),
        None => (host, None),
    };
    let names = parse_names(name).map_err(|kind| (kind, 0))?;
    let ports = match port {
        Some((port, offset)) => Ports::One(parse_port(port).map_err(|kind| (kind, offset))?),
        None => Ports::Usual,
    };
    let address = match address {
        Some((address, offset)) => Some(parse_address(address).map_err(|kind| (kind, offset))?),
        None => None,
    };
    match &names {
        NamePattern::Exact(label) if item == name && !name.contains('.') => {
            Ok(AllowItem::Preset(label.as_str().to_owned()))
        }
        _ => Ok(AllowItem::Entry(AllowEntry { names, ports, address })),
    }
}

fn parse_names(name: &str) -> Result<NamePattern, AllowErrorKind> {
    match name.strip_prefix("*.") {
        Some(suffix) if !suffix.contains('*') => {
            let suffix: HostName = suffix.parse()?;
            if suffix.label_count() < 2 {
                return Err(AllowErrorKind::WideWildcard);
            }
            Ok(NamePattern::Subdomains(suffix))
        }
        _ if name.contains('*') => Err(AllowErrorKind::Wildcard),
        _ => Ok(NamePattern::Exact(name.parse()?)),
    }
}

fn parse_port(port: &str) -> Result<u16, AllowErrorKind> {
    // `parse` accepts a sign.
    let number = port.parse().ok().filter(|_| port.bytes().all(|digit| digit.is_ascii_digit()));
    number.filter(|port| *port != 0).ok_or_else(|| AllowErrorKind::Port(shortened(port)))
}

fn parse_address(text: &str) -> Result<IpAddr, AllowErrorKind> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address: IpAddr = bare.parse().map_err(|_| AllowErrorKind::Address(shortened(text)))?;
    let address = address.to_canonical();
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    if address.is_unspecified() || address.is_multicast() || is_broadcast {
        return Err(AllowErrorKind::UnusableAddress(address));
    }
    Ok(address)
}

/// Shortens a text that is quoted in an error.
fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    let start: String = text.chars().take(MOST).collect();
    if start.len() < text.len() { start + "…" } else { start }
}
