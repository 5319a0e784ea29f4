//! A running command: its output is drained, its deadline kept, its end awaited.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal as KernelSignal, pidfd_send_signal};

use crate::capture::HeadTail;
use crate::channel::{self, Status};
use crate::outcome::{Ending, Outcome, Signal};
use crate::policy::ExecLimits;
use crate::private_folder::PrivateFolder;
use crate::shell_command::Timeout;
use crate::spool::Spool;

/// How long output is drained after the shell's end, or after a kill.
const DRAIN_LIMIT: Duration = Duration::from_millis(250);

/// How long the end of the last process is awaited after a kill.
const REAP_LIMIT: Duration = Duration::from_secs(10);

/// One of a command's two output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Watches the output of a command as it comes.
///
/// It is called on the thread that waits for the command and must not block: a command whose output is not drained
/// stands still.
pub trait OutputObserver {
    /// Takes the next bytes of a stream, as many as were there.
    fn output(&mut self, stream: OutputStream, bytes: &[u8]);
}

impl<F: FnMut(OutputStream, &[u8])> OutputObserver for F {
    fn output(&mut self, stream: OutputStream, bytes: &[u8]) {
        self(stream, bytes);
    }
}

/// Why a command's result is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The command's init was killed from outside the sandbox, or by the command where it has no process
    /// namespace. Everything that was left of the command has been killed.
    #[error("the command's sandbox was killed")]
    Lost,
    /// Everything was killed, but a process does not end: the kernel holds it in an uninterruptible wait.
    #[error("a process of the command does not end after it was killed")]
    Unkillable,
    /// The system call that waits failed.
    #[error("cannot wait for the command: {}", std::io::Error::from_raw_os_error(*.errno))]
    System {
        /// The error number.
        errno: i32,
    },
}

/// What the launcher holds of a command that has started.
pub(crate) struct Started {
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) status: OwnedFd,
    pub(crate) pidfd: OwnedFd,
    /// The shell's wait status, if it has come already.
    pub(crate) early_end: Option<i32>,
    pub(crate) owns_namespace: bool,
    pub(crate) folder: Option<PrivateFolder>,
}

/// A command that has started. Dropping it kills the command with all its descendants.
#[derive(Debug)]
pub struct Running {
    stdout: OwnedFd,
    stderr: OwnedFd,
    killer: Killer,
    shell_end: Option<i32>,
    started_at: Instant,
    timeout: Timeout,
    limits: ExecLimits,
    unprotected: Vec<PathBuf>,
    /// Removed when the command has ended.
    _folder: Option<PrivateFolder>,
}

impl Running {
    pub(crate) fn new(
        started: Started,
        started_at: Instant,
        timeout: Timeout,
        limits: ExecLimits,
        unprotected: Vec<PathBuf>,
    ) -> Running {
        let shared = Shared {
            status: started.status,
            pidfd: started.pidfd,
            owns_namespace: started.owns_namespace,
            cancelled: AtomicBool::new(false),
        };
        Running {
            stdout: started.stdout,
            stderr: started.stderr,
            killer: Killer { shared: Arc::new(shared) },
            shell_end: started.early_end,
            started_at,
            timeout,
            limits,
            unprotected,
            _folder: started.folder,
        }
    }

    /// Returns what ends the command from any thread.
    pub fn killer(&self) -> Killer {
        self.killer.clone()
    }

    /// Returns the paths that the policy protects and that no mount could protect, because they do not exist or
    /// are links. The caller compares them after the command.
    pub fn unprotected(&self) -> &[PathBuf] {
        &self.unprotected
    }

    /// Waits for the end of the command and all its descendants.
    ///
    /// # Errors
    /// [`WaitError`]; whatever it is, the command has been killed.
    pub fn wait(self) -> Result<Outcome, WaitError> {
        self.wait_with(&mut |_: OutputStream, _: &[u8]| {}, None)
    }

    /// Waits like [`Running::wait`], shows the output to `observer` as it comes and writes it to `spool`.
    ///
    /// # Errors
    /// [`WaitError`]; whatever it is, the command has been killed.
    pub fn wait_with(
        mut self,
        observer: &mut dyn OutputObserver,
        mut spool: Option<Spool>,
    ) -> Result<Outcome, WaitError> {
        let deadline = self.started_at + self.timeout.duration();
        let mut drain = Drain::new(self.limits.output_bytes_per_stream);
        let mut buffer = vec![0; 64 * 1024];
        let mut state = State::default();
        if self.shell_end.is_some() {
            state.drain_until = Some(Instant::now() + DRAIN_LIMIT);
        }
        loop {
            let now = Instant::now();
            if !state.killed {
                let is_late = now >= deadline;
                let is_over = self.shell_end.is_some() && (drain.is_finished() || state.is_drained(now));
                if is_late || is_over {
                    self.killer.kill();
                    state.killed = true;
                    state.timed_out = is_late && self.shell_end.is_none();
                    state.reap_until = Some(now + REAP_LIMIT);
                    state.drain_until.get_or_insert(now + DRAIN_LIMIT);
                }
            }
            if state.gone && (drain.is_finished() || state.is_drained(now)) {
                break;
            }
            if state.reap_until.is_some_and(|limit| now >= limit) {
                return Err(WaitError::Unkillable);
            }
            let wake = state.next_wake(deadline, drain.is_finished());
            let ready = self.poll(&drain, &state, wake.saturating_duration_since(now))?;
            if ready.stdout {
                drain.read(&self.stdout, OutputStream::Stdout, &mut buffer, observer, spool.as_mut());
            }
            if ready.stderr {
                drain.read(&self.stderr, OutputStream::Stderr, &mut buffer, observer, spool.as_mut());
            }
            if ready.status {
                self.read_status(&mut state);
            }
        }
        let ending = self.ending(&state)?;
        Ok(Outcome {
            ending,
            duration: self.started_at.elapsed(),
            output_complete: drain.is_finished(),
            stdout: drain.stdout.finish(),
            stderr: drain.stderr.finish(),
            spooled: spool.map(Spool::finish),
        })
    }

    fn poll(&self, drain: &Drain, state: &State, limit: Duration) -> Result<Ready, WaitError> {
        let wanted = |is_wanted: bool| if is_wanted { PollFlags::IN } else { PollFlags::empty() };
        let mut watched = Vec::with_capacity(3);
        // A finished descriptor would report its end again and again.
        let parts = [
            (self.stdout.as_fd(), !drain.stdout_finished),
            (self.stderr.as_fd(), !drain.stderr_finished),
            (self.killer.shared.status.as_fd(), !state.gone),
        ];
        for (fd, is_wanted) in &parts {
            if *is_wanted {
                watched.push(PollFd::new(fd, wanted(true)));
            }
        }
        let limit = limit.try_into().expect("a deadline of at most an hour fits a time specification");
        match poll(&mut watched, Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(WaitError::System { errno: errno.raw_os_error() }),
        }
        let mut events = watched.iter().map(|fd| !fd.revents().is_empty());
        let mut next = |is_wanted: bool| is_wanted && events.next().unwrap_or(false);
        Ok(Ready { stdout: next(parts[0].1), stderr: next(parts[1].1), status: next(parts[2].1) })
    }

    fn read_status(&mut self, state: &mut State) {
        match channel::receive(&self.killer.shared.status) {
            Ok(Some((bytes, _))) => match Status::decode(&bytes) {
                Some(Status::Ended(status)) => {
                    self.shell_end = Some(status);
                    state.drain_until.get_or_insert(Instant::now() + DRAIN_LIMIT);
                }
                Some(Status::MemoryKills(_)) => state.killed_for_memory = true,
                _ => {}
            },
            // The end comes when the spawner has reaped the last process, and an error when the spawner died.
            Ok(None) | Err(_) => {
                state.gone = true;
                state.drain_until.get_or_insert(Instant::now() + DRAIN_LIMIT);
            }
        }
    }

    fn is_cancelled(&self) -> bool {
        self.killer.shared.cancelled.load(Ordering::Acquire)
    }

    fn ending(&self, state: &State) -> Result<Ending, WaitError> {
        let is_success = self.shell_end == Some(0);
        let was_ended = self.shell_end.is_none() && (state.timed_out || self.is_cancelled());
        if state.killed_for_memory && !is_success && !was_ended {
            return Ok(Ending::KilledForMemory { limit_bytes: self.limits.memory_bytes });
        }
        match self.shell_end {
            Some(status) if libc::WIFSIGNALED(status) => {
                Ok(Ending::Signaled(Signal::from_number(libc::WTERMSIG(status))))
            }
            Some(status) => Ok(Ending::Exited(libc::WEXITSTATUS(status))),
            None if self.is_cancelled() => Ok(Ending::Cancelled),
            None if state.timed_out => Ok(Ending::TimedOut { limit: self.timeout.duration() }),
            None => Err(WaitError::Lost),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.killer.kill();
    }
}

#[derive(Debug, Default)]
struct State {
    killed: bool,
    timed_out: bool,
    /// No process of the command is left.
    gone: bool,
    killed_for_memory: bool,
    drain_until: Option<Instant>,
    reap_until: Option<Instant>,
}

impl State {
    fn is_drained(&self, now: Instant) -> bool {
        self.drain_until.is_some_and(|limit| now >= limit)
    }

    /// Returns when something is to be done even if nothing happens.
    fn next_wake(&self, deadline: Instant, output_finished: bool) -> Instant {
        let drain = self.drain_until.filter(|_| !output_finished && (self.gone || !self.killed));
        let kill = (!self.killed).then_some(deadline);
        [drain, kill, self.reap_until].into_iter().flatten().min().unwrap_or(deadline)
    }
}

struct Ready {
    stdout: bool,
    stderr: bool,
    status: bool,
}

struct Drain {
    stdout: HeadTail,
    stderr: HeadTail,
    stdout_finished: bool,
    stderr_finished: bool,
}

impl Drain {
    fn new(limit_bytes: usize) -> Drain {
        Drain {
            stdout: HeadTail::new(limit_bytes),
            stderr: HeadTail::new(limit_bytes),
            stdout_finished: false,
            stderr_finished: false,
        }
    }

    fn is_finished(&self) -> bool {
        self.stdout_finished && self.stderr_finished
    }

    /// Reads once: the other stream and the deadline must have their turn however fast this one flows.
    fn read(
        &mut self,
        fd: &OwnedFd,
        stream: OutputStream,
        buffer: &mut [u8],
        observer: &mut dyn OutputObserver,
        spool: Option<&mut Spool>,
    ) {
        let (kept, finished) = match stream {
            OutputStream::Stdout => (&mut self.stdout, &mut self.stdout_finished),
            OutputStream::Stderr => (&mut self.stderr, &mut self.stderr_finished),
        };
        match rustix::io::read(fd, &mut *buffer) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(0) | Err(_) => *finished = true,
            Ok(length) => {
                let bytes = &buffer[..length];
                kept.push(bytes);
                if let Some(spool) = spool {
                    spool.push(bytes);
                }
                observer.output(stream, bytes);
            }
        }
    }
}

/// Ends a command from any thread. It stays valid after the command's end, when it does nothing.
#[derive(Clone, Debug)]
pub struct Killer {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    status: OwnedFd,
    pidfd: OwnedFd,
    owns_namespace: bool,
    cancelled: AtomicBool,
}

impl Killer {
    /// Kills the command with all its descendants; [`Running::wait`] then answers [`Ending::Cancelled`], unless
    /// the shell had ended by itself before.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Release);
        self.kill();
    }

    fn kill(&self) {
        if self.shared.owns_namespace {
            // An error says that the init is dead already, and everything in its namespace with it.
            let _ = pidfd_send_signal(&self.shared.pidfd, KernelSignal::KILL);
        } else {
            // The spawner searches and kills. If it is gone, the command's init does so by itself.
            let _ = channel::send(&self.shared.status, b"K", &[]);
        }
    }
}
