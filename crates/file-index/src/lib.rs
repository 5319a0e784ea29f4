//! One list of a folder's files, one watcher, and the files that can contain a text.
//!
//! A [`FileIndex`] lists the files below a [`FileRoot`](sandbox_fs::FileRoot) in the background, watches
//! the folders, and keeps a small signature of each file's content. A caller takes a [`View`]: the list, up
//! to date with every change made before the call. It offers walks in the order of paths, entries by name,
//! and the files in which a query can match at all ([`Needle`]). The last are candidates: only reading them
//! shows whether they match.
//!
//! - **A view is exact, or there is none.** The kernel's queue of changes is read before each request is
//!   answered. While that is not enough, as during listing, after the queue has overflowed, or in excluded
//!   folders, the answer is `None`, and the caller walks the folder itself.
//! - **Callers do not wait.** One thread of the lowest priority lists and reads; a request gives up after two
//!   milliseconds.
//! - **Memory is bounded and reported** ([`IndexReport`]). Contents beyond the limit are scanned instead; an
//!   index without requests frees all memory after a while.
//! - Other readers pull changes from the same watcher ([`ChangeFeed`]).
//! - Programs that walk by themselves ask [`GitIgnores`] which paths git ignores, and [`FolderWatch`] what has changed in the
//!   folders since.
//!
//! The changes that no watcher reports are in `docs/decisions/0007-warm-search.md`.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod context;
mod feed;
mod folder_watch;
mod git_ignores;
mod gram;
mod index;
mod keeper;
mod needle;
mod report;
mod rules;
mod signatures;
mod slab;
mod state;
mod tree;
mod view;
mod watcher;

pub use feed::{ChangeFeed, FeedCursor, FeedPage};
pub use folder_watch::{FolderChanges, FolderWatch};
pub use git_ignores::{FormerRules, GitIgnores};
pub use index::FileIndex;
pub use needle::Needle;
pub use report::{IndexPhase, IndexReport, OffReason};
pub use rules::{ContentKind, IndexLimits, IndexRules};
pub use view::{ListEntry, ListSummary, ListWalk, ListedContent, View};
