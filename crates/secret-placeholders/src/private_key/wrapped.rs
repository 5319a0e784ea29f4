//! Keys within a file whose encoding in Base64 is wrapped: in lines of one length, or with escaped line ends.
//!
//! A key that is not at the beginning of such a file may begin on any line, and its marker on any line or across two.

use std::ops::Range;

use memchr::memmem;

use super::body_lines::PREFIXES;
use super::encoded::{GROUP_BYTES, GROUP_CHARACTERS, OF_PEM, base64_bytes};
use super::inline::escape_end;
use super::line_parts::{is_base64, is_punctuation, runs};
use super::{Depth, find_at};
use crate::detector::{Span, merge};

/// The shortest line of a wrapped encoding.
const LEAST_BYTES: usize = 32;

/// The maximum number of bytes between two lines: the end of one, and a file name, a number or an author before the
/// next.
const MOST_BETWEEN: usize = 256;

/// The maximum number of parts at least as long as a line between two lines: file names and versions.
const MOST_OTHERS: usize = 3;

/// Adds the lines of such files that contain a part of a key, and returns how many of their bytes were searched. The
/// time is linear in the length of the text.
pub(super) fn find(text: &str, deeper: Depth, hits: &mut Vec<Span>) -> usize {
    let mut searched = 0;
    let mut lines: Vec<Range<usize>> = long_runs(text).map(|run| without_escape(text, run)).collect();
    exclude_prefixes(text, &mut lines);
    for block in blocks(&lines) {
        let mut block: Vec<Range<usize>> = block.into_iter().map(|line| lines[line].clone()).collect();
        let joined = joined(text, &block);
        if OF_PEM.iter().any(|(marker, _)| may_have(&joined, marker)) {
            block.extend(block.last().and_then(|last| shorter_line(text, last)));
            searched += in_block(text, &block, deeper, hits);
        }
    }
    searched
}

/// Groups lines into blocks: each line continues the previous one of the same length if it is near enough.
fn blocks(lines: &[Range<usize>]) -> Vec<Vec<usize>> {
    let mut is_done = vec![false; lines.len()];
    let mut blocks = Vec::new();
    for first in 0..lines.len() {
        if is_done[first] {
            continue;
        }
        let mut block = vec![first];
        let mut last = first;
        while let Some(next) = next_line(lines, last).filter(|next| !is_done[*next]) {
            block.push(next);
            is_done[next] = true;
            last = next;
        }
        blocks.push(block);
    }
    blocks
}

/// Returns the index of the line that continues `line`: the next of the same length that is near enough.
fn next_line(lines: &[Range<usize>], line: usize) -> Option<usize> {
    let of = &lines[line];
    let others = lines.iter().enumerate().skip(line + 1).take(1 + MOST_OTHERS);
    let mut near = others.take_while(|(_, next)| next.start.saturating_sub(of.end) <= MOST_BETWEEN);
    near.find(|(_, next)| next.len() == of.len()).map(|(index, _)| index)
}

/// Excludes prefixes of lines if all lines of a block have them, or if they make a single line longer than its
/// neighbour.
fn exclude_prefixes(text: &str, lines: &mut [Range<usize>]) {
    let prefix_length = |line: &Range<usize>| prefix_of(text, line).map_or(0, str::len);
    if lines.iter().all(|line| prefix_length(line) == 0) {
        return;
    }
    for block in blocks(lines) {
        let prefix = block.iter().map(|line| prefix_length(&lines[*line])).min().unwrap_or(0);
        let has_prefix = match block[..] {
            [one] => {
                let length_of =
                    |index: Option<usize>| index.and_then(|index| lines.get(index)).map(Range::len);
                let length = Some(lines[one].len() - prefix);
                length_of(one.checked_sub(1)) == length || length_of(Some(one + 1)) == length
            }
            _ => true,
        };
        if has_prefix {
            block.into_iter().for_each(|line| lines[line].start += prefix);
        }
    }
}

/// Returns the prefix of a line.
fn prefix_of(text: &str, line: &Range<usize>) -> Option<&'static str> {
    let prefix = PREFIXES.into_iter().find(|prefix| text[line.clone()].starts_with(prefix))?;
    let before = text[..line.start].bytes().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    before.is_none_or(|byte| byte == b'\n').then_some(prefix)
}

/// Joins the characters of lines. Padding is replaced by characters that encode bytes as well, so that later groups
/// keep their offsets.
fn joined(text: &str, lines: &[Range<usize>]) -> String {
    lines.iter().map(|line| text[line.clone()].replace('=', "A")).collect()
}

/// Checks whether characters contain a marker, or end with the beginning of one.
fn may_have(characters: &str, marker: &str) -> bool {
    memmem::find(characters.as_bytes(), marker.as_bytes()).is_some()
        || (1..marker.len()).any(|length| characters.ends_with(&marker[..length]))
}

/// Adds the lines of a block that contain a part of a key, and returns how many bytes were searched.
fn in_block(text: &str, lines: &[Range<usize>], deeper: Depth, hits: &mut Vec<Span>) -> usize {
    let joined = joined(text, lines);
    // One marker determines the group offset for all.
    let marker = OF_PEM.iter().find_map(|(marker, in_group)| {
        memmem::find(joined.as_bytes(), marker.as_bytes()).and_then(|at| at.checked_sub(*in_group))
    });
    let Some(group) = marker else { return 0 };
    let first = group % GROUP_CHARACTERS;
    // One character per byte: keys have only ASCII characters.
    let character = |byte: u8| if byte.is_ascii() { char::from(byte) } else { '?' };
    // An unfinished group encodes bytes as well.
    let decoded: String =
        base64_bytes(&format!("{}AAA", &joined[first..])).into_iter().map(character).collect();
    let mut spans = Vec::new();
    let searched = find_at(&decoded, deeper, &mut spans);
    let mut spans = merge(spans).into_iter().peekable();
    let mut end = 0;
    for line in lines {
        let start = end;
        end += line.len();
        // Maps decoded bytes to characters; the first and last may also have bits of adjacent bytes.
        let begin_of = |span: &Span| first + span.range.start * GROUP_CHARACTERS / GROUP_BYTES;
        let end_of = |span: &Span| first + (span.range.end * GROUP_CHARACTERS).div_ceil(GROUP_BYTES);
        while spans.next_if(|span| end_of(span) <= start).is_some() {}
        if let Some(span) = spans.peek().filter(|span| begin_of(span) < end) {
            hits.push(Span { range: line.clone(), kind: span.kind.clone() });
        }
    }
    searched
}

/// Returns the runs of Base64 that are at least as long as a line. Most bytes of other texts are skipped.
fn long_runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            // Every run that is long enough contains one of these positions.
            let at = from + LEAST_BYTES - 1;
            if !is_base64(*bytes.get(at)?) {
                // A run may begin after that byte.
                from = at + 1;
                continue;
            }
            let start = at - bytes[from..at].iter().rev().take_while(|byte| is_base64(**byte)).count();
            let end = at + bytes[at..].iter().take_while(|byte| is_base64(**byte)).count();
            from = end;
            if end - start >= LEAST_BYTES {
                let padding = bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
                return Some(start..end + padding);
            }
        }
    })
}

/// Returns a run without leading letters that belong to an escaped line end.
fn without_escape(text: &str, run: Range<usize>) -> Range<usize> {
    let Some(before) = text[..run.start].chars().next_back() else { return run };
    let start = run.start - before.len_utf8();
    let end = start + escape_end(&text[start..run.end]);
    end.clamp(run.start, run.end)..run.end
}

/// Returns the shorter rest of an encoding after its last whole line.
fn shorter_line(text: &str, last: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let run_at = |start: usize| {
        let run = runs(text.get(start..)?).next().filter(|run| run.start == 0)?;
        Some(start..start + run.end)
    };
    let escape = escape_end(&text[last.end..]);
    if escape > 0 {
        return run_at(last.end + escape).filter(|run| run.len() <= last.len());
    }
    let limit = text.len().min(last.end + MOST_BETWEEN);
    let start = last.end + memchr::memchr(b'\n', &bytes[last.end..limit])? + 1;
    let limit = text.floor_char_boundary(text.len().min(start + MOST_BETWEEN + last.len()).max(start));
    let line = &text[start..memchr::memchr(b'\n', &bytes[start..limit]).map_or(limit, |at| start + at)];
    // As far to the right as the previous line, or the last.
    let from = last.start.saturating_sub(MOST_BETWEEN);
    let line_start = memchr::memrchr(b'\n', &bytes[from..last.start]).map(|at| from + at + 1);
    let column = line_start.or((from == 0).then_some(0)).map(|line_start| last.start - line_start);
    let of_column = |part: &Range<usize>| {
        let column = column.filter(|column| part.contains(column))?;
        let prefix = &line[part.start..column];
        (prefix.is_empty() || PREFIXES.contains(&prefix)).then_some(column..part.end)
    };
    let mut parts = runs(line).filter(|run| !is_punctuation(line.as_bytes(), run));
    let mut last_part = None;
    let in_column = parts.find_map(|part| {
        last_part = Some(part.clone());
        of_column(&part)
    });
    let part = in_column.or(last_part)?;
    (part.len() <= last.len()).then_some(start + part.start..start + part.end)
}
