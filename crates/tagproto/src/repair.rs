//! Paste repair: a reply as a chat window delivered it becomes the reply that the model wrote, as far as that loses nothing.
//!
//! Three outcomes. Damage that can be undone without a doubt is undone and named. Damage that lost something, or that may have reached a body, refuses the
//! paste as a whole before anything runs, with advice for the person. A fault of the model's own fails the one block, with advice for the model.
//! A clean reply is read exactly as strict reading would.
//!
//! The modules are walked in this order: `outline` finds the blocks by way of `tag_line`, `mend` looks into each body.

mod citation;
mod copy_label;
mod doubt;
mod entity;
mod fence;
mod file_kind;
mod gutter;
mod indentation;
mod mend;
mod omission;
mod outline;
mod quote;
mod refusal;
mod repair_kind;
mod spelled_closers;
mod tag_line;
mod thinking;

pub(crate) use outline::lines_from;
pub use refusal::{Refusal, RefusalKind};
pub use repair_kind::{RepairKind, RepairSet};
pub(crate) use thinking::Thinking;

use crate::{
    BlockKind, Body, Item, ParseError, Reply,
    parse::scan,
    repair::{
        mend::Closed,
        outline::{End, FoundBlock, Outline},
    },
    span::line_number,
};

/// Reads a paste with repairs.
pub(crate) fn read(text: &str) -> Reply<'_> {
    match items_and_repairs(text) {
        Ok((items, repairs)) => Reply { items, repairs, refused: None },
        Err(refusal) => Reply { items: Vec::new(), repairs: RepairSet::EMPTY, refused: Some(refusal) },
    }
}

fn items_and_repairs(text: &str) -> Result<(Vec<Item<'_>>, RepairSet), Refusal> {
    let outline = Outline::of(text);
    refuse_outbox(&outline)?;
    refuse_second_copy(text, &outline)?;
    if let Some(refusal) = outline.refusal {
        return Err(refusal);
    }
    let of_all_tags = outline.damage;
    let mut repairs = outline.damage;
    let mut items = Vec::with_capacity(outline.blocks.len());
    for block in outline.blocks {
        let (item, in_body) = item(block, of_all_tags)?;
        repairs.add_all(in_body);
        items.push(item);
    }
    Ok((items, repairs))
}

fn item(block: FoundBlock<'_>, of_all_tags: RepairSet) -> Result<(Item<'_>, RepairSet), Refusal> {
    let (body, repairs, fault) = match &block.end {
        End::AtOnce => (Body::no_lines(), RepairSet::EMPTY, None),
        End::Closed { body: raw, first_line, indent } => {
            let suspected = of_all_tags.without(block.opening.unharmed);
            let closed =
                Closed { block: &block, raw, first_line: *first_line, closing_indent: indent, suspected };
            let mended = closed.mend()?;
            (mended.body, mended.repairs, mended.fault)
        }
        End::Unclosed(error) => return Ok((Item::Error(error.clone()), RepairSet::EMPTY)),
    };
    let (span, lines, command) = (block.span, block.lines, block.opening.tag.kind);
    let item = match (scan::item(block.opening.tag, body, span, lines), fault) {
        (Item::Block(_), Some(kind)) => Item::Error(ParseError { command, kind, span, lines }),
        (item, _) => item,
    };
    Ok((item, repairs))
}

/// Two different section markers outside of bodies are our own outbox; one may be talked about.
fn refuse_outbox(outline: &Outline<'_>) -> Result<(), Refusal> {
    let [(first, number), rest @ ..] = outline.markers.as_slice() else { return Ok(()) };
    if rest.iter().any(|(marker, _)| marker != first) {
        return Err(Refusal { kind: RefusalKind::OutboxInPaste, line_number: line_number(*number) });
    }
    Ok(())
}

/// A paste that is the same text twice, whatever blanks are between.
///
/// Where every block only reads or deletes a file, the second copy changes nothing, and it may as well be the model that
/// repeated itself: such a reply is carried out.
fn refuse_second_copy(text: &str, outline: &Outline<'_>) -> Result<(), Refusal> {
    let text_without_mark = text.trim_start_matches('\u{feff}').trim();
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
