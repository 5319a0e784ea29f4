//! The user's configuration of a workspace.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use egress::Network;
use rel_path::RelPath;
use sandbox_exec::{LauncherConfig, Level, Policy};
use sandbox_fs::FileRoot;
use wap_core::Limits;

/// The maximum number of bytes of one output stream held in memory, whatever the limits.
const MOST_OUTPUT_BYTES: usize = 1 << 30;

/// The user's configuration of a workspace. Messages from a model cannot change it.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// The limits of answers.
    pub limits: Limits,
    /// Refuse every change and every command.
    pub read_only: bool,
    /// The least confinement under which commands run.
    pub sandbox: SandboxNeed,
    /// The launcher of commands, started when the confinement is first needed.
    pub launcher: LauncherConfig,
    /// The policy of commands. Its workspace, network, output limit and hidden state folder are set from the rest of
    /// this configuration.
    pub policy: Policy,
    /// The network of commands.
    pub network: Network,
    /// The state folder relative to the root, if it is below it: no tool reads, writes or lists it, and commands
    /// that could see it are refused.
    pub state_folder: Option<RelPath>,
    /// The folder for whole outputs of commands.
    pub output_folder: PathBuf,
    /// The folder for copy-on-write layers, on the file system of the workspace; it is created if its parent exists.
    pub layers_folder: Option<PathBuf>,
    /// The choice between running commands on a layer and on the folder.
    pub layer: LayerUse,
}

impl EngineConfig {
    /// Completes the policy of commands from the rest of the configuration.
    pub(crate) fn completed_for(mut self, root: &FileRoot) -> EngineConfig {
        if let Some(path) = root.path() {
            self.policy.workspace = path.to_owned();
        }
        if let Some(hidden) = self.state_folder_path()
            && !self.policy.hidden.contains(&hidden)
        {
            self.policy.hidden.push(hidden);
        }
        self.policy.network = self.network.policy();
        self.policy.limits.output_bytes_per_stream =
            usize::try_from(self.limits.max_output_size).unwrap_or(usize::MAX).min(MOST_OUTPUT_BYTES);
        self
    }

    /// The state folder, if it is below the root, as the path that commands would see.
    pub(crate) fn state_folder_path(&self) -> Option<PathBuf> {
        let folder = self.state_folder.as_ref()?;
        Some(self.policy.workspace.join(OsStr::from_bytes(folder.as_bytes())))
    }
}

/// The choice between running commands on a copy-on-write layer and on the folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LayerUse {
    /// On a layer if the machine supports it; otherwise the folder is compared before and after each command.
    #[default]
    WherePossible,
    /// Never on a layer; the folder is compared.
    Off,
}

impl LayerUse {
    /// Returns the reason why commands have no layer by the user's choice; `None` if they may have one.
    #[must_use]
    pub fn refusal(self, read_only: bool) -> Option<&'static str> {
        match self {
            LayerUse::Off => Some("switched off"),
            LayerUse::WherePossible => read_only.then_some("nothing can be changed"),
        }
    }
}

/// The least confinement under which commands run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxNeed {
    /// Refuse commands below this level.
    AtLeast(Level),
    /// Run commands at any available level.
    Whatever,
}
