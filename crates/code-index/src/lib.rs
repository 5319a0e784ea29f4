#![doc = include_str!("../README.md")]

mod error;
mod hidden_parts;
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
mod syntax_check;
mod task_files;
mod words;

pub use error::OpenError;
pub use hidden_parts::HiddenParts;
pub use index::{LocalIndex, Opening};
pub use language::Language;
pub use limits::IndexLimits;
pub use refresh::folder_source::FolderSource;
pub use refresh::follow::{FollowingIndex, Follows};
pub use refresh::{Progress, Refreshed};
pub use status::IndexStatus;
pub use store::store_folder::DATABASE_NAME as STORE_NAME;
pub use syntax_check::TreeSyntaxCheck;
