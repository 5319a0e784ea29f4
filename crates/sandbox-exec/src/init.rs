//! The first process of a command: it prepares the sandbox, starts the shell, reaps, and reports the shell's end.
//!
//! In a process namespace it is process 1, so that the kernel ends the whole namespace with it. It is never the
//! shell itself, because process 1 ignores most signals. It runs no code of the workspace.

use std::ffi::CString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, kill_process_group, set_child_subreaper,
    set_dumpable_behavior, set_parent_process_death_signal, wait,
};
use rustix::time::Timespec;

use crate::attacks;
use crate::call_filter::CallFilters;
use crate::channel::{self, Status};
use crate::confine;
use crate::control_group::ControlGroup;
use crate::isolation::Isolation;
use crate::mount_entry::MountEntry;
use crate::new_root::NewRoot;
use crate::preparation::Preparation;
use crate::request::{Request, Task};
use crate::step::{AtStep, Step, StepError};
use crate::sweep;
use crate::sys::{self, Cloned};

/// The exit code of an init or a child that could not do its work; the status stream says why.
pub(crate) const EXIT_BROKEN: i32 = 127;

/// What an init gets from the spawner before there is a request.
pub(crate) struct InitEnds {
    /// Brings the request.
    pub(crate) orders: OwnedFd,
    /// Its end of file says that the spawner is dead.
    pub(crate) lifeline: OwnedFd,
    /// The user's and the group's id of the spawner.
    pub(crate) ids: (u32, u32),
    /// The control group to enter, if it was not created in it.
    pub(crate) group: Option<ControlGroup>,
}

/// The request and where its command's output and news go.
pub(crate) struct RequestFiles {
    pub(crate) body: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) status: OwnedFd,
}

impl RequestFiles {
    /// Takes the descriptors of one packet.
    pub(crate) fn from_packet(descriptors: Vec<OwnedFd>) -> Option<RequestFiles> {
        let [body, stdout, stderr, status] = <[OwnedFd; 4]>::try_from(descriptors).ok()?;
        Some(RequestFiles { body, stdout, stderr, status })
    }

    /// Reads the request itself; both the spawner and the init do.
    pub(crate) fn read(&self) -> Result<Request, StepError> {
        let length = rustix::fs::fstat(&self.body).at(Step::Request)?.st_size;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        let whole = rustix::io::pread(&self.body, &mut *bytes, 0).at(Step::Request)? == bytes.len();
        let request = if whole { Request::decode(&bytes) } else { None };
        request.ok_or(StepError::new(Step::Request, Errno::BADMSG))
    }
}

/// Is the init of one command: makes what can be made, waits for the request, and runs it.
pub(crate) fn run(preparation: &Preparation, ends: InitEnds, filters: &CallFilters) -> ! {
    let InitEnds { orders, lifeline, ids, group } = ends;
    // First of all: what it did before would not be limited.
    let entered = group.map_or(Ok(()), |group| group.enter()).at(Step::ControlGroup);
    let prepared = entered.and_then(|()| prepare(preparation, ids, &lifeline));
    let packet = channel::receive(&orders).ok().flatten();
    let Some(files) = packet.and_then(|(_, descriptors)| RequestFiles::from_packet(descriptors)) else {
        sys::exit_now(EXIT_BROKEN)
    };
    let request = match prepared.and_then(|new_root| Ok((new_root, files.read()?))) {
        Ok((new_root, request)) => finish(new_root, &request).map(|mounts| (request, mounts)),
        Err(error) => Err(error),
    };
    let RequestFiles { body, stdout, stderr, status } = files;
    drop(body);
    let started = request.and_then(|(request, mounts)| {
        let shell = start_child(&request, &stdout, &stderr, filters)?;
        Ok((shell, request.isolation, mounts))
    });
    let (shell, isolation, mounts) = match started {
        Ok(started) => started,
        Err(error) => {
            // The launcher may be gone; there is nobody else to tell.
            let _ = channel::send(&status, &Status::Failed(error).encode(), &[]);
            sys::exit_now(EXIT_BROKEN)
        }
    };
    let _ = channel::send(&status, &Status::Started.encode(), &[]);
    let mounts_end = mounts.as_ref().map(AsFd::as_fd);
    let _ = channel::send(&orders, b"B", mounts_end.as_slice());
    drop((orders, mounts));
    // Held open here, they would keep the launcher waiting for the end of the output.
    drop((stdout, stderr));
    reap(shell, &status, isolation.contains(Isolation::PROCESSES));
    sys::exit_now(0)
}

/// Does what takes privileges and does not depend on the command.
fn prepare(
    preparation: &Preparation,
    ids: (u32, u32),
    lifeline: &OwnedFd,
) -> Result<Option<NewRoot>, StepError> {
    let isolation = preparation.isolation;
    sys::block_all_signals().at(Step::ParentDeath)?;
    follow_parent(isolation.contains(Isolation::PROCESSES), lifeline)?;
    if isolation.contains(Isolation::USER) {
        // Its own id files belong to root while it cannot be dumped.
        set_dumpable_behavior(DumpableBehavior::Dumpable).at(Step::IdMaps)?;
        map_ids(ids).at(Step::IdMaps)?;
        set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Step::IdMaps)?;
    }
    if isolation.contains(Isolation::IPC_AND_NAME) {
        rustix::system::sethostname(b"sandbox").at(Step::Root)?;
    }
    if !isolation.contains(Isolation::PROCESSES) {
        set_child_subreaper(Some(rustix::process::getpid())).at(Step::Session)?;
    }
    let new_root = isolation.contains(Isolation::ROOT).then(|| NewRoot::begin(&preparation.mounts));
    let new_root = new_root.transpose()?;
    if isolation.contains(Isolation::PRIVILEGES) {
        confine::limit_capabilities().at(Step::Capabilities)?;
    }
    Ok(new_root)
}

/// Does the rest of what takes privileges, and gives them up.
///
/// Returns what keeps the mounts, for the spawner to take them down: their end takes the kernel some time, and nobody
/// should have to wait for it who waits for the command. Without it, they are taken down as this process ends.
fn finish(new_root: Option<NewRoot>, request: &Request) -> Result<Option<OwnedFd>, StepError> {
    let mut mounts = None;
    if let Some(new_root) = new_root {
        if request.mounts.iter().all(MountEntry::may_linger) {
            mounts = File::open("/proc/self/ns/mnt").ok().map(OwnedFd::from);
        }
        new_root.finish(&request.mounts)?;
    }
    rustix::process::chdir(&request.working_directory).at(Step::WorkingDirectory)?;
    if request.isolation.contains(Isolation::PRIVILEGES) {
        confine::drop_capabilities().at(Step::Capabilities)?;
        rustix::thread::set_no_new_privs(true).at(Step::NoNewPrivileges)?;
    }
    Ok(mounts)
}

/// Ties this process's life to the spawner's.
///
/// The spawner has one thread, so the signal, which comes at the end of the creating *thread*, comes in time. An
/// init without a namespace gets a signal that it can act upon: it has descendants to kill itself.
fn follow_parent(owns_namespace: bool, lifeline: &OwnedFd) -> Result<(), StepError> {
    let signal = if owns_namespace { Signal::KILL } else { Signal::TERM };
    set_parent_process_death_signal(Some(signal)).at(Step::ParentDeath)?;
    // It may have died before the line above.
    let mut ends = [PollFd::new(lifeline, PollFlags::IN)];
    poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).at(Step::ParentDeath)?;
    if ends[0].revents().contains(PollFlags::HUP) {
        sys::exit_now(EXIT_BROKEN);
    }
    Ok(())
}

/// Maps the user's and the group's id to themselves in the new user namespace.
///
/// `ids` are those from before the namespace: in it, unmapped ids all read as the overflow id.
fn map_ids(ids: (u32, u32)) -> std::io::Result<()> {
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{0} {0} 1", ids.0))?;
    std::fs::write("/proc/self/gid_map", format!("{0} {0} 1", ids.1))
}

/// Starts the shell's process and returns once it executes the shell, or with the step at which it failed.
fn start_child(
    request: &Request,
    stdout: &OwnedFd,
    stderr: &OwnedFd,
    filters: &CallFilters,
) -> Result<Pid, StepError> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).at(Step::Fork)?;
    match sys::clone_process(0).at(Step::Fork)? {
        Cloned::Child => {
            let error = match become_shell(request, stdout, stderr, filters) {
                Ok(never) => match never {},
                Err(error) => error,
            };
            // If even this cannot be written, the init sees a child that ended with EXIT_BROKEN.
            let _ = File::from(writer).write_all(&Status::Failed(error).encode());
            sys::exit_now(EXIT_BROKEN)
        }
        Cloned::Parent { child, .. } => {
            drop(writer);
            let mut report = Vec::new();
            File::from(reader).read_to_end(&mut report).at(Step::Fork)?;
            match Status::decode(&report) {
                None => Ok(child),
                Some(Status::Failed(error)) => Err(error),
                Some(_) => Err(StepError::new(Step::Fork, Errno::BADMSG)),
            }
        }
    }
}

/// Confines this process for good and executes the shell.
fn become_shell(
    request: &Request,
    stdout: &OwnedFd,
    stderr: &OwnedFd,
    filters: &CallFilters,
) -> Result<std::convert::Infallible, StepError> {
    set_parent_process_death_signal(Some(Signal::KILL)).at(Step::ParentDeath)?;
    rustix::process::setsid().at(Step::Session)?;
    let nothing = File::open("/dev/null").at(Step::Descriptors)?;
    rustix::stdio::dup2_stdin(&nothing).at(Step::Descriptors)?;
    rustix::stdio::dup2_stdout(stdout).at(Step::Descriptors)?;
    rustix::stdio::dup2_stderr(stderr).at(Step::Descriptors)?;
    // The shell's strings are made while memory may still be had.
    let invalid = |_| StepError::new(Step::Request, Errno::INVAL);
    let environment = request
        .environment
        .iter()
        .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()))
        .collect::<Result<Vec<CString>, _>>()
        .map_err(invalid)?;
    sys::close_on_execute_from(3).at(Step::Descriptors)?;
    sys::default_signals().at(Step::Session)?;
    confine::restrict(request, filters)?;
    match &request.task {
        Task::Shell(text) => {
            let text = CString::new(text.as_str()).map_err(invalid)?;
            let arguments = [c"sh".to_owned(), c"-c".to_owned(), text];
            let errno = sys::execute(c"/bin/sh", &arguments, &environment);
            Err(StepError::new(Step::Exec, errno))
        }
        Task::Attacks(targets) => {
            attacks::run(targets);
            sys::exit_now(0)
        }
    }
}

/// Reaps until no descendant is left, and reports the shell's end as soon as it comes.
fn reap(shell: Pid, status: &OwnedFd, owns_namespace: bool) {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, ended))) if pid == shell => {
                let _ = channel::send(status, &Status::Ended(ended.as_raw()).encode(), &[]);
            }
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => match sys::wait_for_signal() {
                Ok(libc::SIGTERM) if !owns_namespace => {
                    sweep::kill_descendants();
                    return;
                }
                Ok(number) => forward(number, shell),
                Err(_) => {}
            },
            Err(_) => return,
        }
    }
}

/// Passes on what asks a program to end or to take notice; other signals are the init's own business.
fn forward(number: i32, shell: Pid) {
    let signal = match number {
        libc::SIGTERM => Signal::TERM,
        libc::SIGINT => Signal::INT,
        libc::SIGHUP => Signal::HUP,
        libc::SIGQUIT => Signal::QUIT,
        libc::SIGUSR1 => Signal::USR1,
        libc::SIGUSR2 => Signal::USR2,
        _ => return,
    };
    // The shell leads its own group; the group may be empty by now.
    let _ = kill_process_group(shell, signal);
}
