//! A folder on this machine as a [`wap_core::Workspace`].
//!
//! This crate puts the core crates together and owns the order in which things happen:
//!
//! - file changes: plan against a staged view → one commit with intent, contents and outcomes → atomic exchange of each
//!   file → answer; a background checkpoint syncs and settles ([`LocalWorkspace`], `change.rs`, `plan.rs`, `checkpoint.rs`);
//! - commands: commit `started` → run confined, on a copy-on-write layer → list what changed and sort out what git or an
//!   editor would obey → commit the outcome with the changes → adopt them path by path (`command.rs`,
//!   `layered_command.rs`); where there is no layer, the folder is compared before and after (`command_effects.rs`);
//! - every effect is looked up by (conversation, run, step) before anything happens, and answered from the record if it
//!   was carried out already (`runs.rs`);
//! - changes are taken back by changes like any other ([`LocalWorkspace::undo`], `undo.rs`);
//! - on opening, whatever a crash has left between commit and file is done again ([`Recovery`]).
//!
//! It knows no protocol. Core errors become codes and reasons in one place, `errors.rs`.

mod adoption;
mod beyond_comparison;
mod build_folder_check;
mod build_folders;
mod change;
mod checkpoint;
mod command;
mod command_answer;
mod command_effects;
mod command_ground;
mod command_run;
mod comparison;
mod config;
mod differences;
mod dry_run;
mod edit_request;
mod effect;
mod effect_notes;
mod engine;
mod errors;
mod explore;
mod folder_modes;
mod git_credentials;
mod git_guard;
mod git_settings;
mod guard;
mod held_versions;
mod hidden;
mod info;
mod late_writes;
mod layer_effects;
mod layer_recovery;
mod layer_shelf;
mod layered_command;
mod leftovers;
mod line_window;
mod name_probe;
mod output_store;
mod plan;
mod planned_change;
mod prepared_edits;
mod present;
mod publish;
mod read;
mod recovery;
mod recovery_path;
mod repository_context;
mod repository_parts;
mod rights;
mod runs;
mod search;
mod step_conflicts;
mod step_record;
mod text_probe;
mod timestamp;
mod torn;
mod tree_snapshot;
mod trial;
mod turns;
mod undo;
mod undo_error;
mod undo_history;
mod undo_path;
mod undo_plan;
mod unified_diff;
mod unsynced;
mod version_control;
mod warm;
mod watched_reader;
mod working_trees;

pub use config::{EngineConfig, LayerUse, SandboxNeed};
pub use differences::{FileDifference, differences};
pub use dry_run::DryWorkspace;
pub use engine::{LocalWorkspace, OpenError};
pub use file_index::{FileIndex, IndexLimits, IndexPhase, IndexReport};
pub use late_writes::LateWrite;
pub use planned_change::PlannedChange;
pub use recovery::Recovery;
pub use trial::{KeepError, Trial};
pub use undo::{Undo, UndoEffect, Undone, UndonePath};
pub use undo_error::{ObstacleKind, UndoError, UndoObstacle};
pub use undo_history::undone_by;
