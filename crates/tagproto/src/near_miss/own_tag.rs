//! Blocks whose text suggests that they end too late: their own closing tag is probably misspelt, missing or of another kind, and
//! the closing tag at which they end belongs to a later block. A command with a whole block of another kind in its lines ends too
//! late as well: the shell would run the text of that block.

use std::ops::Range;

use super::body_tags::{BodyTags, first_whole_block, meant_kind};
use super::tag_like::TagLike;
use super::{misspelt_end, quoted};
use crate::parse::error::EndDoubt;
use crate::parse::scan::{Line, count_lines};
use crate::repair::{Fence, lines_from, opening, stray_closing_kind, text_lines_of_command};
use crate::span::line_number;
use crate::{Block, BlockKind, Item, ParseError, ParseErrorKind};

/// Turns such blocks into errors. Takes time linear in the text.
pub(super) fn report(text: &str, items: &mut [Item<'_>]) {
    for item in items {
        let (span, lines, command) = (item.span(), item.lines(), item.kind());
        if let Some(kind) = error(&text[span.range()], lines.first, item) {
            *item = Item::Error(ParseError { command, kind, span, lines });
        }
    }
}

fn error(block: &str, first_line: u32, item: &Item<'_>) -> Option<ParseErrorKind> {
    match item {
        // Hunks have their own marks for the beginning and end.
        Item::Block(located) if matches!(located.value, Block::EditText { .. }) => return None,
        Item::Error(error) if matches!(error.kind, ParseErrorKind::Unclosed { .. }) => return None,
        Item::Block(_) | Item::Error(_) => {}
    }
    let tags = BodyTags::of(block)?;
    let unclear = |line: &Line, doubt| {
        let line_number = line_number(first_line as usize + count_lines(&block[..line.start]));
        ParseErrorKind::EndUnclear { line_number, not_run: 0, doubt }
    };
    let examples = if tags.is_text() { closed_fences(block) } else { Vec::new() };
    let is_example = |line: &Line| {
        let next = examples.partition_point(|example| example.end <= line.start);
        examples.get(next).is_some_and(|example| example.start <= line.start)
    };
    // In text, a closing tag in back-ticks is only mentioned.
    let is_decorated =
        |line: &str| stray_closing_kind(line) == Some(item.kind()) && !(tags.is_text() && line.contains('`'));
    let is_misspelt = |line: &str| misspelt_end::is_misspelt(line, item.kind()) || is_decorated(line);
    let mut misspelt: Option<Line> = None;
    let mut open = OpenTags::default();
    let mut foreign_open = 0_usize;
    for line in tags.lines() {
        let (content, is_example) = (tags.content(&line), is_example(&line));
        // Other programs have elements with such names and their own closing tags.
        let foreign =
            TagLike::read(content).filter(|tag| tag.kind == item.kind() && content.starts_with('<'));
        foreign_open += foreign.as_ref().map_or(0, |tag| usize::from(!tag.is_closing));
        if foreign_open > 0 && foreign.is_some_and(|tag| tag.is_closing) {
            foreign_open -= 1;
        } else if !is_example && misspelt.is_none() && is_misspelt(content) {
            misspelt = Some(line);
        }
        let is_own = tags.opens_own_kind(content);
        let opened = if is_example { None } else { tags.opened_kind(content) };
        match misspelt {
            Some(misspelt) if is_own || opened.is_some() => {
                let later = tags.lines().skip_while(|line| line.start < misspelt.start);
                let not_run = later.filter(|line| tags.opened_kind(tags.content(line)).is_some()).count();
                let written = quoted(tags.content(&misspelt));
                return Some(ParseErrorKind::NearMiss { written, not_run });
            }
            None if is_own && !is_example => return Some(unclear(&line, EndDoubt::NextTag)),
            _ if is_example => {}
            _ => open.pass(line, content, opened),
        }
    }
    let wrong_closer = open.wrong_closer(item.kind()).map(|line| unclear(line, EndDoubt::OtherClosing));
    wrong_closer.or_else(|| {
        let is_command = item.kind() == BlockKind::RunCommand;
        let inner = if is_command { block_in_command(block) } else { None };
        inner.map(|line| unclear(&line, EndDoubt::InnerBlock))
    })
}

/// Returns the line of a command that opens a block of another kind. The text that the command hands to a program may have such
/// blocks.
fn block_in_command(command: &str) -> Option<Line> {
    command.contains("\n[/").then_some(())?;
    let are_text = text_lines_of_command(command.lines().skip(1));
    let lines = lines_from(command, 0).skip(1).zip(are_text);
    let lines = lines.filter(|(_, is_text)| !is_text).map(|(line, _)| line);
    first_whole_block(command, lines, |line| {
        let kind = meant_kind(&opening(line)?)?;
        // After `#`, the tag is in a comment.
        (kind.has_body() && !line.trim_start().starts_with('#')).then_some(kind)
    })
}

/// The tags with bodies in the text of a block.
#[derive(Default)]
struct OpenTags {
    /// The number of unclosed opening tags by kind.
    count: [usize; BlockKind::ALL.len()],
    /// The first closing tag without an opening tag before it.
    wrong_closer: Option<Line>,
}

impl OpenTags {
    fn pass(&mut self, line: Line, content: &str, opened: Option<BlockKind>) {
        if let Some(kind) = opened.filter(|kind| kind.has_body()) {
            self.count[kind as usize] += 1;
            return;
        }
        let closes = |kind: &BlockKind| kind.has_body() && content == kind.closing_tag();
        let Some(kind) = BlockKind::ALL.into_iter().find(closes) else { return };
        let count = &mut self.count[kind as usize];
        if *count > 0 {
            *count -= 1;
        } else if self.wrong_closer.is_none() {
            self.wrong_closer = Some(line);
            // From here on, only later opening tags count.
            self.count = [0; BlockKind::ALL.len()];
        }
    }

    /// Returns that closing tag if a later tag opens a block that nothing closes. In a command, any such closing tag is wrong.
    fn wrong_closer(&self, kind: BlockKind) -> Option<&Line> {
        let is_wrong = kind == BlockKind::RunCommand || self.count.iter().any(|count| *count > 0);
        self.wrong_closer.as_ref().filter(|_| is_wrong)
    }
}

/// Returns the closed code fences, which hold the examples of Markdown.
pub(super) fn closed_fences(text: &str) -> Vec<Range<usize>> {
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
