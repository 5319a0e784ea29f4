//! The commands about what was done: the list of runs, their differences, and undoing them.

pub(crate) mod blame;
pub(crate) mod diff;
pub(crate) mod log;
pub(crate) mod undo;
