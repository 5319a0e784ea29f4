//! A folder on this machine as a [`wap_core::Workspace`].
//!
//! This crate combines the core crates and defines the order of operations:
//!
//! - file changes: plan against a staged view → one commit with intent, contents and outcomes → atomic exchange of each
//!   file → answer; a background checkpoint syncs and settles ([`LocalWorkspace`], `change.rs`, `plan.rs`, `checkpoint.rs`);
//! - commands: commit `started` → run confined, on a copy-on-write layer → list what changed and sort out what git or an
//!   editor would obey → commit the outcome with the changes → adopt them path by path (`command.rs`,
//!   `layered_command.rs`); where there is no layer, the folder is compared before and after (`command_effects.rs`);
//! - every effect is looked up by (conversation, run, step) before anything happens, and answered from the record if it
//!   was carried out already (`runs.rs`);
//! - changes are reverted by changes like any other ([`LocalWorkspace::undo`], `undo.rs`);
//! - on opening, whatever a crash has left between commit and file is done again ([`Recovery`]).
//!
//! It knows no protocol. Core errors become codes and reasons in one place, `errors.rs`.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod adopt;
mod change;
mod command;
mod config;
mod engine;
mod errors;
mod git;
mod hidden;
mod name_probe;
mod processes;
mod read;
mod recover;
mod runs;
mod search;
mod step_record;
mod trial;
mod turns;
mod undo;

pub use change::dry_run::DryWorkspace;
pub use change::expected_files::{ExpectedFiles, ExpectingWorkspace};
pub use change::late_writes::LateWrite;
pub use change::planned_change::{Contents, PlannedChange};
pub use command::recorded::{CommandEnd, RecordedCommand};
pub use config::{EngineConfig, LayerUse, SandboxNeed};
pub use engine::{LocalWorkspace, OpenError, sandbox_line};
pub use file_index::{FileIndex, IndexLimits, IndexPhase, IndexReport};
pub use processes::status::ProcessStatus;
pub use recover::recovery::Recovery;
pub use trial::{ADOPTION_STEP, HeldTrial, KeepError, Trial};
pub use undo::differences::{
    FileDifference, FileDifferences, differences, run_differences, runs_differences,
};
pub use undo::error::{ObstacleKind, UndoError, UndoObstacle};
pub use undo::history::undone_by;
pub use undo::kept_commits::{KeptBranch, KeptCommits, OtherCheckout};
pub use undo::line_origins::{LineOrigin, line_origins};
pub use undo::{Undo, UndoEffect, Undone, UndonePath, effects_are_recorded};
