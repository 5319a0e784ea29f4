//! Finds the confinement of this machine: steps are tried until a child starts, then attacked from inside.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::init::proc_mount::is_process_limit_per_namespace;
use crate::init::step::Step;
use crate::launcher::drain::OutputStream;
use crate::launcher::outcome::Ending;
use crate::launcher::private_folder::PrivateFolder;
use crate::launcher::running::Running;
use crate::launcher::{Launcher, SpawnError, StartError};
use crate::policy::Policy;
use crate::policy::isolation::Isolation;
use crate::policy::shell_command::{ShellCommand, Timeout};
use crate::probe::attacks::{Attack, REFUSED};
use crate::probe::layer_test;
use crate::report::{
    FileConfinement, HomeVisibility, KillReach, LayerKind, Level, NetworkConfinement, SandboxReport,
};
use crate::spawner::request::{Targets, Task};

/// The gap in the report without a control group: resource limits are for one process each.
const MEMORY_LIMIT: &str = "limit on the whole command's memory";

/// The gap in the report where root runs commands as itself.
pub(crate) const OWN_IDS: &str = "user for commands of root";

/// The time that each part of the self-test may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Finds the confinement steps that this machine supports, up to `highest`, and reports their effect.
pub(crate) fn find_confinement(
    launcher: &Launcher,
    highest: Level,
) -> Result<(Isolation, SandboxReport), StartError> {
    let fixture = Fixture::prepare(launcher.scratch()).map_err(StartError::SelfTest)?;
    let mut isolation = wanted(highest);
    let mut missing = Vec::new();
    loop {
        match fixture.attack(launcher, isolation) {
            Ok(refused) => {
                let kill_reaches_all = fixture.kill_reaches_all(launcher, isolation);
                let mut report = judge(isolation, &refused, kill_reaches_all, missing);
                match layer_test::try_out(launcher, isolation, fixture.folder.path()) {
                    Ok(()) => report.layer = LayerKind::Overlay,
                    Err(reason) => report.missing.push(format!("copy-on-write layer: {reason}")),
                }
                return Ok((isolation, report));
            }
            Err(SpawnError::Step(error)) if isolation.intersects(layers_of(error.step, isolation)) => {
                let (layers, name) = (layers_of(error.step, isolation), layer_name(error.step, isolation));
                missing.push(format!("{name}: {error}"));
                isolation = isolation.without(layers);
            }
            Err(error) => return Err(StartError::Unusable(error)),
        }
    }
}

/// Returns the confinement steps of a level.
fn wanted(highest: Level) -> Isolation {
    let all = match highest {
        Level::None => Isolation::NOTHING,
        Level::Process => Isolation::PRIVILEGES | Isolation::GROUP | Isolation::MODES,
        Level::Landlock => Isolation::ALL.without(Isolation::NAMESPACES),
        Level::Namespaces => {
            Isolation::NAMESPACES | Isolation::PRIVILEGES | Isolation::GROUP | Isolation::MODES
        }
        Level::Full => Isolation::ALL,
    };
    // Root needs no user namespace to make the others; commands get a separate user instead.
    let is_root = rustix::process::geteuid().is_root();
    all.without(if is_root { Isolation::USER } else { Isolation::OWN_IDS })
}

/// Returns the confinement steps that are unavailable when this step fails.
fn layers_of(step: Step, isolation: Isolation) -> Isolation {
    match step {
        Step::Clone if isolation.contains(Isolation::CGROUP) => Isolation::CGROUP,
        Step::Clone
        | Step::IdMaps
        | Step::PrivateMounts
        | Step::Root
        | Step::Bind
        | Step::Tmpfs
        | Step::Proc
        | Step::Devices
        | Step::Protect
        | Step::PivotRoot
        | Step::ProcessLimit => Isolation::NAMESPACES,
        Step::ResourceLimits | Step::Capabilities | Step::NoNewPrivileges => Isolation::PRIVILEGES,
        Step::Landlock => Isolation::LANDLOCK,
        Step::ControlGroup => Isolation::GROUP,
        Step::Seccomp => Isolation::FILTER | Isolation::NO_SOCKETS | Isolation::MODES,
        Step::OwnIds => Isolation::OWN_IDS,
        _ => Isolation::NOTHING,
    }
}

fn layer_name(step: Step, isolation: Isolation) -> &'static str {
    match layers_of(step, isolation) {
        Isolation::CGROUP => "cgroup namespace",
        Isolation::GROUP => MEMORY_LIMIT,
        Isolation::OWN_IDS => OWN_IDS,
        Isolation::NAMESPACES => "namespaces",
        Isolation::PRIVILEGES => "privileges",
        Isolation::LANDLOCK => "landlock",
        _ => "system call filter",
    }
}

fn judge(
    isolation: Isolation,
    refused: &[Attack],
    kill_reaches_all: bool,
    mut missing: Vec<String>,
) -> SandboxReport {
    let is_refused = |attacks: &[Attack]| attacks.iter().all(|attack| refused.contains(attack));
    let has = |layers| isolation.contains(layers);
    let fs = if has(Isolation::ROOT)
        && is_refused(&[Attack::ReadOutside, Attack::WriteOutside, Attack::SeeOutside])
    {
        FileConfinement::Root
    } else if has(Isolation::LANDLOCK) && is_refused(&[Attack::ReadOutside, Attack::WriteOutside]) {
        FileConfinement::Landlock
    } else {
        FileConfinement::Open
    };
    let net = match (
        has(Isolation::NETWORK) && is_refused(&[Attack::Connect]),
        has(Isolation::NO_SOCKETS) && is_refused(&[Attack::Connect, Attack::MakeSocket]),
    ) {
        (true, true) => NetworkConfinement::NamespaceAndFilter,
        (true, false) => NetworkConfinement::Namespace,
        (false, true) => NetworkConfinement::Filter,
        (false, false) => NetworkConfinement::Open,
    };
    let home = match (is_refused(&[Attack::ListHome]), fs) {
        (true, FileConfinement::Root) => HomeVisibility::Hidden,
        (true, _) => HomeVisibility::Denied,
        (false, _) => HomeVisibility::Open,
    };
    let kill = if has(Isolation::PROCESSES) { KillReach::Namespace } else { KillReach::Sweep };
    for (layers, name) in [
        (Isolation::ROOT, "namespaces"),
        (Isolation::PRIVILEGES, "privileges"),
        (Isolation::LANDLOCK, "landlock"),
        (Isolation::FILTER, "system call filter"),
        (Isolation::GROUP, MEMORY_LIMIT),
    ] {
        if !has(layers) && !missing.iter().any(|entry| entry.starts_with(name)) {
            missing.push(name.to_owned());
        }
    }
    // An attack that succeeded although its steps are in force is reported separately.
    let succeeded = Attack::ALL.iter().filter(|attack| !refused.contains(attack));
    missing.extend(succeeded.map(|attack| format!("refusal of: {}", attack.name())));
    if !kill_reaches_all {
        missing.push("a kill that reaches all".into());
    }
    let has_process_limit = has(Isolation::GROUP)
        || has(Isolation::USER)
        || (has(Isolation::PRIVILEGES) && !rustix::process::geteuid().is_root())
        || (has(Isolation::PROCESSES) && is_process_limit_per_namespace());
    let is_full = has(wanted(Level::Full).without(Isolation::CGROUP | Isolation::GROUP | Isolation::OWN_IDS))
        && is_refused(Attack::ALL)
        && kill_reaches_all
        && has_process_limit;
    let level = if is_full {
        Level::Full
    } else if fs == FileConfinement::Root && net != NetworkConfinement::Open && has(Isolation::PROCESSES) {
        Level::Namespaces
    } else if fs != FileConfinement::Open {
        Level::Landlock
    } else if has(Isolation::PRIVILEGES) && is_refused(&[Attack::KeepPrivileges]) {
        Level::Process
    } else {
        Level::None
    };
    if !has_process_limit {
        missing.push("limit on processes".into());
    }
    SandboxReport { level, fs, net, home, kill, layer: LayerKind::None, missing }
}

/// Tries the long list of escapes with these confinement steps.
pub(crate) fn probe(launcher: &Launcher, isolation: Isolation) -> Result<Vec<Escape>, ProbeError> {
    let fixture = Fixture::prepare(launcher.scratch()).map_err(ProbeError::Fixture)?;
    let lines = fixture.lines(launcher, isolation, Task::Escapes(fixture.targets(launcher)))?;
    let escapes = lines.lines().filter_map(|line| {
        let (verdict, name) = line.split_once(' ')?;
        Some(Escape { name: name.to_owned(), is_refused: verdict == REFUSED })
    });
    Ok(escapes.collect())
}

/// One attempted escape.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Escape {
    /// The attempt, in a few words.
    pub name: String,
    /// True if it was refused, or its target does not exist.
    pub is_refused: bool,
}

/// The reason that the escapes could not be tried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The target files could not be made.
    #[error("cannot prepare the targets of the escapes")]
    Fixture(#[source] io::Error),
    /// The child that tries them did not start.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
}

/// A private folder with something to attack and an empty workspace.
struct Fixture {
    folder: PrivateFolder,
    listener: Option<TcpListener>,
}

impl Fixture {
    fn prepare(scratch: &Path) -> io::Result<Fixture> {
        PrivateFolder::sweep(scratch);
        let folder = PrivateFolder::create(scratch, "self-test")?;
        // A machine without a loopback interface has nothing to connect to.
        let listener = TcpListener::bind(("127.0.0.1", 0)).ok();
        let fixture = Fixture { folder, listener };
        fs::create_dir(fixture.workspace())?;
        fs::create_dir(fixture.private())?;
        fs::write(fixture.secret(), "secret\n")?;
        Ok(fixture)
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    fn private(&self) -> PathBuf {
        self.folder.path().join("private")
    }

    fn secret(&self) -> PathBuf {
        self.folder.path().join("secret")
    }

    /// Runs the attacks and returns those that were refused.
    fn attack(&self, launcher: &Launcher, isolation: Isolation) -> Result<Vec<Attack>, SpawnError> {
        let lines = self.lines(launcher, isolation, Task::Attacks(self.targets(launcher)))?;
        let is_refused =
            |attack: &Attack| lines.lines().any(|line| line == format!("{REFUSED} {}", attack.name()));
        Ok(Attack::ALL.iter().copied().filter(is_refused).collect())
    }

    fn targets(&self, launcher: &Launcher) -> Targets {
        let home = launcher.user().home.clone();
        let identity = fs::metadata(&home).map_or((0, 0), |metadata| (metadata.dev(), metadata.ino()));
        Targets {
            secret: self.secret(),
            home,
            home_identity: identity,
            process: std::process::id(),
            process_namespace: fs::read_link("/proc/self/ns/pid").unwrap_or_default(),
            network_namespace: fs::read_link("/proc/self/ns/net").unwrap_or_default(),
            listener: self.listener.as_ref().and_then(|listener| listener.local_addr().ok()),
        }
    }

    /// Runs a task instead of a shell and returns its output.
    fn lines(&self, launcher: &Launcher, isolation: Isolation, task: Task) -> Result<String, SpawnError> {
        let running = self.run(launcher, isolation, ":", Some(task))?;
        let outcome = running.wait().map_err(|_| SpawnError::NotStarted)?;
        Ok(outcome.stdout.text(|_| String::new()))
    }

    /// Checks whether a descendant in its own session dies with its command: until then it holds the output open.
    fn kill_reaches_all(&self, launcher: &Launcher, isolation: Isolation) -> bool {
        let text = "sh -c 'trap : HUP TERM; echo ready; sleep 60' & echo ready; sleep 60";
        let Ok(running) = self.run(launcher, isolation, text, None) else { return false };
        let killer = running.killer();
        let mut lines = 0;
        let outcome = running.wait_with(
            &mut |_: OutputStream, bytes: &[u8]| {
                lines += bytes.iter().filter(|byte| **byte == b'\n').count();
                if lines >= 2 {
                    killer.cancel();
                }
            },
            None,
        );
        outcome.is_ok_and(|outcome| outcome.ending == Ending::Cancelled && outcome.output_complete)
    }

    fn run(
        &self,
        launcher: &Launcher,
        isolation: Isolation,
        text: &str,
        task: Option<Task>,
    ) -> Result<Running, SpawnError> {
        let policy = Policy::for_workspace(&self.workspace());
        let timeout = Timeout::new(TIME_LIMIT).expect("the limit is more than nothing");
        let command = ShellCommand::new(text).expect("the self-test's own commands are well formed");
        launcher.start_task(&policy, &command.with_timeout(timeout), isolation, &self.private(), task)
    }
}
