//! Addresses that a tool fetches from, as entries of an allow-list.

use std::net::IpAddr;

use super::tool::ToolError;
use crate::allow::{AllowEntry, HostName, NamePattern, Ports};

/// The most addresses that are taken from one answer of a tool.
const MOST_PLACES: usize = 64;

/// Returns the entries for addresses such as `https://registry.example/path` or `sparse+https://…`. Files of this machine
/// are skipped.
pub(super) fn entries<'a>(urls: impl IntoIterator<Item = &'a str>) -> Result<Vec<AllowEntry>, ToolError> {
    let mut entries = Vec::new();
    for url in urls.into_iter().take(MOST_PLACES) {
        if let Some(entry) = entry(url.trim())?
            && !entries.contains(&entry)
        {
            entries.push(entry);
        }
    }
    if entries.is_empty() { Err(ToolError::SaysNothing) } else { Ok(entries) }
}

fn entry(url: &str) -> Result<Option<AllowEntry>, ToolError> {
    let Some((scheme, rest)) = url.split_once("://") else { return Ok(None) };
    // `sparse+https`, `git+ssh`.
    let scheme = scheme.rsplit('+').next().unwrap_or(scheme);
    let usual_port = match scheme.to_ascii_lowercase().as_str() {
        "https" => 443,
        "http" => 80,
        "ssh" => 22,
        "git" => 9418,
        _ => return Ok(None),
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // A user and a password are only for the tool.
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let not_a_name =
        || ToolError::NotAName(host.chars().filter(|char| !char.is_control()).take(60).collect());
    let parsed: http::uri::Authority = host.parse().map_err(|_| not_a_name())?;
    let name: HostName = match parsed.host().parse() {
        // A registry on this machine is reached by another name for it.
        Err(_) => return Err(not_a_name()),
        Ok(name) => name,
    };
    let port = parsed.port_u16().unwrap_or(usual_port);
    Ok(Some(AllowEntry { names: NamePattern::Exact(name), ports: Ports::One(port), address: None }))
}

/// Returns the entry, dialled at an address.
pub(super) fn pinned(entry: AllowEntry, address: IpAddr) -> AllowEntry {
    AllowEntry { address: Some(address.to_canonical()), ..entry }
}
