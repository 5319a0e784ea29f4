//! Lines that were meant as tags but are not: misspelt names, XML tags, a whole block on one line, a tag after other text, a tag
//! that the end of the reply cuts off, and closing tags that close no block.
//!
//! The parser treats them as prose, as the first implementation does. A model whose block was silently ignored would continue as
//! if it had been carried out, so they become errors that show the right form. The text between a misspelt tag and its closing
//! tag was meant as a body: no block in it runs.

mod body_tags;
mod cut_tag;
mod glued_tag;
mod inline_tag;
mod misspelt_end;
mod own_tag;
mod quoted_block;
mod shown_block;
mod tag_like;
mod unclear_end;

use std::ops::Range;

use self::tag_like::{TagLike, Weight};
use self::unclear_end::{Ends, StrayCloser, disjoint};
use crate::{
    BlockKind, Dialect, Item, LineRange, ParseError, ParseErrorKind, Span,
    parse::{
        error::EndDoubt,
        scan::{Line, after, count_lines},
    },
    repair::{
        Thinking, closing_kind, considered, ends_with_closing_mark, lines_from, opening, opening_kind,
        stray_closing_kind,
    },
};

/// The most characters of a line that an error quotes.
const QUOTED_CHARACTERS: usize = 80;

/// A line that resembles a tag, outside of all blocks.
struct TagLikeLine {
    tag: TagLike,
    /// The trimmed line.
    span: Range<usize>,
    line_number: usize,
}

/// A part of a reply that becomes one error, with all items in it.
struct Fault {
    range: Range<usize>,
    lines: LineRange,
    command: BlockKind,
    /// The error, before the items in it are counted.
    kind: ParseErrorKind,
}

/// Inserts the errors for such lines among the items of a reply, and removes the items inside a misspelt block. Takes time linear
/// in the text.
pub(crate) fn with_errors<'a>(text: &str, mut items: Vec<Item<'a>>) -> Vec<Item<'a>> {
    if let Some(Item::Error(error)) = items.last_mut() {
        misspelt_end::report(text, error);
    }
    report_two_paths(text, &mut items);
    own_tag::report(text, &mut items);
    quoted_block::report(text, &mut items);
    shown_block::report(text, &mut items);
    let (lines, considered) = tag_like_lines(text, &items);
    let cut_tag = cut_tag::error(text, &items);
    let ends = Ends::of(text, &items);
    if lines.is_empty() && considered.is_empty() && cut_tag.is_none() && !ends.are_doubtful() {
        return items;
    }
    let mut closers = Closers::of(&lines);
    let mut misspelt: Vec<Fault> = Vec::new();
    let mut stray: Vec<StrayCloser> = Vec::new();
    let mut end = 0;
    for (index, line) in lines.iter().enumerate() {
        // A line before `end` belongs to the misspelt block that was reported last.
        if line.span.start < end {
            continue;
        }
        if line.tag.is_closing {
            if let Some(kind) = stray_closing_kind(&text[line.span.clone()]) {
                let span = line.span.clone();
                stray.push(StrayCloser { kind, span, line_number: line.line_number });
            }
            continue;
        }
        let closer = if line.tag.is_whole_block { None } else { closers.after(index, line.tag.kind) };
        let last = closer.map_or(line, |closer| &lines[closer]);
        // Probably prose, such as a line `[Done]`.
        if closer.is_none() && line.tag.weight == Weight::WithClosingTag {
            continue;
        }
        end = last.span.end;
        let written = quoted(&text[line.span.clone()]);
        misspelt.push(Fault {
            range: line.span.start..end,
            lines: LineRange::of(line.line_number, last.line_number),
            command: line.tag.kind,
            kind: ParseErrorKind::NearMiss { written, not_run: 0 },
        });
    }
    // A tag that the end of the reply cuts off is not text: the rest of it may follow.
    let text_end = text[..cut_tag.as_ref().map_or(text.len(), |cut_tag| cut_tag.span.start)].trim_end().len();
    // A misspelt tag inside a block with an unclear end is part of the block's text; a misspelt tag before the block may contain
    // it.
    let faults = ends.faults(&stray, text_end).into_iter().chain(misspelt).chain(considered);
    let faults = disjoint(faults.collect());
    let mut items = merged(items, faults);
    // The line may be an error for another reason.
    let end = items.last().map_or(0, |last| last.span().end);
    items.extend(cut_tag.filter(|cut_tag| cut_tag.span.start >= end).map(Item::Error));
    items
}

/// Turns a tag without a body into an error if it has a text in quotes besides its attributes, as for a second file.
fn report_two_paths(text: &str, items: &mut [Item<'_>]) {
    for item in items {
        let (span, lines, command) = (item.span(), item.lines(), item.kind());
        let written = &text[span.range()];
        if matches!(item, Item::Block(_))
            && matches!(command, BlockKind::DeleteFile | BlockKind::ReadFile)
            && opening(written).is_some_and(|opening| opening.tag.has_unnamed_value)
        {
            let kind = ParseErrorKind::NearMiss { written: quoted(written), not_run: 0 };
            *item = Item::Error(ParseError { command, kind, span, lines });
        }
    }
}

/// Merges faults into the items in the order of the text; an item inside a fault is left out and counted.
fn merged(items: Vec<Item<'_>>, faults: Vec<Fault>) -> Vec<Item<'_>> {
    let mut items = items.into_iter().peekable();
    let mut all = Vec::with_capacity(items.len() + faults.len());
    for fault in faults {
        while let Some(item) = items.next_if(|item| item.span().start < fault.range.start) {
            all.push(item);
        }
        // Items inside the fault were meant as its body.
        let mut inside = 0;
        while items.next_if(|item| item.span().start < fault.range.end).is_some() {
            inside += 1;
        }
        let kind = match fault.kind {
            ParseErrorKind::NearMiss { written, .. } => ParseErrorKind::NearMiss { written, not_run: inside },
            ParseErrorKind::EndUnclear { line_number, doubt, .. } => {
                // The first item is the block itself, if its opening tag is in the reply.
                let others = inside - usize::from(doubt != EndDoubt::NoOpening);
                ParseErrorKind::EndUnclear { line_number, not_run: others, doubt }
            }
            kind => kind,
        };
        let span = Span { start: fault.range.start, end: fault.range.end };
        all.push(Item::Error(ParseError { command: fault.command, kind, span, lines: fault.lines }));
    }
    all.extend(items);
    all
}

fn quoted(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Returns the lines outside of blocks and thinking, with their 0-based numbers. Takes the blocks in text order.
pub(crate) fn lines_outside(
    text: &str,
    blocks: impl Iterator<Item = Span>,
    thinking: &mut Thinking,
) -> impl Iterator<Item = (usize, Line)> {
    let lines = lines_and_ends(text, blocks, thinking);
    lines.filter_map(|(index, line, position)| (position == Position::Outside).then_some((index, line)))
}

/// The position of a line outside of blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Outside,
    /// The last line of thinking, which may have text after the mark.
    EndOfThinking,
}

fn lines_and_ends(
    text: &str,
    blocks: impl Iterator<Item = Span>,
    thinking: &mut Thinking,
) -> impl Iterator<Item = (usize, Line, Position)> {
    let mut blocks = blocks.peekable();
    let mut passed_until = 0;
    lines_from(text, 0).enumerate().filter_map(move |(index, line)| {
        while blocks.next_if(|block| block.end <= line.start).is_some() {}
        if blocks.peek().is_some_and(|block| block.start < line.end) {
            return None;
        }
        let next_line = after(text, &line);
        if line.start >= passed_until {
            let Some(end) = thinking.end_of_block(text, &line) else {
                return Some((index, line, Position::Outside));
            };
            passed_until = end.max(next_line);
        }
        (next_line == passed_until).then_some((index, line, Position::EndOfThinking))
    })
}

/// Returns the lines outside of blocks and thinking that resemble tags, and the faults of supposed thinking that contains blocks.
fn tag_like_lines(text: &str, items: &[Item<'_>]) -> (Vec<TagLikeLine>, Vec<Fault>) {
    let mut tag_like = Vec::new();
    let (mut counted_to, mut line_number) = (0, 1);
    let mut thinking = Thinking::of(Dialect::Agentd);
    let first_block = items.first().map_or(text.len(), |item| item.span().start);
    for (_, line, position) in lines_and_ends(text, items.iter().map(Item::span), &mut thinking) {
        let content = text[line.start..line.end].trim_start_matches('\u{feff}').trim();
        let tag = match position {
            Position::Outside => TagLike::read(content)
                .or_else(|| TagLike::decorated_end(content))
                .or_else(|| inline_tag::read(content)),
            Position::EndOfThinking => None,
        };
        // After a block, the closing tag may belong to the block's text.
        let glued = || glued_tag::read(content).filter(|_| line.end < first_block);
        let before_text = || {
            let (tag, rest) = inline_tag::before_text(content)?;
            if is_command(&tag, rest) && is_on_its_own(text, &line, content, rest) {
                return Some(TagLike { weight: Weight::Alone, ..tag });
            }
            (line.end < first_block || !rest.starts_with(char::is_whitespace)).then_some(tag)
        };
        let Some(tag) = tag.or_else(glued).or_else(before_text) else { continue };
        // Counts on from the last such line, so that every byte is counted once.
        line_number += count_lines(&text[counted_to..line.start]);
        counted_to = line.start;
        // `content` is a slice of `text`, so the distance of their pointers is its offset.
        let start = content.as_ptr() as usize - text.as_ptr() as usize;
        tag_like.push(TagLikeLine { tag, span: start..start + content.len(), line_number });
    }
    let mut considered = Vec::new();
    let (mut counted_to, mut line_number) = (0, 1);
    for range in thinking.doubtful() {
        line_number += count_lines(&text[counted_to..range.start]);
        counted_to = range.start;
        considered.extend(considered_in(text, range, line_number, items));
    }
    (tag_like, considered)
}

/// Checks whether the text after a tag can be its command, and not the rest of a sentence about the tag.
fn is_command(tag: &TagLike, rest: &str) -> bool {
    let rest = rest.trim();
    // In back-ticks, a command is all of the text.
    let inner = rest.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    let rest = inner.filter(|inner| !inner.contains('`')).unwrap_or(rest);
    let first = rest.chars().next();
    let ends_sentence = rest.ends_with(['.', ',', ':', ';', '!', '?']) && !rest.ends_with(" .");
    tag.kind == BlockKind::RunCommand
        && first.is_some_and(|c| c.is_alphanumeric() || "./~$\"".contains(c))
        && !ends_sentence
}

/// Words of a sentence about a tag, which commands do not have outside of quotes.
const WORDS_OF_SENTENCES: [&str; 24] = [
    "the", "to", "of", "is", "are", "was", "were", "and", "or", "with", "your", "you", "it", "that", "which",
    "because", "runs", "executes", "needs", "failed", "works", "ends", "begins", "encloses",
];

/// Words directly after a tag that continue its name, or a sentence about it.
const WORDS_AFTER_TAGS: [&str; 16] = [
    "tag", "tags", "block", "blocks", "command", "commands", "body", "output", "result", "results", "not",
    "never", "only", "can", "run", "execute",
];

/// Checks whether a tag with a command after it is apart from the text around it: as a paragraph, or as an item of a list or after
/// the end of a sentence, if the command is not the rest of one.
fn is_on_its_own(text: &str, line: &Line, content: &str, rest: &str) -> bool {
    if content.starts_with('[') && is_paragraph(text, line) {
        return true;
    }
    let is_quoted = content.starts_with('>');
    let is_item = inline_tag::without_marks(content).len() < content.len();
    let before = line_before(text, line).map(|before| before.trim_end_matches(['*', '_', ' ', '\r']));
    let follows_sentence =
        || before.is_none_or(|before| is_edge(before) || before.ends_with(['.', ':', '!', '?']));
    !is_quoted && (is_item || follows_sentence()) && !is_rest_of_sentence(rest)
}

/// Checks whether a text after a tag has the words of a sentence, such as `runs a command`, or begins as one does.
fn is_rest_of_sentence(text: &str) -> bool {
    let mut words = text.split(['"', '\'']).step_by(2).flat_map(str::split_whitespace);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut later = words.peekable();
    let is_capitalized = first.starts_with(char::is_uppercase) && !first.contains('=');
    let has_object = ["a", "an"].contains(&second) && later.peek().is_some();
    is_capitalized
        || has_object
        || WORDS_AFTER_TAGS.contains(&first)
        || [first, second].into_iter().chain(later).any(|word| WORDS_OF_SENTENCES.contains(&word))
}

/// Checks whether the lines before and after a line are blank or tags.
fn is_paragraph(text: &str, line: &Line) -> bool {
    let next = text[after(text, line)..].split('\n').next();
    line_before(text, line).is_none_or(is_edge) && next.is_none_or(is_edge)
}

fn line_before<'t>(text: &'t str, line: &Line) -> Option<&'t str> {
    text[..line.start].strip_suffix('\n').and_then(|before| before.rsplit('\n').next())
}

/// Checks for a blank line or a tag.
fn is_edge(line: &str) -> bool {
    line.trim().is_empty() || opening_kind(line).is_some() || closing_kind(line).is_some()
}

/// Returns the fault of thinking that contains blocks; `None` if the blocks were read, as strict parsing does.
fn considered_in(text: &str, range: Range<usize>, line_number: usize, items: &[Item<'_>]) -> Option<Fault> {
    let before = items.partition_point(|item| item.span().start < range.start);
    let is_read = items.get(before).is_some_and(|item| item.span().start < range.end);
    let command = considered(&text[range.clone()]).filter(|_| !is_read)?;
    let last = line_number + count_lines(text[range.clone()].trim_end());
    let lines = LineRange::of(line_number, last);
    let kind = match range.end == text.len() && !ends_with_closing_mark(&text[range.clone()]) {
        true => ParseErrorKind::OnlyConsidered,
        false => ParseErrorKind::MaybeConsidered { line_number: lines.last },
    };
    Some(Fault { range, lines, command, kind })
}

/// The closing tags among the lines, by kind. Look-ups must be in text order.
struct Closers {
    of_kind: [std::vec::IntoIter<usize>; BlockKind::ALL.len()],
}

impl Closers {
    fn of(lines: &[TagLikeLine]) -> Closers {
        let of_kind = BlockKind::ALL.map(|kind| {
            let closes = |(_, line): &(usize, &TagLikeLine)| line.tag.is_closing && line.tag.kind == kind;
            lines.iter().enumerate().filter(closes).map(|(index, _)| index).collect::<Vec<_>>().into_iter()
        });
        Closers { of_kind }
    }

    /// Returns the first closing tag of a kind after a line.
    fn after(&mut self, index: usize, kind: BlockKind) -> Option<usize> {
        let closers = &mut self.of_kind[kind as usize];
        while closers.as_slice().first().is_some_and(|closer| *closer <= index) {
            closers.next();
        }
        closers.as_slice().first().copied()
    }
}
