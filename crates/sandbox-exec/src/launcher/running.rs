//! A running command: its output is drained, its deadline kept, its end awaited.

pub(crate) mod background_job;
pub(crate) mod begun;

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::launcher::carriage::Carriage;
use crate::launcher::drain::{Drain, OutputObserver, OutputStream};
use crate::launcher::home::HomeLease;
use crate::launcher::killer::Killer;
use crate::launcher::outcome::{Ending, Outcome, Signal};
use crate::launcher::private_folder::PrivateFolder;
use crate::launcher::running::background_job::BackgroundJob;
use crate::launcher::spool::Spool;
use crate::policy::ExecLimits;
use crate::policy::shell_command::Timeout;
use crate::report::denial::{Denial, Denials, Denied, HIGHEST_COUNT, MOST_DENIALS};
use crate::report::file_view::FileView;
use crate::report::{host_servers, printed};
use crate::spawner::channel::{self, Status};

/// The time for draining output after the shell's end, or after a kill.
const DRAIN_LIMIT: Duration = Duration::from_millis(250);

/// The time to wait for the end of the last process after a kill.
const REAP_LIMIT: Duration = Duration::from_secs(10);

/// The reason that a command's result is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The command's init was killed from outside the sandbox, or by the command where it has no process namespace. The
    /// command's remaining processes have been killed.
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

/// The launcher's handles of a command that has started.
pub(crate) struct Started {
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) status: OwnedFd,
    pub(crate) pidfd: OwnedFd,
    /// The shell's wait status, if it has already arrived.
    pub(crate) early_end: Option<i32>,
    /// Refusals that have already arrived.
    pub(crate) denials: Denials,
    /// Background jobs that have already been reported.
    pub(crate) jobs: Vec<BackgroundJob>,
    pub(crate) owns_namespace: bool,
    pub(crate) folder: Option<PrivateFolder>,
    pub(crate) kept_home: Option<HomeLease>,
    /// Delivers the connections to allowed names.
    pub(crate) inward: Option<OwnedFd>,
    /// Serves them.
    pub(crate) carriage: Option<Carriage>,
}

impl Started {
    /// Kills the command without waiting for it.
    pub(crate) fn kill(&self) {
        // An error means that it has already ended.
        let _ = channel::send(&self.status, b"K", &[]);
    }
}

/// A command that has started. Dropping it kills the command with all its descendants.
#[derive(Debug)]
pub struct Running {
    output: Drain,
    killer: Killer,
    shell_end: Option<i32>,
    denials: Denials,
    /// Processes that outlived the shell; in the end, those that were killed.
    jobs: Vec<BackgroundJob>,
    started_at: Instant,
    timeout: Timeout,
    limits: ExecLimits,
    unprotected: Vec<PathBuf>,
    files: FileView,
    /// Removed when the command has ended.
    _folder: Option<PrivateFolder>,
    /// Released when the command has ended.
    _kept_home: Option<HomeLease>,
    home_fault: Option<String>,
    carriage: Option<Carriage>,
}

impl Running {
    pub(crate) fn new(
        started: Started,
        started_at: Instant,
        timeout: Timeout,
        limits: ExecLimits,
        unprotected: Vec<PathBuf>,
        files: FileView,
    ) -> Running {
        Running {
            output: Drain::new(started.stdout, started.stderr, limits.output_bytes_per_stream),
            killer: Killer::new(started.status, started.pidfd, started.owns_namespace),
            shell_end: started.early_end,
            denials: started.denials,
            jobs: started.jobs,
            started_at,
            timeout,
            limits,
            unprotected,
            files,
            _folder: started.folder,
            _kept_home: started.kept_home,
            home_fault: None,
            carriage: started.carriage,
        }
    }

    pub(crate) fn with_home_fault(mut self, why: String) -> Running {
        self.home_fault = Some(why);
        self
    }

    /// Returns the reason that the command has a fresh home although its policy has a kept one.
    pub fn home_fault(&self) -> Option<&str> {
        self.home_fault.as_deref()
    }

    /// Returns a handle that ends the command from any thread.
    pub fn killer(&self) -> Killer {
        self.killer.clone()
    }

    /// Returns the protected paths of the policy that no mount could protect, because they do not exist or are links. The
    /// caller compares them after the command.
    pub fn unprotected(&self) -> &[PathBuf] {
        &self.unprotected
    }

    /// The same without a deadline.
    pub(crate) fn without_deadline(mut self) -> Running {
        self.timeout = Timeout::never();
        self
    }

    /// Waits for the end of the command and all its descendants.
    ///
    /// # Errors
    /// [`WaitError`]; in any case, the command has been killed.
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
        let mut state = State::default();
        if self.shell_end.is_some() {
            state.drain_until = Some(Instant::now() + DRAIN_LIMIT);
        }
        loop {
            let now = Instant::now();
            let is_drained = self.output.is_finished() || state.drain_until.is_some_and(|limit| now >= limit);
            if !state.killed {
                let is_late = now >= deadline;
                let is_over = self.shell_end.is_some() && is_drained;
                if is_over && let Some(carriage) = &self.carriage {
                    carriage.hand_over(DRAIN_LIMIT);
                }
                if is_late || is_over {
                    self.jobs.retain_mut(BackgroundJob::is_alive);
                    self.killer.kill();
                    state.killed = true;
                    state.timed_out = is_late && self.shell_end.is_none();
                    state.reap_until = Some(now + REAP_LIMIT);
                    state.drain_until.get_or_insert(now + DRAIN_LIMIT);
                }
            }
            if state.gone && is_drained {
                break;
            }
            if state.reap_until.is_some_and(|limit| now >= limit) {
                return Err(WaitError::Unkillable);
            }
            let wake = state.next_wake(deadline, self.output.is_finished());
            let ready = self.poll(&state, wake.saturating_duration_since(now))?;
            for stream in ready.streams.into_iter().flatten() {
                self.output.read(stream, observer, spool.as_mut());
            }
            if ready.status {
                self.read_status(&mut state);
            }
        }
        let ending = self.ending(&state)?;
        let output_complete = self.output.is_finished();
        let (stdout, stderr) = self.output.take();
        let spooled = spool.map(Spool::finish);
        // Programs try calls and cope with refusals: only refusals that may explain a failure count.
        let has_names = self.carriage.is_some();
        let refused_outside = self.carriage.take().map(Carriage::finish).unwrap_or_default();
        let mut denied = Vec::new();
        if !ending.is_success() {
            self.denials.retain_loopback(host_servers::has_loopback_server);
            denied = self.denials.describe(has_names);
            denied.extend(refused_outside);
            denied.extend(self.refused_processes(&state));
            let ends = [&stderr, &stdout].map(|stream| stream.text(|_| String::new()));
            denied.extend(printed::refusals(ends.each_ref().map(String::as_str), &self.files));
        }
        // Even a successful command has lost its background jobs.
        denied.extend(background_job::describe(&self.jobs));
        denied.truncate(MOST_DENIALS);
        let duration = self.started_at.elapsed();
        Ok(Outcome { ending, duration, stdout, stderr, output_complete, spooled, denied })
    }

    fn refused_processes(&self, state: &State) -> Option<Denied> {
        let count = state.refused_processes.min(HIGHEST_COUNT);
        let why = format!("a command has at most {} processes and threads", self.limits.processes);
        (count > 0).then(|| Denied::new("start another process or thread".into(), why, None, count))
    }

    fn poll(&self, state: &State, limit: Duration) -> Result<Ready, WaitError> {
        let streams = [OutputStream::Stdout, OutputStream::Stderr];
        let pipes = streams.map(|stream| self.output.pipe(stream));
        let status = (!state.gone).then_some(self.killer.status());
        let wanted: Vec<BorrowedFd<'_>> = pipes.into_iter().chain([status]).flatten().collect();
        let mut watched: Vec<PollFd<'_>> = wanted.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        let limit = limit.try_into().expect("a deadline of years fits a time specification");
        match poll(&mut watched, Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(WaitError::System { errno: errno.raw_os_error() }),
        }
        let mut events = watched.iter().map(|fd| !fd.revents().is_empty());
        let mut is_ready = |is_wanted: bool| is_wanted && events.next().unwrap_or(false);
        let streams = [0, 1].map(|index| is_ready(pipes[index].is_some()).then_some(streams[index]));
        Ok(Ready { streams, status: is_ready(status.is_some()) })
    }

    fn read_status(&mut self, state: &mut State) {
        match channel::receive(self.killer.status()) {
            Ok(Some((bytes, descriptors))) => match Status::decode(&bytes) {
                Some(Status::Ended(status)) => {
                    self.shell_end = Some(status);
                    state.drain_until.get_or_insert(Instant::now() + DRAIN_LIMIT);
                }
                Some(Status::MemoryKills(_)) => state.killed_for_memory = true,
                Some(Status::RefusedProcesses(count)) => state.refused_processes = count.unsigned_abs(),
                _ => {
                    if let Some(denial) = Denial::decode(&bytes) {
                        self.denials.note(&denial);
                    } else if !state.killed {
                        self.jobs.extend(BackgroundJob::receive(&bytes, descriptors));
                    }
                }
            },
            // The stream ends when the spawner has reaped the last process, and fails when the spawner died.
            Ok(None) | Err(_) => {
                state.gone = true;
                state.drain_until.get_or_insert(Instant::now() + DRAIN_LIMIT);
            }
        }
    }

    fn ending(&self, state: &State) -> Result<Ending, WaitError> {
        let is_success = self.shell_end == Some(0);
        let was_ended = self.shell_end.is_none() && (state.timed_out || self.killer.is_cancelled());
        if state.killed_for_memory && !is_success && !was_ended {
            return Ok(Ending::KilledForMemory { limit_bytes: self.limits.memory_bytes });
        }
        match self.shell_end {
            Some(status) if libc::WIFSIGNALED(status) => {
                Ok(Ending::Signaled(Signal::from_number(libc::WTERMSIG(status))))
            }
            Some(status) => Ok(Ending::Exited(libc::WEXITSTATUS(status))),
            None if self.killer.is_cancelled() => Ok(Ending::Cancelled),
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
    /// The number of processes that were not made because of the limit.
    refused_processes: u32,
    drain_until: Option<Instant>,
    reap_until: Option<Instant>,
}

impl State {
    /// Returns the time of the next timer, if no event comes first.
    fn next_wake(&self, deadline: Instant, output_finished: bool) -> Instant {
        let drain = self.drain_until.filter(|_| !output_finished && (self.gone || !self.killed));
        let kill = (!self.killed).then_some(deadline);
        [drain, kill, self.reap_until].into_iter().flatten().min().unwrap_or(deadline)
    }
}

struct Ready {
    streams: [Option<OutputStream>; 2],
    status: bool,
}
