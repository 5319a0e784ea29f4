//! Signal masks and dispositions.

use std::mem::MaybeUninit;
use std::ptr;

use rustix::io::Result;

use super::descriptors::last_errno;

/// Signals are numbered from 1 to this.
const SIGNAL_COUNT: i32 = 64;

/// Blocks every signal of this thread, so that [`wait_for_signal`] can take them one by one.
pub(crate) fn block_all_signals() -> Result<()> {
    set_mask(libc::SIG_SETMASK, &all_signals())
}

/// Gives every signal its default effect and blocks none, as a program expects at its start.
pub(crate) fn default_signals() -> Result<()> {
    // The C library refuses to touch the two signals that it reserves, and a parent may have ignored them.
    let default = [0_u64; 4];
    for number in 1..=SIGNAL_COUNT {
        // SAFETY: the kernel reads its own `sigaction` from memory that is at least as long. All zero, it means
        // the default effect, so no code of ours is installed. SIGKILL and SIGSTOP answer with an error that does
        // not matter: their effect is the default.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                number,
                default.as_ptr(),
                ptr::null_mut::<u64>(),
                size_of::<u64>(),
            );
        }
    }
    let mut none = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initialises the set that it is given.
    let none = unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        none.assume_init()
    };
    set_mask(libc::SIG_SETMASK, &none)
}

/// Waits for a blocked signal and returns its number.
pub(crate) fn wait_for_signal() -> Result<i32> {
    let all = all_signals();
    // SAFETY: the set is initialised; a null pointer means that no details are wanted.
    let number = unsafe { libc::sigwaitinfo(&raw const all, ptr::null_mut()) };
    if number < 0 { Err(last_errno()) } else { Ok(number) }
}

fn all_signals() -> libc::sigset_t {
    let mut all = MaybeUninit::uninit();
    // SAFETY: `sigfillset` initialises the set that it is given.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        all.assume_init()
    }
}

fn set_mask(how: libc::c_int, signals: &libc::sigset_t) -> Result<()> {
    // SAFETY: the set is a valid reference; a null pointer means that the old mask is not wanted.
    let done = unsafe { libc::sigprocmask(how, signals, ptr::null_mut()) };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}
