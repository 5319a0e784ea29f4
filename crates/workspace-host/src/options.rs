//! The options of a workspace and of its state folder.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use egress::Network;
use sandbox_exec::USUAL_HOME_LIMIT_BYTES;
use tagproto::TokenCounter;
use wap_core::SyntaxCheck;

use crate::confinement::SandboxChoice;
use crate::homes::HomeUse;
use crate::secret_use::SecretUse;
use crate::state::garbage_keeper::USUAL_LIMIT_BYTES;

/// The longest run time of a command if the user chose none.
pub const USUAL_COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// The options with which a process opens a workspace. The owner of the state folder compares those about confinement
/// with its own, and refuses a client whose options it would not obey.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// The folder of code.
    pub workspace: PathBuf,
    /// The state folder; `None` for `.agentd` in the workspace.
    pub base: Option<PathBuf>,
    /// True if a state folder that was not created here is accepted: a copy, or a restored backup.
    pub trust_state: bool,
    /// The words of the command that this process carries out, by which other processes name it.
    pub command: String,
    /// Lines about settings that weaken the confinement of commands, each reported when the workspace is opened.
    pub lowered: Vec<String>,
    /// The confinement that commands need; `None` if the user has not chosen.
    pub sandbox: Option<SandboxChoice>,
    /// The network of commands.
    pub network: Network,
    /// True if commands run on a copy-on-write layer, if the machine supports one.
    pub layer: bool,
    /// The home of commands.
    pub home: HomeUse,
    /// The maximum number of bytes that a kept home holds.
    pub home_limit_bytes: u64,
    /// Further folders that commands may change.
    pub caches: Vec<PathBuf>,
    /// Further folders that commands may read.
    pub readable: Vec<PathBuf>,
    /// The longest run time of a command.
    pub command_timeout: Duration,
    /// True if every change and every command is refused.
    pub read_only: bool,
    /// The maximum number of bytes of file contents that are kept for undoing.
    pub history_limit_bytes: u64,
    /// Names that are never changed.
    pub protect: Vec<String>,
    /// Names whose changes are made and reported to the user.
    pub ask_about: Vec<String>,
    /// Names that are removed from both lists.
    pub unprotect: Vec<String>,
    /// The form in which models see secrets.
    pub secrets: SecretUse,
    /// Files of credentials that models may see: paths relative to the root, or globs.
    pub read_secrets: Vec<String>,
    /// The way to count the tokens of messages.
    pub count_tokens: TokenCounter,
    /// The arguments with which this program is started again for a trial with the same confinement: everything except
    /// the workspace, the state folder and the command. `None` if it cannot be.
    pub trial_arguments: Option<Vec<OsString>>,
    /// The check of changed files, if any.
    pub syntax: Option<Arc<dyn SyntaxCheck>>,
}

impl HostOptions {
    /// Returns the defaults for a folder of code.
    #[must_use]
    pub fn new(workspace: impl Into<PathBuf>) -> HostOptions {
        HostOptions {
            workspace: workspace.into(),
            base: None,
            trust_state: false,
            command: String::new(),
            lowered: Vec::new(),
            sandbox: None,
            network: Network::Off,
            layer: true,
            home: HomeUse::Kept,
            home_limit_bytes: USUAL_HOME_LIMIT_BYTES,
            caches: Vec::new(),
            readable: Vec::new(),
            command_timeout: USUAL_COMMAND_TIMEOUT,
            read_only: false,
            history_limit_bytes: USUAL_LIMIT_BYTES,
            protect: Vec::new(),
            ask_about: Vec::new(),
            unprotect: Vec::new(),
            secrets: SecretUse::Mask,
            read_secrets: Vec::new(),
            count_tokens: tagproto::estimated_tokens,
            trial_arguments: None,
            syntax: None,
        }
    }
}
