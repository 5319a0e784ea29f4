//! Measures over material that others wrote: it is read from the machine, and nothing of it is kept here.

mod page;
mod replay;

pub use replay::{Replay, ReplayError, Repository, replay};
