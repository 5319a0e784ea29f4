//! A path below a root, parsed once.
//!
//! [`RelPath`] is the only form in which a path travels between the crates of this workspace. It is relative, does not climb
//! above its root lexically, contains no NUL and keeps the limits. The owner of the folder resolves it on disk, including links.
//!
//! This crate does no I/O and does not depend on the machine it runs on: paths are bytes between slashes everywhere.
//!
//! ```
//! use rel_path::RelPath;
//!
//! let path = RelPath::parse("./src//lib.rs")?;
//! assert_eq!(path.to_string(), "src/lib.rs");
//! assert!(RelPath::parse("src/../../secret").is_err());
//! # Ok::<(), rel_path::PathError>(())
//! ```
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod components;
mod error;
mod escape;
mod found_names;
mod limits;
mod new_name;
mod obeyed_names;
mod path;
mod protected;
mod protected_name;
#[cfg(feature = "serde")]
mod serde_text;
mod shortlist;

pub use components::Components;
pub use error::PathError;
pub use found_names::{FoundName, NameSource};
pub use limits::{MAX_COMPONENT_BYTES, MAX_COMPONENTS, MAX_PATH_BYTES};
pub use new_name::{NameError, check_new_name};
pub use path::RelPath;
pub use protected::{ProtectedNames, fold_name};
pub use protected_name::{NameRule, ProtectedName};
pub use shortlist::Shortlist;
