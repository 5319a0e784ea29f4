//! Every operation that changes something, from the temporary file to the exchange.

mod create_dirs;
pub(crate) mod leftovers;
pub(crate) mod place;
pub(crate) mod publish;
pub(crate) mod remove;
mod rename;
pub(crate) mod stage;
mod sync;
pub(crate) mod target;
pub(crate) mod temp_name;
