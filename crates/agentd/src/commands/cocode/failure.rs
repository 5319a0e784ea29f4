//! The failures of agents' commands: exit codes and ways out.

use change_journal::OpenError;
use cocode_runner::RepositoryError;
use cocode_runner::RunnerError::{
    self, BelowTheRoot, BranchExists, Conflicts, Continued, Detached, Dirty, DoesNotFit, EmptyBody,
    FolderExists, FolderInTheWay, Git, HalfTaken, HiddenEdit, InTheWay, Journal, Launcher, NoIdentity,
    NoProgram, NoRecord, NotEnded, NotSigned, NothingToPick, Obeyed, Open, Record, Repository, SearchEnded,
    StillElsewhere, SubmoduleInTheWay, TooLittleConfinement, Unfinished, UnknownAgent, Unsound,
};

use crate::exit::{Exit, Failure};

pub(crate) use cocode_runner::error_chain;

/// Returns the exit code and the advice for an error of the runner.
pub(crate) fn explain(error: RunnerError) -> Failure {
    let failure = Failure::new(exit_of(&error), error_chain(&error));
    match advice_for(&error) {
        "" => failure,
        advice => failure.advise(advice),
    }
}

fn exit_of(error: &RunnerError) -> Exit {
    use cocode_runner::GitError::TooSlow;
    match error {
        Open(OpenError::Held { .. }) => Exit::Held,
        NoProgram { .. } | Launcher(_) | Git(cocode_runner::GitError::NotStarted(_)) => Exit::Missing,
        Repository(RepositoryError::Git(cocode_runner::GitError::NotStarted(_))) => Exit::Missing,
        TooLittleConfinement { .. } | Obeyed { .. } | Unsound { .. } | SearchEnded { .. } => Exit::Refused,
        Git(TooSlow { .. }) | Repository(RepositoryError::Git(TooSlow { .. })) => Exit::TimedOut,
        Git(_) | Open(_) | Journal(_) | Record(_) | RunnerError::File { .. } => Exit::Failed,
        RunnerError::CheckNotRun { .. } => Exit::Failed,
        NotEnded { .. } | NothingToPick { .. } | Dirty { .. } | Conflicts { .. } | Detached => Exit::Failed,
        FolderInTheWay { .. } | SubmoduleInTheWay { .. } | HiddenEdit { .. } => Exit::Failed,
        NotSigned { .. } | NoIdentity | HalfTaken { .. } => Exit::Failed,
        InTheWay { .. } | Unfinished { .. } | DoesNotFit { .. } | Continued { .. } => Exit::Failed,
        _ => Exit::Usage,
    }
}

/// Returns what the user can do about an error; nothing if the error says it.
fn advice_for(error: &RunnerError) -> &'static str {
    use cocode_runner::GitError::TooSlow;
    match error {
        Open(OpenError::Held { .. }) => "another process runs agents here; `agentd cocode status` shows them",
        Obeyed { .. } => {
            "look at `agentd cocode diff NAME`; to take such a file anyway, add --unprotect FILE to the pick; a link or a \
             repository comes with `git merge` of the agent's branch; changes of a branch of yours that the agent started from \
             are merged first"
        }
        NoProgram { .. } => "install it, or define the agent with another program in agents.toml",
        TooLittleConfinement { .. } => {
            "allow less with --sandbox allow=LEVEL, or set sandbox = \"off\" in the agent's definition"
        }
        BranchExists { branch } if !branch.contains('/') => {
            "agents' branches are named cocode/…, which git cannot create next to it: rename it with `git branch -m cocode \
             NEW-NAME`"
        }
        BranchExists { .. } | FolderExists { .. } => {
            "`agentd cocode clean` removes what is merged, `agentd cocode clean --force NAME` all of that agent's; or take \
             another agent's name. If `agentd cocode status` does not list it, no agent of this repository has made it: rename \
             or delete it yourself"
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
        Dirty { has_filters: false } => "commit or stash the changes first",
        Dirty { has_filters: true } => {
            "commit or stash the changes first; if `git status` shows none, they come from filters such as those of git-lfs, \
             which agentd does not run: take the work in with `git merge` of its branch, which `agentd cocode status` names"
        }
        Detached => "`git switch BRANCH` first, or `git switch -c NAME` for a new one",
        Conflicts { .. } => {
            "`git merge` of that branch leaves the conflicts for you to resolve; or start the agent again from the current \
             branch"
        }
        NotEnded { .. } => "`agentd cocode logs NAME -f` follows it, `agentd cocode cancel NAME` ends it",
        NothingToPick { .. } => "`agentd cocode logs NAME` shows what it has printed",
        Unsound { .. } => "start the agent again: its commits cannot be taken in",
        EmptyBody => "give it with --issue-body TEXT or --issue-body-file FILE",
        InTheWay { .. } => "move it away first",
        FolderInTheWay { .. } => "move these files away first",
        SubmoduleInTheWay { .. } => {
            "commit and push what it holds, and empty its folder with `git submodule deinit` first"
        }
        HiddenEdit { .. } => {
            "`git update-index --no-skip-worktree FILE`, or --no-assume-unchanged, shows what differs: commit or stash it first"
        }
        SearchEnded { .. } => "look at `agentd cocode diff NAME`, and take in by hand what you want of it",
        NotSigned { .. } => {
            "look at `agentd cocode diff NAME`; `git merge --no-verify-signatures` of its branch takes it in all the same"
        }
        NoIdentity => {
            "`git config --global user.name NAME` and `git config --global user.email ADDRESS` set them"
        }
        HalfTaken { .. } => {
            "look at `git status`: `git checkout -- FILE` restores the file of the last commit, and files that are in no commit \
             are the agent's, or yours"
        }
        Unfinished { .. } => "finish it, or undo it, with git first",
        Repository(RepositoryError::None) => {
            "run it in a folder of a repository, or name one with --workspace DIR; `git init` and a first commit make one"
        }
        Repository(RepositoryError::NoBase { .. }) => {
            "`git branch --all` lists the branches; work of a conversation is continued with --from session:ID"
        }
        Repository(RepositoryError::Bare) => {
            "`git worktree add DIR` makes a folder of its files: run it there"
        }
        Repository(RepositoryError::Reftable) => {
            "`git refs migrate --ref-format=files` turns them into files, once no other worktree is there"
        }
        Repository(RepositoryError::Path) => {
            "rename the folder, or clone the repository to one whose path is a single line of UTF-8"
        }
        Repository(RepositoryError::NoCommits) => "make a first commit; agents start from one",
        RunnerError::InsideRepository { .. } => "choose another folder with --worktrees DIR",
        RunnerError::NoAgents => "name one with --agent NAME or --agent-cmd 'NAME=COMMAND'",
        _ => "",
    }
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

    #[test]
    fn every_refusal_of_a_pick_and_of_a_run_says_what_to_do_next() {
        let agent: cocode_env::AgentName = "a".parse().expect("a name");
        let branch = |name: &str| RunnerError::BranchExists { branch: name.to_owned() };
        let cases = [
            (RunnerError::Conflicts { branch: "cocode/1-a".to_owned(), files: "a".to_owned() }, "git merge"),
            (RunnerError::Dirty { has_filters: false }, "commit or stash"),
            (RunnerError::Dirty { has_filters: true }, "git-lfs"),
            (RunnerError::Detached, "git switch"),
            (RunnerError::NotEnded { agent: agent.clone() }, "cocode logs"),
            (RunnerError::NothingToPick { agent: agent.clone() }, "cocode logs"),
            (
                RunnerError::Unsound { agent: agent.clone(), why: "a name".to_owned() },
                "start the agent again",
            ),
            (RunnerError::EmptyBody, "--issue-body"),
            (RunnerError::NoIdentity, "user.email"),
            (RunnerError::NotSigned { agent }, "--no-verify-signatures"),
            (RunnerError::HiddenEdit { path: "a".into() }, "--no-skip-worktree"),
            (RunnerError::SearchEnded { why: "it took too long" }, "cocode diff"),
            (
                RunnerError::HalfTaken {
                    files: "a".to_owned(),
                    source: GitError::TooSlow { command: "read-tree".to_owned() },
                },
                "git status",
            ),
            (RunnerError::Repository(RepositoryError::Path), "single line"),
            (branch("cocode"), "git branch -m cocode"),
            (branch("cocode/1-a"), "cocode clean"),
            (RunnerError::FolderExists { path: "/worktree".into() }, "delete it yourself"),
            (RunnerError::Repository(RepositoryError::Bare), "git worktree add"),
            (RunnerError::Repository(RepositoryError::Reftable), "git refs migrate"),
        ];
        for (error, word) in cases {
            let advice = explain(error).advice.unwrap_or_default();
            assert!(advice.contains(word), "{word}: {advice}");
        }
    }
}
