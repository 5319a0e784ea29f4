//! The failures of agents' commands: exit codes and ways out.

use change_journal::OpenError;
use cocode_runner::{RepositoryError, RunnerError};

use crate::exit::{Exit, Failure};

pub(crate) use cocode_runner::error_chain;

/// Returns the exit code and the advice for an error of the runner.
pub(crate) fn explain(error: RunnerError) -> Failure {
    use RunnerError::{
        BelowTheRoot, BranchExists, Conflicts, Continued, Dirty, DoesNotFit, FolderExists, FolderInTheWay,
        Git, InTheWay, Journal, Launcher, NoProgram, NoRecord, NotEnded, NothingToPick, Obeyed, Open, Record,
        Repository, StillElsewhere, SubmoduleInTheWay, TooLittleConfinement, Unfinished, UnknownAgent,
    };
    use cocode_runner::GitError::TooSlow;
    let exit = match &error {
        Open(OpenError::Held { .. }) => Exit::Held,
        NoProgram { .. } | Launcher(_) | Git(cocode_runner::GitError::NotStarted(_)) => Exit::Missing,
        Repository(RepositoryError::Git(cocode_runner::GitError::NotStarted(_))) => Exit::Missing,
        TooLittleConfinement { .. } | Obeyed { .. } => Exit::Refused,
        Git(TooSlow { .. }) | Repository(RepositoryError::Git(TooSlow { .. })) => Exit::TimedOut,
        Git(_) | Open(_) | Journal(_) | Record(_) | RunnerError::File { .. } => Exit::Failed,
        RunnerError::CheckNotRun { .. } => Exit::Failed,
        NotEnded { .. } | NothingToPick { .. } | Dirty | Conflicts { .. } => Exit::Failed,
        FolderInTheWay { .. } | SubmoduleInTheWay { .. } => Exit::Failed,
        InTheWay { .. } | Unfinished { .. } | DoesNotFit { .. } | Continued { .. } => Exit::Failed,
        _ => Exit::Usage,
    };
    let advice = match &error {
        Open(OpenError::Held { .. }) => "another process runs agents here; `agentd cocode status` shows them",
        Obeyed { .. } => {
            "look at `agentd cocode diff NAME`; what you want all the same, --unprotect FILE takes off the list for one pick, and a \
             link or a repository comes with `git merge` of its branch; what a branch of yours brings that the agent started \
             from, merge first"
        }
        NoProgram { .. } => "install it, or define the agent with another program in agents.toml",
        TooLittleConfinement { .. } => {
            "allow less with --sandbox allow=LEVEL, or set sandbox = \"off\" in the agent's definition"
        }
        BranchExists { .. } | FolderExists { .. } => {
            "`agentd cocode clean` removes what is merged, `agentd cocode clean --force NAME` all of that agent's; or take \
             another agent's name"
        }
        StillElsewhere { .. } => {
            "`agentd fleet collect` waits for its result; after `agentd cocode cancel NAME` that cancels it"
        }
        UnknownAgent { .. } => "define it in agents.toml, or with --agent-cmd 'NAME=COMMAND'",
        NoRecord { .. } => "`agentd cocode status` lists those that have",
        RunnerError::CheckNotRun { .. } => {
            "`agentd cocode doctor` and `agentd doctor` say what this machine lacks; the work is judged again then"
        }
        Git(TooSlow { .. }) => {
            "look into the worktree: an agent may have left a pipe where git expects a file"
        }
        BelowTheRoot => "run it in the folder that holds the repository, or commit and start from a branch",
        DoesNotFit { .. } => {
            "look at `agentd cocode diff NAME`, and take it in by hand, or start the agent again"
        }
        Continued { .. } => "`agentd cocode pick NAME` takes it in",
        Dirty => "commit or stash the changes first",
        InTheWay { .. } => "move it away first",
        FolderInTheWay { .. } => "move these files away first",
        SubmoduleInTheWay { .. } => {
            "commit and push what it holds, and empty its folder with `git submodule deinit` first"
        }
        Unfinished { .. } => "finish it, or undo it, with git first",
        Repository(RepositoryError::None) => {
            "run it in a folder of a repository, or name one with --workspace DIR; `git init` and a first commit make one"
        }
        Repository(RepositoryError::NoBase { .. }) => {
            "`git branch --all` lists the branches; work of a conversation is continued with --from session:ID"
        }
        Repository(RepositoryError::NoCommits) => "make a first commit; agents start from one",
        RunnerError::InsideRepository { .. } => "choose another folder with --worktrees DIR",
        RunnerError::NoAgents => "name one with --agent NAME or --agent-cmd 'NAME=COMMAND'",
        _ => "",
    };
    let failure = Failure::new(exit, error_chain(&error));
    if advice.is_empty() { failure } else { failure.advise(advice) }
}

#[cfg(test)]
mod tests {
    use cocode_runner::GitError;

    use super::*;

    #[test]
    fn a_slow_git_has_an_exit_code_of_its_own() {
        let slow = || GitError::TooSlow { command: "status".to_owned() };
        assert_eq!(explain(RunnerError::Git(slow())).exit, Exit::TimedOut);
        assert_eq!(explain(RunnerError::Repository(RepositoryError::Git(slow()))).exit, Exit::TimedOut);
        let failed = GitError::Answer { command: "status" };
        assert_eq!(explain(RunnerError::Git(failed)).exit, Exit::Failed);
    }
}
