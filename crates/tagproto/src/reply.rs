//! Parses a whole reply, strictly or with paste repair.

use crate::{
    Dialect, Item, ParseError, ParseErrorKind, Refusal, RepairKind, RepairSet, foreign, near_miss, repair,
};

/// The tolerance with which a reply is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strictness {
    /// No tolerance: the result of [`parse`](crate::parse).
    Strict,
    /// Repairs the damage of copying from a chat window.
    Repair,
}

/// A parsed reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply<'a> {
    /// Blocks and malformed blocks, in order; spans and lines refer to the given text. Empty if the reply is refused.
    pub items: Vec<Item<'a>>,
    /// The repairs; empty for a clean reply and for a refused reply.
    pub repairs: RepairSet,
    /// The refusal, which forbids running any part of the reply; `None` if the reply may run.
    pub refused: Option<Refusal>,
}

impl Reply<'_> {
    /// The maximum number of blocks of a reply, including malformed ones.
    pub const MOST_BLOCKS: usize = 10_000;

    /// Returns the same reply with owned texts.
    #[must_use]
    pub fn into_owned(self) -> Reply<'static> {
        let items = self.items.into_iter().map(Item::into_owned).collect();
        Reply { items, repairs: self.repairs, refused: self.refused }
    }
}

/// Parses a reply.
///
/// Never fails as a whole and never panics; the time taken is linear in the length of the text. With [`Strictness::Repair`], a
/// reply to which no rule applies yields the result of strict parsing, and `repairs` is empty.
///
/// For a reply with more than [`Reply::MOST_BLOCKS`] blocks, the first ones are returned, and one error instead of the others.
///
/// # Example
///
/// ```
/// use tagproto::{RepairKind, Strictness, read};
///
/// let reply = read("1. `[READ_FILE path=“src/a.rs”]`", Strictness::Repair);
/// assert_eq!(reply.items.len(), 1);
/// assert!(reply.repairs.contains(RepairKind::SmartQuotes));
/// assert_eq!(reply.refused, None);
/// ```
///
/// Source: ruling in docs/tagproto.md, Paste repair; fixtures/vectors/paste.json.
#[must_use]
pub fn read(text: &str, strictness: Strictness) -> Reply<'_> {
    read_in(text, strictness, Dialect::CodingAgent)
}

/// Parses a reply in a dialect.
///
/// In [`Dialect::CodingAgent`] this is [`read`]. In [`Dialect::Agentd`], a line outside of blocks that was meant as a tag but is
/// not a tag yields an error with the right form: a misspelt name, a tag in angle brackets, a whole block on one line. Words that
/// also occur in prose, such as `[Done]`, only count with a closing tag. No block is read between a misspelt tag and its closing
/// tag. With [`Strictness::Repair`], EDIT_FILE accepts hunks as its body, and a reply without any block is searched for edits in
/// the formats of other programs; in a reply with blocks, each such edit is an error.
///
/// # Example
///
/// ```
/// use tagproto::{Dialect, Item, Strictness, read_in};
///
/// let reply = read_in("<read_file path=\"src/a.rs\"/>", Strictness::Repair, Dialect::Agentd);
/// let [Item::Error(error)] = reply.items.as_slice() else { panic!("one error") };
/// assert!(error.to_string().ends_with("write [READ_FILE path=\"relative/path\"], alone on its line"));
/// ```
#[must_use]
pub fn read_in(text: &str, strictness: Strictness, dialect: Dialect) -> Reply<'_> {
    let mut reply = every_block(text, strictness, dialect);
    let has_blocks = !reply.items.is_empty() && !reply.repairs.contains(RepairKind::OtherFormat);
    if has_blocks && strictness == Strictness::Repair && dialect == Dialect::Agentd {
        let mut edits = foreign::alongside_blocks(text, &reply.items);
        reply.items.append(&mut edits);
        reply.items.sort_by_key(|item| item.span().start);
    }
    let is_searched =
        strictness == Strictness::Repair && dialect == Dialect::Agentd && reply.refused.is_none();
    if is_searched && reply.items.is_empty() {
        reply.items.extend(foreign::near_form(text));
    }
    if is_searched {
        let mut code = foreign::named_code(text, &reply.items);
        reply.items.append(&mut code);
        reply.items.sort_by_key(|item| item.span().start);
    }
    // Last, so that misspelt tags and edits alongside the blocks count, too.
    truncate(&mut reply.items, Reply::MOST_BLOCKS);
    reply
}

/// Parses a reply like [`read_in`] in [`Dialect::Agentd`] with repairs, except for the errors of edits alongside its blocks: for
/// comparing replies with each other, these edits are prose.
pub(crate) fn read_blocks(text: &str) -> Reply<'_> {
    let mut reply = every_block(text, Strictness::Repair, Dialect::Agentd);
    truncate(&mut reply.items, Reply::MOST_BLOCKS);
    reply
}

/// Parses a reply like [`read_blocks`]; returns `None`, which takes less time, if none of its own blocks has an error that
/// `is_wanted`.
pub(crate) fn read_blocks_with_error(
    text: &str,
    is_wanted: impl Fn(&ParseErrorKind) -> bool,
) -> Option<Reply<'_>> {
    let reply = own_blocks(text, Strictness::Repair, Dialect::Agentd);
    let has_wanted =
        reply.items.iter().any(|item| matches!(item, Item::Error(error) if is_wanted(&error.kind)));
    has_wanted.then(|| {
        let mut reply = with_other_formats(text, reply);
        truncate(&mut reply.items, Reply::MOST_BLOCKS);
        reply
    })
}

fn every_block(text: &str, strictness: Strictness, dialect: Dialect) -> Reply<'_> {
    let reply = own_blocks(text, strictness, dialect);
    let has_other_formats = strictness == Strictness::Repair && dialect == Dialect::Agentd;
    if has_other_formats { with_other_formats(text, reply) } else { reply }
}

fn own_blocks(text: &str, strictness: Strictness, dialect: Dialect) -> Reply<'_> {
    let mut reply = match strictness {
        Strictness::Strict => Reply { items: crate::parse(text), repairs: RepairSet::EMPTY, refused: None },
        Strictness::Repair => repair::read(text, dialect),
    };
    if dialect == Dialect::Agentd && reply.refused.is_none() {
        reply.items = near_miss::with_errors(text, reply.items);
    }
    reply
}

/// Adds the edits in formats of other programs to a reply without blocks, and removes the blocks that such edits quote.
fn with_other_formats<'a>(text: &'a str, mut reply: Reply<'a>) -> Reply<'a> {
    if reply.refused.is_some() {
        return reply;
    }
    let foreign = foreign::items(text);
    foreign::remove_quoted(text, &mut reply.items, &foreign);
    if reply.items.is_empty() {
        if let Some(refusal) = repair::refused_for_no_break_spaces(&foreign) {
            return Reply { items: Vec::new(), repairs: RepairSet::EMPTY, refused: Some(refusal) };
        }
        reply.repairs.extend((!foreign.is_empty()).then_some(RepairKind::OtherFormat));
        reply.items = foreign;
    }
    reply
}

/// Replaces all blocks after the first `most` by one error.
fn truncate(items: &mut Vec<Item<'_>>, most: usize) {
    let Some(first) = items.get(most) else { return };
    let (span, lines) = (first.span(), first.lines());
    let command = first.kind();
    let kind = ParseErrorKind::TooManyBlocks { most, later_blocks: items.len() - most - 1 };
    items.truncate(most);
    items.push(Item::Error(ParseError { command, kind, span, lines }));
}
