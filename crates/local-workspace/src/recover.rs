//! Recovery after a crash: redoes the changes that the journal has promised, and removes leftovers.

pub(crate) mod disk_sync;
pub(crate) mod layer_recovery;
mod leftovers;
mod partial_write;
pub(crate) mod recovery;
pub(crate) mod recovery_path;
mod repositories_in_use;
mod step_conflicts;
pub(crate) mod unsynced;
