//! An index of the code in a folder: full text, symbols, syntax trees and imports, embedded and without a server.
//!
//! A [`LocalIndex`] keeps what it knows in a folder of its own and answers as a [`wap_core::CodeIndex`]. It reads files
//! through a [`FolderSource`] only, which goes by the handle of a [`sandbox_fs::FileRoot`] and never sees hidden files,
//! protected names, links and what git ignores. It is brought up to date by [`LocalIndex::refresh`], which compares the
//! folder with what is known, or by [`LocalIndex::update`] with the paths that somebody else has seen changing. A
//! [`FollowingIndex`] does so by itself.
//!
//! - An answer says how far it can be relied on: a hit in a file that has changed since is named.
//! - What a file defines and its syntax tree are read from the file as it is now; the index only saves the work.
//! - A damaged store, or one of another version, is made anew.
//! - Source text is hostile: sizes, parse time and nesting are bounded, and nothing in a file is ever run or obeyed,
//!   apart from `.gitignore` files, which can only make the index smaller.
//!
//! The crate knows no protocol and starts no thread that outlives a call.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod error;
mod index;
mod language;
mod limits;
mod lines;
mod outline;
mod refresh;
mod resolve;
mod search;
mod skeleton;
mod status;
mod store;
mod words;

pub use error::OpenError;
pub use index::{LocalIndex, Opening};
pub use language::Language;
pub use limits::IndexLimits;
pub use refresh::folder_source::FolderSource;
pub use refresh::follow::{FollowingIndex, Follows};
pub use refresh::{Progress, Refreshed};
pub use status::IndexStatus;
pub use store::store_folder::DATABASE_NAME as STORE_NAME;
