//! The database and the content files next to it: their location, opening, and quarantine.

pub(crate) mod checkpoint;
pub(crate) mod connection;
pub(crate) mod content_store;
pub(crate) mod counters;
pub(crate) mod failure;
pub(crate) mod folder_lock;
pub(crate) mod in_flight;
pub(crate) mod open;
pub(crate) mod rows;
mod schema;
pub(crate) mod set_aside;
