//! `agents.toml`: the user's own definitions of agents.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use cocode_env::{AgentName, AgentNameError, Variable};
use egress::{AllowError, Network};
use serde::Deserialize;

use crate::plan::definition::{AgentCommand, AgentDefinition};
use crate::plan::run_limits::RunLimits;

/// An error in `agents.toml` or an `--agent-cmd`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentsFileError {
    /// It is not TOML, or has an unknown key or value.
    #[error("the definitions of agents cannot be read: {message}")]
    Syntax {
        /// The fault and its line number, on one line.
        message: String,
    },
    /// A name is not allowed.
    #[error("'{name}' cannot be an agent's name")]
    Name {
        /// The name.
        name: String,
        /// The rule that it breaks.
        #[source]
        source: AgentNameError,
    },
    /// A command is empty.
    #[error("the agent '{agent}' has no command")]
    NoCommand {
        /// The agent.
        agent: AgentName,
    },
    /// The names that an agent may connect to cannot be read.
    #[error("the network of the agent '{agent}': {source}")]
    Network {
        /// The agent.
        agent: AgentName,
        /// The fault.
        source: AllowError,
    },
    /// One of the five variables of the contract would be overridden.
    #[error("the agent '{agent}' may not set {variable}")]
    Override {
        /// The agent.
        agent: AgentName,
        /// The variable.
        variable: Variable,
    },
    /// A time or a number is out of range.
    #[error("{what} must be {first} to {last}")]
    Range {
        /// The name of the value.
        what: &'static str,
        /// The least.
        first: u64,
        /// The most.
        last: u64,
    },
}

/// The contents of `agents.toml`.
#[derive(Clone, Debug, Default)]
pub struct AgentsFile {
    /// The agents, by name.
    pub agents: BTreeMap<AgentName, AgentDefinition>,
    /// The number of agents at once, and their time.
    pub limits: RunLimits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    #[serde(default)]
    agents: BTreeMap<String, AgentText>,
    #[serde(default)]
    performance: PerformanceText,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PerformanceText {
    max_concurrent_agents: Option<u64>,
    agent_timeout: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentText {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    timeout_seconds: Option<u64>,
    check: Option<String>,
    #[serde(default)]
    clean_tree: bool,
    #[serde(default)]
    writable: Vec<String>,
    #[serde(default)]
    sandbox: SwitchText,
    #[serde(default)]
    network: NetworkText,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SwitchText {
    #[default]
    On,
    Off,
}

/// `"on"`, `"off"`, or a list of names.
#[derive(Deserialize)]
#[serde(untagged, expecting = "give \"on\", \"off\" or a list of names such as [\"api.example\"]")]
enum NetworkText {
    Switch(SwitchText),
    Names(Vec<String>),
}

impl Default for NetworkText {
    fn default() -> NetworkText {
        NetworkText::Switch(SwitchText::On)
    }
}

impl NetworkText {
    fn network(&self) -> Result<Network, AllowError> {
        match self {
            NetworkText::Switch(SwitchText::On) => Ok(Network::On),
            NetworkText::Switch(SwitchText::Off) => Ok(Network::Off),
            NetworkText::Names(names) if names.is_empty() => Ok(Network::Off),
            NetworkText::Names(names) => names.join(",").parse().map(Network::Names),
        }
    }
}

impl AgentsFile {
    /// Parses the text of the file; an empty one gives the defaults.
    ///
    /// ```
    /// use cocode_runner::AgentsFile;
    /// let file = AgentsFile::parse("[agents.fixer]\ncommand = 'my-agent'\ntimeout_seconds = 60\n")?;
    /// assert_eq!(file.agents.len(), 1);
    /// # Ok::<(), cocode_runner::AgentsFileError>(())
    /// ```
    ///
    /// # Errors
    /// [`AgentsFileError`], also for unknown keys.
    pub fn parse(text: &str) -> Result<AgentsFile, AgentsFileError> {
        let file: FileText = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            AgentsFileError::Syntax { message: format!("{line}{}", error.message().replace('\n', " ")) }
        })?;
        let mut limits = RunLimits::default();
        if let Some(seconds) = file.performance.agent_timeout {
            limits.timeout = RunLimits::timeout_of(seconds)?;
        }
        if let Some(count) = file.performance.max_concurrent_agents {
            limits.parallel = RunLimits::parallel_of(count)?;
        }
        let mut agents = BTreeMap::new();
        for (name, agent) in file.agents {
            let name: AgentName =
                name.parse().map_err(|source| AgentsFileError::Name { name: name.clone(), source })?;
            agents.insert(name.clone(), definition(name, agent)?);
        }
        Ok(AgentsFile { agents, limits })
    }
}

fn definition(name: AgentName, text: AgentText) -> Result<AgentDefinition, AgentsFileError> {
    if text.command.trim().is_empty() {
        return Err(AgentsFileError::NoCommand { agent: name });
    }
    if let Some(variable) = text.env.keys().find_map(|key| Variable::from_name(key)) {
        return Err(AgentsFileError::Override { agent: name, variable });
    }
    let network = text.network.network();
    let network = network.map_err(|source| AgentsFileError::Network { agent: name.clone(), source })?;
    let timeout: Option<Duration> = text.timeout_seconds.map(RunLimits::timeout_of).transpose()?;
    Ok(AgentDefinition {
        command: AgentCommand::Program { program: text.command, arguments: text.args },
        environment: text.env,
        timeout,
        check: text.check.filter(|check| !check.trim().is_empty()),
        clean_tree: text.clean_tree,
        writable: text.writable,
        readable: Vec::new(),
        is_confined: text.sandbox == SwitchText::On,
        network,
        ..AgentDefinition::new(name)
    })
}

impl RunLimits {
    /// Checks a timeout, given in seconds.
    ///
    /// # Errors
    /// [`AgentsFileError::Range`].
    pub fn timeout_of(seconds: u64) -> Result<Duration, AgentsFileError> {
        match seconds {
            1..=3600 => Ok(Duration::from_secs(seconds)),
            _ => Err(AgentsFileError::Range { what: "an agent's timeout in seconds", first: 1, last: 3600 }),
        }
    }

    /// Checks a number of agents.
    ///
    /// # Errors
    /// [`AgentsFileError::Range`].
    pub fn parallel_of(count: u64) -> Result<NonZeroU32, AgentsFileError> {
        let count = u32::try_from(count).ok().filter(|count| *count <= 20).and_then(NonZeroU32::new);
        count.ok_or(AgentsFileError::Range { what: "the number of agents at once", first: 1, last: 20 })
    }
}
