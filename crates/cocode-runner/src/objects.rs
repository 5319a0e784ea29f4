//! What an agent commits: its own folder of objects, the check of what it made, and the way into the repository.

pub(crate) mod loose_objects;
pub(crate) mod object_check;
pub(crate) mod object_import;
pub(crate) mod own_objects;
mod taken_objects;
