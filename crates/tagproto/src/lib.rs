//! The bracket-tag protocol: text of a model in a chat window, parsed into blocks.
//!
//! A reply is plain text. A line such as `[READ_FILE path="src/a.rs"]` is a tag, the lines from an opening tag to its closing tag
//! are a block's body, and everything else is prose. [`parse`] reads a reply strictly, and [`Decoder`] does the same for a reply
//! that arrives in pieces. [`read`] can first repair the damage of copying text out of a chat window, or refuse the paste with
//! advice. [`read_in`] also reports lines that were meant as tags but are not. [`render_reply`] is the inverse.
//!
//! [`execute`] carries out the blocks on a given [`Workspace`](wap_core::Workspace), a [`Session`] keeps the results and the
//! shown versions of files, and [`render_outbox`] writes the next message to the model.
//!
//! No function here does I/O, or reads a clock or the environment; a path in a block is unchecked text.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod adapter;
mod block;
mod command_result;
mod dialect;
mod foreign;
mod held_reply;
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
pub use block::background::Background;
pub use block::body::Body;
pub use block::hunk::{HunkFault, TextHunk};
pub use block::kind::{BlockKind, UnknownBlock};
pub use block::{Block, IfExists, Item, ReadRange};
pub use command_result::{CommandResult, CommandType};
pub use dialect::{Dialect, UnknownDialect};
pub use foreign::ForeignFault;
pub use held_reply::{HeldReply, Incoming};
pub use outbox::{
    Context, LEAST_PASTE_CHARACTERS, ListedEntry, ListedFolder, Outbox, OutboxError, OutboxErrorKind,
    OutboxLimits, OutboxParts, RequestedFile, RequestedText, Shape, ShownFile, ShownLines, SuggestedFile,
    TokenCounter, USUAL_BUDGET, WholeView, WholeViews, estimated_tokens, filtered_outbox, gather,
    gather_first, listed_entry, paste_parts, project_facts, read_outbox, render_outbox,
    render_outbox_counted, whole_outbox, with_answers,
};
pub use parse::decoder::Decoder;
pub use parse::error::{EndDoubt, ParseError, ParseErrorKind, Quotation};
pub use parse::parse;
pub use protocol_text::protocol_text;
pub use render::{RenderError, render_block, render_reply};
pub use repair::{Refusal, RefusalKind, RepairKind, RepairSet};
pub use reply::{Reply, Strictness, read, read_in};
pub use reply_to::{MalformedReplyTo, ReplyTo};
pub use session::{Clipped, Handover, Session};
pub use session_id::{MalformedSessionId, SessionId};
pub use span::{LineRange, Located, Span};
pub use version::VERSION;
