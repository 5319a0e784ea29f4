//! System calls that must be refused to a confined program, each with arguments that make it fail harmlessly.
//!
//! A filter, or a missing capability, answers before the kernel checks the arguments; a call that gets through fails
//! because they are wrong. So trying never changes anything.

use rustix::io::Errno;

use super::descriptors::last_errno;

/// One system call with five arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttemptedCall {
    pub(crate) name: &'static str,
    number: libc::c_long,
    arguments: [libc::c_long; 5],
}

pub(super) const fn call(
    name: &'static str,
    number: libc::c_long,
    arguments: [libc::c_long; 5],
) -> AttemptedCall {
    AttemptedCall { name, number, arguments }
}

/// No descriptor.
pub(super) const NONE: libc::c_long = -1;
/// An address at which nothing is ever mapped; unlike null, it never means "switch off".
pub(super) const NOWHERE: libc::c_long = 1;
/// A command, flag or type that no call knows.
const UNKNOWN: libc::c_long = 0x7fff_0000;

impl AttemptedCall {
    /// All of them.
    pub(crate) const ALL: &[AttemptedCall] = &[
        call("ptrace", libc::SYS_ptrace, [UNKNOWN, 0, 0, 0, 0]),
        call("process_vm_readv", libc::SYS_process_vm_readv, [1, NOWHERE, 1, NOWHERE, 1]),
        call("process_vm_writev", libc::SYS_process_vm_writev, [1, NOWHERE, 1, NOWHERE, 1]),
        call("process_madvise", libc::SYS_process_madvise, [NONE, NOWHERE, 1, UNKNOWN, 0]),
        call("process_mrelease", libc::SYS_process_mrelease, [NONE, 0, 0, 0, 0]),
        call("migrate_pages", libc::SYS_migrate_pages, [UNKNOWN, 64, NOWHERE, NOWHERE, 0]),
        call("move_pages", libc::SYS_move_pages, [UNKNOWN, 1, NOWHERE, NOWHERE, NOWHERE]),
        call("pidfd_getfd", libc::SYS_pidfd_getfd, [NONE, 0, 0, 0, 0]),
        call("kcmp", libc::SYS_kcmp, [1, 1, UNKNOWN, 0, 0]),
        call("io_uring_setup", libc::SYS_io_uring_setup, [0, NOWHERE, 0, 0, 0]),
        call("io_uring_enter", libc::SYS_io_uring_enter, [NONE, 0, 0, 0, 0]),
        call("io_uring_register", libc::SYS_io_uring_register, [NONE, 0, NOWHERE, 0, 0]),
        call("userfaultfd", libc::SYS_userfaultfd, [UNKNOWN, 0, 0, 0, 0]),
        call("bpf", libc::SYS_bpf, [UNKNOWN, NOWHERE, 8, 0, 0]),
        call("perf_event_open", libc::SYS_perf_event_open, [NOWHERE, 0, NONE, NONE, 0]),
        call("keyctl", libc::SYS_keyctl, [UNKNOWN, 0, 0, 0, 0]),
        call("add_key", libc::SYS_add_key, [NOWHERE, NOWHERE, NOWHERE, 1, 0]),
        call("request_key", libc::SYS_request_key, [NOWHERE, NOWHERE, NOWHERE, 0, 0]),
        call("mount", libc::SYS_mount, [NOWHERE, NOWHERE, NOWHERE, 0, 0]),
        call("umount2", libc::SYS_umount2, [NOWHERE, 0, 0, 0, 0]),
        call("pivot_root", libc::SYS_pivot_root, [NOWHERE, NOWHERE, 0, 0, 0]),
        call("chroot", libc::SYS_chroot, [NOWHERE, 0, 0, 0, 0]),
        call("move_mount", libc::SYS_move_mount, [NONE, NOWHERE, NONE, NOWHERE, 0]),
        call("open_tree", libc::SYS_open_tree, [NONE, NOWHERE, 0, 0, 0]),
        call("open_tree_attr", 467, [NONE, NOWHERE, 0, NOWHERE, 32]),
        call("fsopen", libc::SYS_fsopen, [NOWHERE, 0, 0, 0, 0]),
        call("fsconfig", libc::SYS_fsconfig, [NONE, UNKNOWN, 0, 0, 0]),
        call("fsmount", libc::SYS_fsmount, [NONE, 0, 0, 0, 0]),
        call("fspick", libc::SYS_fspick, [NONE, NOWHERE, 0, 0, 0]),
        call("mount_setattr", libc::SYS_mount_setattr, [NONE, NOWHERE, 0, NOWHERE, 32]),
        call("unshare", libc::SYS_unshare, [UNKNOWN, 0, 0, 0, 0]),
        call("setns", libc::SYS_setns, [NONE, 0, 0, 0, 0]),
        call("clone3", libc::SYS_clone3, [NOWHERE, 0, 0, 0, 0]),
        call("open_by_handle_at", libc::SYS_open_by_handle_at, [NONE, NOWHERE, 0, 0, 0]),
        call("fanotify_init", libc::SYS_fanotify_init, [UNKNOWN, 0, 0, 0, 0]),
        call("fanotify_mark", libc::SYS_fanotify_mark, [NONE, UNKNOWN, 0, NONE, NOWHERE]),
        call("statmount", 457, [NOWHERE, NOWHERE, 8, 0, 0]),
        call("listmount", 458, [NOWHERE, NOWHERE, 8, 0, 0]),
        call("cachestat", 451, [NONE, NOWHERE, NOWHERE, 0, 0]),
        call("memfd_secret", 447, [UNKNOWN, 0, 0, 0, 0]),
        call("lookup_dcookie", libc::SYS_lookup_dcookie, [NONE, NOWHERE, 1, 0, 0]),
        call("nfsservctl", libc::SYS_nfsservctl, [UNKNOWN, NOWHERE, NOWHERE, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        call("_sysctl", libc::SYS__sysctl, [NOWHERE, 0, 0, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        call("uselib", libc::SYS_uselib, [NOWHERE, 0, 0, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        call("sysfs", libc::SYS_sysfs, [UNKNOWN, NOWHERE, 0, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        call("modify_ldt", libc::SYS_modify_ldt, [1, NOWHERE, 16, 0, 0]),
        call("init_module", libc::SYS_init_module, [NOWHERE, 0, NOWHERE, 0, 0]),
        call("finit_module", libc::SYS_finit_module, [NONE, NOWHERE, 0, 0, 0]),
        call("delete_module", libc::SYS_delete_module, [NOWHERE, 0, 0, 0, 0]),
        call("kexec_load", libc::SYS_kexec_load, [0, 1, NOWHERE, UNKNOWN, 0]),
        call("kexec_file_load", libc::SYS_kexec_file_load, [NONE, NONE, 0, NOWHERE, UNKNOWN]),
        call("reboot", libc::SYS_reboot, [UNKNOWN, UNKNOWN, UNKNOWN, 0, 0]),
        call("swapon", libc::SYS_swapon, [NOWHERE, 0, 0, 0, 0]),
        call("swapoff", libc::SYS_swapoff, [NOWHERE, 0, 0, 0, 0]),
        call("acct", libc::SYS_acct, [NOWHERE, 0, 0, 0, 0]),
        call("quotactl", libc::SYS_quotactl, [UNKNOWN, NOWHERE, 0, NOWHERE, 0]),
        call("quotactl_fd", libc::SYS_quotactl_fd, [NONE, UNKNOWN, 0, NOWHERE, 0]),
        call("syslog", libc::SYS_syslog, [UNKNOWN, NOWHERE, 1, 0, 0]),
        call("sethostname", libc::SYS_sethostname, [NOWHERE, 1, 0, 0, 0]),
        call("setdomainname", libc::SYS_setdomainname, [NOWHERE, 1, 0, 0, 0]),
        call("settimeofday", libc::SYS_settimeofday, [NOWHERE, 0, 0, 0, 0]),
        call("clock_settime", libc::SYS_clock_settime, [UNKNOWN, NOWHERE, 0, 0, 0]),
        call("clock_adjtime", libc::SYS_clock_adjtime, [UNKNOWN, NOWHERE, 0, 0, 0]),
        call("adjtimex", libc::SYS_adjtimex, [NOWHERE, 0, 0, 0, 0]),
        call("lsm_set_self_attr", 460, [UNKNOWN, NOWHERE, 32, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        call("iopl", libc::SYS_iopl, [99, 0, 0, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        call("ioperm", libc::SYS_ioperm, [UNKNOWN, 1, 1, 0, 0]),
        call("TIOCSTI", libc::SYS_ioctl, [0, 0x5412, NOWHERE, 0, 0]),
        call("TIOCLINUX", libc::SYS_ioctl, [0, 0x541C, NOWHERE, 0, 0]),
        #[cfg(target_arch = "x86_64")]
        call("a call in the x32 numbering", 0x4000_0000 | libc::SYS_getpid, [0, 0, 0, 0, 0]),
    ];

    /// A limit of another process.
    pub(crate) const FOREIGN_LIMIT: AttemptedCall =
        call("prlimit64", libc::SYS_prlimit64, [UNKNOWN, 0, NOWHERE, 0, 0]);

    /// Calls that use objects shared by the programs of an IPC namespace.
    pub(crate) const SHARED: &[AttemptedCall] = &[
        call("mq_open", libc::SYS_mq_open, [NOWHERE, 0, 0, 0, 0]),
        call("mq_unlink", libc::SYS_mq_unlink, [NOWHERE, 0, 0, 0, 0]),
        call("msgctl", libc::SYS_msgctl, [NONE, UNKNOWN, NOWHERE, 0, 0]),
        call("semctl", libc::SYS_semctl, [NONE, 0, UNKNOWN, 0, 0]),
        call("shmat", libc::SYS_shmat, [NONE, 0, 0, 0, 0]),
        call("shmctl", libc::SYS_shmctl, [NONE, UNKNOWN, NOWHERE, 0, 0]),
    ];

    /// Tries the call; true if it was not refused.
    pub(crate) fn gets_through(&self) -> bool {
        let [a, b, c, d, e] = self.arguments;
        // SAFETY: the numbers come from the table above and that of modes only. Every argument is a number, a descriptor that is not
        // open, or an address that the kernel cannot read or write: it answers with an error and touches no memory of
        // this process. No call of the table replaces or duplicates the process with such arguments.
        let result = unsafe { libc::syscall(self.number, a, b, c, d, e, 0) };
        result >= 0 || ![Errno::PERM, Errno::ACCESS, Errno::NOSYS].contains(&last_errno())
    }
}
