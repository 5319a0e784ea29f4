//! Blocks that the model only mentions, next to those that it means: quoted, in back-ticks, in a code fence with other text, or in
//! a comment. They show earlier text, or an action that it would not take.

use std::ops::Range;

use super::lines_outside;
use crate::repair::{Fence, Opening, Thinking, opening};
use crate::reply_to::is_token_line;
use crate::{BlockKind, Dialect, Item, ParseError, ParseErrorKind, Quotation, RepairKind};

/// Turns such blocks into errors if they act, or end the session. Takes time linear in the text.
pub(super) fn report(text: &str, items: &mut [Item<'_>]) {
    let counts = |item: &Item<'_>| item.kind().acts() || item.kind() == BlockKind::Done;
    if !items.iter().any(counts) {
        return;
    }
    let quotations = quotations(text, items);
    for (item, quotation) in items.iter_mut().zip(quotations) {
        if matches!(item, Item::Block(_))
            && counts(item)
            && let Some(quotation) = quotation
        {
            let (span, lines, command) = (item.span(), item.lines(), item.kind());
            let kind = ParseErrorKind::OnlyQuoted(quotation);
            *item = Item::Error(ParseError { command, kind, span, lines });
        }
    }
}

/// Returns for each item how the reply quotes it; `None` if it does not, or if it does so with the whole reply.
fn quotations(text: &str, items: &[Item<'_>]) -> Vec<Option<Quotation>> {
    let has = |kind: RepairKind, mark: char| -> Vec<bool> {
        items.iter().map(|item| is_decorated(&text[item.span().range()], kind, mark)).collect()
    };
    let (mut are_quoted, mut are_code) = (has(RepairKind::Quote, '>'), has(RepairKind::Backtick, '`'));
    if are_quoted.iter().all(|is_quoted| *is_quoted) && !has_other_text(text, items) {
        are_quoted.fill(false);
    }
    if are_code.iter().all(|is_code| *is_code) {
        are_code.fill(false);
    }
    let enclosures = Enclosures::of(text, items);
    let in_fence = enclosures.in_fences_with_text(items);
    let all = items.iter().zip(are_quoted).zip(are_code).zip(in_fence);
    all.map(|(((item, is_quoted), is_code), is_in_fence)| match () {
        () if is_quoted => Some(Quotation::Marks),
        () if is_code => Some(Quotation::BackTicks),
        () if contains(&enclosures.comments, item.span().start) => Some(Quotation::Comment),
        () if is_in_fence => Some(Quotation::Fence),
        () => None,
    })
    .collect()
}

/// Checks for a block whose opening tag has a decoration, with its mark.
fn is_decorated(block: &str, kind: RepairKind, mark: char) -> bool {
    let first = block.split('\n').next().unwrap_or(block);
    let has_kind = |opening: Opening<'_>| opening.damage.contains(kind);
    first.contains(mark) && opening(first).is_some_and(has_kind)
}

/// Checks for an unquoted line outside of blocks and thinking.
fn has_other_text(text: &str, items: &[Item<'_>]) -> bool {
    let mut thinking = Thinking::of(Dialect::Agentd);
    let mut lines = lines_outside(text, items.iter().map(Item::span), &mut thinking);
    lines.any(|(_, line)| {
        let content = content(&text[line.start..line.end]);
        !content.is_empty() && !content.starts_with('>') && Fence::read(content).is_none()
    })
}

fn content(line: &str) -> &str {
    line.trim_start_matches('\u{feff}').trim()
}

/// The parts of a reply in code fences and in HTML comments, as far as their lines are outside of blocks and thinking.
#[derive(Default)]
struct Enclosures {
    /// The closed fences, and true for each with a line of text.
    fences: Vec<(Range<usize>, bool)>,
    /// The comments of more than one line.
    comments: Vec<Range<usize>>,
}

impl Enclosures {
    fn of(text: &str, items: &[Item<'_>]) -> Enclosures {
        let mut all = Enclosures::default();
        let mut thinking = Thinking::of(Dialect::Agentd);
        let mut open: Option<(Fence, usize, bool)> = None;
        let mut with_text_first: Vec<usize> = Vec::new();
        let mut comment: Option<usize> = None;
        let mut are_paired = true;
        let items_before = |position: usize| items.partition_point(|item| item.span().start < position);
        for (_, line) in lines_outside(text, items.iter().map(Item::span), &mut thinking) {
            let content = content(&text[line.start..line.end]);
            match (Fence::read(content), &mut open) {
                (Some(fence), None) => open = Some((fence, line.start, false)),
                (Some(fence), Some((opening, start, has_text))) if fence.closes(*opening) => {
                    all.fences.push((*start..line.end, *has_text));
                    open = None;
                }
                // A fence may have lost its end.
                (Some(_), Some(_)) => are_paired = false,
                (None, Some((_, start, has_text))) if !content.is_empty() && !is_token_line(content) => {
                    if !*has_text && items_before(*start) == items_before(line.start) {
                        with_text_first.push(*start);
                    }
                    *has_text = true;
                }
                (None, _) => {}
            }
            match last_comment_mark(content) {
                Some(CommentMark::Opening) => comment = comment.or(Some(line.start)),
                Some(CommentMark::Closing) => {
                    all.comments.extend(comment.take().map(|start| start..line.end));
                }
                None => {}
            }
        }
        if !are_paired {
            all.fences.clear();
        } else if open.is_some() {
            // Any of the fences may have lost its end, unless text before its first block shows that it begins there.
            all.fences.retain(|(range, _)| with_text_first.binary_search(&range.start).is_ok());
        }
        all
    }

    /// Checks for each item whether it is in a fence with other text, as in an example, while others are outside of fences. A
    /// summary or a message there does not count: some models write only these without a fence.
    fn in_fences_with_text(&self, items: &[Item<'_>]) -> Vec<bool> {
        let (mut of_text, mut of_all) = (Vec::new(), Vec::new());
        for (range, has_text) in &self.fences {
            of_all.push(range.clone());
            of_text.extend(has_text.then(|| range.clone()));
        }
        let is_plain = |item: &Item<'_>| {
            !matches!(item.kind(), BlockKind::Done | BlockKind::Message)
                && !contains(&of_all, item.span().start)
        };
        let has_plain = !of_text.is_empty() && items.iter().any(is_plain);
        items.iter().map(|item| has_plain && contains(&of_text, item.span().start)).collect()
    }
}

/// A mark of an HTML comment.
#[derive(PartialEq, Eq)]
enum CommentMark {
    Opening,
    Closing,
}

/// Returns the last mark of a comment in a line. A mark in back-ticks is only mentioned.
fn last_comment_mark(line: &str) -> Option<CommentMark> {
    line.contains("--").then_some(())?;
    let last = |text: &str| match (text.rfind("<!--"), text.rfind("-->")) {
        (Some(opening), closing) if closing.is_none_or(|closing| closing < opening) => {
            Some(CommentMark::Opening)
        }
        (_, Some(_)) => Some(CommentMark::Closing),
        _ => None,
    };
    line.split('`').step_by(2).filter_map(last).last()
}

/// Checks whether a position is in one of some ranges, which are in order.
fn contains(ranges: &[Range<usize>], position: usize) -> bool {
    let before = ranges.partition_point(|range| range.start < position);
    before.checked_sub(1).is_some_and(|last| position < ranges[last].end)
}
