//! The filter of modes and owners: no call may give a file to others, or let others run it with its owner's rights.
//!
//! A command may write where its files are not checked afterwards: in folders that are bound through its layer, in
//! caches, and in the workspace itself where there is no layer. So the call itself is refused. A refused call answers
//! EPERM, as for a user without the right. `openat2` passes its mode through a pointer, which a filter cannot follow:
//! it answers ENOSYS, and programs then use `openat`.
//!
//! `mkdir` is let through: the kernel takes only `0o1777` of its mode. A new folder inherits the set-group-ID bit of
//! its parent without a call.

use std::collections::BTreeMap;

use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

#[cfg(target_arch = "x86_64")]
use crate::child::call_filter::all_but_x32;
use crate::init::step::{Step, StepError};

/// The set-user-ID and the set-group-ID bit.
const SET_ID_BITS: [u64; 2] = [libc::S_ISUID as u64, libc::S_ISGID as u64];

/// The flags with which `open` makes a file and uses its mode. The second is the only bit that `O_TMPFILE` does not
/// share with other flags.
const MAKING_FLAGS: [u64; 2] =
    [libc::O_CREAT.unsigned_abs() as u64, (libc::O_TMPFILE & !libc::O_DIRECTORY).unsigned_abs() as u64];

/// The value of an owner or a group that means "leave it unchanged".
const UNCHANGED: u64 = 0xffff_ffff;

/// The index of the mode among the arguments of calls that change it, or that make a file with it.
const MODE_CALLS: &[(libc::c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];

/// The same for the calls whose mode also says what kind of file is made.
const NODE_CALLS: &[(libc::c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];

/// The indexes of the flags and of the mode among the arguments of calls that open or make a file.
const OPEN_CALLS: &[(libc::c_long, u8, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1, 2),
    (libc::SYS_openat, 2, 3),
];

/// The index of the owner among the arguments of calls that change it. The group follows it.
const OWNER_CALLS: &[(libc::c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chown, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_lchown, 1),
    (libc::SYS_fchown, 1),
    (libc::SYS_fchownat, 2),
];

pub(crate) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Puts the filter in force for this process and its descendants, for good. Files may be given to this process's
/// current user and group, by their numbers in its namespace. `is_alone` says that the filter of
/// [`CallFilters`](crate::child::call_filter::CallFilters), which closes a way around this one, is not in force;
/// `has_mode_rules`, that the filter with [`mode_refusals`] already is.
pub(crate) fn apply(is_alone: bool, has_mode_rules: bool) -> Result<(), StepError> {
    let owner = (geteuid().as_raw(), getegid().as_raw());
    let compile = || {
        let mut refusals = owner_refusals(owner)?;
        if !has_mode_rules {
            refusals.extend(mode_refusals()?);
        }
        Ok([program(missing_calls(), Errno::NOSYS)?, program(refusals, Errno::PERM)?])
    };
    let programs = compile().map_err(|error: BackendError| StepError::caused_by(Step::Seccomp, &error))?;
    for program in &programs {
        apply_filter(program).map_err(|error| StepError::caused_by(Step::Seccomp, &error))?;
    }
    #[cfg(target_arch = "x86_64")]
    if is_alone {
        apply_filter(&all_but_x32()).map_err(|error| StepError::caused_by(Step::Seccomp, &error))?;
    }
    Ok(())
}

fn program(rules: Rules, errno: Errno) -> Result<BpfProgram, BackendError> {
    let refusal = SeccompAction::Errno(errno.raw_os_error().unsigned_abs());
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, refusal, architecture)?.try_into()
}

fn missing_calls() -> Rules {
    [(libc::SYS_openat2, vec![])].into()
}

/// Returns the rules for every process: they refuse modes that let others run a file with its owner's rights, and devices.
pub(crate) fn mode_refusals() -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    let mut refuse = |call: libc::c_long, conditions: Vec<SeccompCondition>| -> Result<(), BackendError> {
        rules.entry(call).or_default().push(SeccompRule::new(conditions)?);
        Ok(())
    };
    for bit in SET_ID_BITS {
        for (call, mode) in MODE_CALLS {
            refuse(*call, vec![has(*mode, bit)?])?;
        }
        for (call, flags, mode) in OPEN_CALLS {
            for making in MAKING_FLAGS {
                refuse(*call, vec![has(*flags, making)?, has(*mode, bit)?])?;
            }
        }
    }
    for (call, mode) in NODE_CALLS {
        // Device 0:0, a layer's whiteout, takes no capability to make: it is refused as well.
        for kind in [libc::S_IFCHR, libc::S_IFBLK] {
            let is_kind = SeccompCmpOp::MaskedEq(libc::S_IFMT.into());
            refuse(*call, vec![condition(*mode, is_kind, kind.into())?])?;
        }
    }
    Ok(rules)
}

/// Returns the rules for a process of this user and group: they refuse to give files to others.
fn owner_refusals((user, group): (u32, u32)) -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    for (call, owner) in OWNER_CALLS {
        for (argument, own) in [(*owner, user), (*owner + 1, group)] {
            let is_other = [own.into(), UNCHANGED].map(|id| condition(argument, SeccompCmpOp::Ne, id));
            let is_other = is_other.into_iter().collect::<Result<_, _>>()?;
            rules.entry(*call).or_default().push(SeccompRule::new(is_other)?);
        }
    }
    Ok(rules)
}

/// Checks whether a call that [`mode_refusals`] matches would make a device.
pub(crate) fn makes_device(call: libc::c_long, arguments: &[u64; 6]) -> bool {
    let mode =
        NODE_CALLS.iter().find(|(number, _)| *number == call).map(|(_, mode)| arguments[usize::from(*mode)]);
    let kind = mode.map(|mode| mode as u32 & libc::S_IFMT);
    kind.is_some_and(|kind| [libc::S_IFCHR, libc::S_IFBLK].contains(&kind))
}

/// Checks whether [`mode_refusals`] has rules for a call.
pub(crate) fn is_mode_call(call: libc::c_long) -> bool {
    MODE_CALLS.iter().any(|(number, _)| *number == call)
        || OPEN_CALLS.iter().any(|(number, ..)| *number == call)
}

/// Matches an argument in which this bit is set.
fn has(argument: u8, bit: u64) -> Result<SeccompCondition, BackendError> {
    condition(argument, SeccompCmpOp::MaskedEq(bit), bit)
}

/// Compares the lower 32 bits of an argument; the kernel reads no more of any of these.
fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}
