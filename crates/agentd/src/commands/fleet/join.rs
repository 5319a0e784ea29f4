//! `agentd fleet join`: a host of a fleet.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

use cocode_fleet::{FleetWorker, HostName, Role, WorkerConfig, WorkerStatus};
use cocode_runner::{AgentDefinition, BaseLimits, BaseRepository, Launchers, RunnerConfig};
use fleet_runner::{HostWork, Slots, Workplaces, make_private_folder};
use sandbox_exec::{Level, SpawnerProgram};
use tokio::sync::{Notify, watch};
use workspace_host::obeyed_names::obeyed_names;
use workspace_host::{homes, user_file};

use crate::commands::cocode::agent_confinement::confine;
use crate::commands::cocode::definitions::agents_file;
use crate::commands::cocode::failure::error_chain;
use crate::commands::cocode::runner_config::{home, host, launcher, least_level, user_state};
use crate::commands::fleet::options::JoinOptions;
use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use crate::views::count::counted;

/// The built-in agents that a host offers if their programs are there.
const BUILT_IN: [&str; 2] = ["claude", "codex"];

/// Works for a fleet until a signal stops it.
pub(crate) fn join(common: &CommonOptions, console: Console, options: &JoinOptions) -> Outcome {
    let name = match &options.host_name {
        Some(name) => name.clone(),
        None => machine_name()?,
    };
    let address = options.access.address(&options.url, Role::Host(name.clone()))?;
    let folder = own_folder(options)?;
    let failed = |error: io::Error| file_failure(&folder, &error);
    let bases = BaseRepository::open(&folder.join("bases"), &host(common), BaseLimits::default()).map_err(
        |error| {
            Failure::new(Exit::Held, error_chain(&error))
                .advise("one process of a machine uses a folder; give another one with --folder DIR")
        },
    )?;
    let incoming = folder.join("incoming");
    // Remains of a killed process.
    let _ = fs::remove_dir_all(&incoming);
    make_private_folder(&incoming).map_err(failed)?;
    let definitions = definitions(common, options)?;
    let slots = options
        .slots
        .map_or_else(|| available_parallelism().map_or(1, |count| count.get().div_ceil(2)), usize::from);
    let launcher = launcher(common)?;
    let level = launcher.report().level;
    check_level(common, level, &definitions)?;
    let launchers = Launchers::new();
    launchers.keep_confined(launcher);
    let names: Vec<String> = definitions.iter().map(|agent| agent.name.to_string()).collect();
    let workplaces = Workplaces::new(
        bases,
        Slots::make(folder.join("slots"), slots).map_err(failed)?,
        runner_config(common, &folder, options),
        launchers,
    );
    let work = HostWork::new(workplaces, definitions, options.labels.clone(), level);
    let (offer, names) = (counted(slots, "slot"), names.join(", "));
    console.progress(&format!("{name} offers {offer} for {names}; Ctrl-C leaves"));
    let config = WorkerConfig {
        address,
        host: name.clone(),
        timings: options.access.lease.timings(),
        folder: incoming,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        installation: installation(&folder).map_err(failed)?,
    };
    let key_file = options.access.key_file.as_ref().map(|file| format!(", and not {}", file.display()));
    match work_until_stopped(console, config, work)? {
        Ending::Stopped => Ok(Exit::Interrupted),
        Ending::Refused(why) => Err(Failure::new(Exit::Usage, why).advise(format!(
            "name the server that `agentd fleet up` has printed, and give the key of host {name} with --key-file FILE{}",
            key_file.unwrap_or_default()
        ))),
        Ending::NameTaken => {
            Err(Failure::new(Exit::Held, format!("another process is the host {name} of this fleet"))
                .advise("give this one another name with --host-name NAME"))
        }
    }
}

/// The reason that a host leaves its fleet.
enum Ending {
    /// A signal, or the end of the worker itself.
    Stopped,
    /// The address or the key is wrong.
    Refused(String),
    /// Another process has the host's name.
    NameTaken,
}

/// Works until a signal arrives or the name is found to be taken, and prints how the connection is.
fn work_until_stopped(console: Console, config: WorkerConfig, work: HostWork) -> Result<Ending, Failure> {
    let cancel = cancel_flag()?;
    let stopped = Arc::new(Notify::new());
    let stopping = Arc::clone(&stopped);
    let _guard = cancel.on_cancel(Box::new(move || stopping.notify_one()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime =
        runtime.map_err(|error| Failure::new(Exit::Failed, format!("no runtime can be made: {error}")))?;
    Ok(runtime.block_on(async {
        let worker = FleetWorker::start(config, Arc::new(work));
        let ending = follow(console, worker.status(), &stopped).await;
        worker.stop().await;
        ending
    }))
}

async fn follow(console: Console, mut status: watch::Receiver<WorkerStatus>, stopped: &Notify) -> Ending {
    // Each try fails with the same words, as long as nothing else happens.
    let mut last_failure = None;
    loop {
        let now = status.borrow_and_update().clone();
        match &now {
            WorkerStatus::NameTaken => return Ending::NameTaken,
            WorkerStatus::Refused(why) => return Ending::Refused(why.clone()),
            WorkerStatus::Connecting(Some(why)) if last_failure.as_ref() == Some(why) => {}
            WorkerStatus::Connecting(why) => {
                say(console, &now);
                last_failure = why.clone().or(last_failure);
            }
            _ => {
                say(console, &now);
                last_failure = None;
            }
        }
        tokio::select! {
            changed = status.changed() => if changed.is_err() { return Ending::Stopped },
            () = stopped.notified() => return Ending::Stopped,
        }
    }
}

/// Makes the folder of this host, and returns its canonical path.
fn own_folder(options: &JoinOptions) -> Result<PathBuf, Failure> {
    let folder = options.folder.clone().unwrap_or_else(usual_folder);
    make_private_folder(&folder).map_err(|error| file_failure(&folder, &error))?;
    let folder = fs::canonicalize(&folder).map_err(|error| file_failure(&folder, &error))?;
    let state = user_file::state_folder().and_then(|state| fs::canonicalize(state).ok());
    if state.is_some_and(|state| folder.starts_with(state)) {
        let text = format!("{} is in the user's state folder, which is hidden from agents", folder.display());
        return Err(Failure::new(Exit::Usage, text)
            .advise("give a folder elsewhere with --folder DIR, or leave it out"));
    }
    Ok(folder)
}

fn file_failure(folder: &Path, error: &io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("{}: {error}", folder.display()))
}

/// Refuses to offer agents that are to be confined more than this machine can.
fn check_level(common: &CommonOptions, level: Level, definitions: &[AgentDefinition]) -> Result<(), Failure> {
    if level >= least_level(common) || definitions.iter().all(|agent| !agent.is_confined) {
        return Ok(());
    }
    let text = format!("this machine confines agents only at level {level}");
    Err(Failure::new(Exit::Refused, text)
        .advise("allow less with --sandbox allow=LEVEL, or set sandbox = \"off\" in the agents' definitions"))
}

/// Returns the random word of this installation, which is made with the folder.
fn installation(folder: &Path) -> io::Result<String> {
    let file = folder.join("installation");
    match fs::read_to_string(&file) {
        Ok(word) if !word.trim().is_empty() => Ok(word.trim().to_owned()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => {
            let word = uuid::Uuid::new_v4().simple().to_string();
            let new = folder.join("installation.new");
            fs::write(&new, format!("{word}\n"))?;
            fs::rename(new, file)?;
            Ok(word)
        }
    }
}

/// Returns the folder of a host without an option. It is not within the user's state folder, which is hidden from agents.
fn usual_folder() -> PathBuf {
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    data.unwrap_or_else(|| home().join(".local/share")).join("agentd/fleet-host")
}

fn say(console: Console, status: &WorkerStatus) {
    match status {
        WorkerStatus::Connecting(None) => console.detail("connecting"),
        WorkerStatus::Connecting(Some(why)) => console.notice(&format!("no connection, trying again: {why}")),
        WorkerStatus::Working => console.result("takes tasks"),
        WorkerStatus::Troubled(why) => console.notice(&format!("no tasks can be taken now: {why}")),
        _ => {}
    }
}

/// Returns the name of this machine as the name of a host.
fn machine_name() -> Result<HostName, Failure> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let short = name.split('.').next().unwrap_or_default().to_owned();
    short.parse().map_err(|error| {
        Failure::new(Exit::Usage, format!("the machine's name '{short}' is not one of a host: {error}"))
            .advise("give one with --host-name NAME")
    })
}

/// Returns the definitions of the user's file, and the built-in ones whose programs are there: one at least.
fn definitions(common: &CommonOptions, options: &JoinOptions) -> Result<Vec<AgentDefinition>, Failure> {
    let file = agents_file(common, &options.definitions)?;
    let mut definitions: Vec<AgentDefinition> = file.agents.values().cloned().collect();
    for name in BUILT_IN {
        let built_in = name.parse().ok().and_then(|name| AgentDefinition::built_in(&name));
        let is_new = definitions.iter().all(|agent| agent.name.as_str() != name);
        let host = host(common);
        let variables = host.variables.clone().into_iter().collect();
        let is_there = |agent: &AgentDefinition| agent.words(&host, &variables).is_ok();
        definitions.extend(built_in.filter(|agent| is_new && is_there(agent)));
    }
    if definitions.is_empty() {
        let failure = Failure::new(Exit::Usage, "no agent is defined here, so there is nothing to offer");
        return Err(failure.advise("define agents in agents.toml, or install claude or codex"));
    }
    definitions.iter_mut().try_for_each(|agent| confine(common, agent))?;
    Ok(definitions)
}

/// Returns the configuration of the runners of tasks; repository, state and worktrees come from each task.
fn runner_config(common: &CommonOptions, folder: &Path, options: &JoinOptions) -> RunnerConfig {
    RunnerConfig {
        repository: folder.to_owned(),
        names: obeyed_names(&common.host()),
        state_folder: folder.to_owned(),
        worktrees: folder.to_owned(),
        homes: homes::homes_folder(),
        // Other slots, and the file that defines agents and holds what others are given.
        // All bases stay visible, since the agents' repositories read their objects there.
        private: [folder.join("slots"), folder.join("incoming"), user_state()]
            .into_iter()
            .chain(user_file::config_folder())
            // With it, an agent could speak as this host.
            .chain(options.access.key_file.clone())
            .collect(),
        host: host(common),
        spawner: SpawnerProgram::this_program(),
        scratch: std::env::temp_dir(),
        least_level: least_level(common),
        highest_level: Level::Full,
    }
}
