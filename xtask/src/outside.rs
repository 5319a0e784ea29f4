//! Measures over material that others wrote: it is read from the machine, and nothing of it is kept here.

mod replay;

pub use replay::{Replay, ReplayError, Repository, replay};

/// The text in front of the sections of `docs/outside.md`.
pub(crate) const BEGINNING: &str = "# Measures that others wrote\n\nWritten by `cargo xtask outside`. What is measured is read from the user's own checkouts and from package registries; nothing of it is in this repository.\n";
