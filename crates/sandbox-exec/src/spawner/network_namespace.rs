//! A network namespace that several commands share, and the creation of an init in it.
//!
//! A network namespace belongs to a user namespace, and only a process with capabilities there may enter it. For an
//! ordinary user both are made together: the user who made the user namespace may enter it and then has the capabilities.
//! A command's init gets a nested user namespace, so that it has none of these capabilities itself.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, WaitOptions, pidfd_open, set_dumpable_behavior, waitpid,
};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::init::map_ids;
use crate::init::step::{AtStep, Step, StepError};
use crate::spawner::channel::{self, Status};
use crate::sys::{self, Cloned};

/// The namespaces to enter. They last as long as a process is in them or a descriptor to them is open.
#[derive(Debug)]
pub(crate) struct NetworkNamespace {
    network: OwnedFd,
    /// The user namespace that owns the network; `None` if the spawner's own does.
    user: Option<OwnedFd>,
}

impl NetworkNamespace {
    /// Takes the descriptors of a request; `None` without any, for a network of the command's own.
    pub(crate) fn from_descriptors(descriptors: Vec<OwnedFd>) -> Option<NetworkNamespace> {
        let mut descriptors = descriptors.into_iter();
        let network = descriptors.next()?;
        Some(NetworkNamespace { network, user: descriptors.next() })
    }

    /// Makes the namespaces, brings their loopback interface up and sends their descriptors, or the step that failed.
    pub(crate) fn make_for(answer: &OwnedFd, has_user: bool) -> Result<(), StepError> {
        let ids = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let user = if has_user { libc::CLONE_NEWUSER } else { 0 };
        match sys::clone_process(libc::CLONE_NEWNET | user).at(Step::Clone)? {
            Cloned::Child => {
                if let Err(error) = furnish(answer, has_user.then_some(ids)) {
                    let _ = channel::send(answer, &Status::Failed(error).encode(), &[]);
                }
                sys::exit_now(0)
            }
            Cloned::Parent { child, .. } => {
                reap(child);
                Ok(())
            }
        }
    }

    /// Creates a process like [`sys::clone_process`] does, a child of this one, in this network.
    pub(crate) fn clone_inside(&self, namespaces: libc::c_int) -> rustix::io::Result<Cloned> {
        let (answer, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        match sys::clone_process(0)? {
            // It enters the namespaces, which the spawner itself could not leave again, and makes a sibling there.
            Cloned::Child => {
                drop(answer);
                let namespaces = namespaces & !libc::CLONE_NEWNET;
                let number = match self.enter().and_then(|()| sys::clone_sibling(namespaces)) {
                    Ok(Cloned::Child) => return Ok(Cloned::Child),
                    Ok(Cloned::Parent { child, .. }) => child.as_raw_nonzero().get(),
                    Err(errno) => -errno.raw_os_error(),
                };
                let _ = rustix::io::write(&writer, &number.to_le_bytes());
                sys::exit_now(0)
            }
            Cloned::Parent { child, .. } => {
                drop(writer);
                let mut number = [0; 4];
                let length = rustix::io::retry_on_intr(|| rustix::io::read(&answer, &mut number));
                reap(child);
                match i32::from_le_bytes(number) {
                    _ if length != Ok(number.len()) => Err(Errno::CHILD),
                    errno if errno < 0 => Err(Errno::from_raw_os_error(-errno)),
                    number => {
                        let child = Pid::from_raw(number).ok_or(Errno::CHILD)?;
                        // Its number is not reused before this process has reaped it.
                        Ok(Cloned::Parent { child, pidfd: pidfd_open(child, PidfdFlags::empty())? })
                    }
                }
            }
        }
    }

    fn enter(&self) -> rustix::io::Result<()> {
        if let Some(user) = &self.user {
            move_into_link_name_space(user.as_fd(), Some(LinkNameSpaceType::User))?;
        }
        move_into_link_name_space(self.network.as_fd(), Some(LinkNameSpaceType::Network))
    }
}

/// Makes the calling process's new network usable and sends its descriptors. `ids` are to be mapped to themselves.
fn furnish(answer: &OwnedFd, ids: Option<(u32, u32)>) -> Result<(), StepError> {
    if let Some(ids) = ids {
        // The process's own id files belong to root while it is not dumpable.
        set_dumpable_behavior(DumpableBehavior::Dumpable).at(Step::IdMaps)?;
        map_ids(ids).at(Step::IdMaps)?;
    }
    sys::bring_up_loopback().at(Step::Network)?;
    let network = File::open("/proc/self/ns/net").at(Step::Network)?;
    let user = ids.map(|_| File::open("/proc/self/ns/user")).transpose().at(Step::Network)?;
    let descriptors: Vec<BorrowedFd<'_>> =
        [Some(&network), user.as_ref()].into_iter().flatten().map(File::as_fd).collect();
    channel::send(answer, b"N", &descriptors).at(Step::Network)
}

fn reap(child: Pid) {
    while matches!(waitpid(Some(child), WaitOptions::empty()), Err(Errno::INTR)) {}
}
