//! `mount_setattr`, which restricts a whole tree of mounts without touching other flags.

use std::os::fd::{AsFd, AsRawFd};

use rustix::io::{Errno, Result};

use super::descriptors::last_errno;

/// Attributes to switch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MountAttributes(u64);

impl MountAttributes {
    /// Files in the mount cannot be written.
    pub(crate) const READ_ONLY: MountAttributes = MountAttributes(libc::MOUNT_ATTR_RDONLY);
    /// Set-user-id bits have no effect.
    pub(crate) const NO_SETUID: MountAttributes = MountAttributes(libc::MOUNT_ATTR_NOSUID);
    /// Device files have no effect.
    pub(crate) const NO_DEVICES: MountAttributes = MountAttributes(libc::MOUNT_ATTR_NODEV);

    /// Returns both sets of attributes.
    pub(crate) const fn and(self, other: MountAttributes) -> MountAttributes {
        MountAttributes(self.0 | other.0)
    }
}

/// Maps the ids of a whole tree of mounts by a user namespace: files of root appear to belong to the namespace's user 0.
/// No mount of the tree may be attached anywhere.
pub(crate) fn map_mount_ids(mount: impl AsFd, namespace: impl AsFd) -> Result<()> {
    let descriptor = u64::try_from(namespace.as_fd().as_raw_fd()).map_err(|_| Errno::BADF)?;
    set_attributes(mount, [libc::MOUNT_ATTR_IDMAP, 0], descriptor, true)
}

/// Switches attributes on for the mount that `mount` refers to, and with `recursive` for all mounts below it.
pub(crate) fn set_mount_attributes(
    mount: impl AsFd,
    attributes: MountAttributes,
    recursive: bool,
) -> Result<()> {
    set_attributes(mount, [attributes.0, 0], 0, recursive)
}

/// Switches [`MountAttributes::READ_ONLY`] off for the mount that `mount` refers to, but for none below it.
pub(crate) fn make_mount_writable(mount: impl AsFd) -> Result<()> {
    set_attributes(mount, [0, MountAttributes::READ_ONLY.0], 0, false)
}

fn set_attributes(
    mount: impl AsFd,
    [attr_set, attr_clr]: [u64; 2],
    userns_fd: u64,
    recursive: bool,
) -> Result<()> {
    let request = libc::mount_attr { attr_set, attr_clr, propagation: 0, userns_fd };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is a NUL-terminated string and `request` a valid `mount_attr` of the size given; the kernel
    // only reads them during the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const request,
            size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}
