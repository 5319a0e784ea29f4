//! After a crash: what the journal has promised is brought about, and what is left over is removed.

pub(crate) mod layer_recovery;
mod leftovers;
pub(crate) mod recovery;
pub(crate) mod recovery_path;
mod step_conflicts;
mod torn;
pub(crate) mod unsynced;
