//! The command line of `agentd cocode` as types.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use cocode_env::{IssueNumber, IssueUrl, ReadyMarker};

#[cfg(feature = "fleet")]
use super::fleet_options::FleetRun;

#[derive(Debug, Subcommand)]
pub(crate) enum CocodeCommand {
    /// Run agents on an issue, each in a worktree and a branch of its own, and judge what they commit.
    Run(Box<CocodeRun>),
    /// List the agents that are running or have run.
    Status,
    /// Print an agent's log.
    Logs {
        #[command(flatten)]
        agent: CocodeAgent,
        /// Follow the output until the agent ends.
        #[arg(long, short)]
        follow: bool,
    },
    /// Print the commits of an agent as a difference.
    Diff {
        #[command(flatten)]
        agent: CocodeAgent,
        /// Print only a line for each file.
        #[arg(long)]
        stat: bool,
    },
    /// Ask a running agent to end, and kill it after five seconds.
    Cancel {
        #[command(flatten)]
        agent: CocodeAgent,
    },
    /// Take an agent's work into the current branch, if that is clean.
    Pick {
        #[command(flatten)]
        agent: CocodeAgent,
        /// Say what would be done.
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        folder: WorktreesFolder,
    },
    /// Remove worktrees and branches of agents where nothing is lost by it, and say why others are kept.
    Clean {
        /// Those of every run, not only of the newest.
        #[arg(long)]
        all: bool,
        /// Remove all of this agent, with files that are not committed and unmerged commits.
        #[arg(long, value_name = "NAME", conflicts_with = "all")]
        force: Option<String>,
        /// Its issue [default: that of its newest run].
        #[arg(long, value_name = "N", requires = "force")]
        issue: Option<IssueNumber>,
        /// Say what would be done.
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        folder: WorktreesFolder,
    },
    /// Run a command as an agent on a throw-away repository, and report on every part of the contract.
    Check {
        /// The agent's program and its arguments.
        #[arg(required = true, last = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
    /// Report the requirements of agents on this machine.
    Doctor {
        #[command(flatten)]
        definitions: CocodeDefinitions,
    },
    /// Be the agent `paste`; `run` starts this itself.
    #[command(hide = true)]
    Paste,
}

#[derive(Debug, Args)]
pub(crate) struct CocodeRun {
    /// The issue's number.
    #[arg(long, value_name = "N")]
    pub issue: IssueNumber,
    /// An agent: of agents.toml, built in (claude, codex, paste), or by --agent-cmd.
    #[arg(long = "agent", value_name = "NAME", num_args = 1..)]
    pub agents: Vec<String>,
    /// Defines an agent by a shell command, and runs it.
    #[arg(long = "agent-cmd", value_name = "NAME=COMMAND")]
    pub commands: Vec<String>,
    /// The issue's address [default: derived from the remote].
    #[arg(long, value_name = "URL")]
    pub issue_url: Option<IssueUrl>,
    /// The file with the issue's text [default: `gh issue view`].
    #[arg(long, value_name = "FILE", conflicts_with = "issue_body")]
    pub issue_body_file: Option<PathBuf>,
    /// The issue's text, or `-` for standard input.
    #[arg(long, value_name = "TEXT|-", allow_hyphen_values = true)]
    pub issue_body: Option<String>,
    /// The branch to start from, or a conversation whose work is continued, from the files as they are [default: the remote's
    /// default branch, main or master].
    #[arg(long, value_name = "BRANCH|session:ID")]
    pub from: Option<String>,
    /// The marker in the message of an agent's last commit [default: cocode ready for check].
    #[arg(long, value_name = "TEXT")]
    pub marker: Option<ReadyMarker>,
    /// A shell command that must pass in each agent's worktree, instead of those in agents.toml.
    #[arg(long, value_name = "COMMAND")]
    pub check: Option<String>,
    /// The number of agents that run at once, 1 to 20 [default: 5].
    #[arg(long, value_name = "N")]
    pub parallel: Option<u64>,
    #[cfg(feature = "fleet")]
    #[command(flatten)]
    pub fleet: FleetRun,
    /// Succeed only if all agents are ready.
    #[arg(long)]
    pub all: bool,
    /// End with a table of the agents: verdict, commits, files and lines, check, time.
    #[arg(long)]
    pub compare: bool,
    /// Show what would be started.
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub folder: WorktreesFolder,
    #[command(flatten)]
    pub definitions: CocodeDefinitions,
}

/// One agent that is running or has run.
#[derive(Debug, Args)]
pub(crate) struct CocodeAgent {
    /// The agent's name.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Its issue [default: that of its newest run].
    #[arg(long, value_name = "N")]
    pub issue: Option<IssueNumber>,
}

/// The folder of worktrees.
#[derive(Debug, Default, Args)]
pub(crate) struct WorktreesFolder {
    /// The folder for worktrees, outside of any repository [default: in the user's state folder].
    #[arg(long, value_name = "DIR")]
    pub worktrees: Option<PathBuf>,
}

/// The file that defines agents.
#[derive(Debug, Default, Args)]
pub(crate) struct CocodeDefinitions {
    /// The file that defines agents [default: agentd/agents.toml in the user's configuration folder].
    #[arg(long, value_name = "FILE")]
    pub agents_file: Option<PathBuf>,
}
