//! Blocks that have an opening tag of their own kind in their text: probably their own closing tag is misspelt or missing, and the
//! closing tag at which they end is that of the next block.

use std::ops::Range;

use super::{misspelt_end, quoted};
use crate::parse::error::EndDoubt;
use crate::parse::scan::{count_lines, opening_lines};
use crate::repair::{Fence, FileKind, lines_from, own_tags};
use crate::span::line_number;
use crate::{Block, BlockKind, Item, ParseError, ParseErrorKind};

/// Makes such blocks errors. Takes time linear in the text.
pub(super) fn report(text: &str, items: &mut [Item<'_>]) {
    for item in items {
        let (span, lines, command) = (item.span(), item.lines(), item.kind());
        if let Some(kind) = error(&text[span.range()], lines.first, item) {
            *item = Item::Error(ParseError { command, kind, span, lines });
        }
    }
}

fn error(block: &str, first_line: u32, item: &Item<'_>) -> Option<ParseErrorKind> {
    let is_markdown = match item {
        // Hunks begin and end with marks of their own.
        Item::Block(located) if matches!(located.value, Block::EditText { .. }) => return None,
        Item::Error(error) if matches!(error.kind, ParseErrorKind::Unclosed { .. }) => return None,
        Item::Block(located) => match located.value.path() {
            Some(path) => FileKind::of(path) == FileKind::Markdown,
            None => item.kind() != BlockKind::RunCommand,
        },
        Item::Error(_) => false,
    };
    let mut tags = own_tags(block).peekable();
    let first = *tags.peek()?;
    let examples = if is_markdown { closed_fences(block) } else { Vec::new() };
    let is_example = |at: usize| {
        let next = examples.partition_point(|example| example.end <= at);
        examples.get(next).is_some_and(|example| example.start <= at)
    };
    let mut before = lines_from(block, 0).skip(1).take_while(|line| line.start < first);
    let misspelt = before.find(|line| {
        misspelt_end::is_misspelt(block[line.start..line.end].trim(), item.kind()) && !is_example(line.start)
    });
    if let Some(line) = misspelt {
        let written = quoted(&block[line.start..line.end]);
        return Some(ParseErrorKind::NearMiss { written, not_run: opening_lines(&block[line.end..]) });
    }
    let own = tags.find(|tag| !is_example(*tag))?;
    let line_number = line_number(first_line as usize + count_lines(&block[..own]));
    Some(ParseErrorKind::EndUnclear { line_number, not_run: 0, doubt: EndDoubt::NextTag })
}

/// Returns the code fences that are closed, in which Markdown has its examples.
fn closed_fences(text: &str) -> Vec<Range<usize>> {
    let mut closed = Vec::new();
    let mut open: Option<(Fence, usize)> = None;
    for line in lines_from(text, 0) {
        let Some(fence) = Fence::read(&text[line.start..line.end]) else { continue };
        match open {
            Some((opening, start)) if fence.closes(opening) => {
                closed.push(start..line.end);
                open = None;
            }
            Some(_) => {}
            None => open = Some((fence, line.start)),
        }
    }
    closed
}
