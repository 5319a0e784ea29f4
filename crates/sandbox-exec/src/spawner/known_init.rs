//! The spawner's record of an init.

use std::os::fd::OwnedFd;

use rustix::process::Pid;

use crate::spawner::control_group::ControlGroup;
use crate::spawner::preparation::{Identity, Preparation};

/// An init, with a command or in reserve.
pub(crate) struct Child {
    pub(crate) pid: Pid,
    pub(crate) pidfd: OwnedFd,
    /// The socket to the launcher; `None` while the init is in reserve.
    pub(crate) status: Option<OwnedFd>,
    /// Carries orders to the init, and back its report that it has begun.
    pub(crate) orders: OwnedFd,
    /// The reserve to make for the next command, once this one has begun.
    pub(crate) next: Option<Reserve>,
    /// Keeps the command's mounts, which are unmounted when it is dropped.
    pub(crate) mounts: Option<OwnedFd>,
    /// Not removed when dropped: a child drops its copy while the group is in use.
    pub(crate) group: Option<ControlGroup>,
    /// True if the kernel kills all its descendants with it.
    pub(crate) owns_namespace: bool,
    pub(crate) killed: bool,
}

/// The init in reserve.
pub(crate) struct Reserve {
    pub(crate) pid: Pid,
    /// The preparation, encoded as in requests.
    pub(crate) encoded: Vec<u8>,
    pub(crate) preparation: Preparation,
    /// The files that the preparation showed when it was made; `None` if some were missing.
    pub(crate) identities: Option<Vec<Identity>>,
}

impl Reserve {
    pub(crate) fn of(pid: Pid, encoded: Vec<u8>, preparation: Preparation) -> Reserve {
        Reserve { pid, encoded, preparation, identities: None }
    }

    /// Checks that its visible files are still the same.
    pub(crate) fn is_the_same(&self) -> bool {
        self.identities.is_some() && self.preparation.identities() == self.identities
    }
}
