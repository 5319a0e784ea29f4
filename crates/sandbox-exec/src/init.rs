//! The first process of a command: it prepares the sandbox, starts the shell, reaps, and reports the shell's end.
//!
//! In a process namespace it is process 1, so that the kernel ends the whole namespace with it. The shell is a
//! separate process, because process 1 ignores most signals. Init runs no code of the workspace.

pub(crate) mod background_jobs;
mod folder_moves;
pub(crate) mod forwarder;
pub(crate) mod home_mount;
pub(crate) mod layer_mount;
pub(crate) mod mount_entry;
pub(crate) mod new_root;
pub(crate) mod own_ids;
pub(crate) mod proc_mount;
pub(crate) mod step;
pub(crate) mod supervisor;
pub(crate) mod unix_socket;
mod unmounter;
mod user_limits;

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, kill_process_group, set_child_subreaper,
    set_dumpable_behavior, set_parent_process_death_signal, wait,
};
use rustix::time::Timespec;

use crate::child::call_filter::CallFilters;
use crate::child::confine;
use crate::child::shell_process::ShellProcess;
use crate::init::forwarder::names::Names;
use crate::init::mount_entry::MountEntry;
use crate::init::new_root::NewRoot;
use crate::init::own_ids::OwnIds;
use crate::init::step::{AtStep, Step, StepError};
use crate::policy::isolation::Isolation;
use crate::spawner::channel::{self, Status};
use crate::spawner::control_group::ControlGroup;
use crate::spawner::preparation::Preparation;
use crate::spawner::request::{Order, Request};
use crate::spawner::sweep;
use crate::sys;

/// The exit code of an init or a child that could not do its work; the status stream says why.
pub(crate) const EXIT_BROKEN: i32 = 127;

/// Everything that an init receives from the spawner before there is a request.
pub(crate) struct InitEnds {
    /// Delivers the request, and takes the news that the command has begun.
    pub(crate) orders: OwnedFd,
    /// Its end of file says that the spawner is dead.
    pub(crate) lifeline: OwnedFd,
    /// The user's and the group's id of the spawner.
    pub(crate) ids: (u32, u32),
    /// The user to become, with [`Isolation::OWN_IDS`].
    pub(crate) own_ids: Option<OwnIds>,
    /// The control group to enter, if the process was not created in it.
    pub(crate) group: Option<ControlGroup>,
}

/// The request, and the ends to which its command's output and status are written.
pub(crate) struct RequestFiles {
    pub(crate) body: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) status: OwnedFd,
    /// Takes the connections that the command opens to allowed names; `None` if no names are allowed.
    pub(crate) outward: Option<OwnedFd>,
}

impl RequestFiles {
    /// The number of descriptors of every request.
    pub(crate) const LEAST: usize = 4;

    /// Takes the descriptors of one packet.
    pub(crate) fn from_packet(mut descriptors: Vec<OwnedFd>) -> Option<RequestFiles> {
        let outward = if descriptors.len() > RequestFiles::LEAST { descriptors.pop() } else { None };
        let [body, stdout, stderr, status] = <[OwnedFd; 4]>::try_from(descriptors).ok()?;
        Some(RequestFiles { body, stdout, stderr, status, outward })
    }

    /// Reads the request itself; the spawner, the init and the shell process each read their parts of it.
    pub(crate) fn read(&self) -> Result<Vec<u8>, StepError> {
        let length = rustix::fs::fstat(&self.body).at(Step::Request)?.st_size;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        let whole = rustix::io::pread(&self.body, &mut *bytes, 0).at(Step::Request)? == bytes.len();
        if whole { Ok(bytes) } else { Err(StepError::new(Step::Request, Errno::BADMSG)) }
    }

    /// Reads the request's order.
    pub(crate) fn read_order(&self) -> Result<Order, StepError> {
        let bytes = self.read()?;
        let order = Request::split(&bytes).and_then(|(_, order)| Order::decode(order));
        order.ok_or(StepError::new(Step::Request, Errno::BADMSG))
    }
}

/// Everything that an init has made before its request comes.
struct Prepared {
    /// The new root; `None` if the command sees the host's.
    root: Option<NewRoot>,
    own_ids: Option<OwnIds>,
    /// `None` if the file tree must be finished first.
    shell: Option<ShellProcess>,
    /// Keeps the mounts, for the spawner to take them down: their end takes the kernel some time, and the
    /// caller, which waits for the command, should not wait for it. Without it, they are taken down as this process ends.
    mounts: Option<OwnedFd>,
}

/// Runs the init of one command: prepares what it can, waits for the request, and carries it out.
pub(crate) fn run(preparation: &Preparation, ends: InitEnds, filters: &CallFilters) -> ! {
    let InitEnds { orders, lifeline, ids, own_ids, group } = ends;
    // First of all: anything done earlier would not be limited.
    let entered = group.map_or(Ok(()), |group| group.enter()).at(Step::ControlGroup);
    let prepared = entered.and_then(|()| prepare(preparation, ids, own_ids, &lifeline, filters));
    let packet = channel::receive(&orders).ok().flatten();
    let Some(files) = packet.and_then(|(_, descriptors)| RequestFiles::from_packet(descriptors)) else {
        sys::exit_now(EXIT_BROKEN)
    };
    let (shell, mounts) = match prepared.and_then(|prepared| start(prepared, preparation, &files, filters)) {
        Ok(started) => started,
        Err(error) => {
            // The launcher may be gone; no other process could report it.
            let _ = channel::send(&files.status, &Status::Failed(error).encode(), &[]);
            sys::exit_now(EXIT_BROKEN)
        }
    };
    let RequestFiles { body, stdout, stderr, status, outward } = files;
    let _ = channel::send(&status, &Status::Started.encode(), &[]);
    let mounts_end = mounts.as_ref().map(AsFd::as_fd);
    let _ = channel::send(&orders, b"B", mounts_end.as_slice());
    // The output, held open here, would keep the launcher waiting for its end of file.
    // Closing the outward end likewise signals that the command has ended.
    drop((orders, mounts, body, stdout, stderr, outward));
    reap(shell, &status, preparation.isolation);
    sys::exit_now(0)
}

/// Makes what does not depend on the order.
fn prepare(
    preparation: &Preparation,
    ids: (u32, u32),
    own_ids: Option<OwnIds>,
    lifeline: &OwnedFd,
    filters: &CallFilters,
) -> Result<Prepared, StepError> {
    let isolation = preparation.isolation;
    sys::block_all_signals().at(Step::ParentDeath)?;
    if let Some(own_ids) = &own_ids {
        // Root owns this file. The shell process, which inherits the score, could not write it.
        let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
        own_ids.adopt().at(Step::OwnIds)?;
        set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Step::OwnIds)?;
    }
    // Only now: becoming another user clears the setting.
    follow_parent(isolation.contains(Isolation::PROCESSES), lifeline)?;
    if isolation.contains(Isolation::USER) {
        // The process's own id files belong to root while it is not dumpable.
        set_dumpable_behavior(DumpableBehavior::Dumpable).at(Step::IdMaps)?;
        map_ids(ids).at(Step::IdMaps)?;
        set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Step::IdMaps)?;
    }
    if isolation.contains(Isolation::IPC_AND_NAME) {
        rustix::system::sethostname(b"sandbox").at(Step::Root)?;
    }
    if isolation.contains(Isolation::NETWORK) {
        // Without it connections fail in the command's own network as well: less works, and nothing is less confined.
        let _ = sys::bring_up_loopback();
    }
    if !isolation.contains(Isolation::PROCESSES) {
        set_child_subreaper(Some(rustix::process::getpid())).at(Step::Session)?;
    }
    let kept = own_ids.as_ref().map(OwnIds::try_clone).transpose().at(Step::Descriptors)?;
    let mut prepared = Prepared { root: None, shell: None, mounts: None, own_ids: kept };
    if isolation.contains(Isolation::ROOT) {
        let root = NewRoot::begin(&preparation.mounts, isolation.contains(Isolation::USER), own_ids)?;
        prepared.mounts = File::open("/proc/self/ns/mnt").ok().map(OwnedFd::from);
        if preparation.is_closed {
            root.enter().at(Step::PivotRoot)?;
        }
        prepared.root = Some(root);
    }
    if isolation.contains(Isolation::PRIVILEGES) {
        confine::limit_capabilities().at(Step::Capabilities)?;
    }
    if preparation.is_closed {
        prepared.shell = Some(ShellProcess::create(preparation, prepared.own_ids.as_ref(), filters)?);
    }
    Ok(prepared)
}

/// Does the remaining privileged work, drops the privileges, and has the order executed.
fn start(
    prepared: Prepared,
    preparation: &Preparation,
    files: &RequestFiles,
    filters: &CallFilters,
) -> Result<(Pid, Option<OwnedFd>), StepError> {
    let Prepared { root, mut shell, mut mounts, own_ids } = prepared;
    let mut build_folders = Vec::new();
    let mut names = None;
    if let Some(root) = root {
        let mut order = files.read_order()?;
        names = order.names.take();
        build_folders = root.finish(&preparation.mounts, &order.mounts)?;
        if !preparation.is_closed {
            root.enter().at(Step::PivotRoot)?;
        }
        if !order.mounts.iter().all(MountEntry::may_linger) {
            mounts = None;
        }
    }
    if let Some(own_ids) = &own_ids {
        for pipe in [&files.stdout, &files.stderr] {
            own_ids.give(pipe).at(Step::OwnIds)?;
        }
    }
    let shell = match shell.take() {
        Some(shell) => shell,
        None => ShellProcess::create(preparation, own_ids.as_ref(), filters)?,
    };
    // Without it such folders can be neither removed nor renamed: less works, and nothing is less confined.
    let unmounter = (shell.is_supervised() && !build_folders.is_empty())
        .then(|| unmounter::start(build_folders).ok())
        .flatten();
    let named_ports = names.as_deref().map(Names::ports).unwrap_or_default();
    if let Some(names) = names {
        let missing = StepError::new(Step::Network, Errno::OPNOTSUPP);
        // Without a supervisor no refused connection would be reported, and without the end none could be handed out.
        let outward = files.outward.as_ref().filter(|_| shell.is_supervised()).ok_or(missing)?;
        forwarder::start(names, own_ids.as_ref(), outward, &files.status)?;
    }
    if preparation.isolation.contains(Isolation::PRIVILEGES) {
        confine::drop_capabilities().at(Step::Capabilities)?;
        rustix::thread::set_no_new_privs(true).at(Step::NoNewPrivileges)?;
    }
    Ok((shell.start(files, unmounter.as_ref(), &named_ports)?, mounts))
}

/// Ties this process's life to the spawner's.
///
/// The kernel sends the signal when the creating *thread* ends; the spawner has only one, so it comes in time. An
/// init without a namespace receives a signal that it can handle: it has to kill its descendants itself.
fn follow_parent(owns_namespace: bool, lifeline: &OwnedFd) -> Result<(), StepError> {
    let signal = if owns_namespace { Signal::KILL } else { Signal::TERM };
    set_parent_process_death_signal(Some(signal)).at(Step::ParentDeath)?;
    // The spawner may have died before the line above.
    let mut ends = [PollFd::new(lifeline, PollFlags::IN)];
    poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).at(Step::ParentDeath)?;
    if ends[0].revents().contains(PollFlags::HUP) {
        sys::exit_now(EXIT_BROKEN);
    }
    Ok(())
}

/// Maps the user's and the group's id to themselves in the new user namespace.
///
/// `ids` were read outside of the namespace: inside, unmapped ids all read as the overflow id.
pub(crate) fn map_ids(ids: (u32, u32)) -> std::io::Result<()> {
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{0} {0} 1", ids.0))?;
    std::fs::write("/proc/self/gid_map", format!("{0} {0} 1", ids.1))
}

/// Reaps until no descendant is left, and reports the shell's end at once.
fn reap(shell: Pid, status: &OwnedFd, isolation: Isolation) {
    let owns_namespace = isolation.contains(Isolation::PROCESSES);
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, ended))) if pid == shell => {
                // Only there is `/proc` the namespace's own.
                if owns_namespace && isolation.contains(Isolation::ROOT) {
                    background_jobs::report(status);
                }
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

/// Forwards signals that ask a program to end or that notify it; the init handles others itself.
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
