//! The files that git obeys: its settings, credentials and hooks, and the folders that it takes for repositories.

pub(crate) mod access;
pub(crate) mod credentials;
pub(crate) mod disguised_names;
pub(crate) mod guard;
pub(crate) mod history;
mod inner_repositories;
pub(crate) mod kept_references;
pub(crate) mod large_contents;
pub(crate) mod linked_contents;
pub(crate) mod linked_folders;
pub(crate) mod packed_names;
pub(crate) mod rebases;
pub(crate) mod reference_tables;
pub(crate) mod refusal;
pub(crate) mod repository_context;
pub(crate) mod repository_parts;
pub(crate) mod settings;
pub(crate) mod stored_names;
mod stored_objects;
pub(crate) mod version_control;
