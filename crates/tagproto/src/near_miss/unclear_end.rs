//! Blocks whose end is not clear.
//!
//! A body ends at its first closing tag, also if that one stands in an example within the text of a file. What follows is then
//! read as blocks, although it was meant as text. Two things show it:
//!
//! - a later closing tag that closes no block. Unless it directly follows a block of its kind, any block of that kind before it
//!   may reach to it, and with none before it, the beginning of its block did not arrive;
//! - an opening tag of the block's own kind in its body, and text behind the block: the reply may have been cut off in that text.
//!
//! None of the blocks that may be text is run. A block with such an opening tag alone is left to `own_tag`.

use std::ops::Range;

use crate::{
    BlockKind, Dialect, Item, LineRange, ParseErrorKind, Span,
    near_miss::{Fault, body_tags::BodyTags, lines_outside},
    parse::{
        error::EndDoubt,
        scan::{Line, count_lines},
    },
    repair::{Fence, Thinking},
    span::line_number,
};

/// A closing tag of the protocol outside of all blocks.
pub(super) struct StrayCloser {
    pub(super) kind: BlockKind,
    pub(super) span: Range<usize>,
    pub(super) line_number: usize,
}

/// The blocks of a reply that may have another end than the one that was read.
pub(super) struct Ends<'t> {
    text: &'t str,
    blocks: Vec<Block>,
}

/// A block, as far as its end is concerned.
struct Block {
    kind: BlockKind,
    span: Span,
    first_line: u32,
    /// The number of opening tags of its own kind in its body for which no closing tag was passed behind it.
    open: usize,
}

impl<'t> Ends<'t> {
    pub(super) fn of(text: &'t str, items: &[Item<'_>]) -> Ends<'t> {
        let blocks = items.iter().map(|item| {
            let (kind, span) = (item.kind(), item.span());
            // Behind a misspelt closing tag, such tags begin other blocks.
            let is_misspelt =
                matches!(item, Item::Error(error) if matches!(error.kind, ParseErrorKind::NearMiss { .. }));
            let tags = BodyTags::of(&text[span.range()]).filter(|_| !is_misspelt);
            let open = tags.map_or(0, |tags| tags.own().count());
            Block { kind, span, first_line: item.lines().first, open }
        });
        Ends { text, blocks: blocks.collect() }
    }

    /// Checks whether a body has an opening tag of its own kind.
    pub(super) fn hold_own_tags(&self) -> bool {
        self.blocks.iter().any(|block| block.open > 0)
    }

    /// Returns the faults that these closing tags, which are in the order of the text, and the text up to `end` show. They are in the
    /// same order, and apart from each other.
    pub(super) fn faults(mut self, closers: &[StrayCloser], end: usize) -> Vec<Fault> {
        let mut passed = 0;
        let mut of_kind: [OfKind; BlockKind::ALL.len()] = Default::default();
        let mut faults = Vec::with_capacity(closers.len());
        for closer in closers {
            while let Some(block) = self.blocks.get(passed)
                && block.span.start < closer.span.start
            {
                if block.kind.has_body() {
                    of_kind[block.kind as usize].pass(passed, block);
                }
                passed += 1;
            }
            faults.push(self.fault_at(closer, &mut of_kind[closer.kind as usize], passed));
        }
        faults.extend(self.fault_of_text(end));
        disjoint(faults)
    }

    /// Returns the fault that a closing tag shows, which stands behind the first `before` blocks.
    fn fault_at(&mut self, closer: &StrayCloser, of_kind: &mut OfKind, before: usize) -> Fault {
        let last = line_number(closer.line_number);
        let unclear = |block: &Block, doubt| Fault {
            range: block.span.start..closer.span.end,
            lines: LineRange { first: block.first_line, last },
            command: closer.kind,
            kind: ParseErrorKind::EndUnclear { line_number: last, not_run: 0, doubt },
        };
        let latest = of_kind.latest_end.replace(closer.span.end);
        if let Some(outer) = of_kind.outer.and_then(|outer| self.blocks.get_mut(outer))
            && outer.open > 0
        {
            outer.open -= 1;
            return unclear(outer, EndDoubt::OwnTag);
        }
        let is_doubled = latest.is_some_and(|end| is_blank(&self.text[end..closer.span.start]));
        let opener = of_kind.first.map(|first| (first, EndDoubt::LaterTag));
        let any = || (closer.kind.acts() && before > 0).then_some((0, EndDoubt::NoOpening));
        if !is_doubled && let Some((first, doubt)) = opener.or_else(any) {
            return unclear(&self.blocks[first], doubt);
        }
        Fault {
            range: closer.span.clone(),
            lines: LineRange { first: last, last },
            command: closer.kind,
            kind: ParseErrorKind::StrayClosing { line_number: last },
        }
    }

    /// Returns the fault of a block with tags of its own kind, behind which the reply has text.
    fn fault_of_text(&self, end: usize) -> Option<Fault> {
        let outer = self.blocks.iter().find(|block| block.open > 0 && block.span.end < end)?;
        let line = self.text_behind(outer, end)?;
        let last = line_number(count_lines(&self.text[..end]) + 1);
        Some(Fault {
            range: outer.span.start..end,
            lines: LineRange { first: outer.first_line, last },
            command: outer.kind,
            kind: ParseErrorKind::EndUnclear { line_number: line, not_run: 0, doubt: EndDoubt::TextBehind },
        })
    }

    /// Returns the number of the first line of text behind a block that stands in no block and in no thinking.
    fn text_behind(&self, outer: &Block, end: usize) -> Option<u32> {
        let text = &self.text[..end];
        let has_text = |line: &Line| {
            let content = text[line.start..line.end].trim();
            line.start > outer.span.end && !content.is_empty() && Fence::read(content).is_none()
        };
        let mut thinking = Thinking::of(Dialect::Agentd);
        let mut lines = lines_outside(text, self.blocks.iter().map(|block| block.span), &mut thinking);
        lines.find(|(_, line)| has_text(line)).map(|(index, _)| line_number(index + 1))
    }
}

/// The blocks of one kind with a body, up to a closing tag.
#[derive(Default)]
struct OfKind {
    /// The first one.
    first: Option<usize>,
    /// The latest one that has opening tags of its own kind in its body.
    outer: Option<usize>,
    /// The end of the latest one, or of a closing tag behind it.
    latest_end: Option<usize>,
}

impl OfKind {
    fn pass(&mut self, index: usize, block: &Block) {
        self.first.get_or_insert(index);
        self.latest_end = Some(block.span.end);
        if block.open > 0 {
            self.outer = Some(index);
        }
    }
}

/// Checks whether a text has nothing but blanks and the ends of fences.
fn is_blank(text: &str) -> bool {
    let is_blank = |line: &str| line.is_empty() || Fence::read(line).is_some_and(Fence::is_bare);
    text.lines().map(str::trim).all(is_blank)
}

/// Sorts faults and extends each over those that begin in it: they are a part of its text.
pub(super) fn disjoint(mut faults: Vec<Fault>) -> Vec<Fault> {
    faults.sort_by_key(|fault| fault.range.start);
    let mut all: Vec<Fault> = Vec::with_capacity(faults.len());
    for fault in faults {
        match all.last_mut().filter(|outer| fault.range.start < outer.range.end) {
            Some(outer) if fault.range.end > outer.range.end => {
                outer.range.end = fault.range.end;
                outer.lines.last = fault.lines.last;
                if let ParseErrorKind::EndUnclear { line_number, doubt, .. } = &mut outer.kind
                    && *doubt != EndDoubt::TextBehind
                {
                    *line_number = fault.lines.last;
                }
            }
            Some(_) => {}
            None => all.push(fault),
        }
    }
    all
}
