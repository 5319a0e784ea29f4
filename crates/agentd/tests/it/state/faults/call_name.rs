//! The names of system calls.

use std::fmt;

use nix::libc;

use super::tracer::Fault;

/// A system call by its number on this machine; shown by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CallName(u64);

/// The calls that fail only because of how they are called.
const NEVER_FAIL: [&str; 2] = ["getrandom", "shutdown"];

/// The calls that fail only because of how they are called, or because a signal came.
const SLEEPS: [&str; 2] = ["clock_nanosleep", "restart_syscall"];

macro_rules! names {
    ($($name:ident = $number:ident,)*) => {
        const NAMES: &[(libc::c_long, &str)] = &[$((libc::$number, stringify!($name)),)*];
    };
}

names! {
    read = SYS_read,
    write = SYS_write,
    open = SYS_open,
    close = SYS_close,
    stat = SYS_stat,
    fstat = SYS_fstat,
    lstat = SYS_lstat,
    poll = SYS_poll,
    lseek = SYS_lseek,
    mmap = SYS_mmap,
    mprotect = SYS_mprotect,
    munmap = SYS_munmap,
    brk = SYS_brk,
    rt_sigaction = SYS_rt_sigaction,
    rt_sigprocmask = SYS_rt_sigprocmask,
    rt_sigreturn = SYS_rt_sigreturn,
    ioctl = SYS_ioctl,
    pread64 = SYS_pread64,
    pwrite64 = SYS_pwrite64,
    readv = SYS_readv,
    writev = SYS_writev,
    access = SYS_access,
    pipe = SYS_pipe,
    select = SYS_select,
    sched_yield = SYS_sched_yield,
    mremap = SYS_mremap,
    msync = SYS_msync,
    madvise = SYS_madvise,
    dup = SYS_dup,
    dup2 = SYS_dup2,
    nanosleep = SYS_nanosleep,
    getpid = SYS_getpid,
    sendfile = SYS_sendfile,
    socket = SYS_socket,
    connect = SYS_connect,
    accept = SYS_accept,
    sendto = SYS_sendto,
    recvfrom = SYS_recvfrom,
    sendmsg = SYS_sendmsg,
    recvmsg = SYS_recvmsg,
    shutdown = SYS_shutdown,
    bind = SYS_bind,
    listen = SYS_listen,
    getsockname = SYS_getsockname,
    getpeername = SYS_getpeername,
    socketpair = SYS_socketpair,
    setsockopt = SYS_setsockopt,
    getsockopt = SYS_getsockopt,
    clone = SYS_clone,
    fork = SYS_fork,
    vfork = SYS_vfork,
    execve = SYS_execve,
    exit = SYS_exit,
    wait4 = SYS_wait4,
    kill = SYS_kill,
    uname = SYS_uname,
    fcntl = SYS_fcntl,
    flock = SYS_flock,
    fsync = SYS_fsync,
    fdatasync = SYS_fdatasync,
    truncate = SYS_truncate,
    ftruncate = SYS_ftruncate,
    getdents64 = SYS_getdents64,
    getcwd = SYS_getcwd,
    chdir = SYS_chdir,
    fchdir = SYS_fchdir,
    rename = SYS_rename,
    mkdir = SYS_mkdir,
    rmdir = SYS_rmdir,
    link = SYS_link,
    unlink = SYS_unlink,
    symlink = SYS_symlink,
    readlink = SYS_readlink,
    chmod = SYS_chmod,
    fchmod = SYS_fchmod,
    chown = SYS_chown,
    fchown = SYS_fchown,
    umask = SYS_umask,
    getuid = SYS_getuid,
    getgid = SYS_getgid,
    geteuid = SYS_geteuid,
    getegid = SYS_getegid,
    setsid = SYS_setsid,
    sigaltstack = SYS_sigaltstack,
    statfs = SYS_statfs,
    fstatfs = SYS_fstatfs,
    prctl = SYS_prctl,
    arch_prctl = SYS_arch_prctl,
    gettid = SYS_gettid,
    futex = SYS_futex,
    sched_setaffinity = SYS_sched_setaffinity,
    sched_getaffinity = SYS_sched_getaffinity,
    set_tid_address = SYS_set_tid_address,
    restart_syscall = SYS_restart_syscall,
    fadvise64 = SYS_fadvise64,
    clock_gettime = SYS_clock_gettime,
    clock_nanosleep = SYS_clock_nanosleep,
    exit_group = SYS_exit_group,
    epoll_wait = SYS_epoll_wait,
    epoll_ctl = SYS_epoll_ctl,
    tgkill = SYS_tgkill,
    waitid = SYS_waitid,
    inotify_add_watch = SYS_inotify_add_watch,
    openat = SYS_openat,
    mkdirat = SYS_mkdirat,
    fchownat = SYS_fchownat,
    newfstatat = SYS_newfstatat,
    unlinkat = SYS_unlinkat,
    renameat = SYS_renameat,
    linkat = SYS_linkat,
    symlinkat = SYS_symlinkat,
    readlinkat = SYS_readlinkat,
    fchmodat = SYS_fchmodat,
    faccessat = SYS_faccessat,
    ppoll = SYS_ppoll,
    unshare = SYS_unshare,
    set_robust_list = SYS_set_robust_list,
    splice = SYS_splice,
    sync_file_range = SYS_sync_file_range,
    utimensat = SYS_utimensat,
    fallocate = SYS_fallocate,
    accept4 = SYS_accept4,
    eventfd2 = SYS_eventfd2,
    epoll_create1 = SYS_epoll_create1,
    dup3 = SYS_dup3,
    pipe2 = SYS_pipe2,
    inotify_init1 = SYS_inotify_init1,
    prlimit64 = SYS_prlimit64,
    syncfs = SYS_syncfs,
    getcpu = SYS_getcpu,
    renameat2 = SYS_renameat2,
    seccomp = SYS_seccomp,
    getrandom = SYS_getrandom,
    memfd_create = SYS_memfd_create,
    copy_file_range = SYS_copy_file_range,
    statx = SYS_statx,
    rseq = SYS_rseq,
    pidfd_send_signal = SYS_pidfd_send_signal,
    pidfd_open = SYS_pidfd_open,
    clone3 = SYS_clone3,
    close_range = SYS_close_range,
    openat2 = SYS_openat2,
    pidfd_getfd = SYS_pidfd_getfd,
    faccessat2 = SYS_faccessat2,
}

impl CallName {
    pub(crate) fn of(number: u64) -> CallName {
        CallName(number)
    }

    /// Finds a call by its name.
    pub(crate) fn named(name: &str) -> Option<CallName> {
        let (number, _) = NAMES.iter().find(|(_, entry)| *entry == name)?;
        u64::try_from(*number).ok().map(CallName)
    }

    /// Reads the name as it is displayed.
    pub(crate) fn parse(text: &str) -> Option<CallName> {
        match text.strip_prefix("call ") {
            Some(number) => number.parse().ok().map(CallName),
            None => CallName::named(text),
        }
    }

    /// Checks whether a program may wait without end if this call does nothing: for a thread to be woken, or for its own end. The
    /// kernel has no such fault.
    pub(crate) fn may_wait_for_ever(self) -> bool {
        ["futex", "exit", "exit_group"].into_iter().any(|name| CallName::named(name) == Some(self))
    }

    /// Checks whether the kernel can do this to it. Libraries rely on what it cannot do, and panic or wait for ever.
    pub(crate) fn is_possible(self, fault: Fault) -> bool {
        match fault {
            Fault::Kill => true,
            Fault::ShortWrite => self.is_write(),
            Fault::Interrupted => !NEVER_FAIL.into_iter().any(|name| CallName::named(name) == Some(self)),
            Fault::Io | Fault::NoSpace => {
                let names = NEVER_FAIL.into_iter().chain(SLEEPS);
                !names.into_iter().any(|name| CallName::named(name) == Some(self))
            }
        }
    }

    /// Checks whether its third argument is the number of bytes to write.
    pub(crate) fn is_write(self) -> bool {
        ["write", "pwrite64", "sendto"].into_iter().any(|name| CallName::named(name) == Some(self))
    }
}

impl fmt::Display for CallName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = NAMES.iter().find(|(number, _)| u64::try_from(*number) == Ok(self.0));
        match entry {
            Some((_, name)) => formatter.pad(name),
            None => formatter.pad(&format!("call {}", self.0)),
        }
    }
}
