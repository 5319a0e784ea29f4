//! The bodies of private keys in PEM form, whole or cut.

mod body_lines;

use std::ops::Range;

use memchr::memmem;

use crate::detector::Span;
pub(crate) use crate::private_key::body_lines::Within;
use crate::private_key::body_lines::{
    BodyLines, LEAST_BODY_BYTES, body_of_line, is_base64, is_grouped, is_random, runs,
};

/// The kind of the placeholders.
pub(crate) const KIND: &str = "private-key";

/// The end of a line that begins or ends a key, as the detector's rule has it.
pub(crate) const BOUNDARY: &str = "PRIVATE KEY";

/// The fewest characters beside a boundary, on its line, that are taken for the body of a key.
const LEAST_INLINE_BYTES: usize = 16;

/// The beginning of the first and of the last line of a key, up to its label.
const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";

/// A first line.
pub(crate) const FIRST_LINE: &str = "-----BEGIN PRIVATE KEY-----\n";

/// The longest label: `RSA `.
const MOST_LABEL_BYTES: usize = 100;

/// Adds the parts of private keys in a text, one span for each line.
///
/// A key that has lost its first or its last line is found by the other: its neighbouring lines count as long as they look
/// like the body of a key. The time is linear in the length of the text, and so is the number of spans.
pub(crate) fn find(text: &str, hits: &mut Vec<Span>) {
    Search::of(text, None, hits);
}

/// Returns how a text ends within the lines of a key, so that a line behind it may be one as well; `within` says the same of the
/// text in front of it.
pub(crate) fn end_within(text: &str, within: Option<Within>) -> Option<Within> {
    Search::of(text, within, &mut Vec::new()).end
}

/// Checks whether a text has parts of a private key.
pub(crate) fn has_key(text: &str) -> bool {
    let mut hits = Vec::new();
    find(text, &mut hits);
    !hits.is_empty()
}

/// Checks whether a line could be part of a key's body when nothing else is visible of it.
pub(crate) fn may_be_body(line: &str) -> bool {
    // With what source code puts around one: the middle of a key in quotes is one as well.
    body_of_line(line).is_some_and(|body| body.len() >= LEAST_BODY_BYTES)
        || is_grouped(line)
        || runs(line).any(|run| is_random(&line[run]))
}

/// Checks whether a text has a line that [`may_be_body`].
pub(crate) fn has_body_line(text: &str) -> bool {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    let mut start = 0;
    for end in ends {
        if may_be_body(&text[start..end]) {
            return true;
        }
        start = (end + 1).min(text.len());
    }
    false
}

/// Checks for the words between `BEGIN` and `PRIVATE KEY`: `RSA `, `OPENSSH `, none.
fn is_label(text: &[u8]) -> bool {
    text.len() <= MOST_LABEL_BYTES
        && text.iter().all(|byte| {
            byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'_')
        })
}

/// Returns where the last line of a key, or the first, begins, if its label ends at the end of a text.
fn labelled(text: &[u8], beginning: &str) -> Option<usize> {
    let from = text.len().saturating_sub(MOST_LABEL_BYTES + beginning.len());
    let at = from + memmem::rfind(&text[from..], beginning.as_bytes())?;
    is_label(&text[at + beginning.len()..]).then_some(at)
}

/// Checks whether a text has as many characters of Base64 as the body of a key on the line of a boundary.
fn is_inline_body(text: &str) -> bool {
    text.bytes().filter(|byte| is_base64(*byte)).nth(LEAST_INLINE_BYTES - 1).is_some()
}

/// The lines that may stand between the first line and the body: `Proc-Type: 4,ENCRYPTED`.
fn is_header(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, _)| {
        let name = name.trim();
        // Not the number of a line.
        name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

/// The search for keys in a text, from its beginning to its end.
struct Search<'t, 'h> {
    text: &'t str,
    hits: &'h mut Vec<Span>,
    /// The end of the lines that were searched from the first line of a key, which are not searched again from the last one.
    searched: usize,
    /// The state at the end of the text, if it ends within the lines of a key.
    end: Option<Within>,
    /// The bytes that were looked at, each time counted: a text made for it must not have the same ones looked at often.
    looked_at: usize,
}

impl<'t, 'h> Search<'t, 'h> {
    /// Searches a text, behind one that ends `within` a key.
    fn of(text: &'t str, within: Option<Within>, hits: &'h mut Vec<Span>) -> Search<'t, 'h> {
        let mut search = Search { text, hits, searched: 0, end: None, looked_at: 0 };
        if let Some(within) = within {
            search.below(0, within);
        }
        let boundary = memmem::Finder::new(BOUNDARY);
        let bytes = text.as_bytes();
        let mut from = 0;
        while let Some(at) = boundary.find(&bytes[from..]) {
            let start = memchr::memrchr(b'\n', &bytes[from..from + at]).map_or(from, |at| from + at + 1);
            let end = line_end(text, from + at);
            search.line(start..end, &boundary);
            from = end;
        }
        search
    }

    /// Finds the bodies beside the boundaries of a line, and those above and below it.
    fn line(&mut self, line: Range<usize>, boundary: &memmem::Finder<'_>) {
        let text = &self.text[line.clone()];
        let bytes = text.as_bytes();
        let ends = memmem::Finder::new("-----END");
        let first_begin = memmem::find(bytes, BEGIN.as_bytes()).unwrap_or(bytes.len());
        let trimmed = text.trim_end().len();
        // How far the line was searched from a boundary, the last line of a key in it that was looked at, and the next one.
        let (mut searched, mut end_before, mut next_end) = (0, None, Some(0));
        let mut is_open = false;
        for at in boundary.find_iter(bytes) {
            let behind = at + BOUNDARY.len();
            if labelled(&bytes[..at], BEGIN).is_some() {
                let from =
                    behind + bytes[behind..].iter().take_while(|byte| matches!(byte, b'-' | b' ')).count();
                // What was hidden from an earlier one is hidden from this one, but for the last before a quote.
                if text.get(from..searched).is_some_and(is_inline_body) {
                    continue;
                }
                if next_end.is_some_and(|end| end < from) {
                    next_end = ends.find(&bytes[from..]).map(|end| from + end);
                    self.looked_at += next_end.unwrap_or(bytes.len()) - from;
                }
                is_open |= next_end.is_none();
                searched = self.beside_first(
                    line.start,
                    from..next_end.unwrap_or(trimmed.max(from)),
                    next_end.is_some(),
                );
            } else if at < first_begin
                && let Some(end) = labelled(&bytes[..at], END).filter(|end| Some(*end) != end_before)
            {
                self.beside_last(line.start, end);
                if end_before.is_none() {
                    self.above(line.start);
                }
                end_before = Some(end);
            }
        }
        self.looked_at += bytes.len();
        if is_open {
            self.below((line.end + 1).min(self.text.len()), Within::default());
        }
    }

    /// Finds the whole key on one line, with escaped line ends: everything up to its last line is its body. Returns how far
    /// the line needs no further search; `rest` is what is behind the boundary, both are from the start of the line.
    fn beside_first(&mut self, line_start: usize, rest: Range<usize>, has_end: bool) -> usize {
        let text = &self.text[line_start + rest.start..line_start + rest.end];
        let body = text.trim_start_matches("BLOCK-----");
        if !is_inline_body(body) {
            self.looked_at += text.len();
            return rest.start;
        }
        let start = rest.end - body.len();
        // Behind the quote there is code, unless the body itself is in a further literal.
        let quote = body.find(['"', '\'', '`']).filter(|quote| !has_end && is_inline_body(&body[..*quote]));
        let end = start + quote.unwrap_or(body.len());
        self.looked_at += end - rest.start;
        self.hide(line_start + start..line_start + end);
        end
    }

    /// Finds the end of a one-line key whose beginning is cut off; `end` is where its last line begins within the line.
    fn beside_last(&mut self, line_start: usize, end: usize) {
        let lead = self.text[line_start..line_start + end].trim_end_matches("\\n");
        let is_between = |character: char| character.is_whitespace() || matches!(character, '"' | '\'');
        let word = lead.rsplit(is_between).next().map_or(0, str::len);
        self.looked_at += word;
        if word >= LEAST_INLINE_BYTES {
            self.hide(line_start + lead.len() - word..line_start + lead.len());
        }
    }

    /// Finds the lines of a key below its first line, which end at the next boundary or behind too many others.
    fn below(&mut self, mut start: usize, within: Within) {
        let mut lines = BodyLines::new(within);
        let mut is_ended = false;
        self.end = None;
        loop {
            if start >= self.text.len() {
                self.end = Some(lines.within);
                break;
            }
            let end = line_end(self.text, start);
            let line = self.text[start..end].trim_end_matches('\r');
            self.looked_at += line.len();
            // The next key, or the last line of this one: a search from each line to the end would take the square of the time.
            if line.contains("-----") && (line.contains(BEGIN) || line.contains(END)) {
                is_ended = line.contains(END);
                break;
            }
            let is_between =
                line.trim().is_empty() || is_header(line) && !runs(line).any(|run| is_random(&line[run]));
            if !lines.add(line, start, is_between) {
                break;
            }
            start = end + 1;
        }
        self.searched = start.min(self.text.len());
        let text = self.text;
        lines.hidden(text, is_ended, |range| self.hide(range));
    }

    /// Finds the lines of a key above its last line.
    fn above(&mut self, mut end: usize) {
        let mut lines = BodyLines::new(Within::default());
        while end > self.searched {
            let before = end - 1;
            let start = memchr::memrchr(b'\n', &self.text.as_bytes()[..before]).map_or(0, |at| at + 1);
            let line = self.text[start..before].trim_end_matches('\r');
            self.looked_at += line.len();
            if line.contains("-----") || !lines.add(line, start, false) {
                break;
            }
            end = start;
        }
        let text = self.text;
        lines.hidden(text, true, |range| self.hide(range));
    }

    fn hide(&mut self, range: Range<usize>) {
        self.hits.push(Span { range, kind: KIND.into() });
    }
}

fn line_end(text: &str, from: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[from..]).map_or(text.len(), |at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_has_its_bytes_looked_at_often() {
        let of = |part: &str, count: usize| part.repeat(count);
        let texts: [&dyn Fn(usize) -> String; 15] = [
            &|n| of("A: -----BEGIN PRIVATE KEY\n", n) + &of("abcdabcdabcdabcd\n", n),
            &|n| of("A: -----BEGIN PRIVATE KEY\n\n", n),
            &|n| of("PRIVATE KEY ", n),
            &|n| of("-----BEGIN PRIVATE KEY", n),
            &|n| of("-----BEGIN PRIVATE KEY. ", n) + &of(" ", 20 * n),
            &|n| of("-----BEGIN PRIVATE KEY-----AAAABBBBCCCCDDDDEEEE\"", n) + &of(" ", 20 * n),
            &|n| of("-----BEGIN PRIVATE KEY-----BLOCK-----", n) + "\"",
            &|n| of("-----BEGIN PRIVATE KEY ", n) + "-----END PRIVATE KEY",
            &|n| of("a", 20 * n) + &of("-----END PRIVATE KEY", n),
            &|n| of("a", 20 * n) + "-----END " + &of("PRIVATE KEY ", n),
            &|n| of("abcd\n", n) + &of("-----END PRIVATE KEY-----\n", n),
            &|n| of("-----BEGIN PRIVATE KEY-----\nabcd\nabcd\n-----END PRIVATE KEY-----\n", n),
            &|n| of("1: -----BEGIN PRIVATE KEY-----\n2: a1B2c3D4e5F6g7H8\n", n),
            &|n| of("MIIE owIB\n- x\n", n) + &of("- -----END PRIVATE KEY-----\n- x\n", n),
            &|n| of("1: -----BEGIN PRIVATE KEY-----\n", n) + &of("2: a1B2c3D4 e5F6g7H8\n", n),
        ];
        for (index, text) in texts.iter().enumerate() {
            let text = text(2_000);
            let mut hits = Vec::new();
            let looked_at = Search::of(&text, None, &mut hits).looked_at;
            assert!(looked_at <= 4 * text.len(), "{index}: {looked_at} of {}", text.len());
            assert!(hits.len() <= 2 * 2_000 + 2, "{index}: {}", hits.len());
            // The control: all but two of them hold parts of keys.
            let is_key = !hits.is_empty();
            assert_eq!(is_key, ![1, 2].contains(&index), "{index}");
        }
    }

    #[test]
    fn the_first_line_of_another_key_ends_the_lines_of_one() {
        let key = |body: &str| format!("-----BEGIN PRIVATE KEY-----\n{body}\n");
        let (one, other) = ("abcd".repeat(4), "efgh".repeat(4));
        let text = format!("{}A: {}", key(&one), key(&other));
        let mut hits = Vec::new();
        find(&text, &mut hits);
        let bodies: Vec<&str> = hits.iter().map(|hit| &text[hit.range.clone()]).collect();
        assert_eq!(bodies, [one, other]);
    }
}
