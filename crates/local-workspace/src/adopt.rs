//! Adopts the effects of a command from its layer, except those that git or an editor would run.

pub(crate) mod adoption;
pub(crate) mod build_folder_check;
pub(crate) mod build_folder_list;
pub(crate) mod build_folders;
mod entry_beginnings;
pub(crate) mod former_build_folders;
pub(crate) mod guard;
pub(crate) mod layer_effects;
pub(crate) mod layer_shelf;
mod layered_command;
mod left_names;
mod moved_repositories;
pub(crate) mod reference_order;
pub(crate) mod repository_use;
mod selection;
pub(crate) mod tracked_folders;
mod verdicts;
mod working_trees;
