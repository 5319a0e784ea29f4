//! The confinement steps of a child.

use std::ops::BitOr;

/// A set of confinement steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Isolation(u64);

impl Isolation {
    /// No step at all.
    pub(crate) const NOTHING: Isolation = Isolation(0);
    /// A user namespace with ids mapped one to one: for everyone but root.
    pub(crate) const USER: Isolation = Isolation(1);
    /// A process namespace: when it ends, so does every process in it.
    pub(crate) const PROCESSES: Isolation = Isolation(1 << 1);
    /// A mount namespace with a small root.
    pub(crate) const ROOT: Isolation = Isolation(1 << 2);
    /// A network namespace with only its own loopback interface.
    pub(crate) const NETWORK: Isolation = Isolation(1 << 3);
    /// Namespaces for IPC objects and the host's name.
    pub(crate) const IPC_AND_NAME: Isolation = Isolation(1 << 4);
    /// A cgroup namespace.
    pub(crate) const CGROUP: Isolation = Isolation(1 << 5);
    /// Resource limits, no capabilities, no new privileges.
    pub(crate) const PRIVILEGES: Isolation = Isolation(1 << 6);
    /// Landlock rules for files, abstract sockets and signals.
    pub(crate) const LANDLOCK: Isolation = Isolation(1 << 7);
    /// The system call filter.
    pub(crate) const FILTER: Isolation = Isolation(1 << 8);
    /// With the filter: only sockets of the command's own network namespace, and none at all without one.
    pub(crate) const NO_SOCKETS: Isolation = Isolation(1 << 9);

    /// A control group with limits on the whole command's memory and processes.
    pub(crate) const GROUP: Isolation = Isolation(1 << 10);

    /// The filter of modes and owners.
    pub(crate) const MODES: Isolation = Isolation(1 << 11);

    /// A user of the command's own, who is root inside and owns nothing outside: for root.
    pub(crate) const OWN_IDS: Isolation = Isolation(1 << 12);

    /// The steps required for a network of allowed names.
    pub(crate) const FOR_NAMES: Isolation = Isolation(
        Isolation::ROOT.0
            | Isolation::PROCESSES.0
            | Isolation::NETWORK.0
            | Isolation::PRIVILEGES.0
            | Isolation::FILTER.0
            | Isolation::NO_SOCKETS.0,
    );

    /// Every step.
    pub(crate) const ALL: Isolation = Isolation((1 << 13) - 1);

    /// The steps that depend on a process namespace and on each other.
    pub(crate) const NAMESPACES: Isolation = Isolation(0b11_1111 | Isolation::OWN_IDS.0);

    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn from_bits(bits: u64) -> Option<Isolation> {
        (bits & !Isolation::ALL.0 == 0).then_some(Isolation(bits))
    }

    pub(crate) fn contains(self, layer: Isolation) -> bool {
        self.0 & layer.0 == layer.0
    }

    pub(crate) fn intersects(self, layers: Isolation) -> bool {
        self.0 & layers.0 != 0
    }

    pub(crate) fn without(self, layers: Isolation) -> Isolation {
        Isolation(self.0 & !layers.0)
    }

    /// Returns the sockets that this set leaves to a command.
    pub(crate) fn sockets(self) -> Sockets {
        match (self.contains(Isolation::NO_SOCKETS), self.contains(Isolation::NETWORK)) {
            (false, _) => Sockets::Network,
            (true, true) => Sockets::Loopback,
            (true, false) => Sockets::None,
        }
    }

    /// Returns the `CLONE_NEW*` flags of the namespaces in this set.
    pub(crate) fn clone_flags(self) -> i32 {
        [
            (Isolation::USER, libc::CLONE_NEWUSER),
            (Isolation::PROCESSES, libc::CLONE_NEWPID),
            (Isolation::ROOT, libc::CLONE_NEWNS),
            (Isolation::NETWORK, libc::CLONE_NEWNET),
            (Isolation::IPC_AND_NAME, libc::CLONE_NEWIPC | libc::CLONE_NEWUTS),
            (Isolation::CGROUP, libc::CLONE_NEWCGROUP),
        ]
        .into_iter()
        .filter(|(layer, _)| self.contains(*layer))
        .fold(0, |flags, (_, flag)| flags | flag)
    }
}

/// The sockets that the system call filter lets a command make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// Socket pairs only: the network namespace is the host's.
    None,
    /// Sockets that reach the command's own processes over the loopback interface of its own network namespace.
    Loopback,
    /// Network sockets and Unix sockets.
    Network,
    /// Network sockets only: a Unix socket could lead to any server of the host.
    Internet,
}

impl BitOr for Isolation {
    type Output = Isolation;

    fn bitor(self, other: Isolation) -> Isolation {
        Isolation(self.0 | other.0)
    }
}
