//! Commands: how they run and end, and what of their effects is taken over.

mod beside_commands;
mod command_effects;
mod command_properties;
mod commands;
mod escapes;
mod indexes;
mod modes;
mod repositories;
mod working_trees;
