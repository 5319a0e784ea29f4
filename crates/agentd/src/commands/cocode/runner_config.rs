//! The runner that the user's options describe.

use std::path::PathBuf;

use cocode_runner::{AgentRecord, Host, Runner, RunnerConfig};
use sandbox_exec::{Launcher, LauncherConfig, Level, SpawnerProgram, User};
use workspace_host::confinement::{self, SandboxChoice};
use workspace_host::homes;
use workspace_host::obeyed_names::obeyed_names;
use workspace_host::{WorkspacePaths, state, user_file};

use super::failure::{error_chain, explain};
use super::options::WorktreesFolder;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure};

/// The user's environment, and the folders of programs that run unconfined.
pub(crate) fn host(common: &CommonOptions) -> Host {
    let own_path = common.own_programs().search_path();
    Host { variables: std::env::vars_os().collect(), home: home(), own_path }
}

/// The user's home folder.
pub(crate) fn home() -> PathBuf {
    confinement::home().unwrap_or_else(|| PathBuf::from("/nonexistent"))
}

/// The user's state folder by the XDG rules.
pub(crate) fn user_state() -> PathBuf {
    user_file::state_folder().unwrap_or_else(|| home().join(".local/state/agentd"))
}

/// Returns the folder of the runner's records; it need not exist.
pub(crate) fn state_folder(common: &CommonOptions) -> Result<PathBuf, Failure> {
    Ok(WorkspacePaths::find(&common.host())?.base.join("cocode"))
}

/// The least confinement of agents that are to be confined.
pub(crate) fn least_level(common: &CommonOptions) -> Level {
    match common.sandbox {
        Some(SandboxChoice::Require(level) | SandboxChoice::Allow(level)) => level,
        Some(SandboxChoice::Off) => Level::None,
        None => Level::Namespaces,
    }
}

/// Opens the runner; this process then owns the records.
pub(crate) fn open(common: &CommonOptions, folder: &WorktreesFolder) -> Result<Runner, Failure> {
    open_hiding(common, folder, &[])
}

/// Opens the runner to remove one agent by force, whose work is not judged first.
pub(crate) fn open_to_remove(
    common: &CommonOptions,
    folder: &WorktreesFolder,
    record: &AgentRecord,
) -> Result<Runner, Failure> {
    state::make_state_folder(&WorkspacePaths::find(&common.host())?)?;
    Runner::open_to_remove(config(common, folder)?, &record.key()).map_err(explain)
}

/// Opens the runner, and hides further files and folders from agents and their checks.
pub(crate) fn open_hiding(
    common: &CommonOptions,
    folder: &WorktreesFolder,
    hidden: &[PathBuf],
) -> Result<Runner, Failure> {
    state::make_state_folder(&WorkspacePaths::find(&common.host())?)?;
    let mut config = config(common, folder)?;
    config.private.extend_from_slice(hidden);
    Runner::open(config).map_err(explain)
}

/// Returns the runner's configuration. Nothing is created.
pub(crate) fn config(common: &CommonOptions, folder: &WorktreesFolder) -> Result<RunnerConfig, Failure> {
    let paths = WorkspacePaths::find(&common.host())?;
    let user_state = user_state();
    let worktrees = match &folder.worktrees {
        Some(folder) => std::path::absolute(folder)
            .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", folder.display())))?,
        None => user_state.join("worktrees"),
    };
    Ok(RunnerConfig {
        repository: paths.workspace.clone(),
        names: obeyed_names(&common.host()),
        state_folder: paths.base.join("cocode"),
        worktrees,
        homes: homes::homes_folder(),
        // The file that defines agents holds what other agents are given, and says how each is confined.
        private: [paths.base.clone(), user_state].into_iter().chain(user_file::config_folder()).collect(),
        host: host(common),
        spawner: SpawnerProgram::this_program(),
        scratch: std::env::temp_dir(),
        least_level: least_level(common),
        highest_level: Level::Full,
    })
}

/// Starts a launcher, which tries the confinement of this machine.
pub(crate) fn launcher(common: &CommonOptions) -> Result<Launcher, Failure> {
    let here = host(common);
    let text = |name: &str| here.variable(name).map(|value| value.to_string_lossy().into_owned());
    let user = User {
        name: text("USER").unwrap_or_else(|| "user".to_owned()),
        home: here.home.clone(),
        search_path: here.search_path(),
        language: here.variable("LANG").unwrap_or_default().to_owned(),
    };
    let config = LauncherConfig::new(SpawnerProgram::this_program(), user, std::env::temp_dir());
    Launcher::start(config).map_err(|error| Failure::new(Exit::Missing, error_chain(&error)))
}
