//! A separate user for commands that root runs: root inside, and outside a user who owns nothing.
//!
//! Root without capabilities still owns what root owns, and the kernel lets owners do a lot. So commands of root run in
//! a user namespace in which root maps to [`OUTSIDE`]; every other user and group maps to itself. Folders that a
//! command works with are mounted with root and [`OUTSIDE`] exchanged: files of root are the command's own, and files
//! that it makes belong to root on the disk, as usual. To all other mounts it is an unrelated user.

use std::fs::{self, File};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Gid, Uid, WaitOptions, waitpid};
use rustix::thread::{
    CapabilitiesSecureBits, LinkNameSpaceType, move_into_link_name_space, set_capabilities_secure_bits,
    set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};

use crate::init::user_limits;
use crate::sys::{self, Cloned, map_mount_ids};

/// The user's and the group's number outside. No distribution assigns numbers from this range.
const OUTSIDE: u32 = 3_999_999_999;

/// The user namespace in which commands run.
#[derive(Debug)]
pub(crate) struct OwnIds {
    namespace: OwnedFd,
}

impl OwnIds {
    /// Makes the namespace. It takes a root with capabilities, and a process with one thread.
    pub(crate) fn make() -> std::io::Result<OwnIds> {
        let (child_end, own_end) = pipe_with(PipeFlags::CLOEXEC)?;
        let (answer, child_answer) = pipe_with(PipeFlags::CLOEXEC)?;
        match sys::clone_process(libc::CLONE_NEWUSER)? {
            Cloned::Child => {
                drop((own_end, answer));
                // The byte arrives when the numbers are mapped.
                let is_mapped = rustix::io::read(&child_end, &mut [0_u8; 1]) == Ok(1);
                let is_limited = is_mapped && open_proc().is_ok_and(|proc| user_limits::set(&proc).is_ok());
                if is_limited {
                    // Without this answer, the namespace is not used.
                    let _ = rustix::io::write(&child_answer, b"1");
                }
                sys::exit_now(0)
            }
            Cloned::Parent { child, .. } => {
                drop((child_end, child_answer));
                let made = Self::fill(child.as_raw_nonzero().get(), &own_end, &answer);
                drop(own_end);
                let _ = waitpid(Some(child), WaitOptions::empty());
                made
            }
        }
    }

    /// Maps the numbers, waits for the child to set the limits, and opens its namespace.
    fn fill(child: i32, gate: &OwnedFd, answer: &OwnedFd) -> std::io::Result<OwnIds> {
        let above = OUTSIDE + 1;
        let map = format!("0 {OUTSIDE} 1\n1 1 {}\n{above} {above} {}\n", OUTSIDE - 1, u32::MAX - above);
        for name in ["uid_map", "gid_map"] {
            fs::write(format!("/proc/{child}/{name}"), &map)?;
        }
        let namespace = File::open(format!("/proc/{child}/ns/user"))?;
        rustix::io::write(gate, b"1")?;
        if rustix::io::read(answer, &mut [0_u8; 1])? != 1 {
            return Err(Errno::PERM.into());
        }
        Ok(OwnIds { namespace: namespace.into() })
    }

    /// Makes the calling process the user outside, keeping all of its capabilities. Files that it then makes are the command's.
    pub(crate) fn adopt(&self) -> rustix::io::Result<()> {
        set_capabilities_secure_bits(CapabilitiesSecureBits::NO_SETUID_FIXUP)?;
        let (user, group) = (Uid::from_raw(OUTSIDE), Gid::from_raw(OUTSIDE));
        set_thread_groups(&[])?;
        set_thread_res_gid(group, group, group)?;
        set_thread_res_uid(user, user, user)
    }

    /// Moves the calling process, which has adopted the user, into the namespace, with every capability there.
    pub(crate) fn enter(&self) -> rustix::io::Result<()> {
        move_into_link_name_space(self.namespace.as_fd(), Some(LinkNameSpaceType::User))
    }

    /// Exchanges root and the user outside on a detached tree of mounts.
    ///
    /// # Errors
    /// [`Errno::INVAL`] and [`Errno::PERM`] mean that one of its file systems does not support that.
    pub(crate) fn map_owners(&self, tree: &OwnedFd) -> rustix::io::Result<()> {
        map_mount_ids(tree, &self.namespace)
    }

    /// Gives a pipe to the user, who could not otherwise reopen it by its name in `/proc`.
    pub(crate) fn give(&self, pipe: &OwnedFd) -> rustix::io::Result<()> {
        rustix::fs::fchown(pipe, Some(Uid::from_raw(OUTSIDE)), Some(Gid::from_raw(OUTSIDE)))
    }

    pub(crate) fn try_clone(&self) -> std::io::Result<OwnIds> {
        Ok(OwnIds { namespace: self.namespace.try_clone()? })
    }
}

fn open_proc() -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(Path::new("/proc"), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}
