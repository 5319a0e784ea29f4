//! The errors of the runner.

use std::path::PathBuf;

use change_journal::{JournalError, OpenError};
use cocode_env::{AgentName, ContextError};

use crate::delivery::error::DeliveryError;
use crate::plan::agents_file::AgentsFileError;
use crate::repository::git::GitError;
use crate::verdict::obeyed_files::ObeyedFiles;

/// An error that makes a repository unusable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepositoryError {
    /// The folder is in no repository.
    #[error("this folder belongs to no git repository")]
    None,
    /// It has no work tree.
    #[error("the repository is bare")]
    Bare,
    /// Its path contains a line break or is not UTF-8, so neither records nor git's own files can hold it.
    #[error("the path of the repository has a line break or is not valid UTF-8, which is not supported")]
    Path,
    /// It has no commit to start from.
    #[error("the repository has no commits yet")]
    NoCommits,
    /// Its references are not files, so an agent cannot be confined to its own.
    #[error("the repository keeps its references in a reftable, which is not supported")]
    Reftable,
    /// The requested branch exists neither here nor at the remote.
    #[error("there is no branch '{name}'")]
    NoBase {
        /// The name that was given.
        name: String,
    },
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// An error of the runner. Its paths are meant for the user of the runner, not for a model.
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
    /// A record is not in the format that this program writes.
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
    /// An argument of an agent names a variable that it does not receive.
    #[error("an argument of the agent '{agent}' names the variable {variable}, which it does not get")]
    UnknownVariable {
        /// The agent.
        agent: AgentName,
        /// The variable.
        variable: String,
    },
    /// The agent's definition lists a path that no agent may change.
    #[error("the agent '{agent}' cannot be given '{path}' to write: {why}")]
    Writable {
        /// The agent.
        agent: AgentName,
        /// The path, as written in the definition.
        path: String,
        /// The reason.
        why: &'static str,
    },
    /// The definition denies the agent the network, or all but some names of it, and no confinement enforces it.
    #[error(
        "the agent '{agent}' may not use the whole network, and without confinement nothing enforces that"
    )]
    OpenNetwork {
        /// The agent.
        agent: AgentName,
    },
    /// An agent's command cannot be run.
    #[error("the command of the agent '{agent}' cannot be run")]
    Command {
        /// The agent.
        agent: AgentName,
        /// The cause.
        #[source]
        source: sandbox_exec::CommandError,
    },
    /// A word of an agent's command is not text.
    #[error("the command of the agent '{agent}' is not valid UTF-8")]
    NotText {
        /// The agent.
        agent: AgentName,
    },
    /// The branch already exists.
    #[error("the branch {branch} already exists")]
    BranchExists {
        /// The branch.
        branch: String,
    },
    /// The path of the worktree, or of a file next to it, is occupied.
    #[error("{} already exists", .path.display())]
    FolderExists {
        /// The path.
        path: PathBuf,
    },
    /// Worktrees must not be in a repository: build tools would find the parent's files.
    #[error("the worktrees' folder {} is in a repository", .path.display())]
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
        /// The operation, as a verb.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// A value for the agent does not fit the contract.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// No process can be started on this machine.
    #[error("no agent can be started")]
    Launcher(#[source] sandbox_exec::StartError),
    /// The machine confines less than requested.
    #[error("this machine confines agents only at level {level}, which --sandbox allow={level} would permit")]
    TooLittleConfinement {
        /// The level that the machine reaches.
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
    /// Another machine has the agent, and its work is not judged yet.
    #[error("the agent '{agent}' runs on another machine, and its work is not judged yet")]
    StillElsewhere {
        /// The agent.
        agent: AgentName,
    },
    /// The agent runs on this machine.
    #[error("the agent '{agent}' does not run on another machine")]
    NotElsewhere {
        /// The agent.
        agent: AgentName,
    },
    /// A delivery or a report of another machine is refused.
    #[error("what another machine delivers of the agent '{agent}' is refused")]
    Delivery {
        /// The agent.
        agent: AgentName,
        /// The reason.
        #[source]
        source: DeliveryError,
    },
    /// This machine could not run the check of delivered work, which says nothing about the work.
    #[error("the check of the agent '{agent}' could not be run on this machine: {why}")]
    CheckNotRun {
        /// The agent.
        agent: AgentName,
        /// The reason.
        why: String,
    },
    /// The agent has left no commit.
    #[error("the agent '{agent}' has committed nothing")]
    NothingToPick {
        /// The agent.
        agent: AgentName,
    },
    /// Git would not check out the agent's commits.
    #[error("git rejects the commits of the agent '{agent}': {why}")]
    Unsound {
        /// The agent.
        agent: AgentName,
        /// The entry, and the reason for its refusal.
        why: String,
    },
    /// The work changes files by which other programs start programs, which no work of a model may change.
    #[error(
        "to take in the work of the agent '{agent}' would change what other programs obey unasked: {files}"
    )]
    Obeyed {
        /// The agent.
        agent: AgentName,
        /// The files.
        files: ObeyedFiles,
    },
    /// The search for files that other programs obey did not finish.
    #[error("the search for what other programs obey has ended early: {why}")]
    SearchEnded {
        /// The reason.
        why: &'static str,
    },
    /// There are changes that are not committed.
    #[error("the work tree holds changes that are not committed")]
    Dirty {
        /// True if git has filters here, such as git-lfs. They are off in the runner's own calls, which may cause the difference.
        has_filters: bool,
    },
    /// No branch is checked out, so none would keep the work.
    #[error("no branch is checked out here, so none would keep the work")]
    Detached,
    /// An uncommitted file is at the path of a file of the agent's work, and would be lost.
    #[error("'{}' is not committed, and the agent's work has a file there", .path.display())]
    InTheWay {
        /// The path, relative to the work tree.
        path: PathBuf,
    },
    /// The work replaces a folder that holds uncommitted files, which would be lost.
    #[error("the agent's work replaces the folder '{}', where files are in no commit: {files}", .path.display())]
    FolderInTheWay {
        /// The folder, relative to the work tree.
        path: PathBuf,
        /// The first of these files, and the number of further ones.
        files: String,
    },
    /// The work replaces a submodule whose folder is in use. Its contents would be lost.
    #[error("the agent's work replaces the submodule '{}', whose folder is in use", .path.display())]
    SubmoduleInTheWay {
        /// The submodule, relative to the work tree.
        path: PathBuf,
    },
    /// A file that the work changes differs from its commit, and git is set to overlook that.
    #[error("'{}' differs from its commit, and git is set to overlook that", .path.display())]
    HiddenEdit {
        /// The path, relative to the work tree.
        path: PathBuf,
    },
    /// The user demands signed work, and the agent's is not.
    #[error(
        "the work of the agent '{agent}' has no valid signature, which git is set to demand of merges here"
    )]
    NotSigned {
        /// The agent.
        agent: AgentName,
    },
    /// A merge needs an author.
    #[error("a merge needs an author, and git does not know your name and email address")]
    NoIdentity,
    /// Git failed midway, and some files could not be restored.
    #[error("the work was taken in half, and these files could not be restored: {files}")]
    HalfTaken {
        /// The first of them, and the number of further ones.
        files: String,
        /// The cause.
        #[source]
        source: GitError,
    },
    /// The work is based on files that have changed since.
    #[error("the work of the agent '{agent}' does not fit the files as they are now: {why}")]
    DoesNotFit {
        /// The agent.
        agent: AgentName,
        /// The reason that git gives.
        why: String,
    },
    /// The workspace is a part of the repository only.
    #[error("work that is not committed can be continued only where the workspace is the whole repository")]
    BelowTheRoot,
    /// The work continues a conversation, so it is adopted as a run of that conversation and not as a merge.
    #[error("the agent '{agent}' has continued work that is not committed, so its own cannot be merged")]
    Continued {
        /// The agent.
        agent: AgentName,
    },
    /// The user has an unfinished operation of git in the work tree.
    #[error("a {what} is unfinished in the work tree")]
    Unfinished {
        /// The operation, such as `merge`.
        what: &'static str,
    },
    /// The merge would not be clean.
    #[error("{branch} does not merge cleanly; git finds conflicts in {files}")]
    Conflicts {
        /// The branch.
        branch: String,
        /// The first of the files with conflicts, and the number of further ones.
        files: String,
    },
}

impl RunnerError {
    /// Returns whether the fault is on this machine, where the same operation may succeed later.
    pub(crate) fn is_of_this_machine(&self) -> bool {
        use std::io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        match self {
            RunnerError::Git(error) => error.is_of_this_machine(),
            RunnerError::File { source, .. } => {
                matches!(source.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem)
            }
            _ => false,
        }
    }
}

/// Returns an error with all its causes, on one line. A cause that ends the preceding text is not repeated, since some errors
/// print theirs.
#[must_use]
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.ends_with(&said) {
            text.push_str(&format!(": {said}"));
        }
        source = cause.source();
    }
    text
}
