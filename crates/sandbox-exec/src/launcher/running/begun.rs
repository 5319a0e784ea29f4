//! The wait for a command's start.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::init::background_jobs::MARK;
use crate::launcher::SpawnError;
use crate::launcher::running::background_job::BackgroundJob;
use crate::report::denial::{Denial, Denials};
use crate::spawner::channel::{self, Status};

/// The longest preparation of a sandbox.
pub(crate) const PREPARATION_LIMIT: Duration = Duration::from_secs(10);

/// A command whose shell executes.
pub(crate) struct Begun {
    /// The init's pidfd.
    pub(crate) pidfd: OwnedFd,
    /// The shell's wait status, if it has already arrived.
    pub(crate) early_end: Option<i32>,
    /// Refusals that have already arrived.
    pub(crate) denials: Denials,
    /// Background jobs that have already been reported.
    pub(crate) jobs: Vec<BackgroundJob>,
}

impl Begun {
    /// Waits until the shell executes.
    pub(crate) fn wait(status: &OwnedFd) -> Result<Begun, SpawnError> {
        let deadline = Instant::now() + PREPARATION_LIMIT;
        let (mut pidfd, mut is_started, mut early_end) = (None, false, None);
        let (mut denials, mut jobs) = (Denials::default(), Vec::new());
        // The messages of the spawner and the init may overtake each other: both are awaited, in any order.
        loop {
            if is_started && let Some(pidfd) = pidfd.take() {
                return Ok(Begun { pidfd, early_end, denials, jobs });
            }
            if !is_readable_before(status, deadline) {
                return Err(SpawnError::Unconfirmed);
            }
            let packet = channel::receive(status).ok().flatten();
            let Some((bytes, descriptors)) = packet else {
                // The child receives its orders after this message was sent.
                let has_orders = is_started || pidfd.is_some();
                return Err(if has_orders { SpawnError::Unconfirmed } else { SpawnError::NotStarted });
            };
            if let Some(denial) = Denial::decode(&bytes) {
                denials.note(&denial);
                continue;
            }
            if bytes.first() == Some(&MARK) {
                jobs.extend(BackgroundJob::receive(&bytes, descriptors));
                continue;
            }
            match Status::decode(&bytes).ok_or(SpawnError::Unconfirmed)? {
                Status::Created => pidfd = descriptors.into_iter().next(),
                Status::Failed(error) => return Err(error.into()),
                Status::Started => is_started = true,
                Status::Ended(status) => early_end = Some(status),
                // These come only after the shell was started and killed: the end of the stream tells the rest.
                Status::MemoryKills(_) | Status::RefusedProcesses(_) => return Err(SpawnError::Unconfirmed),
            }
        }
    }
}

pub(crate) fn is_readable_before(fd: &OwnedFd, deadline: Instant) -> bool {
    let mut watched = [PollFd::new(fd, PollFlags::IN)];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match poll(&mut watched, left.try_into().ok().as_ref()) {
            // A signal to this thread says nothing about the command.
            Err(Errno::INTR) => {}
            other => return other.is_ok_and(|ready| ready > 0),
        }
    }
}
