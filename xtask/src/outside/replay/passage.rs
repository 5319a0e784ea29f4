//! The passages of a file that a change touches, as a model would write them: some lines that stay, some that go, some that come.

use std::ops::Range;

use text_edit::{LineMap, Source};

/// The sign of a line in a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Keep,
    Remove,
    Add,
}

/// A line of a passage, without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) sign: Sign,
    pub(super) text: String,
}

/// One passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    /// Its lines in the old version, as 0-based half-open indexes.
    pub(super) at: Range<usize>,
    pub(super) lines: Vec<Line>,
}

impl Passage {
    /// Returns the lines that stand in the file before.
    pub(super) fn old(&self) -> Vec<&str> {
        self.side(Sign::Add)
    }

    /// Returns the lines that stand in the file after.
    pub(super) fn new_lines(&self) -> Vec<&str> {
        self.side(Sign::Remove)
    }

    fn side(&self, without: Sign) -> Vec<&str> {
        self.lines.iter().filter(|line| line.sign != without).map(|line| line.text.as_str()).collect()
    }
}

/// The lines around what changes that a passage has as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// None; what is only added gets one line that stays.
    Least,
    /// So many on both sides.
    Lines(usize),
    /// So many on both sides, and more until the lines stand once in the file.
    Unique(usize),
}

/// The lines of a text without their ends.
pub(super) fn lines(text: &str) -> Vec<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().collect()
}

/// Returns the passages of a change in the order of the file.
pub(super) fn passages(old: &str, new: &str, context: Context) -> Vec<Passage> {
    let (Ok(old_source), Ok(new_source)) = (Source::parse(old.as_bytes()), Source::parse(new.as_bytes()))
    else {
        return Vec::new();
    };
    let map = LineMap::between(&old_source, &new_source);
    let (old, new) = (lines(old), lines(new));
    let mut spans: Vec<Range<usize>> = Vec::new();
    for hunk in map.hunks() {
        let mut span = widened(&hunk.old, context.lines(), old.len());
        if context == Context::Least && hunk.old.is_empty() {
            span = if span.start > 0 { span.start - 1..span.end } else { 0..1.min(old.len()) };
        }
        if let Context::Unique(least) = context {
            let mut more = least;
            while more < 30 && occurrences(&old, &old[span.clone()]) != 1 {
                more += 1;
                span = widened(&hunk.old, more, old.len());
            }
        }
        match spans.last_mut() {
            // Passages that touch are one.
            Some(last) if context != Context::Least && last.end >= span.start => {
                last.end = span.end.max(last.end)
            }
            Some(last) if last.end > span.start => last.end = span.end.max(last.end),
            _ => spans.push(span),
        }
    }
    spans.into_iter().map(|span| passage(&map, span, &old, &new)).collect()
}

impl Context {
    fn lines(self) -> usize {
        match self {
            Context::Least => 0,
            Context::Lines(lines) | Context::Unique(lines) => lines,
        }
    }
}

fn widened(span: &Range<usize>, by: usize, end: usize) -> Range<usize> {
    span.start.saturating_sub(by)..(span.end + by).min(end)
}

fn passage(map: &LineMap, span: Range<usize>, old: &[&str], new: &[&str]) -> Passage {
    let mut lines = Vec::new();
    let push = |lines: &mut Vec<Line>, sign, texts: &[&str]| {
        lines.extend(texts.iter().map(|text| Line { sign, text: (*text).to_owned() }));
    };
    let mut at = span.start;
    // Lines that are added right before a passage belong to the one before it.
    let begins = |old: &Range<usize>| old.start > span.start || !old.is_empty() || span.start == 0;
    let is_within = |old: &Range<usize>| old.start >= span.start && old.end <= span.end && begins(old);
    for hunk in map.hunks().iter().filter(|hunk| is_within(&hunk.old)) {
        push(&mut lines, Sign::Keep, &old[at..hunk.old.start]);
        push(&mut lines, Sign::Remove, &old[hunk.old.clone()]);
        push(&mut lines, Sign::Add, &new[hunk.new.clone()]);
        at = hunk.old.end;
    }
    push(&mut lines, Sign::Keep, &old[at..span.end]);
    Passage { at: span, lines }
}

/// Counts the positions at which lines stand in others.
pub(super) fn occurrences(all: &[&str], wanted: &[&str]) -> usize {
    if wanted.is_empty() { 0 } else { all.windows(wanted.len()).filter(|window| *window == wanted).count() }
}

/// Replaces passages, given in any order by their positions in `text`. Lines that stay keep their ends; new ones get that of the
/// first line. `None` if a position is not in the text.
pub(super) fn with_passages(text: &str, passages: &[Passage]) -> Option<String> {
    let ends: Vec<&str> = text.split_inclusive('\n').collect();
    let end = if ends.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    let mut in_order: Vec<&Passage> = passages.iter().collect();
    in_order.sort_by_key(|passage| passage.at.start);
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    for passage in in_order {
        result.extend(ends.get(at..passage.at.start)?.iter().copied());
        at = passage.at.start;
        for line in &passage.lines {
            match line.sign {
                Sign::Keep => result.push_str(ends.get(at)?),
                Sign::Remove => {}
                Sign::Add => {
                    // Behind a last line that has no end.
                    if !result.is_empty() && !result.ends_with('\n') {
                        result.push_str(end);
                    }
                    result.push_str(&line.text);
                    result.push_str(end);
                }
            }
            at += usize::from(line.sign != Sign::Add);
        }
    }
    result.extend(ends.get(at..)?.iter().copied());
    // The end of the file stays as it is: edits replace lines. A blank last line is there by the end of the line before, and its own.
    if !text.ends_with('\n') && result.ends_with('\n') {
        let without = &result[..result.len() - end.len()];
        let is_blank = !without.is_empty() && without.ends_with('\n');
        result.truncate(if is_blank { result.len() } else { without.len() });
    }
    Some(result)
}
