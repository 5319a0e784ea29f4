//! A connection outside, to a checked address or through the user's proxy.

use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::dialer::Shared;
use super::outside::ResolveError;
use super::proxy::Proxy;
use super::refused::Fault;
use super::scope::Scope;
use crate::address::{AddressKind, refused_kind};
use crate::allow::{HostName, Match};

/// The most addresses of a name that are tried.
const MOST_TRIED: usize = 4;

/// The longest look-up of a name that a proxy resolves anyway. Many machines that use a proxy resolve no outside names.
const LOOKUP_WITH_PROXY: Duration = Duration::from_secs(2);

/// A connection outside, with bytes that came with it.
pub(crate) struct Connected {
    pub(crate) stream: TcpStream,
    pub(crate) first: Vec<u8>,
}

/// Connects to an allowed port of a name.
///
/// Dials a checked address, never the name, so that a name which resolves differently the next time gains nothing.
pub(crate) fn connect(
    shared: &Shared,
    scope: &Scope,
    name: &HostName,
    port: u16,
    allowed: Match,
) -> Result<Connected, Fault> {
    let deadline = Instant::now() + shared.limits.connecting;
    let direct = |addresses: &[IpAddr]| {
        let stream = dial(shared, addresses, port, deadline)?;
        Ok(Connected { stream, first: Vec::new() })
    };
    if let Some(address) = allowed.address {
        return direct(&[address]);
    }
    let proxy = shared.proxy.as_ref().map_err(|error| *error)?;
    match proxy.as_ref().filter(|proxy| proxy.is_used_for(name, port)) {
        Some(proxy) => through((shared, scope), proxy, name, port, deadline),
        None => direct(&resolve(shared, scope, name, deadline)?),
    }
}

fn through(
    (shared, scope): (&Shared, &Scope),
    proxy: &Proxy,
    name: &HostName,
    port: u16,
    deadline: Instant,
) -> Result<Connected, Fault> {
    // The proxy resolves the name itself. Where this machine can, too, a name that leads to a refused address is refused.
    let lookup_deadline = deadline.min(Instant::now() + LOOKUP_WITH_PROXY);
    match resolve(shared, scope, name, lookup_deadline) {
        Ok(_) | Err(Fault::Resolve(_)) => {}
        Err(fault) => return Err(fault),
    }
    let stream = proxy_stream(shared, proxy, deadline).map_err(|fault| Fault::ProxyAway(Box::new(fault)))?;
    let first = proxy.connect(&stream, name, port, deadline)?;
    Ok(Connected { stream, first })
}

/// Connects to the proxy, at any address: the user named it.
fn proxy_stream(shared: &Shared, proxy: &Proxy, deadline: Instant) -> Result<TcpStream, Fault> {
    let addresses = match proxy.host().parse() {
        Ok(address) => vec![address],
        Err(_) => shared.outside.resolve(proxy.host(), deadline)?,
    };
    dial(shared, &addresses, proxy.port(), deadline)
}

/// Resolves a name, and checks all of its addresses.
fn resolve(shared: &Shared, scope: &Scope, name: &HostName, deadline: Instant) -> Result<Vec<IpAddr>, Fault> {
    let turn = scope.begin_lookup(deadline).ok_or(ResolveError::TimedOut)?;
    let addresses = shared.outside.resolve(name.as_str(), deadline)?;
    drop(turn);
    let kind = |address: IpAddr| {
        refused_kind(address).or_else(|| shared.outside.is_own(address).then_some(AddressKind::Own))
    };
    let refused = addresses.iter().find_map(|address| Some((*address, kind(*address)?)));
    match refused {
        Some((address, kind)) => Err(Fault::Address(address, kind)),
        None => Ok(addresses),
    }
}

/// Connects to the first address that answers.
fn dial(shared: &Shared, addresses: &[IpAddr], port: u16, deadline: Instant) -> Result<TcpStream, Fault> {
    let tried = &addresses[..addresses.len().min(MOST_TRIED)];
    let mut fault = Fault::Resolve(ResolveError::Unresolved);
    for (index, address) in tried.iter().enumerate() {
        let address = SocketAddr::new(*address, port);
        // An address that does not answer uses only its share of the time.
        let share = deadline.saturating_duration_since(Instant::now()) / (tried.len() - index) as u32;
        match shared.outside.connect(address, Instant::now() + share) {
            Ok(stream) => return Ok(stream),
            Err(error) => fault = Fault::Connect(address, error),
        }
    }
    Err(fault)
}
