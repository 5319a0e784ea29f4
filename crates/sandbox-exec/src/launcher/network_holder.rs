//! A network that several commands share.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use crate::init::step::{Step, StepError};
use crate::launcher::running::begun::{PREPARATION_LIMIT, is_readable_before};
use crate::launcher::{Launcher, SpawnError};
use crate::policy::isolation::Isolation;
use crate::spawner::channel::{self, Status};
use crate::spawner::request::RequestKind;

/// A private loopback network that several commands share, such as a server and its clients.
///
/// It reaches neither the host nor another network, and ends with the last command in it once this is dropped.
#[derive(Debug)]
pub struct NetworkHolder {
    /// The network namespace, and the user namespace that owns it unless that is the launcher's. Empty on a machine where
    /// commands have no network of their own.
    descriptors: Vec<OwnedFd>,
}

impl NetworkHolder {
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.descriptors.iter().map(AsFd::as_fd)
    }
}

impl Launcher {
    /// Makes a network for [`Launcher::spawn_in`].
    ///
    /// On a machine where commands have no network of their own, it has no effect.
    ///
    /// # Errors
    /// [`SpawnError`]; the launcher stays usable.
    pub fn make_network(&self) -> Result<NetworkHolder, SpawnError> {
        let isolation = self.isolation();
        if !isolation.contains(Isolation::NETWORK) {
            return Ok(NetworkHolder { descriptors: Vec::new() });
        }
        let (status, status_end) = channel::pair().map_err(|errno| SpawnError::Pipes(errno.into()))?;
        let kind = RequestKind::MakeNetwork { has_user: isolation.contains(Isolation::USER) };
        self.send(kind, &[status_end.as_fd()])?;
        drop(status_end);
        let deadline = std::time::Instant::now() + PREPARATION_LIMIT;
        let packet = is_readable_before(&status, deadline).then(|| channel::receive(&status).ok().flatten());
        let (bytes, descriptors) = packet.flatten().ok_or(SpawnError::NotStarted)?;
        match Status::decode(&bytes) {
            Some(Status::Failed(error)) => Err(error.into()),
            _ if descriptors.is_empty() => Err(StepError::new(Step::Network, Errno::BADMSG).into()),
            _ => Ok(NetworkHolder { descriptors }),
        }
    }
}
