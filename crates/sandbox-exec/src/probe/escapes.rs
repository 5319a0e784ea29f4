//! The long list of escapes, tried in a confined child instead of a shell, one line of output for each.
//!
//! They also run unconfined and as root: none may change anything when it succeeds.

use std::num::NonZeroU32;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, Protocol, SocketType, socket};

use crate::probe::attacks::{self, Attack, REFUSED, SUCCEEDED};
use crate::spawner::request::Targets;
use crate::sys::AttemptedCall;

/// Files of the machine that a command may not open for reading.
const FILES_TO_READ: [&str; 23] = [
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/machine-id",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssl/private/ssl-cert-snakeoil.key",
    "/proc/bootconfig",
    "/proc/cmdline",
    "/proc/config.gz",
    "/proc/interrupts",
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/key-users",
    "/proc/locks",
    "/proc/modules",
    "/proc/1/mem",
    "/proc/1/environ",
    "/proc/1/cwd",
    "/proc/keys",
    "/dev/mem",
    "/dev/kmsg",
    "/sys/kernel",
    "/var/log",
    "/run/systemd",
];

/// Files of the machine that a command may not open for writing.
const FILES_TO_WRITE: [&str; 12] = [
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/vm/drop_caches",
    "/proc/sysrq-trigger",
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/kernel/uevent_helper",
    "/etc/passwd",
    "/etc/ld.so.preload",
    "/usr/bin/env",
    "/dev/fuse",
    "/dev/kvm",
    "/dev/net/tun",
    "/dev/loop-control",
];

/// Kinds of sockets by name and number.
const FAMILIES: [(&str, u16); 10] = [
    ("KEY", 15),
    ("PACKET", 17),
    ("RDS", 21),
    ("CAN", 29),
    ("TIPC", 30),
    ("BLUETOOTH", 31),
    ("ALG", 38),
    ("VSOCK", 40),
    ("QIPCRTR", 42),
    ("XDP", 44),
];

/// Raw sockets, and others of families whose ordinary sockets stay in the command's own network: by family, type and
/// protocol.
const SPECIAL_SOCKETS: [(&str, u16, u32, u32); 7] = [
    ("raw socket of INET", 2, 3, 255),
    ("raw socket of INET6", 10, 3, 255),
    ("packet socket of INET", 2, 10, 3),
    ("socket of SCTP", 2, 1, 132),
    ("netlink socket of AUDIT", 16, 3, 9),
    ("netlink socket of NETFILTER", 16, 3, 12),
    ("netlink socket of KOBJECT_UEVENT", 16, 3, 15),
];

/// Tries every escape and prints a line for each.
pub(crate) fn run(targets: &Targets) {
    for attack in Attack::ALL {
        say(attack.name(), attacks::succeeds(*attack, targets));
    }
    for call in AttemptedCall::ALL.iter().chain(AttemptedCall::MODES) {
        say(&format!("system call {}", call.name), call.gets_through());
    }
    for (name, number) in FAMILIES {
        say(&format!("socket of family {name}"), makes_socket(number, SocketType::DGRAM, 0));
    }
    for (name, family, kind, protocol) in SPECIAL_SOCKETS {
        say(name, makes_socket(family, SocketType::from_raw(kind), protocol));
    }
    for path in FILES_TO_READ {
        say(&format!("read {path}"), opens(path, OFlags::RDONLY));
    }
    for path in FILES_TO_WRITE {
        say(&format!("write {path}"), opens(path, OFlags::WRONLY));
    }
}

fn say(name: &str, has_succeeded: bool) {
    let verdict = if has_succeeded { SUCCEEDED } else { REFUSED };
    // The reader notices a lost line.
    let _ = rustix::io::write(rustix::stdio::stdout(), format!("{verdict} {name}\n").as_bytes());
}

/// Checks whether a socket is made, or fails only because the kernel lacks the family.
fn makes_socket(family: u16, kind: SocketType, protocol: u32) -> bool {
    let protocol = NonZeroU32::new(protocol).map(Protocol::from_raw);
    match socket(AddressFamily::from_raw(family), kind, protocol) {
        Ok(_) => true,
        Err(errno) => ![Errno::PERM, Errno::ACCESS].contains(&errno),
    }
}

fn opens(path: &str, access: OFlags) -> bool {
    // A missing file counts as refused.
    let flags = access | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    rustix::fs::open(path, flags, Mode::empty()).is_ok()
}
