//! Runs shell commands in layers of confinement, and says which layers really hold on this machine.
//!
//! A [`Launcher`] starts one *spawner*, a small process with a single thread, which creates every command: in
//! namespaces of its own, with a small read-only root, without privileges, and under one deadline that covers the
//! shell, its descendants and their pipes. A [`Policy`] says what a command may do, a [`SandboxReport`] what of it
//! the machine can enforce.
//!
//! The text of a command is never parsed to decide anything.

mod attacks;
mod call_filter;
mod canonical;
mod capture;
mod cargo_settings;
mod channel;
mod child;
mod confine;
mod control_group;
mod covering;
mod drain;
mod environment;
mod escapes;
mod file_rules;
mod init;
mod isolation;
mod killer;
mod launcher;
mod layer_mount;
mod layer_test;
mod link;
mod mode_filter;
mod mount_entry;
mod mount_watch;
mod new_root;
mod outcome;
mod own_ids;
mod plan;
mod policy;
mod preparation;
mod private_folder;
mod proc_mount;
mod processes;
mod refused_variables;
mod remedy;
mod report;
mod request;
mod running;
mod self_test;
mod shell_command;
mod shell_process;
mod spawner;
mod spawner_program;
mod spool;
mod step;
mod sweep;
mod sys;
mod system_calls;
mod system_tree;
mod tool_settings;
mod toolchains;
mod user_limits;
mod wire;

pub use capture::Captured;
pub use covering::Covering;
pub use drain::{OutputObserver, OutputStream};
pub use environment::User;
pub use killer::Killer;
pub use launcher::{Launcher, LauncherConfig, SpawnError, StartError};
pub use layer_mount::LayerMount;
pub use outcome::{Ending, Outcome, Signal};
pub use plan::PolicyError;
pub use policy::{ExecLimits, GitIdentity, Policy};
pub use remedy::{Remedy, remedies};
pub use report::{
    FileConfinement, HomeVisibility, KillReach, LayerKind, Level, NetworkConfinement, SandboxReport,
};
pub use running::{Running, WaitError};
pub use self_test::{Escape, ProbeError};
pub use shell_command::{COMMAND_LIMIT_BYTES, CommandError, ENVIRONMENT_LIMIT_BYTES, ShellCommand, Timeout};
pub use spawner::{SPAWNER_ARGUMENT, spawner_main, spawner_main_if_requested};
pub use spawner_program::SpawnerProgram;
pub use spool::{Spool, Spooled};
pub use step::{Step, StepError};
pub use sys::give_back_large_blocks;
