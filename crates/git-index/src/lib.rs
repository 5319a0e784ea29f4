//! Checks git indexes that an untrusted program wrote.
//!
//! Git trusts its own index: it reads paths from it without a check, and a later `git checkout .` writes to them.
//! [`check`] accepts an index only if git could have written it and every path stays in the working tree and out of every
//! `.git`. Where git tolerates data that it never writes, this crate refuses it, so that both read the same entries.
//!
//! Git likewise follows the name in a symbolic reference, and writes there: [`stays_in_references`] checks its content.
//! [`check_unfinished_work`] does so for the files by which git continues a rebase and the like, and [`lists_sibling_files`] for
//! those that name files which git removes. [`are_packed_references`] and the like judge whether git can read the
//! references at all, and [`references_in_table`] lists those of a table. [`is_own_file`] knows the names of git's own files, [`is_file_only`]
//! those at which a folder would make git fail, [`is_object_file`] those of files that git never writes into, and
//! [`is_object_cache`] those of files that it computes from the objects. [`loose_object`] reads which objects one needs, and
//! [`PackIndex`] the index of a pack.
//!
//! This crate does no I/O.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod cached_trees;
mod entry;
mod entry_name;
mod extensions;
mod file_lists;
mod file_systems;
mod index;
mod index_error;
mod object_files;
mod object_format;
mod objects;
mod order;
mod own_files;
mod packs;
mod reference_files;
mod reference_tables;
mod references;
mod same_entries;
mod unfinished_work;

pub use entry::Entry;
pub use entry_name::is_git_name;
pub use file_lists::{is_file_list, lists_sibling_files};
pub use index::{MAX_PATH_BYTES, check, check_with_trees};
pub use index_error::IndexError;
pub use object_files::{is_object_cache, is_object_file};
pub use object_format::ObjectFormat;
pub use objects::{Object, ObjectKind, ObjectName, is_built_in, loose_kind, loose_object};
pub use own_files::{is_file_only, is_folder_only, is_own_file};
pub use packs::PackIndex;
pub use reference_files::{
    are_packed_references, are_shallow_ends, is_readable_head, is_readable_reference, keeps_objects_of_tags,
};
pub use reference_tables::{TableReference, references_in_table};
pub use references::{REFERENCE_BYTES, is_reference, is_reference_name, stays_in_references};
pub use same_entries::has_same_entries;
pub use unfinished_work::{
    MovedReference, UnfinishedWorkError, branches_in_steps, check_unfinished_work, is_unfinished_work,
    moved_references,
};
