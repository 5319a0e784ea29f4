//! What the commands about agents share: places, definitions, records, errors.

use std::path::PathBuf;

use change_journal::OpenError;
use cocode_env::AgentName;
use cocode_runner::{
    AgentDefinition, AgentRecord, AgentsFile, Host, RepositoryError, Runner, RunnerConfig, RunnerError,
    read_records,
};
use sandbox_exec::{Level, SpawnerProgram};

use super::paste;
use crate::cli::Common;
use crate::cocode_cli::{CocodeAgent, CocodeDefinitions, CocodePlace};
use crate::exit::{Exit, Failure};
use workspace_host::WorkspacePaths;
use workspace_host::confinement::{self, SandboxChoice};
use workspace_host::obeyed_names::obeyed_names;
use workspace_host::state;
use workspace_host::user_file::{self, Reach, UserFileError};

/// The user's environment.
pub(crate) fn host() -> Host {
    let home = confinement::home().unwrap_or_else(|| PathBuf::from("/nonexistent"));
    Host { variables: std::env::vars_os().collect(), home }
}

/// The user's state folder by the XDG rules.
fn user_state() -> PathBuf {
    let named = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.unwrap_or_else(|| host().home.join(".local/state")).join("agentd")
}

/// Where the runner keeps its records; it need not exist.
pub(crate) fn state_folder(common: &Common) -> Result<PathBuf, Failure> {
    Ok(WorkspacePaths::find(&common.host())?.base.join("cocode"))
}

/// The least confinement under which agents run that are to be confined.
pub(crate) fn least_level(common: &Common) -> Level {
    match common.sandbox {
        Some(SandboxChoice::Require(level) | SandboxChoice::Allow(level)) => level,
        Some(SandboxChoice::Off) => Level::None,
        None => Level::Namespaces,
    }
}

/// Opens the runner; this process then owns the records.
pub(crate) fn open(common: &Common, place: &CocodePlace) -> Result<Runner, Failure> {
    state::make_state_folder(&WorkspacePaths::find(&common.host())?)?;
    Runner::open(config(common, place)?).map_err(explain)
}

/// Where the runner works and what it works with. Nothing is made.
pub(crate) fn config(common: &Common, place: &CocodePlace) -> Result<RunnerConfig, Failure> {
    let places = WorkspacePaths::find(&common.host())?;
    let user_state = user_state();
    let worktrees = match &place.worktrees {
        Some(folder) => std::path::absolute(folder)
            .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", folder.display())))?,
        None => user_state.join("worktrees"),
    };
    Ok(RunnerConfig {
        repository: places.workspace.clone(),
        names: obeyed_names(&common.host()),
        state_folder: places.base.join("cocode"),
        worktrees,
        // The file that defines agents holds what other agents are given, and says how each is confined.
        private: [places.base.clone(), user_state].into_iter().chain(user_file::config_folder()).collect(),
        host: host(),
        spawner: SpawnerProgram::this_program(),
        scratch: std::env::temp_dir(),
        least_level: least_level(common),
        highest_level: Level::Full,
    })
}

/// What is known of agents. If nobody runs any, those that a process left behind are marked as lost first; not where
/// nothing may be changed.
pub(crate) fn records(common: &Common) -> Result<Vec<AgentRecord>, Failure> {
    let folder = state_folder(common)?;
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let records = read_records(&folder).map_err(explain)?;
    if common.read_only || records.iter().all(|record| record.state.is_final()) {
        return Ok(records);
    }
    match open(common, &CocodePlace::default()) {
        Ok(runner) => runner.records().map_err(explain),
        Err(failure) if failure.exit == Exit::Held => Ok(records),
        Err(failure) => Err(failure),
    }
}

/// The newest record of an agent.
pub(crate) fn find(records: Vec<AgentRecord>, asked: &CocodeAgent) -> Result<AgentRecord, Failure> {
    let is_asked = |record: &AgentRecord| {
        record.agent.as_str() == asked.name && asked.issue.is_none_or(|issue| issue == record.issue)
    };
    let found = records.into_iter().find(is_asked);
    found.ok_or_else(|| explain(RunnerError::NoRecord { name: asked.name.clone() }))
}

/// Reads the file that defines agents; the user's `agents.toml` is empty if it is not there. It names programs to be started,
/// so it is read only where no model can have written it.
pub(crate) fn agents_file(common: &Common, asked: &CocodeDefinitions) -> Result<AgentsFile, Failure> {
    let usual = || user_file::config_folder().map(|folder| folder.join("agents.toml"));
    let Some(path) = asked.agents_file.clone().or_else(usual) else { return Ok(AgentsFile::default()) };
    let text = match user_file::read(&path, &Reach::of(&common.host())) {
        Ok(text) => text,
        Err(UserFileError::Missing | UserFileError::Unreachable) if asked.agents_file.is_none() => {
            String::new()
        }
        Err(error) => {
            let failure = Failure::new(error.exit(), format!("{}: {error}", path.display()));
            return Err(match error.advice() {
                Some(advice) => failure.advise(advice),
                None => failure,
            });
        }
    };
    AgentsFile::parse(&text)
        .map_err(|error| Failure::new(Exit::Usage, format!("{}: {}", path.display(), told(&error))))
}

/// Finds the definition of an agent by its name.
pub(crate) fn definition(file: &AgentsFile, name: &str) -> Result<AgentDefinition, Failure> {
    let parsed: AgentName =
        name.parse().map_err(|error| Failure::new(Exit::Usage, format!("'{name}': {error}")))?;
    let found = file.agents.get(&parsed).cloned().or_else(|| AgentDefinition::built_in(&parsed));
    if found.is_none() && name == paste::NAME {
        return paste::definition(parsed);
    }
    found.ok_or_else(|| explain(RunnerError::UnknownAgent { name: name.to_owned() }))
}

/// An error with all its causes, on one line.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

/// Says what an error of the runner means for the command line.
pub(crate) fn explain(error: RunnerError) -> Failure {
    use RunnerError::{
        BranchExists, Conflicts, Dirty, FolderExists, Git, InTheWay, Journal, Launcher, NoProgram, NoRecord,
        NotEnded, NothingToPick, Obeyed, Open, Record, Repository, TooLittleConfinement, Unfinished,
        UnknownAgent,
    };
    use cocode_runner::GitError::TooSlow;
    let exit = match &error {
        Open(OpenError::Held { .. }) => Exit::Held,
        NoProgram { .. } | Launcher(_) | Git(cocode_runner::GitError::NotStarted(_)) => Exit::Missing,
        Repository(RepositoryError::Git(cocode_runner::GitError::NotStarted(_))) => Exit::Missing,
        TooLittleConfinement { .. } | Obeyed { .. } => Exit::Refused,
        Git(TooSlow { .. }) | Repository(RepositoryError::Git(TooSlow { .. })) => Exit::TimedOut,
        Git(_) | Open(_) | Journal(_) | Record(_) | RunnerError::File { .. } => Exit::Failed,
        NotEnded { .. } | NothingToPick { .. } | Dirty | Conflicts { .. } => Exit::Failed,
        InTheWay { .. } | Unfinished { .. } => Exit::Failed,
        _ => Exit::Usage,
    };
    let advice = match &error {
        Open(OpenError::Held { .. }) => "another process runs agents here; `agentd cocode status` shows them",
        Obeyed { .. } => {
            "look at `agentd cocode diff NAME`; what you want all the same, --unprotect FILE takes off the list for one pick"
        }
        NoProgram { .. } => "`agentd cocode doctor` says what is missing",
        TooLittleConfinement { .. } => {
            "allow less with --sandbox allow=LEVEL, or set sandbox = \"off\" in the agent's definition"
        }
        BranchExists { .. } | FolderExists { .. } => {
            "`agentd cocode clean` removes what is merged; otherwise remove it yourself, or take another agent's name"
        }
        UnknownAgent { .. } => "define it in agents.toml, or with --agent-cmd 'NAME=COMMAND'",
        NoRecord { .. } => "`agentd cocode status` lists those that have",
        Git(TooSlow { .. }) => {
            "look into the worktree: an agent may have left a pipe where git expects a file"
        }
        Dirty => "commit or stash the changes first",
        InTheWay { .. } => "move it away first",
        Unfinished { .. } => "finish it, or take it back, with git first",
        Repository(RepositoryError::NoCommits) => "make a first commit; agents start from one",
        RunnerError::InsideRepository { .. } => "choose another folder with --worktrees DIR",
        RunnerError::NoAgents => "name one with --agent NAME or --agent-cmd 'NAME=COMMAND'",
        _ => "",
    };
    let failure = Failure::new(exit, told(&error));
    if advice.is_empty() { failure } else { failure.advise(advice) }
}

#[cfg(test)]
mod tests {
    use cocode_runner::GitError;

    use super::*;

    #[test]
    fn git_that_does_not_come_to_an_end_is_no_other_failure() {
        let slow = || GitError::TooSlow { command: "status".to_owned() };
        assert_eq!(explain(RunnerError::Git(slow())).exit, Exit::TimedOut);
        assert_eq!(explain(RunnerError::Repository(RepositoryError::Git(slow()))).exit, Exit::TimedOut);
        let failed = GitError::Answer { command: "status" };
        assert_eq!(explain(RunnerError::Git(failed)).exit, Exit::Failed);
    }
}
