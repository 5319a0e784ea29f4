//! Runs this test program's worker and kills it at one of the calls that change files.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// The calls by which the file system can be left in another state.
const CHANGING: [i64; 10] = [
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_unlinkat,
    libc::SYS_mkdirat,
    libc::SYS_lremovexattr,
    libc::SYS_removexattr,
    libc::SYS_fremovexattr,
];

/// The end of the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself, successfully or not.
    Exited(i32),
    /// It was killed just before the call.
    Killed,
}

/// Runs the command and kills it just before its changing call `number`, 1-based, counted from the call `chdir` on.
pub(crate) fn run(command: &Command, number: u32) -> Ended {
    // It stops itself before it becomes the program, so that not one call is missed.
    let mut stopped = Command::new("/bin/sh");
    stopped.args(["-c", "kill -STOP $$; exec \"$0\" \"$@\""]).arg(command.get_program());
    stopped.args(command.get_args()).process_group(0).stdin(Stdio::null()).stdout(Stdio::null());
    stopped.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    #[expect(clippy::zombie_processes, reason = "a traced process is waited for by its number")]
    let child = stopped.spawn().unwrap();
    let program = Pid::from_raw(i32::try_from(child.id()).unwrap());
    waitpid(program, Some(WaitPidFlag::WUNTRACED | WaitPidFlag::__WNOTHREAD)).unwrap();
    let options = Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_EXITKILL;
    ptrace::seize(program, options).unwrap();
    kill(program, Signal::SIGCONT).unwrap();
    let mut tracer = Tracer { program, number, calls: 0, has_begun: false, in_call: Vec::new() };
    tracer.follow()
}

struct Tracer {
    program: Pid,
    number: u32,
    calls: u32,
    has_begun: bool,
    /// Threads that have begun a call and not ended it.
    in_call: Vec<Pid>,
}

impl Tracer {
    fn follow(&mut self) -> Ended {
        loop {
            let stop = waitpid(None, Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD)).unwrap();
            let followed = match stop {
                WaitStatus::Exited(process, code) if process == self.program => return Ended::Exited(code),
                WaitStatus::Signaled(process, ..) if process == self.program => return Ended::Killed,
                WaitStatus::PtraceSyscall(thread) => {
                    self.at_call(thread).and_then(|()| ptrace::syscall(thread, None))
                }
                WaitStatus::PtraceEvent(thread, ..) => ptrace::syscall(thread, None),
                WaitStatus::Stopped(thread, signal) => ptrace::syscall(thread, Some(signal)),
                _ => Ok(()),
            };
            assert!(matches!(followed, Ok(()) | Err(Errno::ESRCH)), "{followed:?}");
        }
    }

    fn at_call(&mut self, thread: Pid) -> Result<(), Errno> {
        if let Some(index) = self.in_call.iter().position(|other| *other == thread) {
            self.in_call.swap_remove(index);
            return Ok(());
        }
        self.in_call.push(thread);
        let call = i64::try_from(ptrace::getregs(thread)?.orig_rax).unwrap_or(-1);
        self.has_begun |= call == libc::SYS_chdir;
        if self.has_begun && CHANGING.contains(&call) {
            self.calls += 1;
            if self.calls == self.number {
                return kill(self.program, Signal::SIGKILL);
            }
        }
        Ok(())
    }
}
