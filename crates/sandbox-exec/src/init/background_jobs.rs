//! Processes that remain when the shell has ended. They are ended with the command, and its result names them.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};

use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open};

use crate::spawner::channel;

/// The first byte of a packet about such a process; its arguments follow, and its pidfd is attached.
pub(crate) const MARK: u8 = b'J';

/// The most that are reported.
const MOST_JOBS: usize = 20;

/// The most bytes of arguments that are sent.
pub(crate) const ARGUMENTS_LIMIT_BYTES: usize = 200;

/// Sends the launcher the command's remaining processes, without those that they have started in turn.
///
/// `/proc` must belong to the command's own process namespace.
pub(crate) fn report(status: &OwnedFd) {
    let Ok(own_arguments) = fs::read("/proc/self/cmdline") else { return };
    let left = numbers().filter_map(|number| {
        let state = ProcessState::read(number).filter(|state| !state.is_ending)?;
        let is_child = state.parent == getpid().as_raw_nonzero().get();
        let arguments = state.arguments(number);
        // A process that has begun to end since then has lost its arguments, and ends by itself.
        let is_left = ProcessState::read(number).is_some_and(|state| !state.is_ending);
        // The sandbox's own processes have the arguments of this one.
        (is_child && is_left && arguments != own_arguments).then_some((number, arguments))
    });
    for (number, mut arguments) in left.take(MOST_JOBS) {
        arguments.truncate(ARGUMENTS_LIMIT_BYTES);
        let process = Pid::from_raw(number).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        if let Some(process) = process {
            // A launcher that is gone needs no receipts.
            let _ = channel::send(status, &[&[MARK], arguments.as_slice()].concat(), &[process.as_fd()]);
        }
    }
}

fn numbers() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(|number| *number != 1)
}

/// The state of a process in `/proc`.
pub(crate) struct ProcessState {
    name: String,
    parent: i32,
    /// True if the process has begun to end, which it does before it closes its pipes.
    pub(crate) is_ending: bool,
}

impl ProcessState {
    /// Reads the state; `None` if there is no such process.
    pub(crate) fn read(number: i32) -> Option<ProcessState> {
        /// `PF_EXITING` of the kernel.
        const ENDING: u32 = 4;
        let text = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        // The name is in parentheses and may hold anything.
        let (name, fields) = text.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let flags: u32 = fields.get(6)?.parse().ok()?;
        Some(ProcessState {
            name: name.split_once('(')?.1.to_owned(),
            parent: fields.get(1)?.parse().ok()?,
            is_ending: flags & ENDING != 0,
        })
    }

    /// Reads the arguments, separated by zeros; for a process that is just executing its program, its name.
    pub(crate) fn arguments(&self, number: i32) -> Vec<u8> {
        let arguments = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        if arguments.is_empty() { self.name.as_bytes().to_vec() } else { arguments }
    }
}
