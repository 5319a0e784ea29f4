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

mod asked_name;
mod bag;
mod deadline;
mod doc_id;
mod error;
mod excerpt;
mod file_name;
mod folder_source;
mod follow;
mod graph;
mod index;
mod language;
mod limits;
mod lines;
mod manifests;
mod matches;
mod mend;
mod outline;
mod packed;
mod packed_outline;
mod passage;
mod prepare;
mod query;
mod query_words;
mod ranking;
mod refresh;
mod remote;
mod resolve;
mod schema;
mod search;
mod skeleton;
mod status;
mod store;
mod store_folder;
mod syntax;
mod test_paths;
mod words;

pub use error::OpenError;
pub use folder_source::FolderSource;
pub use follow::{FollowingIndex, Follows};
pub use index::{LocalIndex, Opening};
pub use language::Language;
pub use limits::IndexLimits;
pub use refresh::{Progress, Refreshed};
pub use remote::{FallbackIndex, RemoteConfig, RemoteIndex};
pub use status::IndexStatus;
pub use store_folder::DATABASE_NAME as STORE_NAME;
