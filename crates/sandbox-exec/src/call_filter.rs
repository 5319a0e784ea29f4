//! The system call filter: what no program under development needs, and what leads out of a sandbox.
//!
//! A refused call answers EPERM. `clone3` answers ENOSYS, because a filter cannot see its flags and the C library
//! then uses `clone`. Calls of another architecture's numbering end the process, and those of the x32 numbering
//! answer ENOSYS.

use std::collections::BTreeMap;

use rustix::io::Errno;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

use crate::step::{Step, StepError};

/// Calls that are refused whatever their arguments.
const REFUSED: &[libc::c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Ways around a filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    // Keyrings, which no namespace separates.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
];

/// Flags with which `clone` would make a namespace.
const NAMESPACE_FLAGS: [libc::c_int; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Terminal requests that type into a terminal or paste from its selection.
const TERMINAL_REQUESTS: [u64; 2] = [libc::TIOCSTI, TIOCLINUX];
const TIOCLINUX: u64 = 0x541C;

/// Families that a command with network may use; netlink is how the C library learns of interfaces.
const NETWORK_FAMILIES: [libc::c_int; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The compiled programs, for commands with and without sockets.
#[derive(Debug)]
pub(crate) struct CallFilters {
    missing_calls: BpfProgram,
    without_sockets: BpfProgram,
    with_network: BpfProgram,
}

impl CallFilters {
    /// Compiles the programs once; a child only puts them in force.
    pub(crate) fn compile() -> Result<CallFilters, StepError> {
        let compile = || {
            Ok(CallFilters {
                missing_calls: program([(libc::SYS_clone3, vec![])].into(), Errno::NOSYS)?,
                without_sockets: program(refusals(vec![])?, Errno::PERM)?,
                with_network: program(refusals(vec![foreign_family()?])?, Errno::PERM)?,
            })
        };
        compile().map_err(|error: BackendError| StepError::caused_by(Step::Seccomp, &error))
    }

    /// Puts the filter in force for this process and its descendants, for good.
    pub(crate) fn apply(&self, without_sockets: bool) -> Result<(), StepError> {
        let main = if without_sockets { &self.without_sockets } else { &self.with_network };
        for program in [&self.missing_calls, main] {
            apply_filter(program).map_err(|error| StepError::caused_by(Step::Seccomp, &error))?;
        }
        #[cfg(target_arch = "x86_64")]
        apply_filter(&NO_X32).map_err(|error| StepError::caused_by(Step::Seccomp, &error))?;
        Ok(())
    }
}

fn program(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: Errno) -> Result<BpfProgram, BackendError> {
    let refusal = SeccompAction::Errno(errno.raw_os_error().unsigned_abs());
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, refusal, architecture)?.try_into()
}

/// Returns all rules; `socket` is refused when one of its rules fits, or always if there is none.
fn refusals(socket: Vec<SeccompRule>) -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, vec![])).collect();
    rules.insert(libc::SYS_socket, socket);
    let namespaces = NAMESPACE_FLAGS.map(|flag| {
        let flag = u64::from(flag.unsigned_abs());
        rule(CLONE_FLAGS_ARGUMENT, SeccompCmpOp::MaskedEq(flag), flag)
    });
    rules.insert(libc::SYS_clone, namespaces.into_iter().collect::<Result<_, _>>()?);
    let requests = TERMINAL_REQUESTS.map(|request| rule(1, SeccompCmpOp::Eq, request));
    rules.insert(libc::SYS_ioctl, requests.into_iter().collect::<Result<_, _>>()?);
    Ok(rules)
}

/// Which of `clone`'s arguments holds its flags, counted from 0.
#[cfg(not(target_arch = "s390x"))]
const CLONE_FLAGS_ARGUMENT: u8 = 0;
#[cfg(target_arch = "s390x")]
const CLONE_FLAGS_ARGUMENT: u8 = 1;

/// Fits a socket of a family that is none of the network's.
fn foreign_family() -> Result<SeccompRule, BackendError> {
    let conditions = NETWORK_FAMILIES.map(|family| {
        let family = u64::from(family.unsigned_abs());
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
    });
    SeccompRule::new(conditions.into_iter().collect::<Result<_, _>>()?)
}

/// Fits one argument. Only its lower 32 bits are compared: they are all that the kernel looks at, so a number with
/// more bits must not slip through.
fn rule(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?])
}

/// Answers ENOSYS to calls in the x32 numbering, which share their architecture with the ordinary ones.
#[cfg(target_arch = "x86_64")]
pub(crate) const NO_X32: [sock_filter; 4] = {
    const X32_BIT: u32 = 0x4000_0000;
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    [
        // The call's number is the first word of what a filter is given.
        sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: X32_BIT },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs() },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW },
    ]
};
