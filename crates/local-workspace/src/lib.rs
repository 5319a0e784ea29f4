//! A folder on this machine as a [`wap_core::Workspace`].
//!
//! This crate puts the core crates together and owns the order in which things happen:
//!
//! - file changes: plan against a staged view → one commit with intent, contents and outcomes → atomic exchange of each
//!   file → answer; a background checkpoint syncs and settles ([`LocalWorkspace`], `change.rs`, `plan.rs`, `checkpoint.rs`);
//! - commands: commit `started` → run confined → commit the outcome (`command.rs`);
//! - every effect is looked up by (conversation, run, step) before anything happens, and answered from the record if it
//!   was carried out already (`runs.rs`);
//! - changes are taken back by changes like any other ([`LocalWorkspace::undo`], `undo.rs`);
//! - on opening, whatever a crash has left between commit and file is done again ([`Recovery`]).
//!
//! It knows no protocol. Core errors become codes and reasons in one place, `errors.rs`.

mod change;
mod checkpoint;
mod command;
mod command_answer;
mod config;
mod differences;
mod dry_run;
mod edit_request;
mod engine;
mod errors;
mod explore;
mod git_credentials;
mod git_ignores;
mod held_versions;
mod hidden;
mod info;
mod late_writes;
mod leftovers;
mod line_window;
mod name_probe;
mod output_store;
mod plan;
mod planned_change;
mod present;
mod publish;
mod read;
mod recovery;
mod runs;
mod search;
mod step_record;
mod text_probe;
mod timestamp;
mod torn;
mod turns;
mod undo;
mod undo_error;
mod undo_history;
mod undo_path;
mod undo_plan;
mod unified_diff;
mod watched_reader;

pub use config::{EngineConfig, SandboxNeed};
pub use differences::{FileDifference, differences};
pub use dry_run::DryWorkspace;
pub use engine::{LocalWorkspace, OpenError};
pub use late_writes::LateWrite;
pub use planned_change::PlannedChange;
pub use recovery::Recovery;
pub use undo::{Undo, UndoEffect, Undone, UndonePath};
pub use undo_error::{ObstacleKind, UndoError, UndoObstacle};
pub use undo_history::undone_by;
