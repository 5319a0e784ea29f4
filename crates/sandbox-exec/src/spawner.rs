//! The spawner: a small process with one thread that creates every command's init.
//!
//! It exists because creating namespaces takes a fork, and a fork is quick and safe only in a process that is small
//! and has a single thread. It never runs a shell itself and never touches a file of the workspace. It ends, and
//! every command with it, when the launcher's end of its socket is closed, however the launcher ended.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, pidfd_send_signal, waitpid};

use crate::call_filter::CallFilters;
use crate::channel::{self, Status};
use crate::control_group::{ControlGroup, ControlGroups};
use crate::init::{self, ChildFiles};
use crate::isolation::Isolation;
use crate::request::Request;
use crate::step::{AtStep, Step, StepError};
use crate::sweep;
use crate::sys::{self, Cloned};

/// The first argument by which a program is asked to be a spawner.
pub const SPAWNER_ARGUMENT: &str = "--sandbox-exec-spawner";

/// Becomes the spawner and never returns, if this process was started as one; else does nothing.
///
/// A program that gives itself to [`SpawnerProgram::this_program`](crate::SpawnerProgram::this_program) calls this
/// at the very beginning of `main`, before any thread exists.
pub fn spawner_main_if_requested() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|argument| argument == SPAWNER_ARGUMENT) && arguments.next().is_none() {
        spawner_main();
    }
}

/// Is the spawner: takes requests from the socket on standard input until its other end is closed, then exits.
pub fn spawner_main() -> ! {
    let code = match Spawner::start() {
        Ok(spawner) => spawner.serve(),
        Err(_) => 1,
    };
    sys::exit_now(code)
}

struct Spawner {
    /// `None` only in a child, which must not hold them open.
    own: Option<OwnEnds>,
    /// The reading end of the lifeline: its end of file says that this process is dead.
    lifeline: OwnedFd,
    filters: Result<CallFilters, StepError>,
    groups: ControlGroups,
    children: Vec<Child>,
}

/// What no other process may keep a copy of.
struct OwnEnds {
    requests: OwnedFd,
    /// Nobody ever writes to it.
    _lifeline: OwnedFd,
}

struct Child {
    pid: Pid,
    pidfd: OwnedFd,
    status: OwnedFd,
    /// Not removed when dropped: a child drops its copy while the group is in use.
    group: Option<ControlGroup>,
    /// Whether the kernel kills all its descendants with it.
    owns_namespace: bool,
    killed: bool,
}

impl Spawner {
    fn start() -> rustix::io::Result<Spawner> {
        // One that the launcher's program let slip would be held open here as long as the launcher lives.
        sys::close_inherited()?;
        let requests = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        // A request from the keyboard to interrupt the launcher must not reach the commands' creator.
        // It fails only for a process group's leader, which std's `Command` does not make.
        let _ = rustix::process::setsid();
        rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        let (lifeline, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        // The number is taken: a command's descriptors can never land on standard input by accident.
        let nothing = File::open("/dev/null").map_err(|_| Errno::NODEV)?;
        rustix::stdio::dup2_stdin(&nothing)?;
        let own = Some(OwnEnds { requests, _lifeline: writer });
        Ok(Spawner {
            own,
            lifeline,
            filters: CallFilters::compile(),
            groups: ControlGroups::find(),
            children: Vec::new(),
        })
    }

    fn serve(mut self) -> i32 {
        loop {
            match self.wait() {
                Ok(Event::Request) => match channel::receive(self.requests()) {
                    Ok(Some((_, descriptors))) => self.create(descriptors),
                    Ok(None) | Err(_) => break,
                },
                Ok(Event::Kill(index)) => self.kill(index),
                Ok(Event::Ended(index)) => self.reap(index),
                Ok(Event::Nothing) => {}
                Err(_) => break,
            }
        }
        for index in 0..self.children.len() {
            self.kill(index);
        }
        while !self.children.is_empty() {
            self.reap(0);
        }
        0
    }

    fn requests(&self) -> &OwnedFd {
        &self.own.as_ref().expect("a child never serves").requests
    }

    fn wait(&self) -> rustix::io::Result<Event> {
        let mut watched = vec![PollFd::new(self.requests(), PollFlags::IN)];
        for child in &self.children {
            watched.push(PollFd::new(&child.pidfd, PollFlags::IN));
            let wanted = if child.killed { PollFlags::empty() } else { PollFlags::IN };
            watched.push(PollFd::new(&child.status, wanted));
        }
        match poll(&mut watched, None) {
            Err(Errno::INTR) => return Ok(Event::Nothing),
            other => other?,
        };
        let is_ready = |index: usize| !watched[index].revents().is_empty();
        for (index, child) in self.children.iter().enumerate() {
            if is_ready(1 + 2 * index) {
                return Ok(Event::Ended(index));
            }
            if is_ready(2 + 2 * index) && !child.killed {
                return Ok(Event::Kill(index));
            }
        }
        Ok(if is_ready(0) { Event::Request } else { Event::Nothing })
    }

    fn create(&mut self, descriptors: Vec<OwnedFd>) {
        let Ok([request, stdout, stderr, status]) = <[OwnedFd; 4]>::try_from(descriptors) else {
            return;
        };
        if let Err(error) = self.clone_init(request, stdout, stderr, &status) {
            let _ = channel::send(&status, &Status::Failed(error).encode(), &[]);
        }
    }

    fn clone_init(
        &mut self,
        request: OwnedFd,
        stdout: OwnedFd,
        stderr: OwnedFd,
        status: &OwnedFd,
    ) -> Result<(), StepError> {
        let mut bytes = Vec::new();
        let mut file = File::from(request);
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).at(Step::Request)?;
        let request = Request::decode(&bytes).ok_or(StepError::new(Step::Request, Errno::BADMSG))?;
        let filters = self.filters.as_ref().map_err(|error| *error)?;
        let ids = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        // Made before the clone, so that the child has them: a child that cannot have its copies must not run.
        let copies =
            (status.try_clone().at(Step::Descriptors)?, self.lifeline.try_clone().at(Step::Descriptors)?);
        let gate = Gate::new().at(Step::Descriptors)?;
        let needs_group = request.isolation.contains(Isolation::GROUP);
        let group =
            needs_group.then(|| self.groups.create(&request.limits)).transpose().at(Step::ControlGroup)?;
        match sys::clone_process(request.isolation.clone_flags()) {
            Ok(Cloned::Child) => {
                // What other commands' ends, and this process's own end, are told by must not be held open here.
                self.children.clear();
                self.own = None;
                if gate.pass() {
                    let (status, lifeline) = copies;
                    init::run(&request, ChildFiles { stdout, stderr, status, lifeline, ids }, filters);
                }
                sys::exit_now(init::EXIT_BROKEN)
            }
            Ok(Cloned::Parent { child: pid, pidfd }) => {
                let entered = group.as_ref().map_or(Ok(()), |group| group.add(pid)).at(Step::ControlGroup);
                match entered {
                    Ok(()) => {
                        // The launcher may have given up meanwhile; its closed end then asks for a kill in `wait`.
                        let _ = channel::send(status, &Status::Created.encode(), &[pidfd.as_fd()]);
                        gate.open();
                    }
                    // A gate that is dropped unopened ends the child, which is reaped like every other.
                    Err(_) => drop(gate),
                }
                let owns_namespace = request.isolation.contains(Isolation::PROCESSES);
                let status = copies.0;
                self.children.push(Child { pid, pidfd, status, group, owns_namespace, killed: false });
                entered
            }
            Err(errno) => {
                if let Some(group) = group {
                    group.remove();
                }
                Err(StepError::new(Step::Clone, errno))
            }
        }
    }

    fn kill(&mut self, index: usize) {
        let child = &mut self.children[index];
        child.killed = true;
        if child.owns_namespace {
            // It fails only if the init is dead already, and then so is everything in its namespace.
            let _ = pidfd_send_signal(&child.pidfd, Signal::KILL);
        } else {
            sweep::kill_tree(child.pid);
        }
    }

    /// Takes leave of a dead child; its launcher sees the end of its status stream when nothing of it is left.
    fn reap(&mut self, index: usize) {
        let child = &self.children[index];
        while matches!(waitpid(Some(child.pid), WaitOptions::empty()), Err(Errno::INTR)) {}
        let child = self.children.swap_remove(index);
        if !child.owns_namespace {
            let known: Vec<Pid> = self.children.iter().map(|child| child.pid).collect();
            sweep::kill_orphans(&known);
        }
        if let Some(group) = child.group {
            let kills = group.memory_kills();
            if kills > 0 {
                let status = Status::MemoryKills(kills.try_into().unwrap_or(i32::MAX));
                let _ = channel::send(&child.status, &status.encode(), &[]);
            }
            group.remove();
        }
    }
}

/// Holds a new child back until it is in its control group: what it did before would not be limited.
struct Gate {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl Gate {
    fn new() -> rustix::io::Result<Gate> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Gate { reader, writer })
    }

    /// Waits, in the child, until the gate is opened; `false` says that it never will be.
    fn pass(self) -> bool {
        drop(self.writer);
        rustix::io::read(&self.reader, &mut [0; 1]) == Ok(1)
    }

    /// Lets the child go on.
    fn open(self) {
        // It fails only when the child is dead already.
        let _ = rustix::io::write(&self.writer, b"G");
    }
}

enum Event {
    Request,
    Kill(usize),
    Ended(usize),
    Nothing,
}
