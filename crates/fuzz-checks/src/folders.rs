//! Readers of paths, and of folders that other programs may have changed.

mod journal;
mod layers;
mod paths;

pub use journal::journal_reader;
pub use layers::layer_changes;
pub use paths::path_rules;
