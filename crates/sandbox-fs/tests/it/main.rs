//! Tests of `sandbox-fs` through its public surface.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "what a machine cannot run is said")]

mod attributes;
mod change;
#[path = "../corpus/mod.rs"]
mod corpus;
mod corpus_words;
mod error_texts;
mod fixture;
mod fs_attacks;
mod mount_points;
mod namespace;
mod race;
mod read;
mod root;
mod special_files;
mod walk;
mod watching;
mod weak_renames;
mod write;
