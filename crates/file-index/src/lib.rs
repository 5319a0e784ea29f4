//! One list of a folder's files, one watcher, and which files can contain a text.
//!
//! A [`FileIndex`] lists the files beneath a [`FileRoot`](sandbox_fs::FileRoot) in the background, watches the folders, and
//! keeps a small signature of each file's content. Whoever asks takes a [`View`]: the list after everything that was done
//! before the question. From it come walks in the order of paths, entries by name, and the files in which a query can match
//! at all ([`Needle`]). The last are candidates: they have to be read to know.
//!
//! - **A view is right, or there is none.** What the kernel has queued about changes is read before a question is answered.
//!   Where that does not tell everything, as while files are listed, after the queue has overflowed, or in folders that are
//!   left out, the answer is `None`, and the caller looks for itself.
//! - **Nobody waits.** Listing and reading are the work of one thread with the least priority; a question gives up after two
//!   milliseconds.
//! - **It takes little, and says how much** ([`IndexReport`]). Past the limit, contents are scanned; when nobody asks for
//!   long, everything is given back.
//! - Others pull changes from the same watcher ([`ChangeFeed`]).
//! - Whoever walks by itself asks [`GitIgnores`] what git leaves out.
//!
//! What no watcher is told is in `docs/decisions/0007-warm-search.md`.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod feed;
mod git_ignores;
mod gram;
mod ground;
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
pub use git_ignores::GitIgnores;
pub use index::FileIndex;
pub use needle::Needle;
pub use report::{IndexPhase, IndexReport, OffReason};
pub use rules::{ContentKind, IndexLimits, IndexRules};
pub use view::{ListEntry, ListSummary, ListWalk, ListedContent, View};
