//! Reads and writes files below one directory handle, and never outside of it.
//!
//! A [`FileRoot`] holds a folder open. Every operation takes a [`RelPath`](rel_path::RelPath) and resolves it
//! below that handle. A path is resolved once: the temporary file, the rename and the removal of one write all
//! use the handle of the same parent folder.
//!
//! - Reads follow relative links that stay inside; writes follow no link and name the target instead. Absolute
//!   links are always refused.
//! - Only regular files are read or written; no call blocks on a FIFO, socket or device.
//! - A write is a temporary file next to the target ([`Staged`]), published by one rename that never overwrites a
//!   version unknown to the caller.
//! - Protected names are never written, removed or renamed.
//!
//! The crate knows no protocol, and its errors contain only paths relative to the root. It works on Linux, with
//! `openat2` or, if that is missing, with a walk from handle to handle; [`FileRoot::method`] returns which.
//!
//! ```
//! use rel_path::RelPath;
//! use sandbox_fs::{Expected, FileMode, FileRoot, FsPolicy, RootRules};
//!
//! # let folder = tempfile::tempdir()?;
//! let root = FileRoot::open(folder.path(), &RootRules::default(), FsPolicy::default())?;
//! let path = RelPath::parse("hello.txt")?;
//! root.stage(&path, b"hello\n", FileMode::Keep)?.publish(Expected::Absent)?;
//! assert_eq!(root.open_file(&path)?.read_to_end(1024)?, b"hello\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod change;
mod error;
mod handle;
mod link;
mod metadata;
mod open_file;
mod open_folder;
mod policy;
mod resolve;
mod root;
mod root_rules;
mod spelling;
mod walk;

pub use change::leftovers::Swept;
pub use change::publish::{Expected, PublishMethod, Published};
pub use change::remove::Removed;
pub use change::stage::{FileMode, Staged};
pub use change::target::WriteTarget;
pub use change::temp_name::is_temp_name;
pub use content_hash::ContentHash;
pub use error::{FsError, LinkEscape, ReadOnlyReason};
pub use metadata::attributes::FileAttributes;
pub use metadata::{FileKind, FileStamp, Metadata};
pub use open_file::OpenFile;
pub use open_folder::{FolderAt, OpenFolder};
pub use policy::{FsPolicy, HardLinks, LinkRule, NewNames, WriteBits};
pub use resolve::ResolveMethod;
pub use root::FileRoot;
pub use root_rules::{RootError, RootRules};
pub use walk::{Visit, Walk, WalkEntry, WalkLimits, WalkSummary};
