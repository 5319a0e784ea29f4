//! The options that every command has.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use codali_envelope::history::{O200k, TokenCounter};
use code_index::TreeSyntaxCheck;
use egress::{Network, NetworkChoice, Presets};
use sandbox_exec::USUAL_HOME_LIMIT_BYTES;
use workspace_host::confinement::SandboxChoice;
use workspace_host::homes::HomeUse;
use workspace_host::obeyed_names;
use workspace_host::state::garbage_keeper::USUAL_LIMIT_BYTES;
use workspace_host::state::workspace_search::FoundWorkspace;
use workspace_host::{HostOptions, OwnPrograms, SecretUse, USUAL_COMMAND_TIMEOUT};

use crate::config::confinement_arguments::settled_arguments;

/// The headings in a help text, which separate these options from the command's own.
const WORKSPACE: &str = "Workspace and state";
const OUTPUT: &str = "Output";
const COMMANDS: &str = "Commands that are run";
const PROTECTION: &str = "Protection";

/// Options of every command; they may come before or after it.
#[derive(Clone, Debug, Args)]
pub(crate) struct CommonOptions {
    /// The folder of code [default: the nearest folder upwards with a state folder, else the repository's root, else the
    /// current folder].
    #[arg(long, global = true, help_heading = WORKSPACE, hide_default_value = true, value_name = "DIR", default_value = ".")]
    pub workspace: PathBuf,
    /// The state folder [default: .agentd in the workspace].
    #[arg(long, global = true, help_heading = WORKSPACE, value_name = "DIR")]
    pub base: Option<PathBuf>,
    /// The file with defaults for options [default: agentd/config.toml in the user's configuration folder].
    #[arg(long, global = true, help_heading = WORKSPACE, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Accept a state folder that was made elsewhere: a copy, or a backup that was restored.
    #[arg(long, global = true, help_heading = WORKSPACE)]
    pub trust_state: bool,
    /// Print one JSON value on standard output.
    #[arg(long, global = true, help_heading = OUTPUT)]
    pub json: bool,
    /// Print no progress.
    #[arg(long, short, global = true, help_heading = OUTPUT)]
    pub quiet: bool,
    /// Print more.
    #[arg(long, short, global = true, help_heading = OUTPUT)]
    pub verbose: bool,
    /// The confinement that commands need: require=LEVEL, allow=LEVEL or off.
    #[arg(long, global = true, help_heading = COMMANDS, value_name = "WHAT")]
    pub sandbox: Option<SandboxChoice>,
    /// The network of commands: off, on, or `allow=NAME[:PORT][@ADDRESS],…` with names such as registry.example, *.cdn.example,
    /// or a preset: npm, pip, uv, cargo, go, maven, gradle. Lists may be given several times [default: off; for agents, what their
    /// definitions say].
    #[arg(long, global = true, help_heading = COMMANDS, hide_default_value = true, value_name = "WHAT", default_value = "off")]
    pub network: Vec<NetworkChoice>,
    /// Run commands on a copy-on-write layer where possible, or not.
    #[arg(long, global = true, help_heading = COMMANDS, value_name = "on|off", default_value = "on")]
    pub layer: Switch,
    /// The home of commands: kept between the commands of a workspace, with your download caches inside it, or a fresh one
    /// for each.
    #[arg(long, global = true, help_heading = COMMANDS, value_name = "kept|fresh", default_value = "kept")]
    pub home: HomeUse,
    /// The most bytes that the home of a workspace keeps between commands.
    #[arg(long, global = true, help_heading = COMMANDS, value_name = "BYTES", default_value_t = USUAL_HOME_LIMIT_BYTES)]
    pub home_limit: u64,
    /// A further folder that commands may change, such as a cache of packages; may be given several times.
    #[arg(long, global = true, help_heading = COMMANDS, value_name = "DIR")]
    pub cache: Vec<PathBuf>,
    /// Longest run time, in seconds [default: 30 for a command, 900 for an agent].
    #[arg(long, global = true, help_heading = COMMANDS, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Refuse every change and every command.
    #[arg(long, global = true, help_heading = PROTECTION)]
    pub read_only: bool,
    /// The most bytes of contents of files that are kept for undoing. A process that stays removes the oldest beyond that.
    #[arg(long, global = true, help_heading = WORKSPACE, value_name = "BYTES", default_value_t = USUAL_LIMIT_BYTES)]
    pub history_limit: u64,
    /// A name below which nothing is ever changed, such as .github or `*.tf`; may be given several times.
    #[arg(long, global = true, help_heading = PROTECTION, value_name = "NAME", value_parser = obeyed_names::name)]
    pub protect: Vec<String>,
    /// A name whose changes are made and reported; may be given several times.
    #[arg(long, global = true, help_heading = PROTECTION, value_name = "NAME", value_parser = obeyed_names::movable_name)]
    pub ask_about: Vec<String>,
    /// A name that is taken off both lists; may be given several times.
    #[arg(long, global = true, help_heading = PROTECTION, value_name = "NAME", value_parser = obeyed_names::listed_name)]
    pub unprotect: Vec<String>,
    /// The form in which models see secrets: placeholders such as ⟦secret:github-pat:1⟧, or the values.
    #[arg(long, global = true, help_heading = PROTECTION, value_name = "mask|show", default_value = "mask")]
    pub secrets: Secrecy,
    /// A file of credentials that models may see, as a path or a glob; may be given several times.
    #[arg(long, global = true, help_heading = PROTECTION, value_name = "NAME")]
    pub read_secret: Vec<String>,
    /// Further folders that commands may read. Not an option: only this program sets it, for itself.
    #[arg(skip)]
    pub readable: Vec<PathBuf>,
    /// The workspace above the current folder, if that was chosen.
    #[arg(skip)]
    pub workspace_above: Option<FoundWorkspace>,
    /// The network that the values of `--network` add up to.
    #[arg(skip)]
    pub settled_network: Network,
    /// The presets of the configuration file.
    #[arg(skip)]
    pub presets: Presets,
    /// The words of the command.
    #[arg(skip)]
    pub command: String,
    /// The long names of the options that the command line gives itself.
    #[arg(skip)]
    pub given: BTreeSet<String>,
    /// The settings of the configuration file that confine commands less, each as a line to be printed.
    #[arg(skip)]
    pub lowered: Vec<String>,
}

impl CommonOptions {
    /// Returns the longest run time of a command.
    pub(crate) fn command_timeout(&self) -> Duration {
        self.timeout.unwrap_or(USUAL_COMMAND_TIMEOUT)
    }

    /// Returns the arguments for another process of this program that tries something out, confined like this one.
    pub(crate) fn trial_arguments(&self) -> Vec<OsString> {
        // Commands change the trial's layer itself, so that later steps see their changes.
        let mut common = CommonOptions { layer: Switch::Off, ..self.clone() };
        if common.home == HomeUse::Kept {
            common.home = HomeUse::Trial;
        }
        let mut arguments: Vec<OsString> =
            settled_arguments(&common).into_iter().chain(["--json".to_owned()]).map(OsString::from).collect();
        // Its standard input is a request, so it would take itself for unattended and refuse lower levels.
        if self.sandbox.is_none() && workspace_host::confinement::is_attended() {
            arguments.extend(["--sandbox", "allow=none"].map(OsString::from));
        }
        if self.quiet {
            arguments.push("--quiet".into());
        }
        arguments
    }

    /// The programs that this process may start for itself.
    pub(crate) fn own_programs(&self) -> OwnPrograms {
        OwnPrograms::of(&self.host())
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
            network: self.settled_network.clone(),
            layer: self.layer == Switch::On,
            home: self.home,
            home_limit_bytes: self.home_limit,
            caches: self.cache.clone(),
            readable: self.readable.clone(),
            command_timeout: self.command_timeout(),
            read_only: self.read_only,
            history_limit_bytes: self.history_limit,
            protect: self.protect.clone(),
            ask_about: self.ask_about.clone(),
            unprotect: self.unprotect.clone(),
            secrets: match self.secrets {
                Secrecy::Mask => SecretUse::Mask,
                Secrecy::Show => SecretUse::Show,
            },
            read_secrets: self.read_secret.clone(),
            count_tokens: |text| O200k.count(text),
            trial_arguments: Some(self.trial_arguments()),
            syntax: Some(Arc::new(TreeSyntaxCheck::default())),
        }
    }
}

/// The value of `--secrets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Secrecy {
    Mask,
    Show,
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

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: u64 = text.parse().map_err(|_| "give a whole number of seconds".to_owned())?;
    if seconds == 0 {
        return Err("a command needs at least one second".to_owned());
    }
    Ok(Duration::from_secs(seconds))
}
