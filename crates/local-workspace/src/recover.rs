//! Recovery after a crash: redoes the changes that the journal has promised, and removes leftovers.

pub(crate) mod layer_recovery;
mod leftovers;
pub(crate) mod recovery;
pub(crate) mod recovery_path;
mod step_conflicts;
mod torn;
pub(crate) mod unsynced;
