//! The options of `agentd new` and `agentd resume`.

use std::path::PathBuf;

use clap::Args;

use crate::commands::review::options::ReviewPolicyOption;
use crate::commands::session::model::ModelOptions;

#[derive(Debug, Args)]
pub(crate) struct NewOptions {
    /// The task of the model; several words are joined. `-` alone reads it from standard input.
    #[arg(required = true, value_name = "TASK")]
    pub task: Vec<String>,
    /// Write the first message and return.
    #[arg(long, conflicts_with_all = ["model", "clipboard"])]
    pub no_wait: bool,
    /// Show this file whole in the first message; may be given several times. A file that usually holds credentials also needs
    /// --read-secret.
    #[arg(long, value_name = "FILE")]
    pub read: Vec<PathBuf>,
    /// Continue the work of another conversation: a session, or a client as `agentd log` names it. The first message has its
    /// commands with their results and its differences.
    #[arg(long, value_name = "CONVERSATION")]
    pub from: Option<String>,
    #[command(flatten)]
    pub following: Following,
    #[command(flatten)]
    pub model: ModelOptions,
    /// The dialect of the protocol.
    #[arg(long, value_name = "agentd|codingagent", default_value = "agentd")]
    pub dialect: tagproto::Dialect,
    /// Keep every message below this many tokens: a number, or local, copilot, chatgpt, gemini or claude [default: 24000, and
    /// none with --dialect codingagent].
    #[arg(long, value_name = "TOKENS|CHAT", value_parser = crate::commands::session::budget::budget)]
    pub budget: Option<u32>,
    /// Write messages of more characters than this in parts, too, for chats that take no more in one paste: 2000 or more.
    #[arg(long = "paste", value_name = "CHARACTERS", conflicts_with = "clipboard", value_parser = clap::value_parser!(u32).range(LEAST..))]
    pub paste_characters: Option<u32>,
}

#[expect(clippy::cast_possible_wrap, reason = "the bound is small")]
const LEAST: i64 = tagproto::LEAST_PASTE_CHARACTERS as i64;

#[derive(Debug, Default, Args)]
pub(crate) struct ResumeOptions {
    /// The session's id.
    pub id: Option<String>,
    /// Continue a session that is complete: its next message says that the task is not.
    #[arg(long, requires = "id")]
    pub reopen: bool,
    /// Put this answer to the model's question into the pending message.
    #[arg(long, value_name = "TEXT")]
    pub answer: Option<String>,
    #[command(flatten)]
    pub following: Following,
    #[command(flatten)]
    pub model: ModelOptions,
}

/// Options of following a session.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Following {
    #[command(flatten)]
    pub review: ReviewPolicyOption,
    /// Put every message on the clipboard.
    #[arg(long)]
    pub copy: bool,
    /// Put every message on the clipboard of the desktop, and take a text that answers it from there: paste into the chat, copy
    /// the reply.
    #[arg(long, conflicts_with = "copy")]
    pub clipboard: bool,
    /// Execute the complete blocks of a reply that was cut off, instead of first asking the model to continue.
    #[arg(long)]
    pub run_complete: bool,
}
