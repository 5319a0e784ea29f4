//! The definitions of agents: the user's file, the built-in ones, and the agent `paste`.

use cocode_env::AgentName;
use cocode_runner::{AgentDefinition, AgentsFile, RunnerError};
use workspace_host::user_file::{self, Reach, UserFileError};

use super::failure::{error_chain, explain};
use super::options::CocodeDefinitions;
use super::paste;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure};

/// Reads the file that defines agents; the user's `agents.toml` is empty if it is not there. It names programs to be started,
/// so it is read only where no model can have written it.
pub(crate) fn agents_file(
    common: &CommonOptions,
    options: &CocodeDefinitions,
) -> Result<AgentsFile, Failure> {
    let usual = || user_file::config_folder().map(|folder| folder.join("agents.toml"));
    let Some(path) = options.agents_file.clone().or_else(usual) else { return Ok(AgentsFile::default()) };
    let text = match user_file::read(&path, &Reach::of(&common.host())) {
        Ok(text) => text,
        Err(UserFileError::Missing | UserFileError::Unreachable) if options.agents_file.is_none() => {
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
        .map_err(|error| Failure::new(Exit::Usage, format!("{}: {}", path.display(), error_chain(&error))))
}

/// Finds the definition of an agent by its name.
pub(crate) fn definition(file: &AgentsFile, name: &str) -> Result<AgentDefinition, Failure> {
    let parsed: AgentName =
        name.parse().map_err(|error| Failure::new(Exit::Usage, format!("'{name}': {error}")))?;
    let definition = file.agents.get(&parsed).cloned().or_else(|| AgentDefinition::built_in(&parsed));
    if definition.is_none() && name == paste::NAME {
        return paste::definition(parsed);
    }
    definition.ok_or_else(|| explain(RunnerError::UnknownAgent { name: name.to_owned() }))
}
