//! The review of the kernel's system calls: those that commands are refused, in groups with a reason.
//!
//! Every call within [`REVIEWED`] is either on one of the lists here or was found harmless; a test compares the
//! review with the table of the running kernel. A call outside of the reviewed numbers answers ENOSYS, as it does on
//! an older kernel, so that a new kernel gives commands nothing that was not reviewed.

/// System calls that are refused for the same reason.
#[derive(Debug)]
pub(crate) struct CallGroup {
    /// The reason that commands do without them.
    pub(crate) reason: &'static str,
    /// The name and number of each.
    pub(crate) calls: &'static [(&'static str, libc::c_long)],
}

/// The numbers that were reviewed, first and last of each run of them. From 424 on they are the same everywhere.
#[cfg(target_arch = "x86_64")]
pub(crate) const REVIEWED: [(u32, u32); 2] = [(0, 336), (424, 469)];
/// The numbers that were reviewed, first and last of each run of them. From 424 on they are the same everywhere.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const REVIEWED: [(u32, u32); 2] = [(0, 294), (424, 469)];

/// Calls that answer EPERM whatever their arguments.
pub(crate) const REFUSED: &[CallGroup] = &[
    CallGroup {
        reason: "they reach into other processes",
        calls: &[
            ("ptrace", libc::SYS_ptrace),
            ("process_vm_readv", libc::SYS_process_vm_readv),
            ("process_vm_writev", libc::SYS_process_vm_writev),
            ("process_madvise", libc::SYS_process_madvise),
            ("process_mrelease", libc::SYS_process_mrelease),
            ("pidfd_getfd", libc::SYS_pidfd_getfd),
            ("kcmp", libc::SYS_kcmp),
            ("migrate_pages", libc::SYS_migrate_pages),
            ("move_pages", libc::SYS_move_pages),
        ],
    },
    CallGroup {
        reason: "they do what a filter cannot see, or run code in the kernel",
        calls: &[
            ("io_uring_setup", libc::SYS_io_uring_setup),
            ("io_uring_enter", libc::SYS_io_uring_enter),
            ("io_uring_register", libc::SYS_io_uring_register),
            ("userfaultfd", libc::SYS_userfaultfd),
            ("bpf", libc::SYS_bpf),
            ("perf_event_open", libc::SYS_perf_event_open),
        ],
    },
    CallGroup {
        reason: "no namespace separates keyrings",
        calls: &[
            ("keyctl", libc::SYS_keyctl),
            ("add_key", libc::SYS_add_key),
            ("request_key", libc::SYS_request_key),
        ],
    },
    CallGroup {
        reason: "they change mounts and namespaces, or reach files outside of them",
        calls: &[
            ("mount", libc::SYS_mount),
            ("umount2", libc::SYS_umount2),
            ("pivot_root", libc::SYS_pivot_root),
            ("chroot", libc::SYS_chroot),
            ("move_mount", libc::SYS_move_mount),
            ("open_tree", libc::SYS_open_tree),
            ("open_tree_attr", 467),
            ("fsopen", libc::SYS_fsopen),
            ("fsconfig", libc::SYS_fsconfig),
            ("fsmount", libc::SYS_fsmount),
            ("fspick", libc::SYS_fspick),
            ("mount_setattr", libc::SYS_mount_setattr),
            ("unshare", libc::SYS_unshare),
            ("setns", libc::SYS_setns),
            ("open_by_handle_at", libc::SYS_open_by_handle_at),
            ("fanotify_init", libc::SYS_fanotify_init),
            ("fanotify_mark", libc::SYS_fanotify_mark),
        ],
    },
    CallGroup {
        reason: "they change settings of the machine",
        calls: &[
            ("init_module", libc::SYS_init_module),
            ("finit_module", libc::SYS_finit_module),
            ("delete_module", libc::SYS_delete_module),
            ("kexec_load", libc::SYS_kexec_load),
            ("kexec_file_load", libc::SYS_kexec_file_load),
            ("reboot", libc::SYS_reboot),
            ("swapon", libc::SYS_swapon),
            ("swapoff", libc::SYS_swapoff),
            ("acct", libc::SYS_acct),
            ("quotactl", libc::SYS_quotactl),
            ("quotactl_fd", libc::SYS_quotactl_fd),
            ("syslog", libc::SYS_syslog),
            ("sethostname", libc::SYS_sethostname),
            ("setdomainname", libc::SYS_setdomainname),
            ("settimeofday", libc::SYS_settimeofday),
            ("clock_settime", libc::SYS_clock_settime),
            ("clock_adjtime", libc::SYS_clock_adjtime),
            ("adjtimex", libc::SYS_adjtimex),
            ("vhangup", libc::SYS_vhangup),
            ("lsm_set_self_attr", 460),
            #[cfg(target_arch = "x86_64")]
            ("iopl", libc::SYS_iopl),
            #[cfg(target_arch = "x86_64")]
            ("ioperm", libc::SYS_ioperm),
        ],
    },
    #[cfg(target_arch = "x86_64")]
    CallGroup {
        reason: "only programs of the 1990s used them, and they have had security holes since",
        calls: &[
            ("uselib", libc::SYS_uselib),
            ("sysfs", libc::SYS_sysfs),
            ("modify_ldt", libc::SYS_modify_ldt),
        ],
    },
];

/// Calls that answer EPERM where a command has no IPC namespace of its own.
pub(crate) const SHARED: &[CallGroup] = &[CallGroup {
    reason: "without a namespace, the objects are those of other programs, and outlive the command",
    calls: &[
        ("mq_open", libc::SYS_mq_open),
        ("mq_unlink", libc::SYS_mq_unlink),
        ("msgctl", libc::SYS_msgctl),
        ("msgget", libc::SYS_msgget),
        ("msgrcv", libc::SYS_msgrcv),
        ("msgsnd", libc::SYS_msgsnd),
        ("semctl", libc::SYS_semctl),
        ("semget", libc::SYS_semget),
        ("semop", libc::SYS_semop),
        ("semtimedop", libc::SYS_semtimedop),
        ("shmat", libc::SYS_shmat),
        ("shmctl", libc::SYS_shmctl),
        ("shmget", libc::SYS_shmget),
    ],
}];

/// Calls that answer ENOSYS: programs then fall back to the calls of an older kernel.
pub(crate) const UNKNOWN: &[CallGroup] = &[
    CallGroup {
        reason: "a filter cannot see its flags, and the C library uses `clone` without it",
        calls: &[("clone3", libc::SYS_clone3)],
    },
    CallGroup {
        reason: "they reveal the mounts and cached files of the host",
        calls: &[("statmount", 457), ("listmount", 458), ("cachestat", 451)],
    },
    CallGroup {
        reason: "memory of this kind keeps the machine from hibernating",
        calls: &[("memfd_secret", 447)],
    },
    CallGroup {
        reason: "newer kernels have removed them",
        calls: &[
            ("lookup_dcookie", libc::SYS_lookup_dcookie),
            ("nfsservctl", libc::SYS_nfsservctl),
            #[cfg(target_arch = "x86_64")]
            ("_sysctl", libc::SYS__sysctl),
        ],
    },
];

/// Returns the numbers of all calls of these groups.
pub(crate) fn numbers(groups: &'static [CallGroup]) -> impl Iterator<Item = libc::c_long> {
    groups.iter().flat_map(|group| group.calls).map(|(_, number)| *number)
}

/// Returns the name of a call and the reason that commands do without it; for a call that is refused only with some
/// arguments, their purpose.
pub(crate) fn name_and_reason(groups: &'static [CallGroup], number: i64) -> (String, &'static str) {
    let of_group = |group: &'static CallGroup| {
        let call = group.calls.iter().find(|(_, listed)| *listed == number)?;
        Some((call.0.to_owned(), group.reason))
    };
    let partly = match number {
        libc::SYS_clone => Some(("clone", "with such flags it makes a namespace")),
        libc::SYS_ioctl => Some(("ioctl", "with such a request it types into a terminal")),
        _ => None,
    };
    let partly = || partly.map(|(name, reason)| (name.to_owned(), reason));
    let unknown = || (number.to_string(), "it is not on the list of calls that commands need");
    groups.iter().find_map(of_group).or_else(partly).unwrap_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;
    use crate::sys::AttemptedCall;

    /// Calls that were reviewed and are let through. Some of them are refused with certain arguments: `socket`, `clone`
    /// and `ioctl` by the filter, and files and signals by the confinement around it.
    const ALLOWED: &str = "
        accept accept4 access alarm arch_prctl bind brk capget capset chdir chmod chown clock_getres clock_gettime
        clock_nanosleep clone close close_range connect copy_file_range creat dup dup2 dup3 epoll_create epoll_create1
        epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 execve execveat exit exit_group faccessat
        faccessat2 fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr
        file_getattr file_setattr flistxattr flock fork fremovexattr fsetxattr fstat fstatfs fsync ftruncate futex
        futex_requeue futex_wait futex_waitv futex_wake futimesat get_mempolicy get_robust_list get_thread_area getcpu
        getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer getpeername getpgid getpgrp getpid getppid
        getpriority getrandom getresgid getresuid getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday
        getuid getxattr getxattrat inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy
        io_getevents io_pgetevents io_setup io_submit ioctl ioprio_get ioprio_set kill landlock_add_rule
        landlock_create_ruleset landlock_restrict_self lchown lgetxattr link linkat listen listxattr listxattrat
        llistxattr lremovexattr lseek lsetxattr lsm_get_self_attr lsm_list_modules lstat madvise map_shadow_stack mbind
        membarrier memfd_create mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap mprotect mq_getsetattr
        mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mremap mseal msgctl msgget msgrcv msgsnd msync munlock
        munlockall munmap name_to_handle_at nanosleep newfstat newfstatat newlstat newstat newuname open openat openat2
        pause personality pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll prctl
        pread64 preadv preadv2 prlimit64 pselect6 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv
        recvfrom recvmmsg recvmsg remap_file_pages removexattr removexattrat rename renameat renameat2 restart_syscall
        riscv_flush_icache riscv_hwprobe rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo
        rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min
        sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity
        sched_setattr sched_setparam sched_setscheduler sched_yield seccomp select semctl semget semop semtimedop
        sendfile sendfile64 sendmmsg sendmsg sendto set_mempolicy set_mempolicy_home_node set_robust_list
        set_thread_area set_tid_address setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid
        setresgid setresuid setreuid setrlimit setsid setsockopt setuid setxattr setxattrat shmat shmctl shmdt shmget
        shutdown sigaltstack signalfd signalfd4 socket socketpair splice stat statfs statx symlink symlinkat sync
        sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete timer_getoverrun timer_gettime
        timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill truncate umask uname unlink unlinkat
        uprobe uretprobe ustat utime utimensat utimes vfork vmsplice wait4 waitid write writev";

    /// Calls that the kernel has only in other tables: that of 32-bit programs, whose calls end a command, and those of
    /// other architectures; also names without a call, or with numbers above the reviewed ones.
    const ELSEWHERE: &str = "
        fadvise64_64 fstatfs64 gethostname ipc llseek mmap_pgoff ni_syscall nice old_getrlimit old_msgctl old_readdir
        old_semctl old_shmctl oldumount olduname pciconfig_iobase pciconfig_read pciconfig_write recv rtas s390_ipc
        s390_pci_mmio_read s390_pci_mmio_write send sgetmask signal sigpending sigprocmask sigsuspend socketcall
        spu_create spu_run ssetmask statfs64 stime subpage_prot sync_file_range2 umount vm86 vm86old waitpid
        afs_syscall create_module get_kernel_syms query_module epoll_ctl_old epoll_wait_old getpmsg putpmsg security tuxcall vserver listns rseq_slice_yield
        arm64_personality";

    fn words(text: &str) -> BTreeSet<&str> {
        text.split_whitespace().collect()
    }

    fn refused() -> BTreeSet<&'static str> {
        REFUSED.iter().chain(UNKNOWN).flat_map(|group| group.calls).map(|(name, _)| *name).collect()
    }

    /// The names of the running kernel's calls, from the names of its functions; empty if it does not show them.
    fn of_running_kernel() -> BTreeSet<String> {
        let symbols = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
        let functions = symbols.lines().filter_map(|line| line.split(' ').nth(2));
        let prefixes = ["__x64_sys_", "__arm64_sys_", "__riscv_sys_"];
        let calls = functions.filter_map(|name| prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)));
        // The compiler may split a function in two parts.
        let calls = calls.map(|name| name.split_once('.').map_or(name, |(name, _)| name));
        let is_32_bit = |name: &str| {
            name.starts_with("ia32_")
                || name.starts_with("compat_")
                || ["16", "_time32"].iter().any(|end| name.ends_with(end))
                || ["stime32", "time32", "utime32", "clock_adjtime32", "clock_gettime32", "clock_settime32"]
                    .contains(&name)
                || ["timer_gettime32", "timer_settime32", "timerfd_gettime32", "timerfd_settime32"]
                    .contains(&name)
        };
        calls.filter(|name| !is_32_bit(name)).map(str::to_owned).collect()
    }

    /// Names and numbers from the C library's headers; empty where they are not installed.
    fn of_headers() -> Vec<(String, u32)> {
        let folders = ["/usr/include/x86_64-linux-gnu/asm", "/usr/include/asm"];
        let text = folders.iter().find_map(|folder| fs::read_to_string(format!("{folder}/unistd_64.h")).ok());
        let text = text.filter(|_| cfg!(target_arch = "x86_64")).unwrap_or_default();
        let pair = |line: &str| {
            let mut words = line.strip_prefix("#define __NR_")?.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
        };
        text.lines().filter_map(pair).collect()
    }

    #[test]
    fn every_call_of_the_running_kernel_was_reviewed() {
        let (allowed, elsewhere, refused) = (words(ALLOWED), words(ELSEWHERE), refused());
        let calls = of_running_kernel();
        if calls.is_empty() {
            println!("not run: this kernel does not show the names of its functions");
        }
        let is_reviewed = |name: &str| {
            let name = if name == "umount" { "umount2" } else { name };
            allowed.contains(name) || refused.contains(name) || elsewhere.contains(name)
        };
        let new: Vec<&String> = calls.iter().filter(|name| !is_reviewed(name)).collect();
        assert!(new.is_empty(), "calls that have not been reviewed: {new:?}");
        for (name, number) in of_headers() {
            let is_within = REVIEWED.iter().any(|(first, last)| (*first..=*last).contains(&number));
            assert!(!is_within || is_reviewed(&name), "{name}");
        }
    }

    #[test]
    fn a_call_is_on_one_list_only_with_the_number_of_the_headers() {
        let (allowed, refused) = (words(ALLOWED), refused());
        assert_eq!(allowed.intersection(&refused).collect::<Vec<_>>(), Vec::<&&str>::new());
        let count: usize = REFUSED.iter().chain(UNKNOWN).map(|group| group.calls.len()).sum();
        assert_eq!(refused.len(), count);
        let numbers = of_headers();
        for group in REFUSED.iter().chain(UNKNOWN) {
            for (name, number) in group.calls {
                let number = u32::try_from(*number).unwrap();
                let listed = numbers.iter().find(|(listed, _)| listed == name);
                assert!(listed.is_none_or(|(_, listed)| *listed == number), "{name}: {}", group.reason);
                assert!(REVIEWED.iter().any(|(first, last)| (*first..=*last).contains(&number)), "{name}");
            }
        }
    }

    #[test]
    fn every_refused_call_is_tried_by_the_probe() {
        let tried: BTreeSet<&str> = AttemptedCall::ALL.iter().map(|call| call.name).collect();
        // It has no arguments that could be wrong.
        let missing: Vec<&str> =
            refused().into_iter().filter(|name| !tried.contains(name) && *name != "vhangup").collect();
        assert_eq!(missing, Vec::<&str>::new());
    }
}
