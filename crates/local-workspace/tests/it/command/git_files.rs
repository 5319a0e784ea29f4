//! Files in a git folder that commands may leave, and those that they may not.

mod broken_repositories;
mod disguised_names;
mod entry_kinds;
mod foreign_files;
mod git_access;
mod histories;
mod indexes;
mod inner_repositories;
mod large_contents;
mod missing_objects;
mod moved_repositories;
mod object_caches;
mod reference_tables;
mod references;
mod refspecs;
mod settings;
mod unfinished_aborts;
mod unfinished_rebases;
mod unfinished_work;
mod unnoticed_changes;
