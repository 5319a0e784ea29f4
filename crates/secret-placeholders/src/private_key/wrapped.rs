//! Keys within a file whose encoding in Base64 is wrapped: in lines of one length, or with escaped line ends.
//!
//! A key that is not at the beginning of such a file begins on any line, and so does the sign of one, or between two of them.

use std::ops::Range;

use memchr::memmem;

use super::body_lines::SIGNS;
use super::encoded::{GROUP_BYTES, GROUP_CHARACTERS, OF_PEM, base64_bytes};
use super::inline::escape_end;
use super::line_parts::{is_base64, is_sign, runs};
use super::{Depth, find_at};
use crate::detector::{Span, merge};

/// The shortest line of an encoding that is wrapped.
const LEAST_BYTES: usize = 32;

/// The most bytes between two lines: the end of one, and the name of a file, a number or an author in front of the next.
const MOST_BETWEEN: usize = 256;

/// The most parts that are as long as a line, or longer, between two lines: the names of files and versions.
const MOST_OTHERS: usize = 3;

/// Adds the lines of such files that have a part of a key in them, and returns how many bytes of them were searched. The time is linear
/// in the length of the text.
pub(super) fn find(text: &str, deeper: Depth, hits: &mut Vec<Span>) -> usize {
    let mut searched = 0;
    let mut lines: Vec<Range<usize>> = long_runs(text).map(|run| without_escape(text, run)).collect();
    leave_out_signs(text, &mut lines);
    for block in blocks(&lines) {
        let mut block: Vec<Range<usize>> = block.into_iter().map(|line| lines[line].clone()).collect();
        let joined = joined(text, &block);
        if OF_PEM.iter().any(|(sign, _)| may_have(&joined, sign)) {
            block.extend(block.last().and_then(|last| shorter_line(text, last)));
            searched += in_block(text, &block, deeper, hits);
        }
    }
    searched
}

/// Returns the lines that belong together: each with those of the same length that are near enough to the one before.
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

/// Returns which line continues one: the next of the same length that is near enough.
fn next_line(lines: &[Range<usize>], line: usize) -> Option<usize> {
    let of = &lines[line];
    let others = lines.iter().enumerate().skip(line + 1).take(1 + MOST_OTHERS);
    let mut near = others.take_while(|(_, next)| next.start.saturating_sub(of.end) <= MOST_BETWEEN);
    near.find(|(_, next)| next.len() == of.len()).map(|(index, _)| index)
}

/// Leaves the signs in front of lines out, if all lines that belong together have them, or one that is longer by it than its neighbour.
fn leave_out_signs(text: &str, lines: &mut [Range<usize>]) {
    let sign_of = |line: &Range<usize>| sign_in_front(text, line).map_or(0, str::len);
    if lines.iter().all(|line| sign_of(line) == 0) {
        return;
    }
    for block in blocks(lines) {
        let sign = block.iter().map(|line| sign_of(&lines[*line])).min().unwrap_or(0);
        let is_signed = match block[..] {
            [one] => {
                let beside = |other: Option<usize>| other.and_then(|other| lines.get(other)).map(Range::len);
                let length = Some(lines[one].len() - sign);
                beside(one.checked_sub(1)) == length || beside(Some(one + 1)) == length
            }
            _ => true,
        };
        if is_signed {
            block.into_iter().for_each(|line| lines[line].start += sign);
        }
    }
}

/// Returns the sign in front of a line.
fn sign_in_front(text: &str, line: &Range<usize>) -> Option<&'static str> {
    let sign = SIGNS.into_iter().find(|sign| text[line.clone()].starts_with(sign))?;
    let before = text[..line.start].bytes().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    before.is_none_or(|byte| byte == b'\n').then_some(sign)
}

/// Returns the characters of lines. Those that fill up a group stand for bytes as well, so that the next one begins where it did.
fn joined(text: &str, lines: &[Range<usize>]) -> String {
    lines.iter().map(|line| text[line.clone()].replace('=', "A")).collect()
}

/// Checks whether characters have a sign in them, or the beginning of one at their end.
fn may_have(characters: &str, sign: &str) -> bool {
    memmem::find(characters.as_bytes(), sign.as_bytes()).is_some()
        || (1..sign.len()).any(|length| characters.ends_with(&sign[..length]))
}

/// Adds the lines of a block that have a part of a key in them, and returns how many bytes were searched.
fn in_block(text: &str, lines: &[Range<usize>], deeper: Depth, hits: &mut Vec<Span>) -> usize {
    let joined = joined(text, lines);
    // One sign says where the groups begin for all of them.
    let sign = OF_PEM.iter().find_map(|(sign, in_group)| {
        memmem::find(joined.as_bytes(), sign.as_bytes()).and_then(|at| at.checked_sub(*in_group))
    });
    let Some(group) = sign else { return 0 };
    let first = group % GROUP_CHARACTERS;
    // Each byte is one character: only those of ASCII are of a key.
    let character = |byte: u8| if byte.is_ascii() { char::from(byte) } else { '?' };
    // An unfinished group has a byte as well.
    let decoded: String =
        base64_bytes(&format!("{}AAA", &joined[first..])).into_iter().map(character).collect();
    let mut spans = Vec::new();
    let searched = find_at(&decoded, deeper, &mut spans);
    let mut spans = merge(spans).into_iter().peekable();
    let mut end = 0;
    for line in lines {
        let start = end;
        end += line.len();
        // The characters of a part of the bytes, of which the first and the last may have bits of others.
        let begin_of = |span: &Span| first + span.range.start * GROUP_CHARACTERS / GROUP_BYTES;
        let end_of = |span: &Span| first + (span.range.end * GROUP_CHARACTERS).div_ceil(GROUP_BYTES);
        while spans.next_if(|span| end_of(span) <= start).is_some() {}
        if let Some(span) = spans.peek().filter(|span| begin_of(span) < end) {
            hits.push(Span { range: line.clone(), kind: span.kind.clone() });
        }
    }
    searched
}

/// Returns the characters of Base64 that stand together, if they are as many as a line has. Most bytes of other texts are not looked at.
fn long_runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            // One of them is in each run that is long enough.
            let at = from + LEAST_BYTES - 1;
            if !is_base64(*bytes.get(at)?) {
                // It may begin behind that one.
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

/// Returns a run without the letters in front that belong to an escaped line end.
fn without_escape(text: &str, run: Range<usize>) -> Range<usize> {
    let Some(before) = text[..run.start].chars().next_back() else { return run };
    let start = run.start - before.len_utf8();
    let end = start + escape_end(&text[start..run.end]);
    end.clamp(run.start, run.end)..run.end
}

/// Returns the shorter rest of an encoding behind its last whole line.
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
    // As far to the right as the line before, or the last one.
    let from = last.start.saturating_sub(MOST_BETWEEN);
    let line_start = memchr::memrchr(b'\n', &bytes[from..last.start]).map(|at| from + at + 1);
    let column = line_start.or((from == 0).then_some(0)).map(|line_start| last.start - line_start);
    let of_column = |part: &Range<usize>| {
        let column = column.filter(|column| part.contains(column))?;
        let sign = &line[part.start..column];
        (sign.is_empty() || SIGNS.contains(&sign)).then_some(column..part.end)
    };
    let mut parts = runs(line).filter(|run| !is_sign(line.as_bytes(), run));
    let mut last_part = None;
    let in_column = parts.find_map(|part| {
        last_part = Some(part.clone());
        of_column(&part)
    });
    let part = in_column.or(last_part)?;
    (part.len() <= last.len()).then_some(start + part.start..start + part.end)
}
