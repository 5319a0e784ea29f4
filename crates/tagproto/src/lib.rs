//! The bracket-tag protocol: what a model writes into a chat window, read as blocks.
//!
//! A reply is plain text. A line such as `[READ_FILE path="src/a.rs"]` is a tag, the lines behind an opening tag up to the closing one are a
//! block's body, and everything else is prose. [`parse`] reads a reply strictly, and [`Decoder`] does the same for a reply that arrives in pieces.
//!
//! No function here does I/O, reads a clock or looks at the environment; a path in a block is text that nobody has checked yet.

mod block;
mod block_kind;
mod body;
mod decoder;
mod parse;
mod parse_error;
mod span;
mod version;

pub use block::{Block, Item};
pub use block_kind::{BlockKind, UnknownBlock};
pub use body::Body;
pub use decoder::Decoder;
pub use parse::parse;
pub use parse_error::{ParseError, ParseErrorKind};
pub use span::{LineRange, Located, Span};
pub use version::VERSION;
