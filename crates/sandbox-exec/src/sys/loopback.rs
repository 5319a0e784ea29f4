//! Bringing the loopback interface of a new network namespace up.

use std::os::fd::AsRawFd;

use rustix::io::Result;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use super::descriptors::last_errno;

/// Brings the loopback interface of the calling process's network namespace up; the kernel gives it its addresses.
pub(crate) fn bring_up_loopback() -> Result<()> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // SAFETY: the structure holds numbers and arrays of numbers only, for which zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    request.ifr_ifru.ifru_flags =
        libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).expect("the two flags fit 16 bits");
    // The C libraries differ in the type of a request.
    let set_flags = libc::SIOCSIFFLAGS as libc::Ioctl;
    // SAFETY: the kernel reads a name that ends with a zero and the flags from a structure that outlives the call.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), set_flags, &raw const request) };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}
