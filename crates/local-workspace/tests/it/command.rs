//! Commands: how they run and end, and which of their effects are adopted.

mod beside_commands;
mod command_effects;
mod command_properties;
mod commands;
mod disguised_names;
mod entry_kinds;
mod escapes;
mod foreign_files;
mod git_access;
mod hard_links;
mod histories;
mod indexes;
mod inner_mounts;
mod modes;
mod ordinary_work;
mod receipts;
mod references;
mod repositories;
mod submodules;
mod unfinished_work;
mod working_trees;
