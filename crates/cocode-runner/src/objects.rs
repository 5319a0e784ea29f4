//! An agent's objects: its own folder, their check, and their import into the repository.

mod checkout_check;
pub(crate) mod link_targets;
pub(crate) mod loose_objects;
pub(crate) mod missing_objects;
pub(crate) mod object_check;
pub(crate) mod object_import;
mod object_snapshot;
pub(crate) mod own_objects;
