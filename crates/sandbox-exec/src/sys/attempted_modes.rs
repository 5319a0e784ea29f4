//! Calls that would let others run a file with its owner's rights, give it away, or make a device, each with an invalid
//! path or handle, which makes it fail harmlessly.

use super::attempted_calls::{AttemptedCall, NONE, NOWHERE, call};

/// The set-user-ID and the set-group-ID bit, each with permissions.
const SET_USER_ID: libc::c_long = 0o4755;
const SET_GROUP_ID: libc::c_long = 0o2755;
const CHARACTER_DEVICE: libc::c_long = 0o020_666;
const BLOCK_DEVICE: libc::c_long = 0o060_666;
/// The owner or group that means "leave it unchanged", without the upper bits, which no call reads.
const UNCHANGED: libc::c_long = 0xffff_ffff;
/// A user or group that no process here is.
const OTHER: libc::c_long = 0x7fff_fff1;
const MAKE: libc::c_long = libc::O_CREAT as libc::c_long | libc::O_WRONLY as libc::c_long;
const UNNAMED: libc::c_long = libc::O_TMPFILE as libc::c_long | libc::O_WRONLY as libc::c_long;

impl AttemptedCall {
    /// Calls that the filter of modes and owners refuses.
    pub(crate) const MODES: &[AttemptedCall] = &[
        #[cfg(target_arch = "x86_64")]
        call("chmod u+s", libc::SYS_chmod, [NOWHERE, SET_USER_ID, 0, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        call("chmod g+s", libc::SYS_chmod, [NOWHERE, SET_GROUP_ID, 0, 0, 0]),
        call("fchmod u+s", libc::SYS_fchmod, [NONE, SET_USER_ID, 0, 0, 0]),
        call("fchmod g+s", libc::SYS_fchmod, [NONE, SET_GROUP_ID, 0, 0, 0]),
        call("fchmodat u+s", libc::SYS_fchmodat, [NONE, NOWHERE, SET_USER_ID, 0, 0]),
        call("fchmodat g+s", libc::SYS_fchmodat, [NONE, NOWHERE, SET_GROUP_ID, 0, 0]),
        call("fchmodat2 u+s", libc::SYS_fchmodat2, [NONE, NOWHERE, SET_USER_ID, 0, 0]),
        call("fchmodat2 g+s", libc::SYS_fchmodat2, [NONE, NOWHERE, SET_GROUP_ID, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        call("creat with u+s", libc::SYS_creat, [NOWHERE, SET_USER_ID, 0, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        call("open with u+s", libc::SYS_open, [NOWHERE, MAKE, SET_USER_ID, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        call("open without a name with g+s", libc::SYS_open, [NOWHERE, UNNAMED, SET_GROUP_ID, 0, 0]),
        call("openat with u+s", libc::SYS_openat, [NONE, NOWHERE, MAKE, SET_USER_ID, 0]),
        call("openat with g+s", libc::SYS_openat, [NONE, NOWHERE, MAKE, SET_GROUP_ID, 0]),
        call("openat without a name with u+s", libc::SYS_openat, [NONE, NOWHERE, UNNAMED, SET_USER_ID, 0]),
        call("openat2", libc::SYS_openat2, [NONE, NOWHERE, NOWHERE, 24, 0]),
        #[cfg(target_arch = "x86_64")]
        call("mknod with u+s", libc::SYS_mknod, [NOWHERE, 0o100_000 | SET_USER_ID, 0, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        call("mknod of a device", libc::SYS_mknod, [NOWHERE, CHARACTER_DEVICE, 0x103, 0, 0]),
        call("mknodat with g+s", libc::SYS_mknodat, [NONE, NOWHERE, 0o100_000 | SET_GROUP_ID, 0, 0]),
        call("mknodat of a character device", libc::SYS_mknodat, [NONE, NOWHERE, CHARACTER_DEVICE, 0, 0]),
        call("mknodat of a block device", libc::SYS_mknodat, [NONE, NOWHERE, BLOCK_DEVICE, 0x700, 0]),
        #[cfg(target_arch = "x86_64")]
        call("chown to another user", libc::SYS_chown, [NOWHERE, OTHER, UNCHANGED, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        call("lchown to another group", libc::SYS_lchown, [NOWHERE, UNCHANGED, OTHER, 0, 0]),
        call("fchown to another user", libc::SYS_fchown, [NONE, OTHER, UNCHANGED, 0, 0]),
        call("fchown to another group", libc::SYS_fchown, [NONE, UNCHANGED, OTHER, 0, 0]),
        call("fchownat to another group", libc::SYS_fchownat, [NONE, NOWHERE, UNCHANGED, OTHER, 0]),
    ];
}
