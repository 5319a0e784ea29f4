//! The launcher: one spawner process, the self-test at start, and a running command for each request.

pub(crate) mod background;
mod canonical;
pub(crate) mod capture;
mod cargo_settings;
mod carriage;
pub(crate) mod drain;
pub(crate) mod home;
pub(crate) mod killer;
mod link;
pub(crate) mod network_holder;
pub(crate) mod outcome;
pub(crate) mod plan;
pub(crate) mod private_folder;
pub(crate) mod running;
mod settings_folder;
pub(crate) mod spawner_program;
pub(crate) mod spool;
mod system_tree;
mod tool_settings;
mod toolchains;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, OFlags, fcntl_getfl, fcntl_setfl, memfd_create};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::init::step::{Step, StepError};
use crate::launcher::canonical::canonicalize;
use crate::launcher::carriage::Carriage;
use crate::launcher::home::HomeLease;
use crate::launcher::link::Link;
use crate::launcher::network_holder::NetworkHolder;
use crate::launcher::plan::{Host, Plan, PolicyError};
use crate::launcher::private_folder::PrivateFolder;
use crate::launcher::running::begun::Begun;
use crate::launcher::running::{Running, Started};
use crate::launcher::settings_folder::SettingsFolder;
use crate::launcher::spawner_program::SpawnerProgram;
use crate::policy::Policy;
use crate::policy::environment::{User, certificate_variables};
use crate::policy::isolation::Isolation;
use crate::policy::network::NetworkPolicy;
use crate::policy::shell_command::ShellCommand;
use crate::probe::self_test::{self, Escape, ProbeError};
use crate::report::{Level, SandboxReport};
use crate::spawner::channel;
use crate::spawner::request::{Request, RequestKind, Task};

/// The number of attempts at a request that fails for lack of processes or memory.
const ATTEMPT_LIMIT: u32 = 3;

/// The configuration of a launcher; everything else is in each command's [`Policy`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LauncherConfig {
    /// The program that becomes the spawner.
    pub spawner: SpawnerProgram,
    /// The user who runs the launcher.
    pub user: User,
    /// An existing folder outside every workspace. The self-test at start makes a few small files in it; where commands
    /// have no root of their own, it holds each command's home and temporary files while it runs.
    pub scratch: PathBuf,
    /// The most confinement to use: [`Level::Full`], unless the user chose less.
    pub highest_level: Level,
    /// The folder of settings that commands see as `/etc`, without files that not every user may read. By default `/etc`.
    pub settings: PathBuf,
    /// Variables that name files or folders of certificates, such as `SSL_CERT_FILE`; by default those of this process.
    /// Commands with the network receive those whose files they can see.
    pub certificates: BTreeMap<OsString, OsString>,
}

impl LauncherConfig {
    /// Uses all the confinement that the machine has.
    pub fn new(spawner: SpawnerProgram, user: User, scratch: PathBuf) -> LauncherConfig {
        let certificates = certificate_variables();
        LauncherConfig {
            spawner,
            user,
            scratch,
            highest_level: Level::Full,
            settings: settings_folder::ETC.into(),
            certificates,
        }
    }
}

/// The reason that a launcher could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The spawner's program could not be started.
    #[error("cannot start the spawner")]
    Spawner(#[source] std::io::Error),
    /// A private folder for the self-test could not be made.
    #[error("cannot prepare the self-test of the sandbox")]
    SelfTest(#[source] std::io::Error),
    /// Not even a plain process could be started.
    #[error("cannot run anything through the spawner")]
    Unusable(#[source] SpawnError),
}

/// The reason that a command did not start. None of it has run, except with [`SpawnError::Unconfirmed`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The policy cannot be put in force.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A step on the way to the shell failed.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The spawner is gone and could not be started anew.
    #[error("the spawner is gone")]
    SpawnerGone(#[source] std::io::Error),
    /// The spawner has died more than once before it passed the request to a child.
    #[error("the sandbox did not start")]
    NotStarted,
    /// The shell's start was not confirmed, or not readably. The command may have begun; whatever runs of it is killed.
    #[error("cannot determine whether the command began")]
    Unconfirmed,
    /// The command's private folder could not be made in the scratch folder.
    #[error("cannot make the command's private folder")]
    PrivateFolder(#[source] std::io::Error),
    /// The kept home could not be made ready. [`Launcher::spawn`] gives the command a fresh one then.
    #[error("cannot prepare the kept home")]
    KeptHome(#[source] std::io::Error),
    /// The launcher's own side of pipes and memory could not be made.
    #[error("cannot prepare the command's pipes")]
    Pipes(#[source] std::io::Error),
}

/// Starts confined shell commands. Can be shared between threads; dropping it ends all its commands.
#[derive(Debug)]
pub struct Launcher {
    link: Mutex<Link>,
    host: Host,
    scratch: PathBuf,
    isolation: Isolation,
    report: SandboxReport,
    /// The report to give after the first folder on which root cannot be exchanged with the commands' own user.
    lesser_report: OnceLock<SandboxReport>,
}

impl Launcher {
    /// Starts the spawner and measures this machine's confinement by attacks in a real child.
    ///
    /// It may be called at any time and from any thread: the spawner is a separate program and inherits neither threads
    /// nor memory. Called early, it inherits few descriptors.
    ///
    /// # Errors
    /// Each kind of [`StartError`]; missing confinement is not an error, see [`Launcher::report`].
    pub fn start(config: LauncherConfig) -> Result<Launcher, StartError> {
        let link = Link::start(config.spawner).map_err(StartError::Spawner)?;
        let mut launcher = Launcher {
            link: Mutex::new(link),
            host: Host {
                user: config.user,
                settings: SettingsFolder::new(config.settings),
                certificates: config.certificates,
            },
            scratch: config.scratch,
            isolation: Isolation::NOTHING,
            report: SandboxReport::unconfined(),
            lesser_report: OnceLock::new(),
        };
        let mut attempt = 1;
        loop {
            let spawner = launcher.live_spawner();
            let confinement = self_test::find_confinement(&launcher, config.highest_level);
            // A test that died with its spawner says nothing about the machine.
            let is_undisturbed = spawner.is_some() && launcher.live_spawner() == spawner;
            if is_undisturbed || attempt == ATTEMPT_LIMIT {
                (launcher.isolation, launcher.report) = confinement?;
                return Ok(launcher);
            }
            attempt += 1;
        }
    }

    fn live_spawner(&self) -> Option<u32> {
        self.link.lock().unwrap_or_else(std::sync::PoisonError::into_inner).live_spawner()
    }

    /// Returns the report on the confinement of commands on this machine.
    ///
    /// Only one thing in it can change: commands of root run as a separate user until a command works with a folder whose
    /// file system cannot map owners. From then on they run as root, and `missing` says so.
    pub fn report(&self) -> &SandboxReport {
        self.lesser_report.get().unwrap_or(&self.report)
    }

    /// Checks whether commands can be limited to names, as [`NetworkPolicy::Named`] requires.
    pub fn can_limit_network_to_names(&self) -> bool {
        self.isolation().contains(Isolation::FOR_NAMES)
    }

    /// Tries a long list of escapes from inside the sandbox, with the confinement of commands.
    ///
    /// None of them changes anything if it succeeds. Takes some milliseconds.
    ///
    /// # Errors
    /// [`ProbeError`]; the launcher stays usable.
    pub fn probe(&self) -> Result<Vec<Escape>, ProbeError> {
        self_test::probe(self, self.isolation())
    }

    /// Starts a command and returns once its shell is executing.
    ///
    /// The deadline counts from now. The output is not drained before [`Running::wait`].
    ///
    /// # Errors
    /// Each kind of [`SpawnError`]; the launcher stays usable after all of them.
    pub fn spawn(&self, policy: &Policy, command: &ShellCommand) -> Result<Running, SpawnError> {
        self.spawn_with(policy, command, None)
    }

    /// Starts a command like [`Launcher::spawn`] in a network that it shares with others, unless the policy allows the
    /// host's network, which takes precedence.
    ///
    /// # Errors
    /// Each kind of [`SpawnError`], [`PolicyError::NamesInSharedNetwork`] among them; the launcher stays usable after all
    /// of them.
    pub fn spawn_in(
        &self,
        network: &NetworkHolder,
        policy: &Policy,
        command: &ShellCommand,
    ) -> Result<Running, SpawnError> {
        if matches!(policy.network, NetworkPolicy::Named(_)) {
            return Err(PolicyError::NamesInSharedNetwork.into());
        }
        self.spawn_with(policy, command, Some(network))
    }

    fn spawn_with(
        &self,
        policy: &Policy,
        command: &ShellCommand,
        network: Option<&NetworkHolder>,
    ) -> Result<Running, SpawnError> {
        let started = self.spawn_with_home(policy, command, network);
        let why = match started {
            Err(SpawnError::KeptHome(error)) => error.to_string(),
            Err(SpawnError::Step(error)) if error.step == Step::Home => error.to_string(),
            started => return started,
        };
        // Run the command with a fresh home instead.
        let fresh = Policy { kept_home: None, ..policy.clone() };
        self.spawn_with_home(&fresh, command, network).map(|running| running.with_home_fault(why))
    }

    fn spawn_with_home(
        &self,
        policy: &Policy,
        command: &ShellCommand,
        network: Option<&NetworkHolder>,
    ) -> Result<Running, SpawnError> {
        let start = |isolation| {
            let task = Task::Shell(command.text().to_owned());
            self.start_in(policy, command, isolation, &self.scratch, task, network)
        };
        let isolation = self.isolation();
        match start(isolation) {
            Err(SpawnError::Step(error))
                if error.step == Step::OwnIds && isolation.contains(Isolation::OWN_IDS) =>
            {
                self.lesser_report.get_or_init(|| {
                    let mut report = self.report.clone();
                    report.missing.push(format!("{}: {error}", self_test::OWN_IDS));
                    report
                });
                start(self.isolation())
            }
            started => started,
        }
    }

    /// Starts a command with these confinement steps, or `task` instead of it.
    pub(crate) fn start_task(
        &self,
        policy: &Policy,
        command: &ShellCommand,
        isolation: Isolation,
        scratch: &Path,
        task: Option<Task>,
    ) -> Result<Running, SpawnError> {
        let task = task.unwrap_or_else(|| Task::Shell(command.text().to_owned()));
        self.start_in(policy, command, isolation, scratch, task, None)
    }

    fn start_in(
        &self,
        policy: &Policy,
        command: &ShellCommand,
        isolation: Isolation,
        scratch: &Path,
        task: Task,
        network: Option<&NetworkHolder>,
    ) -> Result<Running, SpawnError> {
        let started_at = Instant::now();
        // With a root of its own, a command has its home and its temporary files in memory.
        let needs_folder = isolation.contains(Isolation::PRIVILEGES) && !isolation.contains(Isolation::ROOT);
        let folder = needs_folder.then(|| PrivateFolder::create(scratch, "command")).transpose();
        let folder = folder.map_err(SpawnError::PrivateFolder)?;
        let kept = policy.kept_home.as_ref().filter(|_| isolation.contains(Isolation::ROOT));
        let real_home = || canonicalize(&self.host.user.home).unwrap_or_else(|_| self.host.user.home.clone());
        let take = |kept| HomeLease::take(kept, &real_home(), &policy.workspace);
        let mut kept_home = kept.map(take).transpose().map_err(SpawnError::KeptHome)?;
        let plan = Plan::new(policy, &self.host, isolation, folder.as_ref(), kept_home.as_mut())?;
        let unprotected = plan.unprotected.clone();
        let mut files = plan.files.clone();
        if let Some(folder) = command.working_directory() {
            files.working_directory.push(folder);
        }
        let request = plan.into_request(policy, command.working_directory(), command.environment(), task);
        let mut started = self.start_request(&request, network)?;
        started.folder = folder;
        started.kept_home = kept_home;
        if let (NetworkPolicy::Named(outward), Some(inward)) = (&policy.network, started.inward.take()) {
            let carriage = Carriage::start(inward, outward.begin()).map_err(SpawnError::Pipes);
            started.carriage = Some(carriage.inspect_err(|_| started.kill())?);
        }
        Ok(Running::new(started, started_at, command.timeout(), policy.limits, unprotected, files))
    }

    fn send(&self, kind: RequestKind, descriptors: &[BorrowedFd<'_>]) -> Result<(), SpawnError> {
        let mut link = self.link.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        link.send(kind, descriptors).map_err(SpawnError::SpawnerGone)
    }

    fn isolation(&self) -> Isolation {
        if self.lesser_report.get().is_some() {
            self.isolation.without(Isolation::OWN_IDS)
        } else {
            self.isolation
        }
    }

    pub(crate) fn user(&self) -> &User {
        &self.host.user
    }

    pub(crate) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Has a child created, with a few retries when the machine is short of processes or memory, or when the spawner was
    /// dying unnoticed.
    fn start_request(
        &self,
        request: &Request,
        network: Option<&NetworkHolder>,
    ) -> Result<Started, SpawnError> {
        let mut attempt = 1;
        loop {
            match self.try_request(request, network) {
                Err(error) if attempt < ATTEMPT_LIMIT && is_passing(&error) => {
                    std::thread::sleep(Duration::from_millis(20) * attempt);
                    attempt += 1;
                }
                other => return other,
            }
        }
    }

    fn try_request(&self, request: &Request, network: Option<&NetworkHolder>) -> Result<Started, SpawnError> {
        let pipes = |errno: Errno| SpawnError::Pipes(errno.into());
        let body = memfd_create("request", MemfdFlags::CLOEXEC).map_err(pipes)?;
        write_all(&body, &request.encode()).map_err(pipes)?;
        let (stdout, stdout_end) = pipe_with(PipeFlags::CLOEXEC).map_err(pipes)?;
        let (stderr, stderr_end) = pipe_with(PipeFlags::CLOEXEC).map_err(pipes)?;
        for reader in [&stdout, &stderr] {
            let flags = fcntl_getfl(reader).map_err(pipes)?;
            fcntl_setfl(reader, flags | OFlags::NONBLOCK).map_err(pipes)?;
        }
        let (status, status_end) = channel::pair().map_err(pipes)?;
        let mut descriptors = vec![body.as_fd(), stdout_end.as_fd(), stderr_end.as_fd(), status_end.as_fd()];
        let has_names = request.order.names.is_some();
        let (inward, outward_end) = has_names.then(channel::pair).transpose().map_err(pipes)?.unzip();
        descriptors.extend(outward_end.as_ref().map(AsFd::as_fd));
        let network = network.filter(|_| request.preparation.isolation.contains(Isolation::NETWORK));
        let shared: Vec<_> = network.into_iter().flat_map(NetworkHolder::descriptors).collect();
        let kind = if shared.is_empty() { RequestKind::Run } else { RequestKind::RunInNetwork };
        descriptors.extend(shared);
        self.send(kind, &descriptors)?;
        drop((stdout_end, stderr_end, status_end, outward_end));
        let Begun { pidfd, early_end, denials, jobs } = Begun::wait(&status)?;
        let owns_namespace = request.preparation.isolation.contains(Isolation::PROCESSES);
        Ok(Started {
            stdout,
            stderr,
            status,
            pidfd,
            early_end,
            denials,
            jobs,
            owns_namespace,
            folder: None,
            kept_home: None,
            inward,
            carriage: None,
        })
    }
}

/// Checks whether the error is transient: nothing has run, and the same request may succeed a moment later.
fn is_passing(error: &SpawnError) -> bool {
    match error {
        SpawnError::NotStarted => true,
        SpawnError::Step(StepError { step: Step::Clone | Step::Fork, errno }) => {
            [libc::EAGAIN, libc::ENOMEM, libc::ENOSPC].contains(errno)
        }
        _ => false,
    }
}

fn write_all(fd: &OwnedFd, mut bytes: &[u8]) -> rustix::io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(fd, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
