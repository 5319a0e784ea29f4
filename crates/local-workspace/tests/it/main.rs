//! Tests through the public API, on real folders, with a real journal and real commands.

#[cfg(test)]
mod attributes;
#[cfg(test)]
mod beside_commands;
#[cfg(test)]
mod big_files;
#[cfg(test)]
mod byte_exact;
#[cfg(test)]
mod changes;
#[cfg(test)]
mod children;
#[cfg(test)]
mod command_effects;
#[cfg(test)]
mod command_properties;
#[cfg(test)]
mod commands;
#[cfg(test)]
#[path = "../../../sandbox-fs/tests/corpus/mod.rs"]
mod corpus;
#[cfg(test)]
mod dry_run;
#[cfg(test)]
mod escapes;
#[cfg(test)]
mod failed_syncs;
#[cfg(test)]
mod fs_attacks;
#[cfg(test)]
mod full_disk;
#[cfg(test)]
mod ground;
#[cfg(test)]
mod hidden;
#[cfg(test)]
mod indexes;
#[cfg(test)]
mod late_writes;
#[cfg(test)]
mod line_numbers;
#[cfg(test)]
mod modes;
#[cfg(test)]
mod obeyed_names;
#[cfg(test)]
mod peers;
#[cfg(test)]
mod power_loss;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod repositories;
#[cfg(test)]
mod search;
#[cfg(test)]
mod searching;
#[cfg(test)]
mod steps;
#[cfg(test)]
mod tree;
#[cfg(test)]
#[path = "../../../sandbox-exec/tests/tricks/mod.rs"]
mod tricks;
#[cfg(test)]
mod undo;
#[cfg(test)]
mod undo_properties;
#[cfg(test)]
mod warm;
#[cfg(test)]
mod working_trees;
