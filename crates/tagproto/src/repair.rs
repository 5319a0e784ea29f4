//! Paste repair: restoring the model's reply from the text that a chat window delivered, as long as nothing is lost.
//!
//! There are three outcomes. Damage that can certainly be undone is repaired and reported. Damage that lost text, or that may
//! have reached a body, refuses the whole paste before anything runs, with advice for the user. A fault of the model fails only
//! that block, with advice for the model. A clean reply is parsed exactly as in strict parsing.
//!
//! The modules work in this order: `outline` finds the blocks with `tag_line`, then `body_repair` repairs each body.

mod body_repair;
mod chat_ending;
mod citation;
mod copy_label;
mod doubt;
mod entity;
mod fence;
mod file_kind;
mod gutter;
mod indentation;
mod list_item;
mod omission;
mod outline;
mod quote;
mod refusal;
mod repair_kind;
mod spelled_closers;
mod tag_line;
mod thinking;
mod view_gutter;

pub(crate) use chat_ending::{without_chat_ending, without_end_of_text};
pub(crate) use copy_label::without_label;
pub(crate) use fence::Fence;
pub(crate) use file_kind::FileKind;
pub(crate) use indentation::{
    begins_with_no_break_space, lacks_indentation, refused_for_no_break_spaces, text_lines_of_command,
};
pub(crate) use omission::omitted;
pub(crate) use outline::lines_from;
pub use refusal::{Refusal, RefusalKind};
pub use repair_kind::{RepairKind, RepairSet};
pub(crate) use tag_line::{CURLY_DOUBLE, Opening, closing_kind, opening, opening_kind, stray_closing_kind};
pub(crate) use thinking::{Thinking, considered, ends_with_closing_mark};

use crate::{
    BlockKind, Body, Dialect, Item, Located, ParseError, Reply,
    parse::{assemble, scan},
    repair::{
        body_repair::ClosedBlock,
        outline::{End, FoundBlock, Outline},
    },
    span::line_number,
};

/// Parses a paste with repairs.
pub(crate) fn read(text: &str, dialect: Dialect) -> Reply<'_> {
    let text = match dialect {
        Dialect::Agentd => without_end_of_text(text),
        Dialect::CodingAgent => text,
    };
    match items_and_repairs(text, dialect) {
        Ok((items, repairs)) => Reply { items, repairs, refused: None },
        Err(refusal) => Reply { items: Vec::new(), repairs: RepairSet::EMPTY, refused: Some(refusal) },
    }
}

fn items_and_repairs(text: &str, dialect: Dialect) -> Result<(Vec<Item<'_>>, RepairSet), Refusal> {
    let outline = Outline::of(text, dialect);
    // The faults of the whole paste come first: following their advice also removes the faults of single tags.
    refuse_outbox(&outline)?;
    refuse_second_copy(text, &outline)?;
    if let Some(refusal) = outline.refusal {
        return Err(refusal);
    }
    let tag_damage = outline.damage;
    let mut repairs = outline.damage;
    let mut items = Vec::with_capacity(outline.blocks.len());
    for block in outline.blocks {
        let (item, in_body) = item(block, tag_damage, dialect)?;
        repairs.add_all(in_body);
        items.push(item);
    }
    Ok((items, repairs))
}

fn item(
    block: FoundBlock<'_>,
    tag_damage: RepairSet,
    dialect: Dialect,
) -> Result<(Item<'_>, RepairSet), Refusal> {
    let (body, repairs, fault) = match &block.end {
        End::AtOnce => (Body::no_lines(), RepairSet::EMPTY, None),
        End::Closed { body: raw, first_line, indent, tags } => {
            let suspected = tag_damage.without(block.opening.unharmed);
            let closed = ClosedBlock {
                block: &block,
                raw,
                first_line: *first_line,
                closing_indent: indent,
                tags: *tags,
                suspected,
                dialect,
            };
            let repaired = closed.repaired_body()?;
            (repaired.body, repaired.repairs, repaired.fault)
        }
        End::Unclosed(error) => return Ok((Item::Error(error.clone()), RepairSet::EMPTY)),
    };
    let (span, lines, command) = (block.span, block.lines, block.opening.tag.kind);
    let read = match dialect {
        Dialect::Agentd => assemble::text_edit(&block.opening.tag, &body, lines.first)
            .or_else(|| assemble::edit_without_lines(&block.opening.tag))
            .or_else(|| assemble::background(&block.opening.tag, &body)),
        Dialect::CodingAgent => None,
    };
    let item = match read {
        Some(Ok(value)) => Item::Block(Located { value, span, lines }),
        Some(Err(kind)) => Item::Error(ParseError { command, kind, span, lines }),
        None => scan::item(block.opening.tag, body, span, lines),
    };
    // A malformed tag is reported before a fault in its body: the model has to correct it first, too.
    let item = match (item, fault) {
        (Item::Block(_), Some(kind)) => Item::Error(ParseError { command, kind, span, lines }),
        (item, _) => item,
    };
    Ok((item, repairs))
}

/// Refuses a paste with two different section markers outside of bodies, which is an outbox; prose may quote a single marker.
fn refuse_outbox(outline: &Outline<'_>) -> Result<(), Refusal> {
    let [(first, number), rest @ ..] = outline.markers.as_slice() else { return Ok(()) };
    if rest.iter().any(|(marker, _)| marker != first) {
        return Err(Refusal { kind: RefusalKind::OutboxInPaste, line_number: line_number(*number) });
    }
    Ok(())
}

/// Refuses a paste that is the same text twice, with any whitespace between the copies.
///
/// A reply whose blocks all read or delete a file is carried out: the second copy changes nothing, and the model may
/// have repeated itself.
fn refuse_second_copy(text: &str, outline: &Outline<'_>) -> Result<(), Refusal> {
    let text_without_mark = text.trim_start_matches('\u{feff}').trim();
    // Equal halves meet at a character boundary, so rounding does not miss any.
    let middle = text_without_mark.floor_char_boundary(text_without_mark.len() / 2);
    let (first, second) = (text_without_mark[..middle].trim_end(), text_without_mark[middle..].trim_start());
    let is_harmless = |block: &FoundBlock<'_>| {
        matches!(block.opening.tag.kind, BlockKind::ReadFile | BlockKind::DeleteFile)
    };
    if first != second || outline.blocks.iter().all(is_harmless) {
        return Ok(());
    }
    let second_at = text.trim_end().len() - second.len();
    let number = scan::count_lines(&text[..second_at]) + 1;
    Err(Refusal { kind: RefusalKind::DuplicatePaste, line_number: line_number(number) })
}
