//! Why the runner cannot do what it is asked.

use std::path::PathBuf;

use change_journal::{JournalError, OpenError};
use cocode_env::{AgentName, ContextError};

use crate::plan::agents_file::AgentsFileError;
use crate::repository::git::GitError;
use crate::verdict::obeyed_files::ObeyedFiles;

/// What is wrong with a repository.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepositoryError {
    /// There is none.
    #[error("this folder belongs to no git repository")]
    None,
    /// It has no work tree.
    #[error("the repository is bare")]
    Bare,
    /// Its path is nothing that can be written down on a line.
    #[error("the path of the repository has a line break or is not valid UTF-8, which is not supported")]
    Path,
    /// It has no commit to start from.
    #[error("the repository has no commits yet")]
    NoCommits,
    /// Its references are not files, so that an agent could not be kept to its own.
    #[error("the repository keeps its references in a reftable, which is not supported")]
    Reftable,
    /// The branch that was asked for does not exist, here or at the remote.
    #[error("there is no branch '{name}'")]
    NoBase {
        /// The name that was given.
        name: String,
    },
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Why the runner cannot do what it is asked. Paths in it are for the user of the runner.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// The repository cannot be used.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The records cannot be opened.
    #[error("the records of agents cannot be opened")]
    Open(#[source] OpenError),
    /// The records cannot be read or written.
    #[error("the records of agents cannot be read or written")]
    Journal(#[from] JournalError),
    /// A record is not what this program writes.
    #[error("a record of an agent cannot be read")]
    Record(#[source] serde_json::Error),
    /// The definitions of agents are damaged.
    #[error(transparent)]
    Agents(#[from] AgentsFileError),
    /// No such agent is defined.
    #[error("there is no agent '{name}'")]
    UnknownAgent {
        /// The name that was given.
        name: String,
    },
    /// An agent was named twice.
    #[error("the agent '{name}' is named twice")]
    Twice {
        /// The name.
        name: AgentName,
    },
    /// No agent was named.
    #[error("no agent is named")]
    NoAgents,
    /// The agent's program is missing or not executable.
    #[error("the program '{program}' of the agent '{agent}' is missing or not executable")]
    NoProgram {
        /// The agent.
        agent: AgentName,
        /// The program as it was given.
        program: String,
    },
    /// An argument of an agent names a variable that it does not get.
    #[error("an argument of the agent '{agent}' names the variable {variable}, which it does not get")]
    UnknownVariable {
        /// The agent.
        agent: AgentName,
        /// The variable.
        variable: String,
    },
    /// The agent's definition lists something that no agent may change.
    #[error("the agent '{agent}' cannot be given '{path}' to write: {why}")]
    Writable {
        /// The agent.
        agent: AgentName,
        /// The path as the definition has it.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The agent is to have no network, and nothing keeps it from there.
    #[error("the agent '{agent}' is to have no network, and without confinement nothing keeps it from there")]
    OpenNetwork {
        /// The agent.
        agent: AgentName,
    },
    /// An agent's command cannot be run.
    #[error("the command of the agent '{agent}' cannot be run")]
    Command {
        /// The agent.
        agent: AgentName,
        /// Why.
        #[source]
        source: sandbox_exec::CommandError,
    },
    /// A word of an agent's command is no text.
    #[error("the command of the agent '{agent}' is not valid UTF-8")]
    NotText {
        /// The agent.
        agent: AgentName,
    },
    /// The branch is there already.
    #[error("the branch {branch} is there already")]
    BranchExists {
        /// The branch.
        branch: String,
    },
    /// Something lies where the worktree should go.
    #[error("{} is there already", .path.display())]
    FolderExists {
        /// The path.
        path: PathBuf,
    },
    /// Worktrees must not lie in a repository: build tools would find the parent's files.
    #[error("the worktrees' folder {} lies in a repository", .path.display())]
    InsideRepository {
        /// The path.
        path: PathBuf,
    },
    /// The text is blank.
    #[error("the text of the issue is empty")]
    EmptyBody,
    /// A file or folder of the runner cannot be used.
    #[error("cannot {what} {}", .path.display())]
    File {
        /// What was to be done.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// Why it cannot be done.
        #[source]
        source: std::io::Error,
    },
    /// The agent would get something else than the contract says.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// Nothing can be started on this machine.
    #[error("no agent can be started")]
    Launcher(#[source] sandbox_exec::StartError),
    /// The machine confines less than what was asked for.
    #[error("this machine confines agents only at level {level}")]
    TooLittleConfinement {
        /// What it has.
        level: sandbox_exec::Level,
    },
    /// There is no record of such an agent.
    #[error("no agent '{name}' has run here")]
    NoRecord {
        /// The name that was given.
        name: String,
    },
    /// The agent has not ended yet.
    #[error("the agent '{agent}' has not ended yet")]
    NotEnded {
        /// The agent.
        agent: AgentName,
    },
    /// The agent has left no commit.
    #[error("the agent '{agent}' has committed nothing")]
    NothingToPick {
        /// The agent.
        agent: AgentName,
    },
    /// Git would not check out what the agent has committed.
    #[error("git does not take what the agent '{agent}' has committed: {why}")]
    Unsound {
        /// The agent.
        agent: AgentName,
        /// Which entry, and what is wrong with it.
        why: String,
    },
    /// The work has files that start programs of others, which nothing that a model made may change.
    #[error("the work of the agent '{agent}' changes what other programs obey unasked: {files}")]
    Obeyed {
        /// The agent.
        agent: AgentName,
        /// The files.
        files: ObeyedFiles,
    },
    /// There are changes that are not committed.
    #[error("the work tree holds changes that are not committed")]
    Dirty,
    /// Something is in the place of a file that would come, and would be lost.
    #[error("'{}' is not committed, and the agent's work has a file there", .path.display())]
    InTheWay {
        /// The path, relative to the work tree.
        path: PathBuf,
    },
    /// The person has begun something of the kind and not finished it.
    #[error("a {what} is unfinished in the work tree")]
    Unfinished {
        /// What.
        what: &'static str,
    },
    /// The merge would not be clean.
    #[error("{branch} does not merge cleanly")]
    Conflicts {
        /// The branch.
        branch: String,
    },
}

/// An error with all its causes, on one line.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}
