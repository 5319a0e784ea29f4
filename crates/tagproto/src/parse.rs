//! Strict parsing of a whole reply. `parse/tag.rs` decides the meaning of a line, `parse/scan.rs` the end of a block, and
//! `parse/assemble.rs` its content.

pub(crate) mod assemble;
pub(crate) mod decoder;
pub(crate) mod error;
pub(crate) mod scan;
pub(crate) mod tag;

use crate::{Item, parse::scan::Scanner};

/// Parses a reply strictly into its blocks and malformed blocks in order, without prose.
///
/// Never fails as a whole and never panics; the time taken is linear in the length of the text. Bodies borrow from the text
/// unless a carriage return had to be dropped from one of their lines. An unclosed block gives one error, the last item: nothing
/// after its opening tag runs.
///
/// # Example
///
/// ```
/// use tagproto::{Block, Item, ReadRange};
///
/// let items = tagproto::parse("First a look:\n[READ_FILE path=\"src/a.rs\"]\n");
/// let [Item::Block(block)] = items.as_slice() else { panic!("one block") };
/// assert_eq!(block.value, Block::ReadFile { path: "src/a.rs".into(), range: ReadRange::Whole });
/// assert_eq!(block.lines.first, 2);
/// ```
///
/// Source: bracket-tag protocol, Parsing Rules; ruling in docs/tagproto.md.
#[must_use]
pub fn parse(text: &str) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    Scanner::new().scan_to_end(text, 0, &mut |item| items.push(item));
    items
}
