//! The options of `agentd codali`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::docdex::DocdexOptions;
use crate::commands::review::options::ReviewPolicyOption;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct CodaliOptions {
    #[command(subcommand)]
    pub command: Option<CodaliCommand>,
    /// The text, or `-` for standard input.
    #[arg(value_name = "FILE|-", default_value = "-")]
    pub file: PathBuf,
    /// The form of the response.
    #[arg(long, value_name = "yaml|json-body", default_value = "yaml")]
    pub format: codali_envelope::Form,
    /// Leave out how long it took, so that the same files give the same response.
    #[arg(long)]
    pub deterministic: bool,
    /// The name of a request that has none, which its response repeats.
    #[arg(long, value_name = "ID", conflicts_with_all = ["watch", "guide"])]
    pub request_id: Option<codali_envelope::RequestId>,
    /// Write results as the readers of another implementation expect them; the only one so far is codali.
    #[arg(long, value_name = "codali")]
    pub compat: Option<Peer>,
    /// Answer every file that is put into a folder, until Ctrl-C.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "history", "guide"])]
    pub watch: Option<PathBuf>,
    /// Print the instructions for an agent, and nothing else.
    #[arg(long, conflicts_with_all = ["file", "history"])]
    pub guide: bool,
    #[command(flatten)]
    pub conversation: ConversationOptions,
    #[command(flatten)]
    pub sources: SourceOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CodaliCommand {
    /// Have agents plan, edit and judge until the result passes.
    Run(Box<FlowOptions>),
    /// Judge the last run by the files that it touched.
    Critic(CriticOptions),
}

/// The sources of responses, and how long these may be.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SourceOptions {
    /// Keep a response below about this many tokens.
    #[arg(long, value_name = "TOKENS")]
    pub budget: Option<u32>,
    #[command(flatten)]
    pub docdex: DocdexOptions,
}

/// Options of the whole flow.
#[derive(Debug, Args)]
pub(crate) struct FlowOptions {
    /// The task; several words are joined.
    #[arg(value_name = "TASK", required_unless_present = "resumed", conflicts_with = "resumed")]
    pub task: Vec<String>,
    /// Resume a flow where it was interrupted, by the id of its session [default: the newest that is not complete].
    #[arg(id = "resumed", long = "resume", value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,
    #[command(flatten)]
    pub agents: AgentOptions,
    /// Stop after this many rounds of plan, edits and verdict.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// The size of the agents' window in tokens.
    #[arg(long, value_name = "N", default_value_t = 32_000, value_parser = clap::value_parser!(u64).range(1_024..))]
    pub context_tokens: u64,
    #[command(flatten)]
    pub limits: LimitOptions,
    /// Run a shell command after each round; a round in which it fails does not pass.
    #[arg(long, value_name = "COMMAND", conflicts_with = "resumed")]
    pub test: Option<String>,
    #[command(flatten)]
    pub sources: SourceOptions,
    #[command(flatten)]
    pub review: ReviewPolicyOption,
}

/// The programs that are the agents: commands of the user's shell, with the prompt on standard input and the reply on standard
/// output.
#[derive(Clone, Debug, Args)]
pub(crate) struct AgentOptions {
    /// The program for architect, builder and critic, where they have none of their own. Required unless --architect and
    /// --builder are given.
    #[arg(long, value_name = "COMMAND")]
    pub model: Option<String>,
    /// The program that plans.
    #[arg(long, value_name = "COMMAND")]
    pub architect: Option<String>,
    /// The program that edits.
    #[arg(long, value_name = "COMMAND")]
    pub builder: Option<String>,
    /// The program that judges in addition to the check.
    #[arg(long, value_name = "COMMAND")]
    pub critic: Option<String>,
    /// A program that collects context before the first plan.
    #[arg(long, value_name = "COMMAND")]
    pub librarian: Option<String>,
    /// A program that summarises a history that has become too long.
    #[arg(long, value_name = "COMMAND")]
    pub summarizer: Option<String>,
    /// The seconds that a program may take for one reply.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    pub model_timeout: u64,
}

/// The files that may be changed.
#[derive(Clone, Debug, Args)]
pub(crate) struct LimitOptions {
    /// Files and folders that may be changed, between commas [default: all].
    #[arg(long, value_name = "PATH,…", value_delimiter = ',')]
    pub allowed: Vec<String>,
    /// Files and folders that must stay as they are, between commas.
    #[arg(long, value_name = "PATH,…", value_delimiter = ',')]
    pub untouched: Vec<String>,
}

/// Options of judging the last run.
#[derive(Debug, Args)]
pub(crate) struct CriticOptions {
    /// The files that the run was to change, between commas.
    #[arg(long, value_name = "PATH,…", value_delimiter = ',', required = true)]
    pub targets: Vec<String>,
    #[command(flatten)]
    pub limits: LimitOptions,
    /// The form of the result.
    #[arg(long, value_name = "yaml|json-body", default_value = "yaml")]
    pub format: codali_envelope::Form,
}

/// Another implementation of Codali, for whose readers results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Peer {
    /// The public implementation.
    Codali,
}

/// Options of a conversation with an agent that has no memory.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConversationOptions {
    /// Keep the conversation in a file, and print all that the agent is to be sent next.
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// The size of the agent's window in tokens.
    #[arg(long, value_name = "N", requires = "history", value_parser = clap::value_parser!(u64).range(256..))]
    pub context_tokens: Option<u64>,
    /// A shell command that summarises its standard input.
    #[arg(long, value_name = "COMMAND", requires = "history")]
    pub summarizer: Option<String>,
    /// A file with the text that precedes each prompt.
    #[arg(long, value_name = "FILE", requires = "history")]
    pub system: Option<PathBuf>,
    /// A message of the user: it begins or continues a conversation, and no reply is read.
    #[arg(long, value_name = "TEXT", requires = "history", conflicts_with = "file")]
    pub task: Option<String>,
}
