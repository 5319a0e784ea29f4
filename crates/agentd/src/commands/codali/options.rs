//! The options of `agentd codali`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::docdex::DocdexOptions;

#[derive(Debug, Args)]
pub(crate) struct CodaliOptions {
    /// The text, or `-` for standard input.
    #[arg(value_name = "FILE|-", default_value = "-")]
    pub file: PathBuf,
    /// The form of the response.
    #[arg(long, value_name = "yaml|json-body", default_value = "yaml")]
    pub format: codali_envelope::Form,
    /// Keep the response below about this many tokens.
    #[arg(long, value_name = "TOKENS")]
    pub budget: Option<u32>,
    /// Leave out how long it took, so that the same files give the same response.
    #[arg(long)]
    pub deterministic: bool,
    /// The name of a request that has none, which its response repeats.
    #[arg(long, value_name = "ID", conflicts_with_all = ["watch", "guide"])]
    pub request_id: Option<codali_envelope::RequestId>,
    /// Write results as the readers of another implementation expect them: there is codali.
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
    pub docdex: DocdexOptions,
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
    /// A file with the text in front of each prompt.
    #[arg(long, value_name = "FILE", requires = "history")]
    pub system: Option<PathBuf>,
    /// A message of the user: it begins or continues a conversation, and no reply is read.
    #[arg(long, value_name = "TEXT", requires = "history", conflicts_with = "file")]
    pub task: Option<String>,
}
