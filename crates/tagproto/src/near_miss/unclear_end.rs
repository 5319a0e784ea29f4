//! Blocks whose end is not clear.
//!
//! A body ends at its first closing tag, even if that tag is part of an example in the text of a file. The rest of the text is
//! then read as blocks. Three things suggest this:
//!
//! - a later closing tag that closes no block. Unless it directly follows a block of its kind, any earlier block of that kind may
//!   extend to it; without an earlier one, the beginning of its block did not arrive. For a message or a summary, that is where a
//!   line names it, as in `Note [MESSAGE]:`;
//! - an opening tag of the block's own kind in its body, and text after the block: the reply may have been cut off in that text;
//! - a code fence that begins in the body of a Markdown file and ends after it: the closing tag may be an example in that fence.
//!
//! Blocks that may be text do not run. A block that has only such an opening tag is left to `own_tag`.

use std::{cell::OnceCell, ops::Range};

use crate::{
    BlockKind, Dialect, Item, LineRange, ParseErrorKind, Span,
    near_miss::{Fault, body_tags::BodyTags, lines_outside},
    parse::{
        error::EndDoubt,
        scan::{Line, count_lines},
    },
    repair::{Fence, FileKind, Thinking},
    span::line_number,
};

/// A closing tag of the protocol outside of all blocks.
pub(super) struct StrayCloser {
    pub(super) kind: BlockKind,
    pub(super) span: Range<usize>,
    pub(super) line_number: usize,
}

/// The blocks of a reply, any of which may end later than was read.
pub(super) struct Ends<'t> {
    text: &'t str,
    blocks: Vec<Block>,
}

/// A block with the facts that bear on its end.
struct Block {
    kind: BlockKind,
    span: Span,
    first_line: u32,
    /// The number of opening tags of its own kind in its body, less the closing tags passed after it.
    open: usize,
    /// The code fence of its text that contains its closing tag.
    fence: Option<Fence>,
    /// True if its text is a Markdown file, in which fences hold examples.
    is_markdown: bool,
}

impl Block {
    /// Returns the fence of a Markdown file that contains the closing tag.
    fn markdown_fence(&self) -> Option<Fence> {
        self.fence.filter(|_| self.is_markdown)
    }
}

impl<'t> Ends<'t> {
    pub(super) fn of(text: &'t str, items: &[Item<'_>]) -> Ends<'t> {
        let blocks = items.iter().map(|item| {
            let (kind, span) = (item.kind(), item.span());
            // After a misspelt closing tag, such tags begin other blocks.
            let is_misspelt =
                matches!(item, Item::Error(error) if matches!(error.kind, ParseErrorKind::NearMiss { .. }));
            let tags = BodyTags::of(&text[span.range()]).filter(|_| !is_misspelt);
            let open = tags.map_or(0, |tags| tags.own().count());
            let (fence, is_markdown) = (open_fence(&text[span.range()], item), is_markdown(item));
            Block { kind, span, first_line: item.lines().first, open, fence, is_markdown }
        });
        Ends { text, blocks: blocks.collect() }
    }

    /// Checks whether a body has an opening tag of its own kind or a code fence that does not end in it.
    pub(super) fn are_doubtful(&self) -> bool {
        self.blocks.iter().any(|block| block.open > 0 || block.markdown_fence().is_some())
    }

    /// Returns the faults that these closing tags and the text up to `end` reveal. Takes and returns them in text order; the
    /// faults are disjoint.
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
        faults.extend(self.fault_after(closers, &faults, end));
        faults.extend(self.fault_of_text(end));
        faults.extend(self.fault_of_fence(end));
        disjoint(faults)
    }

    /// Returns the fault that a closing tag after the first `before` blocks reveals.
    fn fault_at(&mut self, closer: &StrayCloser, of_kind: &mut OfKind, before: usize) -> Fault {
        let last = line_number(closer.line_number);
        let unclear = |block: &Block, doubt| Fault {
            range: block.span.start..closer.span.end,
            lines: LineRange { first: block.first_line, last },
            command: closer.kind,
            kind: ParseErrorKind::EndUnclear { line_number: last, not_run: 0, doubt },
        };
        let latest = of_kind.latest_end.replace((closer.span.end, None));
        if let Some(outer) = of_kind.outer.and_then(|outer| self.blocks.get_mut(outer))
            && outer.open > 0
        {
            outer.open -= 1;
            return unclear(outer, EndDoubt::OwnTag);
        }
        let is_doubled =
            latest.is_some_and(|(end, fence)| is_blank(&self.text[end..closer.span.start], fence));
        let opener = of_kind.first.map(|first| (first, EndDoubt::LaterTag));
        let any = || Some((self.first_of_lost(closer, of_kind, before)?, EndDoubt::NoOpening));
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

    /// Returns the first block that may belong to the text that a closing tag ends, if the opening tag of that text did not arrive.
    fn first_of_lost(&self, closer: &StrayCloser, of_kind: &OfKind, before: usize) -> Option<usize> {
        let start = match closer.kind.acts() {
            true => 0,
            false => of_kind.lost.get_or_init(|| self.lost_text(closer.kind)).start_before(closer)?,
        };
        let first = self.blocks.partition_point(|block| block.span.start < start);
        (first < before).then_some(first)
    }

    /// Finds the lines with which a message or a summary without its opening tag may begin.
    fn lost_text(&self, kind: BlockKind) -> LostText {
        let mut lost = LostText::default();
        let mut thinking = Thinking::of(Dialect::Agentd);
        for (_, line) in lines_outside(self.text, self.blocks.iter().map(|block| block.span), &mut thinking) {
            let content = self.text[line.start..line.end].trim();
            if lost.named.is_none() && names(content, kind) {
                lost.named = Some(line.start);
            }
            let is_text = kind == BlockKind::Message && is_text(content);
            if is_text && lost.text.is_none() {
                lost.text = Some(line.start);
            }
        }
        lost
    }

    /// Returns the fault of the blocks after a closing tag of a file or a command that closes no block, if text follows the tag and
    /// text ends the reply: the text of the file may have been cut off there.
    fn fault_after(&self, closers: &[StrayCloser], faults: &[Fault], end: usize) -> Option<Fault> {
        let last_block = self.blocks.last()?;
        let mut acting = closers.iter().zip(faults).enumerate().filter(|(_, (closer, fault))| {
            closer.kind.acts() && matches!(fault.kind, ParseErrorKind::EndUnclear { .. })
        });
        let (first, closer) = acting.find_map(|(index, (closer, _))| {
            let after = self.blocks.partition_point(|block| block.span.start < closer.span.end);
            let first = self.blocks.get(after)?;
            let next = closers.get(index + 1).map_or(end, |next| next.span.start).min(first.span.start);
            let between = self.text.get(closer.span.end..next)?;
            between.lines().any(|line| is_text(line.trim())).then_some((first, closer))
        })?;
        self.text_after(last_block, end)?;
        Some(self.fault_to(end, first, line_number(closer.line_number), EndDoubt::AfterClosing))
    }

    /// Returns the fault of a block with tags of its own kind that is followed by text.
    fn fault_of_text(&self, end: usize) -> Option<Fault> {
        let outer = self.blocks.iter().find(|block| block.open > 0 && block.span.end < end)?;
        let line = self.text_after(outer, end)?;
        Some(self.fault_to(end, outer, line, EndDoubt::TextAfter))
    }

    /// Returns the fault of a block that may extend to `end`, as the line of that number suggests.
    fn fault_to(&self, end: usize, block: &Block, line_number: u32, doubt: EndDoubt) -> Fault {
        let last = crate::span::line_number(count_lines(&self.text[..end]) + 1);
        Fault {
            range: block.span.start..end,
            lines: LineRange { first: block.first_line, last },
            command: block.kind,
            kind: ParseErrorKind::EndUnclear { line_number, not_run: 0, doubt },
        }
    }

    /// Returns the fault of the first Markdown file whose closing tag is in a code fence that begins in its text and ends after
    /// it.
    fn fault_of_fence(&self, end: usize) -> Option<Fault> {
        if self.blocks.iter().all(|block| block.markdown_fence().is_none()) {
            return None;
        }
        let text = &self.text[..end];
        let mut thinking = Thinking::of(Dialect::Agentd);
        let mut lines = lines_outside(text, self.blocks.iter().map(|block| block.span), &mut thinking)
            .filter(|(_, line)| Fence::read(&text[line.start..line.end]).is_some())
            .peekable();
        let mut around = None;
        for block in &self.blocks {
            while let Some((_, line)) = lines.next_if(|(_, line)| line.start < block.span.start) {
                around = Fence::open_after(&text[line.start..line.end], around);
            }
            // The end of a fence around the block says nothing about one in its text.
            let (Some(fence), None, Some((index, line))) = (block.markdown_fence(), around, lines.peek())
            else {
                continue;
            };
            let ends = Fence::read(&text[line.start..line.end]).is_some_and(|last| last.closes(fence));
            // The lines of an edit may begin a fence that ends in the file.
            let is_near = || is_blank(&text[block.span.end..line.start], None);
            if ends && (block.kind == BlockKind::CreateFile || is_near()) {
                return Some(self.fault_to(end, block, line_number(index + 1), EndDoubt::InFence));
            }
        }
        None
    }

    /// Returns the number of the first line of text after a block that is outside of blocks and thinking.
    fn text_after(&self, outer: &Block, end: usize) -> Option<u32> {
        let text = &self.text[..end];
        let has_text = |line: &Line| {
            let content = text[line.start..line.end].trim();
            line.start > outer.span.end && is_text(content)
        };
        let mut thinking = Thinking::of(Dialect::Agentd);
        let mut lines = lines_outside(text, self.blocks.iter().map(|block| block.span), &mut thinking);
        lines.find(|(_, line)| has_text(line)).map(|(index, _)| line_number(index + 1))
    }
}

/// The blocks of one kind with a body, up to a closing tag.
#[derive(Default)]
struct OfKind {
    /// The first block.
    first: Option<usize>,
    /// The latest block with opening tags of its own kind in its body.
    outer: Option<usize>,
    /// The end of the latest block with the fence that its text leaves open, or the end of a closing tag after it.
    latest_end: Option<(usize, Option<Fence>)>,
    /// The beginning of a text without its opening tag, which is searched once.
    lost: OnceCell<LostText>,
}

/// The lines with which the text of a message or a summary may begin, if its opening tag did not arrive.
#[derive(Default)]
struct LostText {
    /// The first line that names the kind of block.
    named: Option<usize>,
    /// The first line of text, if that suffices.
    text: Option<usize>,
}

impl LostText {
    fn start_before(&self, closer: &StrayCloser) -> Option<usize> {
        [self.named, self.text].into_iter().flatten().find(|start| *start < closer.span.start)
    }
}

impl OfKind {
    fn pass(&mut self, index: usize, block: &Block) {
        self.first.get_or_insert(index);
        self.latest_end = Some((block.span.end, block.fence));
        if block.open > 0 {
            self.outer = Some(index);
        }
    }
}

/// Returns the code fence that the text of a block leaves open; `None` for a block with another fault.
fn open_fence(block: &str, item: &Item<'_>) -> Option<Fence> {
    let is_read = match item {
        Item::Block(_) => true,
        Item::Error(error) => matches!(error.kind, ParseErrorKind::FenceInBody { .. }),
    };
    let lines = || block.lines().skip(1);
    is_read.then(|| lines().fold(None, |open, line| Fence::open_after(line, open))).flatten()
}

/// Checks for a trimmed line of text, apart from fences.
fn is_text(line: &str) -> bool {
    !line.is_empty() && Fence::read(line).is_none()
}

/// Checks whether a trimmed line names a kind of block as its opening tag would: in upper case, after a bracket, or alone.
fn names(line: &str, kind: BlockKind) -> bool {
    let is_name = |word: &str| {
        word.eq_ignore_ascii_case(kind.name())
            || kind == BlockKind::Message && word.eq_ignore_ascii_case("MSG")
    };
    let is_part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_alone = || is_name(line.trim_matches(|c: char| !is_part_of_word(c)));
    let mut words = line.split(|c: char| !is_part_of_word(c)).filter(|word| is_name(word));
    words.any(|word| {
        // `word` is a slice of `line`, so the distance of their pointers is its offset.
        let before = &line[..word.as_ptr() as usize - line.as_ptr() as usize];
        let is_upper_case = !word.contains(|c: char| c.is_ascii_lowercase());
        !before.ends_with('/') && (is_upper_case || before.ends_with(['[', '<']) || is_alone())
    })
}

fn is_markdown(item: &Item<'_>) -> bool {
    let Item::Block(located) = item else { return false };
    let (crate::Block::CreateFile { path, .. } | crate::Block::EditFile { path, .. }) = &located.value else {
        return false;
    };
    FileKind::of(path) == FileKind::Markdown
}

/// Checks whether a text consists of whitespace and the ends of fences, but not of the fence that is open before it.
fn is_blank(text: &str, open: Option<Fence>) -> bool {
    let is_other_end = |fence: Fence| fence.is_bare() && !open.is_some_and(|opening| fence.closes(opening));
    let is_blank = |line: &str| line.is_empty() || Fence::read(line).is_some_and(is_other_end);
    text.lines().map(str::trim).all(is_blank)
}

/// Sorts faults and extends each over the faults that begin in it, which are part of its text.
pub(super) fn disjoint(mut faults: Vec<Fault>) -> Vec<Fault> {
    faults.sort_by_key(|fault| fault.range.start);
    let mut all: Vec<Fault> = Vec::with_capacity(faults.len());
    for fault in faults {
        match all.last_mut().filter(|outer| fault.range.start < outer.range.end) {
            Some(outer) if fault.range.end > outer.range.end => {
                outer.range.end = fault.range.end;
                outer.lines.last = fault.lines.last;
                if let ParseErrorKind::EndUnclear { line_number, doubt, .. } = &mut outer.kind
                    && !matches!(doubt, EndDoubt::InFence | EndDoubt::TextAfter)
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
