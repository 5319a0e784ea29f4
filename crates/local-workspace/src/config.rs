//! What the user decides about a workspace.

use std::path::PathBuf;

use rel_path::RelPath;
use sandbox_exec::{LauncherConfig, Level, Policy};
use wap_core::Limits;

/// What the user decides about a workspace. No message from a model changes any of it.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// The limits of answers.
    pub limits: Limits,
    /// Refuse every change and every command.
    pub read_only: bool,
    /// The least confinement under which commands run.
    pub sandbox: SandboxNeed,
    /// How commands are started; it happens when confinement is first asked about.
    pub launcher: LauncherConfig,
    /// What a command may see and use; its workspace is the root.
    pub policy: Policy,
    /// The state folder relative to the root, if it lies beneath it: no tool reads, writes or lists it.
    pub state_folder: Option<RelPath>,
    /// The folder for whole outputs of commands.
    pub output_folder: PathBuf,
}

/// The least confinement under which commands run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxNeed {
    /// Refuse commands below this level.
    AtLeast(Level),
    /// Run commands at whatever level there is.
    Whatever,
}
