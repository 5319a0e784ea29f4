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
//! A block's path stands on a line before it, bare or in backticks; a block without one is about the file of the block
//! before. The lines between SEARCH and the `=======` have to mean one passage of the file, as `text_edit::find_text` finds
//! it, apart from blank lines that both parts begin with; an empty SEARCH makes a new file. A block for text with a line `=======` has marks of
//! eight signs. All blocks of a reply are carried out, or none is. `docs/writing-an-adapter.md` explains the code.

mod apply;
mod parse;

pub use apply::{Refusal, apply};
pub use parse::{Block, parse};
