//! The process that becomes the shell: it confines itself for good, waits for the order, and executes it.

use std::convert::Infallible;
use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, set_dumpable_behavior, set_parent_process_death_signal,
};

use crate::child::call_filter::CallFilters;
use crate::child::confine::{self, Restricted};
use crate::init::own_ids::OwnIds;
use crate::init::step::{AtStep, Step, StepError};
use crate::init::supervisor::SupervisorProcess;
use crate::init::{EXIT_BROKEN, RequestFiles};
use crate::policy::isolation::Isolation;
use crate::probe::{attacks, escapes};
use crate::spawner::channel::{self, Status};
use crate::spawner::preparation::Preparation;
use crate::spawner::request::Task;
use crate::sys::{self, Cloned};

/// The message of a process that is confined; the packet also carries the listener of its system call filter, if any.
const CONFINED: &[u8] = b"L";

/// A process that is confined already and waits.
pub(crate) struct ShellProcess {
    pid: Pid,
    orders: OwnedFd,
    /// Answers the system calls that the filter leaves to it.
    supervisor: Option<SupervisorProcess>,
}

impl ShellProcess {
    /// Creates the process, which confines itself at once; the file tree must already allow the rules for files to be made.
    pub(crate) fn create(
        preparation: &Preparation,
        own_ids: Option<&OwnIds>,
        filters: &CallFilters,
    ) -> Result<ShellProcess, StepError> {
        let (orders, its_end) = channel::pair().at(Step::Fork)?;
        match sys::clone_process(0).at(Step::Fork)? {
            Cloned::Child => {
                drop(orders);
                let error = match become_shell(preparation, own_ids, filters, &its_end) {
                    Ok(never) => match never {},
                    Err(error) => error,
                };
                // If even this cannot be reported, the init sees a child that ended with EXIT_BROKEN.
                let _ = channel::send(&its_end, &Status::Failed(error).encode(), &[]);
                sys::exit_now(EXIT_BROKEN)
            }
            Cloned::Parent { child, .. } => {
                drop(its_end);
                let listener = confined(&orders)?;
                let supervise = |listener| SupervisorProcess::create(listener, own_ids);
                let supervisor = listener.map(supervise).transpose()?;
                Ok(ShellProcess { pid: child, orders, supervisor })
            }
        }
    }

    /// Checks whether a supervisor answers some of the process's system calls.
    pub(crate) fn is_supervised(&self) -> bool {
        self.supervisor.is_some()
    }

    /// Sends the process its request and returns once it executes the shell, or with the step that failed.
    ///
    /// The supervisor unmounts build folders through `unmounter`; `named_ports` are the ports at which some name is allowed.
    pub(crate) fn start(
        self,
        files: &RequestFiles,
        unmounter: Option<&OwnedFd>,
        named_ports: &[u16],
    ) -> Result<Pid, StepError> {
        let descriptors = [&files.body, &files.stdout, &files.stderr, &files.status].map(AsFd::as_fd);
        if let Some(supervisor) = self.supervisor {
            supervisor.start(&files.status, unmounter, named_ports)?;
        }
        // If the process has already ended, it has reported why.
        let _ = channel::send(&self.orders, b"R", &descriptors);
        match answer(&self.orders).at(Step::Fork)? {
            // The other end is closed when a program is executed.
            None => Ok(self.pid),
            Some((report, _)) => Err(failure(&report)),
        }
    }
}

/// Waits until the process at the other end is confined, and returns the listener of its filter.
fn confined(orders: &OwnedFd) -> Result<Option<OwnedFd>, StepError> {
    let (said, descriptors) = answer(orders).and_then(|said| said.ok_or(Errno::CONNRESET)).at(Step::Fork)?;
    if said == CONFINED { Ok(descriptors.into_iter().next()) } else { Err(failure(&said)) }
}

/// Receives the process's message; `None` when its end is closed.
fn answer(orders: &OwnedFd) -> rustix::io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    match channel::receive(orders) {
        // It ended without reading the request. The kernel reports that before it delivers what was sent.
        Err(Errno::CONNRESET) => {
            channel::receive(orders).and_then(|said| said.ok_or(Errno::CONNRESET)).map(Some)
        }
        other => other,
    }
}

fn failure(report: &[u8]) -> StepError {
    match Status::decode(report) {
        Some(Status::Failed(error)) => error,
        _ => StepError::new(Step::Fork, Errno::BADMSG),
    }
}

/// Confines this process for good, waits for the request, and executes the shell.
fn become_shell(
    preparation: &Preparation,
    own_ids: Option<&OwnIds>,
    filters: &CallFilters,
    orders: &OwnedFd,
) -> Result<Infallible, StepError> {
    if let Some(own_ids) = own_ids {
        own_ids.enter().at(Step::OwnIds)?;
        // In the namespace it has every capability, and could regain them.
        confine::limit_capabilities().at(Step::Capabilities)?;
    }
    // Only now: entering a user namespace clears the setting.
    set_parent_process_death_signal(Some(Signal::KILL)).at(Step::ParentDeath)?;
    rustix::process::setsid().at(Step::Session)?;
    let nothing = File::open("/dev/null").at(Step::Descriptors)?;
    rustix::stdio::dup2_stdin(&nothing).at(Step::Descriptors)?;
    sys::close_on_execute_from(3).at(Step::Descriptors)?;
    sys::default_signals().at(Step::Session)?;
    if preparation.isolation.contains(Isolation::PRIVILEGES) {
        confine::drop_capabilities().at(Step::Capabilities)?;
        rustix::thread::set_no_new_privs(true).at(Step::NoNewPrivileges)?;
    }
    let Restricted { late_rules, listener } = confine::restrict(preparation, filters)?;
    let listener_end = listener.as_ref().map(AsFd::as_fd);
    channel::send(orders, CONFINED, listener_end.as_slice()).at(Step::Descriptors)?;
    // A process that holds the listener could answer the calls.
    drop(listener);
    let packet = channel::receive(orders).ok().flatten();
    // It is not needed any more.
    let Some(files) = packet.and_then(|(_, descriptors)| RequestFiles::from_packet(descriptors)) else {
        sys::exit_now(EXIT_BROKEN)
    };
    let order = files.read_order()?;
    // The request comes when all mounts are made.
    if let Some(rules) = late_rules {
        rules.restrict(&preparation.access)?;
    }
    rustix::stdio::dup2_stdout(&files.stdout).at(Step::Descriptors)?;
    rustix::stdio::dup2_stderr(&files.stderr).at(Step::Descriptors)?;
    rustix::process::chdir(&order.working_directory).at(Step::WorkingDirectory)?;
    let invalid = |_| StepError::new(Step::Request, Errno::INVAL);
    let environment = order
        .environment
        .iter()
        .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()))
        .collect::<Result<Vec<CString>, _>>()
        .map_err(invalid)?;
    match &order.task {
        Task::Shell(text) => {
            let text = CString::new(text.as_str()).map_err(invalid)?;
            let arguments = [c"sh".to_owned(), c"-c".to_owned(), text];
            let errno = sys::execute(c"/bin/sh", &arguments, &environment);
            Err(StepError::new(Step::Exec, errno))
        }
        Task::Attacks(targets) => {
            be_like_a_program();
            attacks::run(targets);
            sys::exit_now(0)
        }
        Task::Escapes(targets) => {
            be_like_a_program();
            escapes::run(targets);
            sys::exit_now(0)
        }
    }
}

/// Lets the supervisor read this process like one that has executed a program.
fn be_like_a_program() {
    // If it fails, connections of the attacks are refused unexamined.
    let _ = set_dumpable_behavior(DumpableBehavior::Dumpable);
}
