//! The definition of an agent: its command and its permissions.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use cocode_env::AgentName;
use egress::Network;

use crate::error::RunnerError;
use crate::plan::host::Host;

/// The task of the built-in agents.
const PROMPT: &str = "Work on issue #${COCODE_ISSUE_NUMBER} (${COCODE_ISSUE_URL}) of the repository in the current \
     folder. Read the issue's text in the file ${COCODE_ISSUE_BODY_FILE}. Change what it asks for, test it, and commit \
     everything with git. Only when the work is complete, the message of your last commit must end with this line: \
     ${COCODE_READY_MARKER}";

/// The definition of an agent: its command and its permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentDefinition {
    /// Its name.
    pub name: AgentName,
    /// The command that is started.
    pub command: AgentCommand,
    /// Further variables; none of the five of the contract.
    pub environment: BTreeMap<String, String>,
    /// The time that it may take; `None` for the run's timeout.
    pub timeout: Option<Duration>,
    /// A shell command that must succeed after the agent.
    pub check: Option<String>,
    /// True if its worktree may hold nothing uncommitted or untracked.
    pub clean_tree: bool,
    /// Files and folders outside of its worktree that it may change; `~` is the home folder. Missing ones are ignored.
    pub writable: Vec<String>,
    /// Further files and folders that it may read.
    pub readable: Vec<PathBuf>,
    /// True if it is confined.
    pub is_confined: bool,
    /// The network that it may use.
    pub network: Network,
}

/// The command of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentCommand {
    /// A program with arguments, in which `${NAME}` stands for a variable of its environment.
    Program {
        /// A name on the search path, or an absolute path.
        program: String,
        /// The arguments.
        arguments: Vec<String>,
    },
    /// A text for `/bin/sh`.
    Shell {
        /// The text.
        text: String,
    },
}

impl AgentDefinition {
    /// Returns the definition of an agent whose program has the agent's name, confined and with the network.
    pub fn new(name: AgentName) -> AgentDefinition {
        AgentDefinition {
            command: AgentCommand::Program { program: name.as_str().to_owned(), arguments: Vec::new() },
            name,
            environment: BTreeMap::new(),
            timeout: None,
            check: None,
            clean_tree: false,
            writable: Vec::new(),
            readable: Vec::new(),
            is_confined: true,
            network: Network::On,
        }
    }

    /// Returns a built-in definition: `claude` or `codex`, with its unattended command line.
    ///
    /// Their own prompts and sandboxes are off, because this program confines them.
    pub fn built_in(name: &AgentName) -> Option<AgentDefinition> {
        let (arguments, writable): (&[&str], &[&str]) = match name.as_str() {
            "claude" => {
                (&["--print", "--dangerously-skip-permissions", PROMPT], &["~/.claude", "~/.claude.json"])
            }
            "codex" => (&["exec", "--dangerously-bypass-approvals-and-sandbox", PROMPT], &["~/.codex"]),
            _ => return None,
        };
        let command = AgentCommand::Program {
            program: name.as_str().to_owned(),
            arguments: arguments.iter().map(|text| (*text).to_owned()).collect(),
        };
        let writable = writable.iter().map(|text| (*text).to_owned()).collect();
        Some(AgentDefinition { command, writable, ..AgentDefinition::new(name.clone()) })
    }

    /// Returns the command line, with variables filled in from `environment`; for a shell, the words that start it.
    ///
    /// # Errors
    /// [`RunnerError::NoProgram`], [`RunnerError::UnknownVariable`].
    pub fn words(
        &self,
        host: &Host,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Result<Vec<OsString>, RunnerError> {
        match &self.command {
            AgentCommand::Shell { text } => Ok(["/bin/sh", "-c", text].map(OsString::from).to_vec()),
            AgentCommand::Program { program, arguments } => {
                let missing =
                    || RunnerError::NoProgram { agent: self.name.clone(), program: program.clone() };
                let path = host.find_program(&host.expand_home(program).to_string_lossy());
                let mut words = vec![path.ok_or_else(missing)?.into_os_string()];
                for argument in arguments {
                    let word = fill_in(argument, environment).map_err(|variable| {
                        RunnerError::UnknownVariable { agent: self.name.clone(), variable }
                    })?;
                    words.push(word);
                }
                Ok(words)
            }
        }
    }
}

/// Replaces each `${NAME}` by the variable's value. The error is the name of a missing variable.
fn fill_in(text: &str, environment: &BTreeMap<OsString, OsString>) -> Result<OsString, String> {
    let mut filled = OsString::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        // Without a closing brace the rest is literal text.
        let Some((name, after_brace)) = after.split_once('}') else { break };
        filled.push(before);
        filled.push(environment.get(OsStr::new(name)).ok_or_else(|| name.to_owned())?);
        rest = after_brace;
    }
    filled.push(rest);
    Ok(filled)
}

/// Quotes words for `/bin/sh`, which then takes each literally. `None` if they are not UTF-8.
pub(crate) fn quoted(words: &[OsString]) -> Option<String> {
    let mut text = Vec::new();
    for word in words {
        if !text.is_empty() {
            text.push(b' ');
        }
        text.push(b'\'');
        for byte in word.as_bytes() {
            match byte {
                b'\'' => text.extend_from_slice(b"'\\''"),
                _ => text.push(*byte),
            }
        }
        text.push(b'\'');
    }
    String::from_utf8(text).ok()
}
