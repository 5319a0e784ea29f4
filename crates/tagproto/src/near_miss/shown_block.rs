//! Whole blocks in the text of a message or a summary, in a reply that has no other block that acts. The model probably meant them,
//! and would continue as if they had been carried out.

use super::body_tags::{BodyTags, first_whole_block, meant_kind};
use super::own_tag::closed_fences;
use crate::parse::scan::{Line, count_lines};
use crate::repair::opening;
use crate::span::line_number;
use crate::{BlockKind, Item, ParseError, ParseErrorKind};

/// Turns messages and summaries with such blocks into errors. Takes time linear in the text.
pub(super) fn report(text: &str, items: &mut [Item<'_>]) {
    if items.iter().any(|item| item.kind().acts()) {
        return;
    }
    for item in items {
        let (span, lines, command) = (item.span(), item.lines(), item.kind());
        let is_shown = matches!(command, BlockKind::Message | BlockKind::Done);
        if !matches!(item, Item::Block(_)) || !is_shown {
            continue;
        }
        let block = &text[span.range()];
        if let Some(line) = acting_block(block) {
            let line_number = line_number(lines.first as usize + count_lines(&block[..line.start]));
            let kind = ParseErrorKind::BlockInText { line_number };
            *item = Item::Error(ParseError { command, kind, span, lines });
        }
    }
}

/// Returns the line of a text that opens a whole block. Indented, in a code fence or with Markdown around its tags, a block is only
/// shown.
fn acting_block(text: &str) -> Option<Line> {
    let tags = BodyTags::of(text)?;
    let examples = closed_fences(text);
    let is_example = |line: &Line| {
        let next = examples.partition_point(|example| example.end <= line.start);
        examples.get(next).is_some_and(|example| example.start <= line.start)
    };
    first_whole_block(text, tags.lines().filter(|line| !is_example(line)), |line| {
        let opening = opening(line).filter(|opening| line.starts_with('[') && opening.damage.is_empty())?;
        meant_kind(&opening).filter(|kind| kind.acts())
    })
}
