//! Packets with descriptors between the launcher, its spawner and a command's init.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use crate::init::step::{Step, StepError};

/// The most descriptors in one packet.
const DESCRIPTOR_LIMIT: usize = 6;

/// Makes two connected sockets that preserve packet boundaries and report when the other end is gone.
pub(crate) fn pair() -> Result<(OwnedFd, OwnedFd)> {
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
}

/// Sends one packet. A vanished receiver is an error, not a signal.
pub(crate) fn send(socket: impl AsFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTOR_LIMIT))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Errno::INVAL);
    }
    loop {
        match sendmsg(&socket, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL) {
            Err(Errno::INTR) => {}
            other => return other.map(drop),
        }
    }
}

/// Receives one packet of at most 512 bytes; `None` when the other end is gone.
pub(crate) fn receive(socket: impl AsFd) -> Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut bytes = [0; 512];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTOR_LIMIT))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let parts = &mut [IoSliceMut::new(&mut bytes)];
        match recvmsg(&socket, parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            other => break other?.bytes,
        }
    };
    if received == 0 {
        return Ok(None);
    }
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    Ok(Some((bytes[..received].to_vec(), descriptors)))
}

/// A message on a command's socket from the spawner and from the command's init to the launcher.
///
/// The end of the stream follows all of these: it means that no process of the command is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// The init was created; its pidfd is in the packet.
    Created,
    /// A step failed; nothing was run.
    Failed(StepError),
    /// The shell is executing.
    Started,
    /// The shell ended with this wait status.
    Ended(i32),
    /// All processes have ended; the kernel killed this many of them for lack of memory.
    MemoryKills(i32),
    /// All processes have ended; the kernel refused to make this many because of the limit.
    RefusedProcesses(i32),
}

impl Status {
    pub(crate) fn encode(self) -> [u8; 6] {
        let (kind, step, number) = match self {
            Status::Created => (b'C', 0, 0),
            Status::Failed(error) => (b'F', error.step as u8, error.errno),
            Status::Started => (b'S', 0, 0),
            Status::Ended(status) => (b'E', 0, status),
            Status::MemoryKills(count) => (b'M', 0, count),
            Status::RefusedProcesses(count) => (b'P', 0, count),
        };
        let number = number.to_le_bytes();
        [kind, step, number[0], number[1], number[2], number[3]]
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Status> {
        let &[kind, step, a, b, c, d] = bytes else { return None };
        let number = i32::from_le_bytes([a, b, c, d]);
        Some(match kind {
            b'C' => Status::Created,
            b'F' => Status::Failed(StepError { step: Step::from_code(step)?, errno: number }),
            b'S' => Status::Started,
            b'E' => Status::Ended(number),
            b'M' => Status::MemoryKills(number),
            b'P' => Status::RefusedProcesses(number),
            _ => return None,
        })
    }
}
