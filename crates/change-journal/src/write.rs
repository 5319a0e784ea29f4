//! The one writer, and everything that it writes.

mod one_by_one;
pub(crate) mod prepare;
pub(crate) mod run_writes;
pub(crate) mod step_writes;
pub(crate) mod work;
pub(crate) mod writer;
