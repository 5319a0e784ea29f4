//! Anchors: lines that precede a text, such as the `@@` lines of a patch.

use std::ops::Range;

use super::{
    Form, MatchRule, NAMED_OCCURRENCES, NoMatch, SearchText, TextMatch, find_text, haystack::WHITESPACE,
};
use crate::Source;

/// Finds the only passage that a text means after its anchors.
///
/// A text that occurs more than once after the last anchor means the passage within that anchor's block, if it occurs once there.
/// Every line that equals the anchor begins such a block.
pub(super) fn find(
    source: &Source<'_>,
    search: &SearchText,
    rules: &[MatchRule],
    within: Option<Range<usize>>,
) -> Result<TextMatch, NoMatch> {
    let whole = within.unwrap_or(0..source.total_lines());
    let blocks = blocks(source, &search.anchors, &whole)?;
    // The text may itself begin with its anchor.
    let rest = blocks.first().map_or(whole.start, |block| block.start)..whole.end;
    let find_in = |lines: Range<usize>| match search.is_anchor {
        true => anchor(source, search, lines),
        false => find_text(source, &search.without_anchors(), rules, Some(lines)),
    };
    match find_in(rest) {
        Err(reason @ NoMatch::Occurs { .. }) if !search.anchors.is_empty() => {
            let mut only = None;
            for block in blocks {
                match find_in(block) {
                    Ok(passage) if only.is_none() => only = Some(passage),
                    Ok(_) | Err(NoMatch::Occurs { .. }) => return Err(reason),
                    Err(_) => {}
                }
            }
            only.ok_or(reason)
        }
        outcome => outcome,
    }
}

/// Returns the blocks that the last anchor begins, in the order of the text; all lines if there is no anchor.
///
/// An anchor is searched for in the blocks of the previous one; if none of them has it, after the start of the first. Blocks do
/// not overlap, so the time for one anchor is linear in the text.
fn blocks(
    source: &Source<'_>,
    anchors: &[String],
    lines: &Range<usize>,
) -> Result<Vec<Range<usize>>, NoMatch> {
    let mut blocks = vec![lines.clone()];
    let mut from = lines.start;
    for (nth, anchor) in anchors.iter().enumerate() {
        let starts_in = |scopes: &[Range<usize>]| {
            let lines = || scopes.iter().cloned().flatten();
            let same: Vec<usize> = lines().filter(|index| is_same(source, *index, anchor)).collect();
            if !same.is_empty() {
                return same;
            }
            lines().filter(|index| is_begun(source, *index, anchor)).collect()
        };
        let mut starts = if nth == 0 {
            starts_in(&blocks)
        } else {
            let inner: Vec<Range<usize>> = blocks.iter().map(|block| block.start + 1..block.end).collect();
            starts_in(&inner)
        };
        if starts.is_empty() && nth > 0 {
            starts = starts_in(std::slice::from_ref(&(from..lines.end)));
        }
        let Some(first) = starts.first() else {
            return Err(NoMatch::NoAnchor { line: anchor.chars().take(120).collect(), after: from });
        };
        from = first + 1;
        blocks = Vec::new();
        for start in starts {
            if blocks.last().is_none_or(|last: &Range<usize>| last.end <= start) {
                blocks.push(block_of(source, start, lines.end));
            }
        }
    }
    Ok(blocks)
}

/// Checks whether a line begins with an anchor, as `class A:` does with `class A`.
fn is_begun(source: &Source<'_>, index: usize, anchor: &str) -> bool {
    let is_word = |sign: char| sign.is_alphanumeric() || sign == '_';
    source.line_text(index + 1).is_some_and(|line| {
        let rest = line.trim_matches(WHITESPACE).strip_prefix(anchor.trim_matches(WHITESPACE));
        rest.is_some_and(|rest| !rest.starts_with(is_word))
    })
}

/// Finds the only line that equals the text, apart from whitespace at its ends.
fn anchor(source: &Source<'_>, search: &SearchText, lines: Range<usize>) -> Result<TextMatch, NoMatch> {
    let wanted = search.text.as_str();
    let same: Vec<usize> = lines.clone().filter(|index| is_same(source, *index, wanted)).collect();
    match same.as_slice() {
        [] => Err(NoMatch::NoAnchor { line: wanted.chars().take(120).collect(), after: lines.start }),
        [only] => Ok(TextMatch {
            lines: only + 1..=only + 1,
            rules: Vec::new(),
            is_within_lines: false,
            form: Form::default(),
        }),
        same => Err(NoMatch::Occurs {
            count: same.len(),
            is_more: false,
            expected: 1,
            line_numbers: same.iter().take(NAMED_OCCURRENCES).map(|index| index + 1).collect(),
        }),
    }
}

/// Returns the lines of the block that the anchor at `start` begins: up to a line that is not indented further and does not
/// belong to the head.
fn block_of(source: &Source<'_>, start: usize, end: usize) -> Range<usize> {
    let text = |index: usize| source.line_text(index + 1).unwrap_or_default();
    let indent = |line: &str| line.len() - line.trim_start_matches(WHITESPACE).len();
    let first = text(start);
    let block_indent = if first.trim_matches(WHITESPACE).is_empty() { 0 } else { indent(&first) };
    let mut head = Head::of(&first);
    for index in start + 1..end {
        let line = text(index);
        let is_blank = line.trim_matches(WHITESPACE).is_empty();
        let ends_block = !is_blank && indent(&line) <= block_indent;
        if ends_block && !(indent(&line) == block_indent && head.has(&line)) {
            return start..index;
        }
        head.pass(&line, ends_block);
    }
    start..end
}

/// The head of a block, such as a function signature whose parameters have their own lines.
struct Head {
    /// Round and square brackets that are open after the lines so far.
    open: usize,
    /// True while a line may still open the block with a curly bracket.
    may_begin: bool,
}

impl Head {
    fn of(first: &str) -> Head {
        let mut head = Head { open: 0, may_begin: true };
        head.pass(first, true);
        head
    }

    /// Checks whether a line with the indentation of the first one belongs to the head: it closes brackets, opens the block's
    /// curly bracket, or comes between as Rust's `where` does.
    fn has(&self, line: &str) -> bool {
        match line.trim_matches(WHITESPACE).as_bytes() {
            [b')' | b']', ..] => self.open > 0,
            [b'{', ..] | b"where" => self.may_begin,
            _ => false,
        }
    }

    /// Advances past a line of the block. `is_of_head` is true for the first one and for those that [`has`](Self::has) accepted.
    fn pass(&mut self, line: &str, is_of_head: bool) {
        for byte in line.bytes() {
            match byte {
                b'(' | b'[' => self.open += 1,
                b')' | b']' => self.open = self.open.saturating_sub(1),
                _ => {}
            }
        }
        // After any other line, a curly bracket does not open the block.
        if is_of_head {
            let last = line.trim_matches(WHITESPACE).as_bytes().last();
            self.may_begin = self.may_begin
                && !line.trim_start_matches(WHITESPACE).starts_with('{')
                && !matches!(last, Some(b'{' | b'}' | b':' | b';' | b','));
        }
    }
}

fn is_same(source: &Source<'_>, index: usize, anchor: &str) -> bool {
    source
        .line_text(index + 1)
        .is_some_and(|line| line.trim_matches(WHITESPACE) == anchor.trim_matches(WHITESPACE))
}

/// Checks whether lines that are added after an anchor fit the file's indentation: the anchor has it, or all of them are indented
/// further than the anchor's line.
pub(super) fn are_fit(
    source: &Source<'_>,
    search: &SearchText,
    passage: &TextMatch,
    replacement: &str,
) -> bool {
    let line = source.line_text(*passage.lines.start()).unwrap_or_default();
    let indent = &line[..line.len() - line.trim_start_matches(WHITESPACE).len()];
    let is_deeper = |line: &str| line.strip_prefix(indent).is_some_and(|rest| rest.starts_with([' ', '\t']));
    search.text.trim_end_matches(WHITESPACE) == line.trim_end_matches(WHITESPACE)
        || replacement.lines().filter(|line| !line.trim().is_empty() && **line != search.text).all(is_deeper)
}
