//! The connection to the spawner, which is started anew when it has died.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, Stdio};

use crate::channel;
use crate::spawner_program::SpawnerProgram;

/// A running spawner and the socket to it.
#[derive(Debug)]
pub(crate) struct Link {
    program: SpawnerProgram,
    /// `None` only while the link is being dropped or renewed: its end is what ends the spawner.
    socket: Option<OwnedFd>,
    process: Child,
}

impl Link {
    pub(crate) fn start(program: SpawnerProgram) -> io::Result<Link> {
        let (socket, process) = start_process(&program)?;
        Ok(Link { program, socket: Some(socket), process })
    }

    /// Sends the descriptors of one request.
    pub(crate) fn send(&mut self, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let socket = self.socket.as_ref().expect("only drop takes the socket away");
        if channel::send(socket.as_fd(), b"R", descriptors).is_ok() {
            return Ok(());
        }
        // Nothing but its death makes a packet of one byte fail. All its commands have ended with it.
        self.end();
        let (socket, process) = start_process(&self.program)?;
        self.process = process;
        let socket = self.socket.insert(socket);
        Ok(channel::send(socket.as_fd(), b"R", descriptors)?)
    }

    fn end(&mut self) {
        self.socket = None;
        // The spawner ends by itself when the socket is closed; waiting for it takes its zombie away.
        let _ = self.process.wait();
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
        // The daemon's variables may hold secrets, and what the spawner does not have it cannot pass on.
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(spawner_end))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok((socket, process))
}
