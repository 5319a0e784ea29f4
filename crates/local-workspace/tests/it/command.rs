//! Commands: how they run and end, and which of their effects are adopted.

mod command_effects;
mod command_properties;
mod commands;
mod during_commands;
mod escapes;
mod git_files;
mod hard_links;
mod inner_mounts;
mod modes;
mod ordinary_work;
mod receipts;
mod repositories;
mod submodules;
mod working_trees;
