//! Unix sockets that have a name in the file tree: resolves an address to its file, and checks that a socket of the
//! command's own network namespace is bound to it.
//!
//! Such names are the only kind of address that no namespace separates: a file in a folder that the command shares with
//! the host leads to the host's server.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, StatxFlags, open, openat2, statx};
use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

/// The offset of the name in an address.
const PATH_OFFSET: usize = 2;

/// The target of an address.
pub(crate) enum Target {
    /// The address itself, which names no file.
    Address,
    /// This file, to which a socket of the command's own network namespace is bound.
    Own(OwnedFd),
    /// A file to which another socket is bound, or none.
    Foreign,
    /// A path at which services of the host have their sockets, hidden from the command.
    HostService,
}

/// Returns the path in an address; `None` if it is of another kind or names nothing in the file tree.
pub(crate) fn path(address: &[u8]) -> Option<&[u8]> {
    let (family, name) = address.split_first_chunk::<PATH_OFFSET>()?;
    let is_unix = i32::from(u16::from_ne_bytes(*family)) == libc::AF_UNIX;
    let path = name.split(|byte| *byte == 0).next().filter(|path| !path.is_empty());
    path.filter(|_| is_unix)
}

/// Checks whether a missing path is one at which hosts have the socket of a service or an ssh-agent.
///
/// Excludes sockets that the C library merely tries before it does without them.
pub(crate) fn is_of_host_service(path: &[u8]) -> bool {
    let strip = |folder: &str| path.strip_prefix(folder.as_bytes());
    if let Some(name) = strip("/run/").or_else(|| strip("/var/run/")) {
        let tried: [&[u8]; 4] = [b"nscd/", b"systemd/", b"avahi-daemon/", b"pcscd/"];
        return !tried.iter().any(|service| name.starts_with(service));
    }
    is_of_agent(path)
}

/// Checks whether a path is that of an ssh-agent's socket: `/tmp/ssh-…/agent.…`.
pub(crate) fn is_of_agent(path: &[u8]) -> bool {
    let name = path.strip_prefix(b"/tmp/ssh-").and_then(|rest| rest.split(|byte| *byte == b'/').nth(1));
    name.is_some_and(|name| name.starts_with(b"agent."))
}

/// Opens the file to which a path resolves in this thread.
///
/// # Errors
/// Those of opening the path, ECONNREFUSED for a file that is not a socket, and EOPNOTSUPP where the kernel does not
/// list sockets.
pub(crate) fn find(thread: u32, path: &[u8]) -> Result<Target> {
    let folder = open(
        format!("/proc/{thread}/cwd"),
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    // Magic links of `/proc` would lead to this process's own files.
    let file = openat2(folder, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS)?;
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    let status = statx(&file, c"", AtFlags::EMPTY_PATH, wanted)?;
    let is_socket = FileType::from_raw_mode(status.stx_mode.into()) == FileType::Socket;
    let device = device_of_mount(status.stx_mnt_id).filter(|_| is_socket).ok_or(Errno::CONNREFUSED)?;
    let is_own = bound_sockets()?.iter().any(|bound| {
        // The kernel lists the lower half of an inode's number.
        *bound == (status.stx_ino as u32, device)
    });
    Ok(if is_own { Target::Own(file) } else { Target::Foreign })
}

/// Returns an address that leads to exactly this file.
pub(crate) fn address_of(file: &OwnedFd) -> Vec<u8> {
    let family = u16::try_from(libc::AF_UNIX).expect("families are small numbers").to_ne_bytes();
    let path = format!("/proc/self/fd/{}\0", file.as_fd().as_raw_fd());
    [family.as_slice(), path.as_bytes()].concat()
}

/// Returns the kernel's device number of the mounted file system; a file's own device number differs from it where a
/// file system has several (such as btrfs subvolumes).
fn device_of_mount(mount: u64) -> Option<u32> {
    let list = std::fs::read("/proc/self/mountinfo").ok()?;
    let text = String::from_utf8_lossy(&list);
    let mount = mount.to_string();
    let fields =
        text.lines().map(|line| line.split(' ')).find(|fields| fields.clone().next() == Some(&mount));
    let (major, minor) = fields?.nth(2)?.split_once(':')?;
    Some(major.parse::<u32>().ok()? << 20 | minor.parse::<u32>().ok()?)
}

/// Lists inode and file system of every file to which a socket of this network namespace is bound.
fn bound_sockets() -> Result<Vec<(u32, u32)>> {
    const MULTIPART_END: u16 = 3;
    const ERROR: u16 = 2;
    let socket =
        socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?;
    send(&socket, &request(), SendFlags::empty())?;
    let (mut bound, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let (length, _) = recv(&socket, buffer.as_mut_slice(), RecvFlags::empty())?;
        let mut rest = buffer.get(..length).ok_or(Errno::MSGSIZE)?;
        while let Some((kind, body, after)) = message(rest) {
            match kind {
                MULTIPART_END => return Ok(bound),
                ERROR => return Err(Errno::NOTSUP),
                _ => bound.extend(file_of(body)),
            }
            rest = after;
        }
    }
}

/// Asks for all Unix sockets and the files that they are bound to.
fn request() -> Vec<u8> {
    const SOCK_DIAG_BY_FAMILY: u16 = 20;
    const REQUEST_AND_DUMP: u16 = 0x301;
    const SHOW_FILE: u32 = 2;
    let mut bytes = Vec::with_capacity(40);
    bytes.extend(40_u32.to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST_AND_DUMP.to_ne_bytes());
    bytes.extend([0; 8]);
    // Family, protocol and padding; then states, inode, what to show, and a cookie.
    bytes.extend([1, 0, 0, 0]);
    for number in [u32::MAX, 0, SHOW_FILE, u32::MAX, u32::MAX] {
        bytes.extend(number.to_ne_bytes());
    }
    bytes
}

/// Splits the first message off: its type, its body and what follows.
fn message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    const HEADER: usize = 16;
    let length = usize::try_from(u32::from_ne_bytes(*bytes.first_chunk()?)).ok()?;
    let kind = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
    let body = bytes.get(HEADER..length)?;
    Some((kind, body, bytes.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// Returns inode and file system from the description of one socket.
fn file_of(body: &[u8]) -> Option<(u32, u32)> {
    const FIXED: usize = 16;
    const FILE: u16 = 1;
    let mut rest = body.get(FIXED..)?;
    while let (Some(length), Some(kind)) = (rest.get(..2), rest.get(2..4)) {
        let length = usize::from(u16::from_ne_bytes(length.try_into().ok()?));
        let value = rest.get(4..length)?;
        if u16::from_ne_bytes(kind.try_into().ok()?) == FILE {
            let number = |at: usize| Some(u32::from_ne_bytes(value.get(at..at + 4)?.try_into().ok()?));
            return Some((number(0)?, number(4)?));
        }
        rest = rest.get(length.next_multiple_of(4)..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_path_only_if_it_names_a_file() {
        let address = |family: u16, name: &[u8]| [&family.to_ne_bytes(), name].concat();
        assert_eq!(path(&address(1, b"/a/b\0junk")), Some(b"/a/b".as_slice()));
        assert_eq!(path(&address(1, b"b.sock")), Some(b"b.sock".as_slice()));
        for other in [address(1, b""), address(1, b"\0name"), address(2, b"/a"), vec![1], vec![]] {
            assert_eq!(path(&other), None, "{other:?}");
        }
    }

    #[test]
    fn sockets_of_services_are_known_by_their_places() {
        let is_of_service = |path: &str| is_of_host_service(path.as_bytes());
        for path in ["/var/run/docker.sock", "/run/user/1000/keyring/ssh", "/tmp/ssh-a1/agent.7"] {
            assert!(is_of_service(path), "{path}");
        }
        for path in ["/var/run/nscd/socket", "/tmp/x.sock", "/tmp/ssh-a1/x", "run/docker.sock", "/dev/log"] {
            assert!(!is_of_service(path), "{path}");
        }
    }

    #[test]
    fn own_sockets_are_found_and_stale_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("socket");
        let listener = std::os::unix::net::UnixListener::bind(&name).unwrap();
        let thread = std::process::id();
        let text = name.to_str().unwrap().as_bytes();
        assert!(matches!(find(thread, text), Ok(Target::Own(_))));
        drop(listener);
        assert!(matches!(find(thread, text), Ok(Target::Foreign)));
        std::fs::write(folder.path().join("file"), "").unwrap();
        let file = folder.path().join("file");
        let error = |path: &[u8]| find(thread, path).err();
        assert_eq!(error(file.to_str().unwrap().as_bytes()), Some(Errno::CONNREFUSED));
        assert_eq!(error(b"/nowhere/at/all"), Some(Errno::NOENT));
    }
}
