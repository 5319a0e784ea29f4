//! Undo, crashes, and disks that fail.

mod bare_repositories;
mod failed_syncs;
mod layers;
mod line_origins;
mod power_loss;
pub(crate) mod recovery;
mod repositories_in_use;
mod undo;
mod undo_properties;
mod used_repositories;
mod users_commits;
