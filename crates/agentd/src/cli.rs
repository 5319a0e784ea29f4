//! The commands of the command line. Each command has its options in its own file.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use workspace_host::state::garbage_keeper::USUAL_LIMIT_BYTES;

use crate::commands::apply::{ApplyOptions, ExecutionOptions};
use crate::commands::clipboard::CopyOptions;
use crate::commands::cocode::options::CocodeCommand;
use crate::commands::codali::options::CodaliOptions;
use crate::commands::demo::DemoOptions;
#[cfg(feature = "fleet")]
use crate::commands::fleet::options::FleetCommand;
use crate::commands::history::blame::line_range;
use crate::commands::history::diff::change_range;
use crate::commands::history::undo::UndoOptions;
use crate::commands::index::IndexCommand;
use crate::commands::parse::Format;
use crate::commands::review::options::{ReviewOptions, ReviewPolicyOption};
use crate::commands::serve::ServeOptions;
use crate::commands::serve::mcp::McpOptions;
use crate::commands::serve::ui::UiOptions;
use crate::commands::session::options::{NewOptions, ResumeOptions};
use crate::commands::setup::SetupOptions;
use crate::commands::shell_help::ManualOptions;
use crate::common_options::CommonOptions;

/// Lets a language model work on a folder of code: copy a message into a chat, paste the reply back.
///
/// Without a command, the newest unfinished session resumes; `agentd "a task"` starts a new one.
#[derive(Debug, Parser)]
#[command(name = "agentd", version, args_conflicts_with_subcommands = false, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub common: CommonOptions,
    /// Resume the newest unfinished session.
    #[arg(long)]
    pub resume: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the whole loop on a temporary sample project, unattended.
    Demo(DemoOptions),
    /// Open the page in the browser: copy messages, paste replies, look at differences, run, undo.
    Ui(UiOptions),
    /// Start a session: write the first message, wait for replies in the inbox, until DONE.
    New(NewOptions),
    /// Continue the newest unfinished session, or one by its id.
    Resume(ResumeOptions),
    /// Execute one reply and write the next message.
    Apply(ApplyOptions),
    /// Print the pending message.
    Outbox {
        /// The session's id [default: the newest unfinished one].
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Print it for a new chat: with all rules, the whole list of files and the task.
        #[arg(long)]
        full: bool,
        /// Print one part of a message that is too long for one paste, counted from 1.
        #[arg(long, value_name = "N", conflicts_with = "full")]
        part: Option<usize>,
    },
    /// Put the pending message on the clipboard.
    Copy(CopyOptions),
    /// Execute the reply on standard input or, at a terminal, on the clipboard.
    Paste(ExecutionOptions),
    /// List the sessions.
    Sessions,
    /// Show one session with its steps.
    Show {
        /// The session's id.
        id: String,
        /// Write the session as a transcript for `replay`: files, messages, replies, results.
        #[arg(long, value_name = "FILE")]
        export: Option<PathBuf>,
    },
    /// Repeat a transcript in a temporary folder, and report the differences.
    Replay {
        /// The transcript that `show --export` has written.
        file: PathBuf,
    },
    /// Remove contents of finished sessions beyond the limit.
    Gc {
        /// The most bytes of contents of files to keep.
        #[arg(long, value_name = "BYTES", default_value_t = USUAL_LIMIT_BYTES)]
        limit: u64,
    },
    /// List the background processes of clients and sessions, or end one.
    Processes {
        /// End the processes of this name.
        #[arg(long, value_name = "NAME")]
        stop: Option<String>,
    },
    /// List runs with their changes, newest first.
    Log {
        /// At most this many runs.
        #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
        limit: u32,
        /// Also list changes of commands to files that git ignores or that git keeps for itself.
        #[arg(long)]
        all: bool,
    },
    /// Undo the newest reply or call that is in force, or the named changes.
    Undo(UndoOptions),
    /// Print what changes have done to files.
    Diff {
        /// Numbers of changes as `log` shows them, both included [default: all that are kept].
        #[arg(value_name = "N[..M]", value_parser = change_range)]
        range: Option<RangeInclusive<u64>>,
        /// Also print changes of commands to files that git ignores or that git keeps for itself.
        #[arg(long)]
        all: bool,
    },
    /// Print the lines of a file, each with the change that made it.
    Blame {
        /// The file, from the current folder, or else by its path in the workspace.
        file: String,
        /// Numbers of lines, both included [default: all].
        #[arg(long, value_name = "N[-M]", value_parser = line_range)]
        lines: Option<RangeInclusive<usize>>,
    },
    /// Print what a parser reads in a text, as JSON.
    Parse {
        #[command(subcommand)]
        format: Format,
    },
    /// Make one call of a workspace tool.
    Call {
        /// The tool's name, readFile for instance.
        tool: String,
        /// The arguments as JSON, or `-` for standard input.
        arguments: Option<String>,
    },
    /// Run coding agents in git worktrees, and determine which of them are really done.
    Cocode {
        #[command(subcommand)]
        command: CocodeCommand,
    },
    /// Run agents on many machines: a server, hosts that join it, and a look at both.
    #[cfg(feature = "fleet")]
    Fleet {
        #[command(subcommand)]
        command: Box<FleetCommand>,
    },
    /// Serve the workspace tools over JSON-RPC, one message a line on standard input and output.
    Wap(ReviewPolicyOption),
    /// Print the configuration that lets an MCP client use this folder, or write it.
    Setup(SetupOptions),
    /// Serve the workspace tools over HTTP, the llm4s dialect at /ws, MCP at /mcp, and the page at /ui.
    Serve(ServeOptions),
    /// Serve the workspace tools to an MCP client on standard input and output.
    Mcp(McpOptions),
    /// Answer a request of an agent, which is an envelope or a reply with one in it.
    Codali(Box<CodaliOptions>),
    /// Build, show or search the index of the code.
    Index {
        #[command(subcommand)]
        command: IndexCommand,
    },
    /// List the changes that wait for your review, look at one, try it, land it in part or whole, or send it back.
    Review(ReviewOptions),
    /// Carry out a choice that is read from standard input as JSON: a trial, in a separate process.
    #[command(hide = true)]
    CarryOut,
    /// Report what this machine can and cannot do.
    Doctor {
        /// Try a long list of ways out of the sandbox of commands, and list them.
        #[arg(long)]
        probe: bool,
    },
    /// Print a script that completes the command line in a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, or that of a command, or write all of them.
    Man(ManualOptions),
    /// A task: the same as `new`.
    #[command(external_subcommand)]
    Task(Vec<OsString>),
}
