//! The spawner: a small process with one thread that creates every command's init.
//!
//! One init is kept in reserve: it has made all parts of a sandbox that do not depend on the command. It is used for one
//! command only, if that requires the same preparation and the files that it shows have not changed.
//!
//! The spawner exists because creating namespaces takes a fork, and a fork is quick and safe only in a small process with
//! a single thread. It never runs a shell itself and never touches a file of the workspace. It ends, and every command
//! with it, when the launcher's end of its socket is closed, however the launcher ended.

pub(crate) mod channel;
pub(crate) mod control_group;
mod known_init;
mod mount_watch;
pub(crate) mod network_namespace;
pub(crate) mod preparation;
pub(crate) mod request;
pub(crate) mod sweep;
pub(crate) mod wire;

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, pidfd_send_signal, waitpid};
use rustix::time::Timespec;

use crate::child::call_filter::CallFilters;
use crate::init::own_ids::OwnIds;
use crate::init::step::{AtStep, Step, StepError};
use crate::init::{self, InitEnds, RequestFiles};
use crate::policy::isolation::Isolation;
use crate::spawner::channel::Status;
use crate::spawner::control_group::{ControlGroup, ControlGroups};
use crate::spawner::known_init::{Child, Reserve};
use crate::spawner::mount_watch::MountWatch;
use crate::spawner::network_namespace::NetworkNamespace;
use crate::spawner::preparation::Preparation;
use crate::spawner::request::{Request, RequestKind};
use crate::sys::{self, Cloned};

/// The first argument that makes a program a spawner.
pub const SPAWNER_ARGUMENT: &str = "--sandbox-exec-spawner";

/// Becomes the spawner and never returns, if this process was started as one; otherwise does nothing.
///
/// A program that uses [`SpawnerProgram::this_program`](crate::SpawnerProgram::this_program) calls this at the very
/// beginning of `main`, before any thread exists.
pub fn spawner_main_if_requested() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|argument| argument == SPAWNER_ARGUMENT) && arguments.next().is_none() {
        spawner_main();
    }
}

/// Runs the spawner: serves requests from the socket on standard input until its other end is closed, then exits.
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
    mount_watch: MountWatch,
    /// Made when it is first needed.
    own_ids: Option<OwnIds>,
    children: Vec<Child>,
    reserve: Option<Reserve>,
    /// True if processes of an ended command still run.
    has_orphans: bool,
}

/// Descriptors of which no other process may keep a copy.
struct OwnEnds {
    requests: OwnedFd,
    /// No process ever writes to it.
    _lifeline: OwnedFd,
}

impl Spawner {
    fn start() -> rustix::io::Result<Spawner> {
        // A descriptor leaked by the launcher's program would be held open here as long as the launcher lives.
        sys::close_inherited()?;
        let requests = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        // Ctrl-C for the launcher must not reach the spawner.
        // It fails only for a process group's leader, which std's `Command` does not make.
        let _ = rustix::process::setsid();
        rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        let (lifeline, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        // Occupies the number, so that a command's descriptors never land on standard input by accident.
        let nothing = File::open("/dev/null").map_err(|_| Errno::NODEV)?;
        rustix::stdio::dup2_stdin(&nothing)?;
        let own = Some(OwnEnds { requests, _lifeline: writer });
        Ok(Spawner {
            own,
            lifeline,
            filters: CallFilters::compile(),
            groups: ControlGroups::find(),
            mount_watch: MountWatch::start(),
            own_ids: None,
            children: Vec::new(),
            reserve: None,
            has_orphans: false,
        })
    }

    fn serve(mut self) -> i32 {
        loop {
            if self.has_orphans {
                self.kill_orphans();
            }
            match self.wait() {
                Ok(Event::Request) => match channel::receive(self.requests()) {
                    Ok(Some((kind, descriptors))) => match RequestKind::decode(&kind) {
                        Some(RequestKind::Run) => self.create(descriptors, None),
                        Some(RequestKind::RunInNetwork) => self.create_in_network(descriptors),
                        Some(RequestKind::MakeNetwork { has_user }) => make_network(&descriptors, has_user),
                        None => {}
                    },
                    Ok(None) | Err(_) => break,
                },
                Ok(Event::Kill(index)) => self.kill(index),
                Ok(Event::Ended(index)) => self.reap(index),
                Ok(Event::Begun(index)) => self.begun(index),
                Ok(Event::MountsChanged) => self.drop_reserve(),
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
        if self.has_orphans {
            sweep::kill_descendants();
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
            // Polling a socket with a closed other end always returns at once, whatever events are requested; a pidfd with no
            // requested events stays silent until its process is reaped.
            let nothing = || PollFd::new(&child.pidfd, PollFlags::empty());
            // An init in reserve reports nothing but its end.
            watched.push(match &child.status {
                Some(status) if !child.killed => PollFd::new(status, PollFlags::IN),
                _ => nothing(),
            });
            watched.push(match &child.next {
                Some(_) => PollFd::new(&child.orders, PollFlags::IN),
                None => nothing(),
            });
        }
        watched.extend(self.mount_watch.poll_fd().filter(|_| self.reserve.is_some()));
        let limit = self.has_orphans.then_some(Timespec { tv_sec: 0, tv_nsec: 1_000_000 });
        match poll(&mut watched, limit.as_ref()) {
            Err(Errno::INTR) => return Ok(Event::Nothing),
            other => other?,
        };
        let is_ready = |index: usize| !watched[index].revents().is_empty();
        // First, because the kernel reports it only once.
        if watched.len() > 1 + 3 * self.children.len() && is_ready(watched.len() - 1) {
            return Ok(Event::MountsChanged);
        }
        for (index, child) in self.children.iter().enumerate() {
            if is_ready(1 + 3 * index) {
                return Ok(Event::Ended(index));
            }
            if is_ready(2 + 3 * index) && !child.killed {
                return Ok(Event::Kill(index));
            }
        }
        if is_ready(0) {
            return Ok(Event::Request);
        }
        let begun = |index: &usize| self.children[*index].next.is_some() && is_ready(3 + 3 * index);
        Ok((0..self.children.len()).find(begun).map_or(Event::Nothing, Event::Begun))
    }

    fn create_in_network(&mut self, mut descriptors: Vec<OwnedFd>) {
        let shared = descriptors.split_off(descriptors.len().min(RequestFiles::LEAST));
        // Without it the command would run in a network of its own, where its caller would not find it.
        if let Some(network) = NetworkNamespace::from_descriptors(shared) {
            self.create(descriptors, Some(network));
        }
    }

    fn create(&mut self, descriptors: Vec<OwnedFd>, network: Option<NetworkNamespace>) {
        let Some(files) = RequestFiles::from_packet(descriptors) else { return };
        // A copy: the descriptors themselves are dropped in the new child on every path.
        let Ok(status) = files.status.try_clone() else { return };
        if let Err(error) = self.start_command(files, &status, network) {
            let _ = channel::send(&status, &Status::Failed(error).encode(), &[]);
        }
    }

    /// Gives the request to the init in reserve, or to a new one.
    fn start_command(
        &mut self,
        files: RequestFiles,
        status: &OwnedFd,
        network: Option<NetworkNamespace>,
    ) -> Result<(), StepError> {
        let malformed = StepError::new(Step::Request, Errno::BADMSG);
        let request = files.read()?;
        let (wanted, _) = Request::split(&request).ok_or(malformed)?;
        // An init in reserve has a network of its own, and is kept for a command that needs no other.
        let shares_network = network.is_some();
        let reserve = if shares_network { None } else { self.take_reserve(wanted) };
        let (index, reserve, files) = match reserve {
            Some((index, reserve)) => (index, reserve, files),
            None => {
                let preparation = Preparation::decode(wanted).ok_or(malformed)?;
                let (index, files) = self.make_init(&preparation, Some(files), network)?;
                let reserve = Reserve::of(self.children[index].pid, wanted.to_owned(), preparation);
                (index, reserve, files.expect("only the child drops them"))
            }
        };
        let child = &mut self.children[index];
        let RequestFiles { body, stdout, stderr, status: status_end, outward } = files;
        if channel::send(status, &Status::Created.encode(), &[child.pidfd.as_fd()]).is_err() {
            // The launcher has given up meanwhile. Without this message it assumes that the command never ran.
            self.kill(index);
            return Ok(());
        }
        let mut descriptors = vec![body.as_fd(), stdout.as_fd(), stderr.as_fd(), status.as_fd()];
        descriptors.extend(outward.as_ref().map(AsFd::as_fd));
        // An init that is already dead is reaped like every other.
        let _ = channel::send(&child.orders, b"R", &descriptors);
        child.status = Some(status_end);
        // Without its own root there is little to prepare.
        let has_root = |next: &Reserve| next.preparation.isolation.contains(Isolation::ROOT);
        child.next = Some(reserve).filter(|next| !shares_network && has_root(next));
        Ok(())
    }

    /// Takes the init in reserve if it suits the request; otherwise kills it.
    fn take_reserve(&mut self, wanted: &[u8]) -> Option<(usize, Reserve)> {
        let have_mounts_changed = self.mount_watch.has_changed();
        let reserve = self.reserve.take()?;
        let index = self.children.iter().position(|child| child.pid == reserve.pid)?;
        if !have_mounts_changed && reserve.encoded == wanted && reserve.is_the_same() {
            return Some((index, reserve));
        }
        self.kill(index);
        None
    }

    /// Drops the init in reserve: it keeps file systems busy that were unmounted from the host.
    fn drop_reserve(&mut self) {
        if let Some(reserve) = self.reserve.take()
            && let Some(index) = self.children.iter().position(|child| child.pid == reserve.pid)
        {
            self.kill(index);
        }
    }

    /// Records that a command has begun, or never will, and prepares an init for the next command, while no caller waits
    /// for it.
    fn begun(&mut self, index: usize) {
        let child = &mut self.children[index];
        let packet = channel::receive(&child.orders).ok().flatten();
        child.mounts = packet.and_then(|(_, descriptors)| descriptors.into_iter().next());
        let Some(mut next) = child.next.take().filter(|_| self.reserve.is_none()) else { return };
        // Taken before the init is made, so that a replacement in between is noticed as well.
        next.identities = next.preparation.identities();
        // If it cannot be made now, the next command's own attempt reports why.
        if let Ok((index, _)) = self.make_init(&next.preparation, None, None) {
            next.pid = self.children[index].pid;
            self.reserve = Some(next);
        }
    }

    /// Makes an init. The child must not keep `inherited` open; it is returned in this process.
    fn make_init(
        &mut self,
        preparation: &Preparation,
        inherited: Option<RequestFiles>,
        network: Option<NetworkNamespace>,
    ) -> Result<(usize, Option<RequestFiles>), StepError> {
        let isolation = preparation.isolation;
        let own_ids = self.own_ids(isolation)?;
        let filters = self.filters.as_ref().map_err(|error| *error)?;
        let ids = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        // Copied before the clone: a child that cannot have its copies must not run.
        let lifeline = self.lifeline.try_clone().at(Step::Descriptors)?;
        let (orders, init_end) = channel::pair().at(Step::Descriptors)?;
        let needs_group = isolation.contains(Isolation::GROUP);
        let group = needs_group
            .then(|| self.groups.create(&preparation.limits))
            .transpose()
            .at(Step::ControlGroup)?;
        // A process that joins a network is made by another process, and enters the group itself.
        let entrance = group.as_ref().filter(|_| network.is_none()).and_then(ControlGroup::open);
        let flags = isolation.clone_flags();
        let clone_into = |group: OwnedFd| sys::clone_process_into(flags, &group);
        let (cloned, is_inside) = match (&network, entrance.map(clone_into)) {
            (Some(network), _) => (network.clone_inside(flags), false),
            (None, Some(Ok(cloned))) => (Ok(cloned), true),
            // An old kernel, or a filter around this process.
            (None, Some(Err(_)) | None) => (sys::clone_process(flags), false),
        };
        match cloned {
            Ok(Cloned::Child) => {
                // Descriptors that signal the end of other commands or of this process must not be held open here.
                self.children.clear();
                self.own = None;
                drop((inherited, orders, network));
                let group = group.filter(|_| !is_inside);
                init::run(preparation, InitEnds { orders: init_end, lifeline, ids, own_ids, group }, filters)
            }
            Ok(Cloned::Parent { child: pid, pidfd }) => {
                let owns_namespace = isolation.contains(Isolation::PROCESSES);
                self.children.push(Child {
                    pid,
                    pidfd,
                    status: None,
                    orders,
                    next: None,
                    mounts: None,
                    group,
                    owns_namespace,
                    killed: false,
                });
                Ok((self.children.len() - 1, inherited))
            }
            Err(errno) => {
                if let Some(group) = group {
                    group.remove();
                }
                Err(StepError::new(Step::Clone, errno))
            }
        }
    }

    /// Returns a handle of the commands' own user, if they run as that user.
    fn own_ids(&mut self, isolation: Isolation) -> Result<Option<OwnIds>, StepError> {
        if !isolation.contains(Isolation::OWN_IDS) {
            return Ok(None);
        }
        let own_ids = match self.own_ids.take() {
            Some(own_ids) => own_ids,
            None => OwnIds::make().at(Step::OwnIds)?,
        };
        self.own_ids.insert(own_ids).try_clone().map(Some).at(Step::Descriptors)
    }

    fn kill(&mut self, index: usize) {
        let child = &mut self.children[index];
        child.killed = true;
        if child.owns_namespace {
            // It fails only if the init is already dead, and then so is everything in its namespace.
            let _ = pidfd_send_signal(&child.pidfd, Signal::KILL);
        } else {
            sweep::kill_tree(child.pid);
        }
    }

    /// Kills processes that have lost their init. Survivors are retried before anything else is done.
    fn kill_orphans(&mut self) {
        let inits: Vec<Pid> = self.children.iter().map(|child| child.pid).collect();
        self.has_orphans = !sweep::kill_orphans(&inits);
    }

    /// Reaps a dead child; its launcher sees the end of its status stream when none of its processes is left.
    fn reap(&mut self, index: usize) {
        let child = &self.children[index];
        while matches!(waitpid(Some(child.pid), WaitOptions::empty()), Err(Errno::INTR)) {}
        let child = self.children.swap_remove(index);
        if self.reserve.as_ref().is_some_and(|reserve| reserve.pid == child.pid) {
            self.reserve = None;
        }
        if !child.owns_namespace {
            self.kill_orphans();
        }
        if let (Some(status), Some(group)) = (&child.status, &child.group) {
            let count = |number: u32| number.try_into().unwrap_or(i32::MAX);
            let (kills, refused) = (group.memory_kills(), group.refused_processes());
            let killed = (kills > 0).then(|| Status::MemoryKills(count(kills)));
            let refused = (refused > 0).then(|| Status::RefusedProcesses(count(refused)));
            for news in [killed, refused].into_iter().flatten() {
                let _ = channel::send(status, &news.encode(), &[]);
            }
        }
        // All processes have ended: the launcher need not wait for the rest.
        drop(child.status);
        drop(child.mounts);
        if let Some(group) = child.group {
            group.remove();
        }
    }
}

/// Makes a network that commands share, for the launcher.
fn make_network(descriptors: &[OwnedFd], has_user: bool) {
    if let Some(answer) = descriptors.first()
        && let Err(error) = NetworkNamespace::make_for(answer, has_user)
    {
        let _ = channel::send(answer, &Status::Failed(error).encode(), &[]);
    }
}

enum Event {
    Request,
    Kill(usize),
    Ended(usize),
    Begun(usize),
    MountsChanged,
    Nothing,
}
