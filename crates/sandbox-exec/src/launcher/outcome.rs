//! The result of a shell command: its ending, its duration and its output.

use std::fmt;
use std::time::Duration;

use crate::launcher::capture::Captured;
use crate::launcher::spool::Spooled;
use crate::report::denial::Denied;

/// The result of one shell command.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The way in which it ended.
    pub ending: Ending,
    /// From the request to the last process's death.
    pub duration: Duration,
    /// The bytes of standard output.
    pub stdout: Captured,
    /// The bytes of standard error.
    pub stderr: Captured,
    /// True if both streams were read to their ends. A process that held them open past the shell's end was killed 250 ms
    /// later, and its output after that is lost.
    pub output_complete: bool,
    /// The state of the full output, if a spool was given.
    pub spooled: Option<Spooled>,
    /// Refusals by its confinement, in order of first occurrence; at most 20 entries. A command that succeeded has none,
    /// whatever it tried on the way, except for background jobs that ended with it.
    pub denied: Vec<Denied>,
}

/// The way in which a shell command ended.
///
/// Only [`Ending::Exited`] and [`Ending::Signaled`] are the command's own doing; a command that itself returns 124 or
/// 137 is never taken for a timeout or a kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The shell exited with this code, `0..=255`.
    Exited(i32),
    /// The shell died of a signal that the sandbox did not send.
    Signaled(Signal),
    /// The deadline passed and everything was killed.
    TimedOut {
        /// The time that was allowed.
        limit: Duration,
    },
    /// [`Killer::cancel`](crate::Killer::cancel) ended it.
    Cancelled,
    /// The command failed, and the kernel had killed at least one of its processes because the limit on the whole
    /// command's memory was reached. Where that limit is unavailable (see the report's `missing`), each program is refused
    /// memory instead and ends as it pleases.
    KilledForMemory {
        /// The limit in bytes.
        limit_bytes: u64,
    },
}

impl Ending {
    /// Returns the exit code as a shell would show it: the code, or 128 plus the signal's number.
    ///
    /// A timeout, a cancellation and a kill for memory have none.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Ending::Exited(code) => Some(*code),
            Ending::Signaled(signal) => Some(128 + signal.number()),
            Ending::TimedOut { .. } | Ending::Cancelled | Ending::KilledForMemory { .. } => None,
        }
    }

    /// Checks whether the shell exited by itself with code 0.
    pub fn is_success(&self) -> bool {
        matches!(self, Ending::Exited(0))
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Exited(code) => write!(f, "exit code {code}"),
            Ending::Signaled(signal) => write!(f, "exit code {} ({signal})", 128 + signal.number()),
            Ending::TimedOut { limit } => write!(f, "timed out after {} s", limit.as_secs_f64()),
            Ending::Cancelled => f.write_str("cancelled"),
            Ending::KilledForMemory { limit_bytes } => {
                write!(f, "killed for memory at {limit_bytes} bytes")
            }
        }
    }
}

/// A signal's number, with its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(i32);

impl Signal {
    /// Wraps a signal number as the kernel reports it.
    pub(crate) fn from_number(number: i32) -> Signal {
        Signal(number)
    }

    /// Returns the number, 1-based as in `kill -l`.
    pub fn number(self) -> i32 {
        self.0
    }

    /// Returns the name with its prefix, such as `SIGTERM`, or `None` for a real-time signal.
    pub fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            libc::SIGHUP => "SIGHUP",
            libc::SIGINT => "SIGINT",
            libc::SIGQUIT => "SIGQUIT",
            libc::SIGILL => "SIGILL",
            libc::SIGTRAP => "SIGTRAP",
            libc::SIGABRT => "SIGABRT",
            libc::SIGBUS => "SIGBUS",
            libc::SIGFPE => "SIGFPE",
            libc::SIGKILL => "SIGKILL",
            libc::SIGUSR1 => "SIGUSR1",
            libc::SIGSEGV => "SIGSEGV",
            libc::SIGUSR2 => "SIGUSR2",
            libc::SIGPIPE => "SIGPIPE",
            libc::SIGALRM => "SIGALRM",
            libc::SIGTERM => "SIGTERM",
            libc::SIGCHLD => "SIGCHLD",
            libc::SIGCONT => "SIGCONT",
            libc::SIGSTOP => "SIGSTOP",
            libc::SIGTSTP => "SIGTSTP",
            libc::SIGTTIN => "SIGTTIN",
            libc::SIGTTOU => "SIGTTOU",
            libc::SIGURG => "SIGURG",
            libc::SIGXCPU => "SIGXCPU",
            libc::SIGXFSZ => "SIGXFSZ",
            libc::SIGVTALRM => "SIGVTALRM",
            libc::SIGPROF => "SIGPROF",
            libc::SIGWINCH => "SIGWINCH",
            libc::SIGIO => "SIGIO",
            libc::SIGSYS => "SIGSYS",
            _ => return None,
        })
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "signal {}", self.0),
        }
    }
}
