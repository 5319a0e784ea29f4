//! Undo, crashes, and disks that fail.

mod failed_syncs;
mod layers;
mod line_origins;
mod power_loss;
mod recovery;
mod undo;
mod undo_properties;
