//! Runs shell commands in several steps of confinement, and reports which steps hold on this machine.
//!
//! A [`Launcher`] starts one *spawner*, a small process with a single thread, which creates every command: in its own
//! namespaces, with a small read-only root, without privileges, and under one deadline that covers the shell, its
//! descendants and their pipes. A [`Policy`] says what a command may do, a [`SandboxReport`] how much of it the machine
//! can enforce.
//!
//! The text of a command is never parsed to decide anything.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod child;
mod init;
mod launcher;
mod policy;
mod probe;
mod process_overlays;
mod report;
mod spawner;
mod sys;

pub use init::layer_mount::LayerMount;
pub use init::step::{Step, StepError};
pub use launcher::background::{BackgroundProcess, Readiness};
pub use launcher::capture::Captured;
pub use launcher::drain::{OutputObserver, OutputStream};
pub use launcher::home::removal::remove_tree;
pub use launcher::home::{HomeSize, KeptHomes};
pub use launcher::killer::Killer;
pub use launcher::network_holder::NetworkHolder;
pub use launcher::outcome::{Ending, Outcome, Signal};
pub use launcher::plan::PolicyError;
pub use launcher::running::{Running, WaitError};
pub use launcher::spawner_program::SpawnerProgram;
pub use launcher::spool::{Spool, Spooled};
pub use launcher::{Launcher, LauncherConfig, SpawnError, StartError};
pub use policy::environment::User;
pub use policy::git_folder::GitSettings;
pub use policy::git_folder::left_out::LeftOut;
pub use policy::git_folder::obeyed_paths::{ObeyedAs, ObeyedPath, ObeyedPaths};
pub use policy::kept_home::{KeptHome, USUAL_HOME_LIMIT_BYTES};
pub use policy::network::{AllowedName, Carrier, NetworkPolicy, Outward};
pub use policy::shell_command::{
    COMMAND_LIMIT_BYTES, CommandError, ENVIRONMENT_LIMIT_BYTES, ShellCommand, Timeout,
};
pub use policy::{ExecLimits, GitIdentity, Policy};
pub use probe::self_test::{Escape, ProbeError};
pub use process_overlays::ProcessOverlays;
pub use report::denial::Denied;
pub use report::remedy::{Remedy, remedies};
pub use report::{
    FileConfinement, HomeVisibility, KillReach, LayerKind, Level, NetworkConfinement, SandboxReport,
};
pub use spawner::{SPAWNER_ARGUMENT, spawner_main, spawner_main_if_requested};
pub use sys::give_back_large_blocks;
