//! The route that leads the addresses of allowed names to the command's own loopback interface.

use rustix::io::{Errno, Result};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};

use super::names::{PREFIX_BITS, RANGE};

/// Routes every address of the range to the loopback interface of the calling process's network namespace.
pub(super) fn add() -> Result<()> {
    const ERROR: u16 = 2;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    send(&socket, &request(), SendFlags::empty())?;
    let mut answer = [0; 1024];
    let (length, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    let answer = answer.get(..length).ok_or(Errno::MSGSIZE)?;
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    let code = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, code) {
        (Some(ERROR), Some(0)) => Ok(()),
        (Some(ERROR), Some(code)) => Err(Errno::from_raw_os_error(-code)),
        _ => Err(Errno::BADMSG),
    }
}

/// Encodes the request of `ip route add local 198.18.0.0/15 dev lo`.
fn request() -> Vec<u8> {
    const NEW_ROUTE: u16 = 24;
    const REQUEST_ACKNOWLEDGE_CREATE_EXCLUSIVE: u16 = 0x605;
    const LOCAL_TABLE: u8 = 255;
    const STATIC: u8 = 4;
    const HOST_SCOPE: u8 = 254;
    const LOCAL: u8 = 2;
    const DESTINATION: u16 = 1;
    const INTERFACE: u16 = 4;
    /// The first interface of every network namespace.
    const LOOPBACK: u32 = 1;
    let mut bytes = Vec::with_capacity(44);
    bytes.extend(44_u32.to_ne_bytes());
    bytes.extend(NEW_ROUTE.to_ne_bytes());
    bytes.extend(REQUEST_ACKNOWLEDGE_CREATE_EXCLUSIVE.to_ne_bytes());
    bytes.extend([0; 8]);
    // Family, bits of the destination and of the source, type of service; then table, origin, scope, type and flags.
    bytes.extend([2, PREFIX_BITS, 0, 0, LOCAL_TABLE, STATIC, HOST_SCOPE, LOCAL]);
    bytes.extend([0; 4]);
    bytes.extend(8_u16.to_ne_bytes());
    bytes.extend(DESTINATION.to_ne_bytes());
    bytes.extend(RANGE.octets());
    bytes.extend(8_u16.to_ne_bytes());
    bytes.extend(INTERFACE.to_ne_bytes());
    bytes.extend(LOOPBACK.to_ne_bytes());
    bytes
}
