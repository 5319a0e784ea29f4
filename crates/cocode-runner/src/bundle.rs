//! Git bundles: files with commits that one repository lacks and another has.
//!
//! A bundle carries a task's base to another machine, and an agent's work back. Its reader trusts nothing in it: the
//! objects stay in a separate folder until they are checked, and none of its references is adopted.

pub(crate) mod base_repository;
mod bundle_size;
pub(crate) mod empty_folder;
pub(crate) mod header;
pub(crate) mod incoming;
pub(crate) mod refusal;
pub(crate) mod source;
mod task_list;
mod task_repository;

/// The most bytes of a bundle, header included, unless the caller says otherwise.
pub const BUNDLE_LIMIT_BYTES: u64 = 256 << 20;

pub use bundle_size::BundleSize;
