//! A key on the line of its boundary: with escaped line ends, in several literals, or with spaces.

use std::ops::Range;

use super::body_lines::Certainty;
use super::line_parts::{is_base64, is_mixed, is_other_data, is_punctuation, is_random, runs};

/// The minimum number of equally long, space-separated groups that count as a key.
const FEWEST_GROUPS: usize = 4;

/// Escaped line ends and characters.
const ESCAPES: [&str; 29] = [
    "&#xA;", "&#xa;", "&#xD;", "&#xd;", "%2B", "%2F", "%3D", "\\\\n", "\\\\r", "\\n", "\\r", "\\t",
    "\\u000a", "\\u000A", "\\u000d", "\\u000D", "\\x0a", "\\x0A", "\\x0d", "\\x0D", "\\012", "\\015", "%0A",
    "%0D", "%0a", "%0d", "&#10;", "&#13;", "<br>",
];

/// The shortest line of a key after any other separator.
const LEAST_LINE_BYTES: usize = 40;

/// The maximum number of letters and digits between two lines in any other notation.
const MOST_SEPARATOR_BYTES: usize = 4;

/// Characters between the parts of a body in source code: spaces, literals that are joined or listed.
const BETWEEN: [char; 9] = [' ', '\t', '"', '\'', '`', '\\', ',', '.', '='];

/// Runs of Base64 separated only by escapes and the punctuation that joins literals.
#[derive(Debug, Default)]
struct Chain {
    runs: Vec<Link>,
    /// The end of the separators after the last run.
    end: usize,
}

#[derive(Debug)]
struct Link {
    range: Range<usize>,
    /// The separators before the run.
    gap: Gap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    Escape,
    Blank,
    Quote,
}

/// Returns the ranges of a key's body after the boundary on its line; `has_end` is true if `rest` ends at the last line
/// of the key.
///
/// Code and prose that mention a boundary continue with other text.
pub(super) fn body_after(rest: &str, has_end: bool) -> (Vec<Range<usize>>, Certainty) {
    let start = headers_end(rest);
    let mut chain = Chain::at(rest, start);
    if chain.runs.is_empty() {
        chain = Chain::at(rest, separated_start(rest, start));
    }
    let is_whole = has_end && chain.end == rest.len();
    if let Some(body) = chain.body(rest, is_whole) {
        // In another notation, too, the key continues up to its last line.
        if has_end {
            let end = if is_whole { body.end } else { rest.trim_end_matches(is_between).len() };
            let body = body.start..end;
            return (vec![body], Certainty::Certain);
        }
        let mut parts = parts_after(rest, body.end, chain.longest());
        parts.insert(0, body);
        return (parts, Certainty::Certain);
    }
    // Between both boundaries, random text is hidden whatever surrounds it.
    let is_hidden =
        |run: &Range<usize>| has_end && is_random(&rest[run.clone()]) && !is_other_data(rest, run);
    let parts: Vec<Range<usize>> = runs(rest).filter(is_hidden).collect();
    match &parts[..] {
        // Lines of a key after headers in another notation.
        [first, next, ..] if first.len() == next.len() && first.len() >= LEAST_LINE_BYTES => {
            let body = first.start..rest.trim_end_matches(is_between).len();
            (vec![body], Certainty::Certain)
        }
        _ => (parts, Certainty::Possible),
    }
}

/// Returns the range of a key's body that ends at the start of its last line, on the same line.
pub(super) fn body_before(lead: &str) -> Option<Range<usize>> {
    let end = lead.trim_end_matches("\\n").len();
    let start = end - lead[..end].rsplit(is_between).next().map_or(0, str::len);
    let mut from = start;
    // The last chain, if it extends to the end.
    while from < end {
        let chain = Chain::at(&lead[..end], from);
        if chain.end == end {
            return chain.body(lead, true);
        }
        let next = chain.end.max(from);
        from = next + lead[next..].chars().next().map_or(1, char::len_utf8);
    }
    None
}

/// Returns the end of a value of Base64 that begins at `start` and may have escaped line ends.
pub(super) fn value_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let run_end = |from: usize| from + bytes[from..].iter().take_while(|byte| is_base64(**byte)).count();
    let mut end = run_end(start);
    loop {
        let at = end + escape_end(&text[end..]);
        let next = run_end(at);
        if at == end || next == at {
            return end + bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
        }
        end = next;
    }
}

/// Returns the length of the escaped line ends at the start of a text.
pub(super) fn escape_end(text: &str) -> usize {
    let mut at = 0;
    while let Some((length, Gap::Escape)) = separator(&text[at..]) {
        at += length;
    }
    at
}

/// Returns the earliest start of the body: after the headers of a key.
fn headers_end(rest: &str) -> usize {
    let mut start = 0;
    for name in ["Proc-Type: ", "DEK-Info: ", "Version: ", "Comment: "] {
        let from = between_end(rest, start);
        if !rest[from..].starts_with(name) {
            continue;
        }
        let escape = rest[from..].find('\\').unwrap_or(rest.len() - from);
        start = from + escape;
    }
    start
}

/// Returns the start of a key's line in an unknown notation, if not `start`.
fn separated_start(rest: &str, start: usize) -> usize {
    let mut runs = runs(&rest[start..]).take_while(|run| run.start <= MOST_SEPARATOR_BYTES + 2);
    let is_line =
        |run: &Range<usize>| run.len() >= LEAST_LINE_BYTES && is_random(&rest[start..][run.clone()]);
    let line = runs.find(|run| is_line(run) && !is_other_data(&rest[start..], run));
    line.map_or(start, |line| start + line.start)
}

/// Returns the random texts from `start` on that are as long as a line of the key, and the shorter last line after
/// them.
fn parts_after(rest: &str, start: usize, length: usize) -> Vec<Range<usize>> {
    let mut follows_line = true;
    let is_of_key = |run: &Range<usize>| {
        let is_part =
            is_random(&rest[run.clone()]) && (run.len() == length || follows_line && run.len() < length);
        // The text between the lines is short.
        follows_line = is_part && run.len() == length || follows_line && run.len() <= MOST_SEPARATOR_BYTES;
        is_part
    };
    let runs = runs(&rest[start..]).map(|run| start + run.start..start + run.end);
    runs.filter(is_of_key).collect()
}

/// Checks for a character before the last line of a key that does not belong to its body.
fn is_between(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'')
}

/// Returns the end of escapes and characters between parts of a body.
fn between_end(text: &str, mut at: usize) -> usize {
    while let Some((length, _)) = separator(&text[at..]) {
        at += length;
    }
    at
}

/// Returns the length of a separator at the start of a text.
fn separator(text: &str) -> Option<(usize, Gap)> {
    let is_punctuation = text.starts_with(['\\', '%', '&', '<']);
    if let Some(escape) = ESCAPES.iter().find(|escape| is_punctuation && text.starts_with(**escape)) {
        return Some((escape.len(), Gap::Escape));
    }
    let first = text.chars().next().filter(|first| BETWEEN.contains(first))?;
    let gap = match first {
        '\\' => Gap::Escape,
        ' ' | '\t' => Gap::Blank,
        _ => Gap::Quote,
    };
    Some((1, gap))
}

impl Chain {
    fn at(text: &str, start: usize) -> Chain {
        let mut chain = Chain { runs: Vec::new(), end: start };
        let mut gap = Gap::Escape;
        loop {
            while let Some((length, next)) = separator(&text[chain.end..]) {
                chain.end += length;
                // A quote outweighs a space, and an escape outweighs both.
                gap = match (gap, next) {
                    (Gap::Quote, _) | (_, Gap::Quote) => Gap::Quote,
                    (Gap::Blank, _) | (_, Gap::Blank) => Gap::Blank,
                    _ => Gap::Escape,
                };
            }
            let from = chain.end;
            if !text.as_bytes().get(from).is_some_and(|byte| is_base64(*byte)) {
                return chain;
            }
            let Some(run) = runs(&text[from..]).next() else { return chain };
            let range = from..from + run.end;
            chain.end = range.end;
            if is_punctuation(text.as_bytes(), &range) {
                gap = Gap::Quote;
                continue;
            }
            chain.runs.push(Link { range, gap });
            gap = Gap::Escape;
        }
    }

    /// Returns the length of the longest run.
    fn longest(&self) -> usize {
        self.runs.iter().map(|link| link.range.len()).max().unwrap_or(0)
    }

    /// Returns the part of the chain that is the body of a key; `is_whole` is true if the boundary follows it.
    fn body(&self, text: &str, is_whole: bool) -> Option<Range<usize>> {
        if !self.is_body(text) {
            return None;
        }
        let is_of_body = |link: &&Link| {
            let run = &text[link.range.clone()];
            is_whole || link.gap == Gap::Escape || run.ends_with('=') || run.len() >= 8 && is_mixed(run)
        };
        let last = self.runs.iter().rfind(is_of_body)?;
        Some(self.runs.first()?.range.start..last.range.end)
    }

    fn is_body(&self, text: &str) -> bool {
        let run = |link: &Link| &text[link.range.clone()];
        if self.runs.iter().any(|link| is_random(run(link))) {
            return true;
        }
        let pieces = self.runs.chunk_by(|_, next| next.gap != Gap::Blank);
        if pieces.map(|piece| piece.iter().map(run).collect::<String>()).any(|joined| is_random(&joined)) {
            return true;
        }
        let first = self.runs.first().map_or(0, |link| link.range.len());
        let groups = self.runs.iter().take_while(|link| link.range.len() == first).map(run);
        let joined: String = groups.clone().collect();
        first >= 4 && groups.count() >= FEWEST_GROUPS && is_random(&joined)
    }
}
