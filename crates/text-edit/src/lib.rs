//! Byte-exact edits of texts, and maps between the line numbers of two versions of a text.
//!
//! [`apply`] runs line and regular-expression operations over a text, all or nothing. Bytes outside the edited lines never
//! change: mixed line endings, byte-order marks, missing final newlines and bytes that cannot be decoded stay as they are.
//! [`LineMap`] tracks lines across an edit or a comparison, [`find_text`] finds the passage that a search text means, and
//! [`rebase`] carries operations from the version whose line numbers they mean to the current one.
//!
//! The crate does no I/O and knows no protocol.
//!
//! Line numbers are 1-based and ranges of them inclusive; line indexes are 0-based and ranges half-open.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod append;
mod apply;
mod difference;
mod encode;
mod error;
mod excerpt;
mod format;
mod limits;
mod line_map;
mod lines;
mod new_lines;
mod operation;
mod rebase;
mod regex_edit;
mod source;
mod splice;
mod text_match;
mod text_replace;
mod work;

pub use append::append;
pub use apply::{Edited, Outcome, apply, apply_until};
pub use difference::{
    Difference, already_applied, applied_elsewhere, applied_since, find_unique, first_difference,
};
pub use error::{Conflict, EditError, EditErrorKind, UnsupportedConstruct};
pub use excerpt::{Excerpt, ExcerptLimits, ExcerptLine, excerpt};
pub use format::{Encoding, LineEnding, TextFormat};
pub use limits::EditLimits;
pub use line_map::{Hunk, LineMap, Mapped, MappedRange, Shift};
pub use lines::Lines;
pub use new_lines::{NewLine, OtherIndentation};
pub use operation::{Numbering, Operation};
pub use rebase::{Carried, Stale, StaleReason, carry, rebase};
pub use source::{BinaryError, Source};
pub use text_match::{
    MatchRule, NearestPassage, NoMatch, NumberedLine, SearchText, TextContent, TextMatch, find_all_text,
    find_text, has_added_lines_around,
};
pub use text_replace::TextOutcome;
