//! Runs a program and looks at each of its system calls: counts them, or lets one of them go wrong.
//!
//! Only the program itself is traced, with all of its threads; the processes that it starts are not. Calls are counted
//! over all threads together, so that a name and a number mean one call of one run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::call_name::CallName;

/// The time after which a program counts as hanging. A lock of the database that cannot be released is waited for
/// several times, ten seconds each.
const PATIENCE: Duration = Duration::from_secs(240);

/// The same where the program may wait without end.
const PATIENCE_WITHOUT_END: Duration = Duration::from_secs(20);

/// The fault that replaces a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Fault {
    /// The program is killed before the call.
    Kill,
    /// The call does nothing and fails with `EIO`; so with the others, but `close` closes.
    Io,
    /// The call does nothing and fails with `ENOSPC`.
    NoSpace,
    /// The call does nothing and fails with `EINTR`.
    Interrupted,
    /// The call is made with half of the bytes that it was to write.
    ShortWrite,
}

/// One call of one run, and what happens at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Injection {
    pub(crate) name: CallName,
    /// The number of the call among calls of this name, 1-based.
    pub(crate) number: u32,
    pub(crate) fault: Fault,
}

/// The end of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Exit(i32),
    Signal(Signal),
    /// It was killed because it did not end by itself.
    Hung,
}

/// A program that was run to its end.
#[derive(Debug)]
pub(crate) struct Traced {
    /// The number of calls by name: all of them, or those up to the fault.
    pub(crate) counts: BTreeMap<CallName, u32>,
    /// The same of the thread that the program began with.
    pub(crate) counts_of_first_thread: BTreeMap<CallName, u32>,
    /// True if the call for the fault was made.
    pub(crate) is_reached: bool,
    /// True if the fault happened: a write of one byte cannot be shortened.
    pub(crate) is_injected: bool,
    pub(crate) ended: Ended,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a program under the eyes of this thread.
pub(crate) fn run(command: &Command, injection: Option<Injection>) -> io::Result<Traced> {
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    // It stops itself before it becomes the program, so that not one call is missed.
    let mut stopped = Command::new("/bin/sh");
    stopped.args(["-c", "kill -STOP $$; exec \"$0\" \"$@\""]).arg(command.get_program());
    // A signal to its process group, which a fault may bring about, is not for us.
    stopped.process_group(0);
    stopped.args(command.get_args()).current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => stopped.env(name, value),
            None => stopped.env_remove(name),
        };
    }
    stopped.stdin(std::process::Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let child = stopped.spawn()?;
    let program = Pid::from_raw(i32::try_from(child.id()).unwrap());
    let mut tracer = Tracer {
        program,
        injection,
        counts: BTreeMap::new(),
        counts_of_first_thread: BTreeMap::new(),
        in_call: BTreeSet::new(),
        failing: None,
        is_program: false,
        is_reached: false,
        is_injected: false,
    };
    let ended = tracer.run_to_the_end()?;
    Ok(Traced {
        counts: tracer.counts,
        counts_of_first_thread: tracer.counts_of_first_thread,
        is_reached: tracer.is_reached,
        is_injected: tracer.is_injected,
        ended,
        stdout: text(&mut stdout)?,
        stderr: text(&mut stderr)?,
    })
}

fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

struct Tracer {
    program: Pid,
    injection: Option<Injection>,
    counts: BTreeMap<CallName, u32>,
    counts_of_first_thread: BTreeMap<CallName, u32>,
    /// Threads that have begun a call and not ended it.
    in_call: BTreeSet<Pid>,
    /// The thread whose call is to fail, and how.
    failing: Option<(Pid, Errno)>,
    /// True if the shell has become the program.
    is_program: bool,
    is_reached: bool,
    is_injected: bool,
}

impl Tracer {
    fn run_to_the_end(&mut self) -> io::Result<Ended> {
        let flags = WaitPidFlag::WUNTRACED | WaitPidFlag::__WNOTHREAD;
        waitpid(self.program, Some(flags))?;
        let options = Options::PTRACE_O_TRACECLONE
            | Options::PTRACE_O_TRACEEXEC
            | Options::PTRACE_O_TRACESYSGOOD
            | Options::PTRACE_O_EXITKILL;
        if let Err(errno) = ptrace::seize(self.program, options) {
            kill(self.program, Signal::SIGKILL)?;
            waitpid(self.program, None)?;
            return Err(errno.into());
        }
        kill(self.program, Signal::SIGCONT)?;
        let program = self.program;
        let patience = match self.injection {
            Some(injection) if injection.name.may_wait_for_ever() => PATIENCE_WITHOUT_END,
            _ => PATIENCE,
        };
        thread::scope(|scope| {
            let (ended, ends) = mpsc::channel::<()>();
            let watch = scope.spawn(move || {
                let is_hanging = ends.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
                if is_hanging {
                    // It has not been waited for yet, so the number is still its own.
                    let _ = kill(program, Signal::SIGKILL);
                }
                is_hanging
            });
            let followed = self.follow();
            drop(ended);
            let has_hung = watch.join().unwrap();
            followed.map(|ended| if has_hung { Ended::Hung } else { ended })
        })
    }

    fn follow(&mut self) -> io::Result<Ended> {
        loop {
            // Other threads of this process have children of their own.
            let stop = waitpid(None, Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD))?;
            let followed = match stop {
                WaitStatus::Exited(process, code) if process == self.program => return Ok(Ended::Exit(code)),
                WaitStatus::Signaled(process, signal, _) if process == self.program => {
                    return Ok(Ended::Signal(signal));
                }
                WaitStatus::PtraceSyscall(thread) => {
                    self.at_call(thread).and_then(|()| self.go_on(thread, None))
                }
                WaitStatus::PtraceEvent(thread, _, event) => {
                    if event == libc::PTRACE_EVENT_EXEC {
                        self.is_program = true;
                        self.in_call.insert(thread);
                    }
                    self.go_on(thread, None)
                }
                WaitStatus::Stopped(thread, signal) => self.go_on(thread, Some(signal)),
                _ => Ok(()),
            };
            match followed {
                // Killed in the meantime.
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Lets a thread run to its next call, or freely where nothing is of interest any more.
    fn go_on(&self, thread: Pid, signal: Option<Signal>) -> Result<(), Errno> {
        let is_over = self.is_reached && self.failing.is_none();
        if self.is_program && !is_over {
            ptrace::syscall(thread, signal)
        } else {
            ptrace::cont(thread, signal)
        }
    }

    fn at_call(&mut self, thread: Pid) -> Result<(), Errno> {
        if self.in_call.remove(&thread) {
            if let Some((_, errno)) = self.failing.take_if(|(failing, _)| *failing == thread) {
                let mut registers = ptrace::getregs(thread)?;
                registers.rax = -i64::from(errno as i32) as u64;
                ptrace::setregs(thread, registers)?;
            }
            return Ok(());
        }
        self.in_call.insert(thread);
        if self.is_reached {
            return Ok(());
        }
        let registers = ptrace::getregs(thread)?;
        let name = CallName::of(registers.orig_rax);
        if thread == self.program {
            *self.counts_of_first_thread.entry(name).or_default() += 1;
        }
        let count = self.counts.entry(name).or_default();
        *count += 1;
        match self.injection {
            Some(injection) if injection.name == name && injection.number == *count => {
                self.is_reached = true;
                self.inject(thread, registers, injection)
            }
            _ => Ok(()),
        }
    }

    fn inject(
        &mut self,
        thread: Pid,
        mut registers: libc::user_regs_struct,
        injection: Injection,
    ) -> Result<(), Errno> {
        let errno = match injection.fault {
            Fault::Kill => {
                self.is_injected = true;
                return kill(self.program, Signal::SIGKILL);
            }
            Fault::ShortWrite => {
                if registers.rdx > 1 {
                    self.is_injected = true;
                    registers.rdx /= 2;
                    ptrace::setregs(thread, registers)?;
                }
                return Ok(());
            }
            Fault::Io => Errno::EIO,
            Fault::NoSpace => Errno::ENOSPC,
            Fault::Interrupted => Errno::EINTR,
        };
        self.is_injected = true;
        self.failing = Some((thread, errno));
        if CallName::named("close") == Some(injection.name) {
            // It closes in any case; only what it answers is another matter.
            return Ok(());
        }
        // A call that does not exist, so that nothing happens.
        registers.orig_rax = u64::MAX;
        ptrace::setregs(thread, registers)
    }
}
