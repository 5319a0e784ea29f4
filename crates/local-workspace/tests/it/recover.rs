//! Undo, crashes, and disks that fail.

mod failed_syncs;
mod power_loss;
mod recovery;
mod undo;
mod undo_properties;
