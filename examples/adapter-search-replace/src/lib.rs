//! SEARCH/REPLACE blocks, as chat models write them, over any [`Workspace`](wap_core::Workspace): a protocol in two files.
//!
//! ```text
//! src/greet.py
//! <<<<<<< SEARCH
//!     print("hi")
//! =======
//!     print("hello")
//! >>>>>>> REPLACE
//! ```
//!
//! A block's path is on a line before it, bare or in backticks; a block without one is about the file of the block before.
//! The lines between SEARCH and the `=======` must match one passage of the file by the rules of `text_edit::find_text`;
//! blank lines that both parts begin with may be missing there. An empty SEARCH creates a file. A block for text with a line
//! `=======` has marks of eight signs. All blocks of a reply are carried out, or none is. `docs/writing-an-adapter.md`
//! explains the code.

mod apply;
mod parse;

pub use apply::{Refusal, apply};
pub use parse::{Block, parse};
