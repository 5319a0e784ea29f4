//! The bracket-tag protocol: what a model writes into a chat window, read as blocks.
//!
//! A reply is plain text. A line such as `[READ_FILE path="src/a.rs"]` is a tag, the lines behind an opening tag up to the closing one are a
//! block's body, and everything else is prose. [`parse`] reads a reply strictly, and [`Decoder`] does the same for a reply that arrives in pieces.
//! [`read`] undoes first, if asked to, what chat windows do to text that is copied out of them, or refuses the paste with advice.
//! [`read_in`] also reports what was meant as a tag and is not one. [`render_reply`] is the way back.
//!
//! [`execute`] carries out the blocks over a [`Workspace`](wap_core::Workspace) that it is given, a [`Session`] keeps what they gave and what the
//! model was shown, and [`render_outbox`] writes the next message to the model.
//!
//! No function here does I/O of its own, reads a clock or looks at the environment; a path in a block is text that nobody has checked yet.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod adapter;
mod block;
mod command_result;
mod dialect;
mod json;
mod near_miss;
mod outbox;
mod parse;
mod protocol_text;
mod render;
mod repair;
mod reply;
mod reply_to;
mod session;
mod session_id;
mod span;
mod version;

pub use adapter::{BaseVersions, Execution, ExecutionObserver, UnobservedExecution, base_versions, execute};
pub use block::body::Body;
pub use block::kind::{BlockKind, UnknownBlock};
pub use block::{Block, Item, ReadRange};
pub use command_result::{CommandResult, CommandType};
pub use dialect::{Dialect, UnknownDialect};
pub use outbox::{
    Context, ListedEntry, Outbox, OutboxError, OutboxErrorKind, OutboxLimits, OutboxParts, RequestedFile,
    RequestedText, ShownFile, ShownLines, gather, read_outbox, render_outbox,
};
pub use parse::decoder::Decoder;
pub use parse::error::{ParseError, ParseErrorKind};
pub use parse::parse;
pub use protocol_text::protocol_text;
pub use render::{RenderError, render_block, render_reply};
pub use repair::{Refusal, RefusalKind, RepairKind, RepairSet};
pub use reply::{Reply, Strictness, read, read_in};
pub use reply_to::{MalformedReplyTo, ReplyTo};
pub use session::Session;
pub use session_id::{MalformedSessionId, SessionId};
pub use span::{LineRange, Located, Span};
pub use version::VERSION;
