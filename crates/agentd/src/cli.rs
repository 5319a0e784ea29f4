//! The command line as types.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::cocode_cli::CocodeCommand;
use crate::remote_code_index;
use crate::setup::McpClient;
use wap_http::{HostName, WorkspacePrefix};
use wap_mcp::{ExtraTool, PageLimit};
use workspace_host::confinement::SandboxChoice;
use workspace_host::obeyed_names;
use workspace_host::state::garbage_keeper::USUAL_LIMIT_BYTES;
use workspace_host::state::workspace_search::FoundWorkspace;
use workspace_host::{HostOptions, USUAL_COMMAND_TIMEOUT};

/// Lets a language model work on a folder of code: copy the outbox into a chat, paste the reply back.
///
/// Without a command, the newest unfinished session goes on; `agentd "a task"` starts a new one.
#[derive(Debug, Parser)]
#[command(name = "agentd", version, args_conflicts_with_subcommands = false, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub common: Common,
    /// Resume the newest unfinished session.
    #[arg(long)]
    pub resume: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of every command; they may stand before or after it.
#[derive(Clone, Debug, Args)]
pub(crate) struct Common {
    /// The folder of code [default: the nearest folder upwards with a state folder, else the repository's root, else the
    /// current folder].
    #[arg(long, global = true, hide_default_value = true, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    /// The state folder [default: .agentd in the workspace].
    #[arg(long, global = true, value_name = "DIR")]
    pub base: Option<PathBuf>,
    /// The file with defaults for options [default: agentd/config.toml in the user's configuration folder].
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Take a state folder over that was not made in this place: a copy, or a backup that was restored.
    #[arg(long, global = true)]
    pub trust_state: bool,
    /// Print one JSON value on standard output.
    #[arg(long, global = true)]
    pub json: bool,
    /// Print no progress.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Print more.
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// What confinement commands need: require=LEVEL, allow=LEVEL or off.
    #[arg(long, global = true, value_name = "WHAT")]
    pub sandbox: Option<SandboxChoice>,
    /// Whether commands may use the network.
    #[arg(long, global = true, value_name = "on|off", default_value = "off")]
    pub network: Switch,
    /// Whether commands run on a copy-on-write layer where there can be one. Without it `git mv` of a folder works.
    #[arg(long, global = true, value_name = "on|off", default_value = "on")]
    pub layer: Switch,
    /// A further folder that commands may change, such as a cache of packages; may be given several times.
    #[arg(long, global = true, value_name = "DIR")]
    pub cache: Vec<PathBuf>,
    /// Longest run time, in seconds [default: 30 for a command, 900 for an agent].
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Refuse every change and every command.
    #[arg(long, global = true)]
    pub read_only: bool,
    /// How many bytes of contents of files are kept for undoing. A process that stays removes the oldest beyond that.
    #[arg(long, global = true, value_name = "BYTES", default_value_t = USUAL_LIMIT_BYTES)]
    pub history_limit: u64,
    /// A name in which nothing is ever changed, such as .github or `*.tf`; may be given several times.
    #[arg(long, global = true, value_name = "NAME", value_parser = obeyed_names::name)]
    pub protect: Vec<String>,
    /// A name of which changes are made and pointed out; may be given several times.
    #[arg(long, global = true, value_name = "NAME", value_parser = obeyed_names::movable_name)]
    pub ask_about: Vec<String>,
    /// A name that is taken off both lists; may be given several times.
    #[arg(long, global = true, value_name = "NAME", value_parser = obeyed_names::listed_name)]
    pub unprotect: Vec<String>,
    /// Further folders that commands may read. No option: only this program asks for it, of itself.
    #[arg(skip)]
    pub readable: Vec<PathBuf>,
    /// The workspace above the current folder, where that was taken.
    #[arg(skip)]
    pub found: Option<FoundWorkspace>,
    /// The words of the command.
    #[arg(skip)]
    pub command: String,
    /// The long names of the options that the command line gives itself.
    #[arg(skip)]
    pub given: BTreeSet<String>,
    /// What the configuration file sets by which commands are confined less, each as a line to be said.
    #[arg(skip)]
    pub lowered: Vec<String>,
}

impl Common {
    /// Returns the longest run time of a command.
    pub(crate) fn command_timeout(&self) -> Duration {
        self.timeout.unwrap_or(USUAL_COMMAND_TIMEOUT)
    }

    /// Returns the options of the workspace and its state folder.
    pub(crate) fn host(&self) -> HostOptions {
        HostOptions {
            workspace: self.workspace.clone(),
            base: self.base.clone(),
            trust_state: self.trust_state,
            command: self.command.clone(),
            lowered: self.lowered.clone(),
            sandbox: self.sandbox,
            network: self.network == Switch::On,
            layer: self.layer == Switch::On,
            caches: self.cache.clone(),
            readable: self.readable.clone(),
            command_timeout: self.command_timeout(),
            read_only: self.read_only,
            history_limit_bytes: self.history_limit,
            protect: self.protect.clone(),
            ask_about: self.ask_about.clone(),
            unprotect: self.unprotect.clone(),
        }
    }
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

impl fmt::Display for Switch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if *self == Switch::On { "on" } else { "off" })
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the whole loop on a throw-away sample project, unattended.
    Demo,
    /// Start a session: write the first outbox, wait for replies in the inbox, until DONE.
    New(New),
    /// Go on with the newest unfinished session, or with one by its id.
    Resume(Resume),
    /// Execute one reply and write the next outbox.
    Apply(Apply),
    /// Print the pending outbox.
    Outbox {
        /// The session's id [default: the newest unfinished one].
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// List the sessions.
    Sessions,
    /// Show one session with its steps.
    Show {
        /// The session's id.
        id: String,
        /// Write the session as a transcript, which `replay` lets go again: files, messages, replies, results.
        #[arg(long, value_name = "FILE")]
        export: Option<PathBuf>,
    },
    /// Let a transcript go again in a throw-away folder, and say what comes out otherwise.
    Replay {
        /// The transcript that `show --export` has written.
        file: PathBuf,
    },
    /// Remove what is kept for finished sessions beyond the budget.
    Gc {
        /// How many bytes of contents of files may stay.
        #[arg(long, value_name = "BYTES", default_value_t = USUAL_LIMIT_BYTES)]
        limit: u64,
    },
    /// List what was done, newest first.
    Log {
        /// At most this many runs.
        #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
        limit: u32,
        /// Also list what commands did to files that git ignores or that git keeps for itself.
        #[arg(long)]
        all: bool,
    },
    /// Take back the last reply, or what is named.
    Undo(Undo),
    /// Print what changes have done to files.
    Diff {
        /// Numbers of changes as `log` shows them, both included [default: all that are kept].
        #[arg(value_name = "N[..M]", value_parser = change_range)]
        range: Option<RangeInclusive<u64>>,
        /// Also print what commands did to files that git ignores or that git keeps for itself.
        #[arg(long)]
        all: bool,
    },
    /// Print what the parser sees in a text, as JSON.
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
    /// Run coding agents in git worktrees, and find out which of them are really done.
    Cocode {
        #[command(subcommand)]
        command: CocodeCommand,
    },
    /// Serve the workspace tools over JSON-RPC, one message a line on standard input and output.
    Wap,
    /// Print the configuration that lets an MCP client use this folder, or write it.
    Setup(SetupOptions),
    /// Serve the workspace tools over HTTP, the llm4s dialect at /ws, and MCP at /mcp.
    Serve(ServeOptions),
    /// Serve the workspace tools to an MCP client on standard input and output.
    Mcp(McpOptions),
    /// Answer a request of an agent, which is an envelope or a reply with one in it.
    Codali(Codali),
    /// Build the index of the code here, look at it, search it.
    Index {
        #[command(subcommand)]
        command: IndexCommand,
    },
    /// Say what this machine can and cannot do.
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
    /// Print the manual page, or that of a command.
    Man {
        /// The command, `cocode run` for instance.
        command: Vec<String>,
    },
    /// A task: the same as `new`.
    #[command(external_subcommand)]
    Task(Vec<OsString>),
}

#[derive(Debug, Args)]
pub(crate) struct New {
    /// What the model should do; several words are joined.
    #[arg(required = true, value_name = "TASK")]
    pub task: Vec<String>,
    /// Write the first outbox and return.
    #[arg(long)]
    pub no_wait: bool,
    #[command(flatten)]
    pub following: Following,
    /// Which dialect of the protocol to speak.
    #[arg(long, value_name = "agentd|codingagent", default_value = "agentd")]
    pub dialect: tagproto::Dialect,
    /// Keep every outbox below about this many tokens.
    #[arg(long, value_name = "TOKENS")]
    pub budget: Option<u32>,
}

#[derive(Debug, Default, Args)]
pub(crate) struct Resume {
    /// The session's id.
    pub id: Option<String>,
    /// Go on with a session that is complete: its next message says that the task is not.
    #[arg(long, requires = "id")]
    pub reopen: bool,
    #[command(flatten)]
    pub following: Following,
}

/// How a session is followed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Following {
    /// Ask before a reply is executed.
    #[arg(long)]
    pub review: bool,
    /// Put every message on the clipboard.
    #[arg(long)]
    pub copy: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// The reply, or `-` for standard input.
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
    /// The session's id [default: the newest unfinished one].
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Show the plan and the differences, and run nothing.
    #[arg(long, conflicts_with = "review")]
    pub dry_run: bool,
    /// Execute it on a copy-on-write layer, show what it does, and keep that only when confirmed.
    #[arg(long = "try", conflicts_with_all = ["dry_run", "review"])]
    pub on_trial: bool,
    /// Keep it without a question if every block succeeds.
    #[arg(long, requires = "on_trial")]
    pub keep: bool,
    /// Ask before the reply is executed.
    #[arg(long)]
    pub review: bool,
    /// Execute a text that was executed before.
    #[arg(long)]
    pub again: bool,
}

/// How MCP clients are served.
#[derive(Clone, Debug, Args)]
pub(crate) struct McpOptions {
    /// Answer exact WAP JSON in place of text.
    #[arg(long)]
    pub wap_json: bool,
    /// Tools beside the usual seven.
    #[arg(long, value_name = "TOOL", value_delimiter = ',', value_parser = extra_tool())]
    pub tools: Vec<ExtraTool>,
    /// Longest answer in characters, 0 for no limit.
    #[arg(long, value_name = "CHARACTERS", default_value = "60000")]
    pub page: PageLimit,
}

impl McpOptions {
    /// Returns true if one of the chosen tools asks the code index.
    pub(crate) fn offers_the_code_index(&self) -> bool {
        self.tools.iter().any(|tool| tool.asks_the_code_index())
    }
}

/// Returns the parser of the name of an extra tool.
fn extra_tool() -> impl TypedValueParser<Value = ExtraTool> {
    let names = ExtraTool::ALL.map(|tool| PossibleValue::new(tool.name()).help(tool.summary()));
    PossibleValuesParser::new(names).try_map(|name| {
        ExtraTool::ALL.into_iter().find(|tool| tool.name() == name).ok_or("there is no such tool")
    })
}

/// Which MCP client is configured.
#[derive(Clone, Debug, Args)]
pub(crate) struct SetupOptions {
    /// The client.
    pub client: McpClient,
    /// Write it into the client's file, and keep what else is there.
    #[arg(long)]
    pub write: bool,
}

/// How HTTP clients are served.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServeOptions {
    /// The address and port to listen on.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7411")]
    pub listen: SocketAddr,
    /// The file with the bearer token, made if it is not there [default: in the user's state directory].
    #[arg(long, value_name = "FILE", conflicts_with = "no_token")]
    pub token_file: Option<PathBuf>,
    /// Ask for no token; on addresses of this machine only.
    #[arg(long)]
    pub no_token: bool,
    /// Another name of this server's host.
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<HostName>,
    /// The path by which clients of llm4s know the workspace; /workspace if it is not named.
    #[arg(long, value_name = "PREFIX", num_args = 0..=1, default_missing_value = "/workspace")]
    pub llm4s_workspace: Option<WorkspacePrefix>,
    #[command(flatten)]
    pub mcp: McpOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// The number of a change as `log` shows it; of an undo, all of that undo [default: the last reply].
    #[arg(value_name = "N", conflicts_with_all = ["reply", "session"])]
    pub change: Option<u64>,
    /// Take back the last reply that has changed anything.
    #[arg(long, conflicts_with = "session")]
    pub reply: bool,
    /// Take back everything that a session has changed.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Also list files that git ignores or that git keeps for itself; they are undone in any case.
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Codali {
    /// The text, or `-` for standard input.
    #[arg(value_name = "FILE|-", default_value = "-")]
    pub file: PathBuf,
    /// How the response is written.
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
    /// Answer every file that is put into a folder, until told to stop.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "history", "guide"])]
    pub watch: Option<PathBuf>,
    /// Print what an agent has to know to ask, and nothing else.
    #[arg(long, conflicts_with_all = ["file", "history"])]
    pub guide: bool,
    #[command(flatten)]
    pub conversation: Conversation,
    #[command(flatten)]
    pub docdex: Docdex,
}

/// Another implementation of Codali, for whose readers results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Peer {
    /// The public implementation.
    Codali,
}

/// How a conversation with an agent that keeps nothing is kept.
#[derive(Clone, Debug, Args)]
pub(crate) struct Conversation {
    /// Keep the conversation in a file, and print all that the agent is to be sent next.
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// How many tokens the agent's window has.
    #[arg(long, value_name = "N", requires = "history", value_parser = clap::value_parser!(u64).range(256..))]
    pub context_tokens: Option<u64>,
    /// A shell command that summarises what it reads on its standard input.
    #[arg(long, value_name = "COMMAND", requires = "history")]
    pub summarizer: Option<String>,
    /// A file with what the agent is to be sent first, each time.
    #[arg(long, value_name = "FILE", requires = "history")]
    pub system: Option<PathBuf>,
    /// What the user says: this begins a conversation, or goes on with it, and no reply is read.
    #[arg(long, value_name = "TEXT", requires = "history", conflicts_with = "file")]
    pub task: Option<String>,
}

/// A docdex daemon that is asked before the local index.
#[derive(Clone, Debug, Args)]
pub(crate) struct Docdex {
    /// Ask a docdex daemon first, and the local index what it does not answer.
    #[arg(long, value_name = "URL", value_parser = remote_code_index::address)]
    pub docdex: Option<String>,
    /// The name of the repository at the daemon.
    #[arg(long, value_name = "ID")]
    pub docdex_repo: Option<String>,
    /// A file with the daemon's token.
    #[arg(long, value_name = "FILE")]
    pub docdex_token_file: Option<PathBuf>,
}

/// What is done with the code index.
#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Read what is new or has changed since the last time.
    Build {
        /// Forget everything first.
        #[arg(long)]
        fresh: bool,
    },
    /// Say how much is in it.
    Status,
    /// Find pieces of files by words, best first.
    Search {
        /// The words.
        #[arg(required = true, value_name = "QUERY")]
        query: Vec<String>,
        /// At most this many hits.
        #[arg(long, short = 'n', value_name = "N", default_value_t = 8)]
        limit: u32,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Format {
    /// A reply in the bracket-tag protocol.
    Tag {
        /// The text, or `-` for standard input.
        #[arg(value_name = "FILE|-", default_value = "-")]
        file: PathBuf,
        /// Leave out the repair of pasted text.
        #[arg(long)]
        strict: bool,
        /// The dialect of the session that the reply is for. Both are read alike; the answer names it.
        #[arg(long, value_name = "agentd|codingagent")]
        dialect: Option<tagproto::Dialect>,
    },
    /// A request in a Codali envelope, with nothing in front of it.
    Codali {
        /// The text, or `-` for standard input.
        #[arg(value_name = "FILE|-", default_value = "-")]
        file: PathBuf,
        /// Take YAML only.
        #[arg(long)]
        strict: bool,
    },
}

/// Reads `N`, `N..M`, `N..` or `..M`, both ends included.
fn change_range(text: &str) -> Result<RangeInclusive<u64>, String> {
    let number = |text: &str, open: u64| match text {
        "" => Ok(open),
        _ => text.parse().map_err(|_| format!("'{text}' is no number of a change")),
    };
    let (first, last) = match text.split_once("..") {
        Some((first, last)) => (number(first, 1)?, number(last.trim_start_matches('='), u64::MAX)?),
        None => {
            let only = number(text, 0)?;
            (only, only)
        }
    };
    if first > last {
        return Err(format!("the range is empty: {first} comes after {last}"));
    }
    Ok(first..=last)
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: u64 = text.parse().map_err(|_| "give a whole number of seconds".to_owned())?;
    if seconds == 0 {
        return Err("a command needs at least one second".to_owned());
    }
    Ok(Duration::from_secs(seconds))
}
