//! The attacks of the self-test: tried in a confined child instead of a shell, one line of output for each.
//!
//! They also run unconfined and as root: none may change anything when it succeeds.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::mount::{FsOpenFlags, fsopen};
use rustix::net::{AddressFamily, SocketFlags, SocketType, netlink, socket, socketpair};
use rustix::process::{Pid, WaitOptions, test_kill_process, waitpid};

use crate::spawner::request::Targets;
use crate::sys::{self, AttemptedCall, Cloned};

macro_rules! attacks {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+) => {
        /// Something that a confined command must not be able to do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Attack { $($(#[doc = $doc])+ $variant,)+ }

        impl Attack {
            pub(crate) const ALL: &[Attack] = &[$(Attack::$variant,)+];

            pub(crate) fn name(self) -> &'static str {
                match self { $(Attack::$variant => $name,)+ }
            }
        }
    };
}

attacks! {
    /// Reads a file outside the workspace.
    ReadOutside = "read outside";
    /// Changes a file outside the workspace.
    WriteOutside = "write outside";
    /// Sees that a file outside the workspace exists.
    SeeOutside = "see outside";
    /// Lists the user's home folder.
    ListHome = "list home";
    /// Connects to a port of the host.
    Connect = "connect to the host";
    /// Makes a raw socket, a socket of a family that leads out of the command's own network, or any in the host's network.
    MakeSocket = "make a socket beyond loopback";
    /// Signals a process outside the sandbox.
    SignalOutside = "signal a process outside";
    /// Mounts a file system.
    Mount = "mount";
    /// Makes a user namespace, in which it would have every capability.
    UserNamespace = "make a user namespace";
    /// Has a capability, or can gain one by executing a program.
    KeepPrivileges = "keep privileges";
    /// Reads the environment of another command's process.
    ReadForeignEnvironment = "read a foreign environment";
    /// Lets others run a file with its owner's rights, gives a file away, or makes a device.
    SetIdBits = "set set-user-ID bits";
    /// Changes permissions of a file outside the workspace.
    ChangePermissions = "change permissions outside";
    /// Sets a limit of a process outside the sandbox.
    LimitOutside = "set limits of a process outside";
    /// Uses memory, queues or semaphores that programs outside the sandbox share.
    UseSharedObjects = "use objects that other programs share";
}

/// The first words of a line.
pub(crate) const REFUSED: &str = "refused";
pub(crate) const SUCCEEDED: &str = "succeeded";

/// Runs every attack and prints a line for each.
pub(crate) fn run(targets: &Targets) {
    for attack in Attack::ALL {
        let verdict = if succeeds(*attack, targets) { SUCCEEDED } else { REFUSED };
        let line = format!("{verdict} {}\n", attack.name());
        // A lost line counts as an attack that succeeded.
        let _ = rustix::io::write(rustix::stdio::stdout(), line.as_bytes());
    }
}

pub(crate) fn succeeds(attack: Attack, targets: &Targets) -> bool {
    let own_namespace = fs::read_link("/proc/self/ns/pid").ok();
    let is_outside_visible = own_namespace.as_deref().is_none_or(|own| own == targets.process_namespace);
    match attack {
        Attack::ReadOutside => fs::read(&targets.secret).is_ok(),
        Attack::WriteOutside => fs::OpenOptions::new().append(true).open(&targets.secret).is_ok(),
        Attack::SeeOutside => fs::symlink_metadata(&targets.secret).is_ok(),
        Attack::ListHome => {
            is_same_file(&targets.home, targets.home_identity) && fs::read_dir(&targets.home).is_ok()
        }
        Attack::Connect => targets
            .listener
            .is_none_or(|address| TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()),
        Attack::MakeSocket => makes_socket_beyond_loopback(targets),
        // In a separate namespace the launcher's number would mean another process, or none.
        Attack::SignalOutside => {
            is_outside_visible && process(targets).is_some_and(|pid| test_kill_process(pid).is_ok())
        }
        // The right to prepare a mount is the right to mount. Preparing changes nothing.
        Attack::Mount => fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC).is_ok(),
        Attack::UserNamespace => makes_user_namespace(),
        Attack::KeepPrivileges => !has_no_privileges(),
        Attack::ReadForeignEnvironment => {
            is_outside_visible && fs::read(format!("/proc/{}/environ", targets.process)).is_ok()
        }
        Attack::SetIdBits => AttemptedCall::MODES.iter().any(AttemptedCall::gets_through),
        // Sets the same permissions again.
        Attack::ChangePermissions => fs::symlink_metadata(&targets.secret)
            .is_ok_and(|secret| fs::set_permissions(&targets.secret, secret.permissions()).is_ok()),
        Attack::LimitOutside => is_outside_visible && AttemptedCall::FOREIGN_LIMIT.gets_through(),
        // Process and IPC namespaces are always made together.
        Attack::UseSharedObjects => {
            is_outside_visible && AttemptedCall::SHARED.iter().any(AttemptedCall::gets_through)
        }
    }
}

fn makes_socket_beyond_loopback(targets: &Targets) -> bool {
    let makes = |family, kind| socket(family, kind, None).is_ok();
    let uevents = Some(netlink::KOBJECT_UEVENT);
    if makes(AddressFamily::INET, SocketType::RAW)
        || makes(AddressFamily::PACKET, SocketType::DGRAM)
        || makes(AddressFamily::VSOCK, SocketType::STREAM)
        || socket(AddressFamily::NETLINK, SocketType::RAW, uevents).is_ok()
    {
        return true;
    }
    let own_network = fs::read_link("/proc/self/ns/net").ok();
    let is_own = own_network.is_some_and(|own| own != targets.network_namespace);
    let families = [AddressFamily::UNIX, AddressFamily::INET, AddressFamily::INET6, AddressFamily::NETLINK];
    let pair = || socketpair(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
    !is_own && (families.into_iter().any(|family| makes(family, SocketType::DGRAM)) || pair().is_ok())
}

fn is_same_file(path: &Path, (device, inode): (u64, u64)) -> bool {
    fs::metadata(path).is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == (device, inode))
}

fn process(targets: &Targets) -> Option<Pid> {
    Pid::from_raw(targets.process.try_into().ok()?)
}

fn makes_user_namespace() -> bool {
    match sys::clone_process(libc::CLONE_NEWUSER) {
        Ok(Cloned::Child) => sys::exit_now(0),
        Ok(Cloned::Parent { child, .. }) => {
            // Its exit code does not matter.
            let _ = waitpid(Some(child), WaitOptions::empty());
            true
        }
        Err(_) => false,
    }
}

fn has_no_privileges() -> bool {
    let Ok(status) = fs::read_to_string("/proc/self/status") else { return false };
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let is_zero = |name| field(name).is_some_and(|value| value.bytes().all(|digit| digit == b'0'));
    is_zero("CapEff:") && is_zero("CapPrm:") && field("NoNewPrivs:") == Some("1")
}
