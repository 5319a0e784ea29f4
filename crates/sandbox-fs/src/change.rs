//! Every operation that changes something, from the temporary file to the exchange.

mod create_dirs;
pub(crate) mod dir_entry;
pub(crate) mod leftovers;
pub(crate) mod new_name;
pub(crate) mod publish;
pub(crate) mod remove;
mod rename;
pub(crate) mod stage;
mod sync;
pub(crate) mod target;
pub(crate) mod temp_name;
