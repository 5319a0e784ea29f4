//! The connection to the spawner, which is restarted when it has died.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::launcher::spawner_program::SpawnerProgram;
use crate::spawner::channel;
use crate::spawner::request::RequestKind;

/// The time in which the spawner ends its commands and itself.
const END_LIMIT: Duration = Duration::from_secs(10);

/// A running spawner and the socket to it.
#[derive(Debug)]
pub(crate) struct Link {
    program: SpawnerProgram,
    /// `None` when the spawner has ended and could not be restarted. Closing the socket ends the spawner.
    socket: Option<OwnedFd>,
    process: Child,
}

impl Link {
    pub(crate) fn start(program: SpawnerProgram) -> io::Result<Link> {
        let (socket, process) = start_process(&program)?;
        Ok(Link { program, socket: Some(socket), process })
    }

    /// Sends one request of this kind with its descriptors.
    pub(crate) fn send(&mut self, kind: RequestKind, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let sent = match &self.socket {
            Some(socket) => channel::send(socket.as_fd(), kind.encode(), descriptors),
            // The last restart failed.
            None => Err(Errno::PIPE),
        };
        match sent {
            // The spawner is dead, and all its commands have ended with it.
            Err(Errno::PIPE | Errno::CONNRESET | Errno::NOTCONN | Errno::CONNREFUSED) => {}
            other => return Ok(other?),
        }
        // Reap it first: the next spawner removes the control groups of spawners that no longer exist.
        self.end();
        let (socket, process) = start_process(&self.program)?;
        self.process = process;
        let socket = self.socket.insert(socket);
        Ok(channel::send(socket.as_fd(), kind.encode(), descriptors)?)
    }

    /// Returns the process number of the spawner; `None` if it has died.
    pub(crate) fn live_spawner(&mut self) -> Option<u32> {
        // A killed spawner closes its socket before it can be waited for.
        let is_connected = self.socket.as_ref().is_some_and(|socket| {
            let mut sockets = [PollFd::new(socket, PollFlags::empty())];
            poll(&mut sockets, Some(&Timespec::default())) == Ok(0)
        });
        (is_connected && matches!(self.process.try_wait(), Ok(None))).then(|| self.process.id())
    }

    /// Ends the spawner and reaps it.
    fn end(&mut self) {
        self.socket = None;
        // The spawner ends by itself once the socket is closed and its commands have ended.
        let started = Instant::now();
        while matches!(self.process.try_wait(), Ok(None)) {
            if started.elapsed() > END_LIMIT {
                // A command that cannot be killed holds the spawner up. Kill it alone; the kernel has the rest.
                let _ = self.process.kill();
                let _ = self.process.wait();
                return;
            }
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.end();
    }
}

fn start_process(program: &SpawnerProgram) -> io::Result<(OwnedFd, Child)> {
    let (socket, spawner_end) = channel::pair()?;
    let process = Command::new(&program.path)
        .args(&program.arguments)
        // The daemon's variables may hold secrets; the spawner cannot pass on what it does not have.
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(spawner_end))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok((socket, process))
}
