//! Lines behind which a text stands, as the `@@` lines of a patch name them.

use std::ops::Range;

use super::{
    Form, MatchRule, NAMED_OCCURRENCES, NoMatch, SearchText, TextMatch, find_text, haystack::BLANKS,
};
use crate::Source;

/// Finds the only passage that a text means behind its anchors.
///
/// A text that occurs more than once behind the last anchor means the passage within the block of that anchor, if it occurs once there.
pub(super) fn find(
    source: &Source<'_>,
    search: &SearchText,
    rules: &[MatchRule],
    within: Option<Range<usize>>,
) -> Result<TextMatch, NoMatch> {
    let whole = within.unwrap_or(0..source.total_lines());
    let start = last_anchor(source, &search.anchors, &whole)?;
    // A text that begins with its anchor repeats it.
    let rest = start..whole.end;
    let find_in = |lines: Range<usize>| match search.is_anchor {
        true => anchor(source, search, lines),
        false => find_text(source, &search.without_anchors(), rules, Some(lines)),
    };
    match find_in(rest.clone()) {
        Err(NoMatch::Occurs { .. }) if !search.anchors.is_empty() => {
            let block = block_of(source, start, rest.end);
            match find_in(block) {
                Ok(passage) => Ok(passage),
                Err(_) => find_in(rest),
            }
        }
        outcome => outcome,
    }
}

/// Returns the index of the line that is the last anchor; the first line if there is none.
fn last_anchor(source: &Source<'_>, anchors: &[String], lines: &Range<usize>) -> Result<usize, NoMatch> {
    let (mut at, mut from) = (lines.start, lines.start);
    for anchor in anchors {
        let mut same = (from..lines.end).filter(|index| is_same(source, *index, anchor));
        let mut begun = (from..lines.end).filter(|index| is_begun(source, *index, anchor));
        let missing = || NoMatch::NoAnchor { line: anchor.chars().take(120).collect(), behind: from };
        at = same.next().or_else(|| begun.next()).ok_or_else(missing)?;
        from = at + 1;
    }
    Ok(at)
}

/// Checks whether a line begins with an anchor, as `class A:` does with `class A`.
fn is_begun(source: &Source<'_>, index: usize, anchor: &str) -> bool {
    let is_word = |sign: char| sign.is_alphanumeric() || sign == '_';
    source.line_text(index + 1).is_some_and(|line| {
        let rest = line.trim_matches(BLANKS).strip_prefix(anchor.trim_matches(BLANKS));
        rest.is_some_and(|rest| !rest.starts_with(is_word))
    })
}

/// Finds the only line that is the text, apart from blanks at its ends.
fn anchor(source: &Source<'_>, search: &SearchText, lines: Range<usize>) -> Result<TextMatch, NoMatch> {
    let wanted = search.text.as_str();
    let same: Vec<usize> = lines.clone().filter(|index| is_same(source, *index, wanted)).collect();
    match same.as_slice() {
        [] => Err(NoMatch::NoAnchor { line: wanted.chars().take(120).collect(), behind: lines.start }),
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

/// Returns the lines of the block that the anchor at `start` begins: up to a line that is indented no more than it.
fn block_of(source: &Source<'_>, start: usize, end: usize) -> Range<usize> {
    let indent = |index: usize| {
        let line = source.line_text(index + 1).unwrap_or_default();
        let body = line.trim_start_matches(BLANKS);
        (!body.is_empty()).then(|| line.len() - body.len())
    };
    let own = indent(start).unwrap_or(0);
    let is_behind = |index: &usize| indent(*index).is_some_and(|other| other <= own);
    start..(start + 1..end).find(is_behind).unwrap_or(end)
}

fn is_same(source: &Source<'_>, index: usize, anchor: &str) -> bool {
    source.line_text(index + 1).is_some_and(|line| line.trim_matches(BLANKS) == anchor.trim_matches(BLANKS))
}

/// Checks whether lines that are added behind an anchor may be indented as the file is. They are if the anchor is; else if all of them
/// are indented more than its line.
pub(super) fn are_fit(
    source: &Source<'_>,
    search: &SearchText,
    passage: &TextMatch,
    replacement: &str,
) -> bool {
    let line = source.line_text(*passage.lines.start()).unwrap_or_default();
    let indent = &line[..line.len() - line.trim_start_matches(BLANKS).len()];
    let is_deeper = |line: &str| line.strip_prefix(indent).is_some_and(|rest| rest.starts_with([' ', '\t']));
    search.text.trim_end_matches(BLANKS) == line.trim_end_matches(BLANKS)
        || replacement.lines().filter(|line| !line.trim().is_empty() && **line != search.text).all(is_deeper)
}
