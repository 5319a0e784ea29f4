//! The bodies of private keys in PEM form, whole or cut.

mod body_lines;
mod encoded;
mod inline;
mod jwk;
mod line_parts;
mod percent;
mod wrapped;

use std::ops::Range;

use memchr::memmem;

use crate::detector::{Span, Uncoloured};
pub(crate) use crate::private_key::body_lines::KeyState;
use crate::private_key::body_lines::{BodyLines, Certainty};
pub(crate) use crate::private_key::encoded::base64_bytes;

/// The kind of the placeholders.
pub(crate) const KIND: &str = "private-key";

/// The kind of placeholders for text that may belong to a key: it is replaced where it was found, and not elsewhere.
pub(crate) const POSSIBLE_KIND: &str = "possible-key";

/// The end of a line that begins or ends a key, as in the detector's rule.
pub(crate) const BOUNDARY: &str = "PRIVATE KEY";

/// The words of the first and last line of a key, up to its label, and the dashes before them: in PEM, and in SSH's own
/// format.
const BEGIN: &str = "BEGIN ";
const END: &str = "END ";
const DASHES: [&str; 2] = ["-----", "---- "];

/// The fields before and after the lines of a key in PuTTY's format.
const PUTTY_BEGIN: &str = "Private-Lines: ";
const PUTTY_END: &str = "Private-MAC: ";

/// A first line, and a first line for lines that certainly belong to a key.
const FIRST_LINE: &str = "-----BEGIN PRIVATE KEY-----\n";
const CONTINUED_LINE: &str = "-----BEGIN PRIVATE KEY----- (continued)\n";
const CONTINUED: &str = "(continued)";

/// The maximum depth of nested encodings that are searched: a malicious text would have many.
const MOST_ENCODINGS: usize = 2;

/// The longest label: `RSA `.
const MOST_LABEL_BYTES: usize = 100;

/// Adds the parts of private keys in a text, one span for each line.
///
/// A key that lacks its first or last line is found by the other: adjacent lines count as long as they look like the
/// body of a key. The time is linear in the length of the text, and so is the number of spans.
pub(crate) fn find(text: &str, hits: &mut Vec<Span>) {
    find_at(text, Depth::default(), hits);
}

/// The nesting depth of the encodings around a text.
#[derive(Clone, Copy, Debug, Default)]
struct Depth(usize);

impl Depth {
    /// Returns the depth of texts encoded in a text of this depth; `None` if those are not searched.
    fn next(self) -> Option<Depth> {
        (self.0 < MOST_ENCODINGS).then_some(Depth(self.0 + 1))
    }
}

/// Adds the parts of private keys in a text, and returns how many bytes were searched, including those of nested texts.
fn find_at(text: &str, depth: Depth, hits: &mut Vec<Span>) -> usize {
    Search::of(text, None, hits);
    let mut hide = |range| hits.push(Span { range, kind: KIND.into() });
    let mut searched = text.len() + encoded::find(text, depth, &mut hide);
    jwk::find(text, &mut hide);
    if let Some(deeper) = depth.next() {
        searched += wrapped::find(text, deeper, hits);
        searched += percent::find(text, deeper, hits);
    }
    searched
}

/// Returns the state at the end of a text that ends within the lines of a key, so that the next line may belong to it
/// as well; `within` is the state at its start.
pub(crate) fn end_within(text: &str, within: Option<KeyState>) -> Option<KeyState> {
    let plain = Uncoloured::of(text);
    Search::of(plain.as_ref().map_or(text, |plain| &plain.text), within, &mut Vec::new()).end
}

/// Returns a first line to put before lines that continue from this state.
pub(crate) fn first_line(state: KeyState) -> &'static str {
    if state.is_evident() { CONTINUED_LINE } else { FIRST_LINE }
}

/// Checks whether a text has parts of a private key.
pub(crate) fn has_key(text: &str) -> bool {
    let mut hits = Vec::new();
    find(text, &mut hits);
    !hits.is_empty()
}

/// Checks whether a line has a part that could belong to a key of which nothing else is visible.
pub(crate) fn may_be_body(line: &str) -> bool {
    !line_parts::classify(line).is_empty()
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

/// Checks for the words between `BEGIN` and `PRIVATE KEY`: `RSA `, `OPENSSH ` or none.
fn is_label(text: &[u8]) -> bool {
    text.len() <= MOST_LABEL_BYTES
        && text.iter().all(|byte| {
            byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'_')
        })
}

/// Returns the start of a key's first or last line whose label ends at the end of a text.
fn labelled(text: &[u8], word: &str) -> Option<usize> {
    let from = text.len().saturating_sub(MOST_LABEL_BYTES + word.len() + DASHES[0].len());
    let at = from + memmem::rfind(&text[from..], word.as_bytes())?;
    let dashes = DASHES.iter().find(|dashes| text[..at].ends_with(dashes.as_bytes()))?;
    is_label(&text[at + word.len()..]).then_some(at - dashes.len())
}

/// Returns the start of a key's first or last line in a text, whatever its label.
fn boundary_in(text: &[u8], word: &str) -> Option<usize> {
    memmem::find_iter(text, word.as_bytes()).find_map(|at| {
        let dashes = DASHES.iter().find(|dashes| text[..at].ends_with(dashes.as_bytes()))?;
        Some(at - dashes.len())
    })
}

/// Checks whether a line is the first one of a key and nothing else.
fn is_first_line(line: &str) -> bool {
    line.starts_with("-----BEGIN ")
        && memmem::find(line.as_bytes(), BOUNDARY.as_bytes())
            .is_some_and(|at| labelled(&line.as_bytes()[..at], BEGIN) == Some(0))
}

/// The search for keys in a text, from its beginning to its end.
struct Search<'t, 'h> {
    text: &'t str,
    hits: &'h mut Vec<Span>,
    /// The end of the lines searched from the first line of a key, which are not searched again from its last line.
    searched: usize,
    /// The state at the end of the text, if it ends within the lines of a key.
    end: Option<KeyState>,
    /// The examined bytes, counted each time: a malicious text must not cause the same ones to be examined often.
    looked_at: usize,
}

impl<'t, 'h> Search<'t, 'h> {
    /// Searches a text that follows one with the end state `within`.
    fn of(text: &'t str, within: Option<KeyState>, hits: &'h mut Vec<Span>) -> Search<'t, 'h> {
        let mut search = Search { text, hits, searched: 0, end: None, looked_at: 0 };
        if let Some(within) = within {
            search.below(0, within, "");
        }
        let boundaries = memmem::Finder::new(BOUNDARY);
        let bytes = text.as_bytes();
        let mut boundary = boundaries.find_iter(bytes).peekable();
        let mut putty = memmem::find_iter(bytes, PUTTY_BEGIN).peekable();
        let mut from = 0;
        loop {
            while boundary.next_if(|at| *at < from).is_some() {}
            while putty.next_if(|at| *at < from).is_some() {}
            let Some(at) = boundary.peek().into_iter().chain(putty.peek()).min().copied() else { break };
            let start = memchr::memrchr(b'\n', &bytes[from..at]).map_or(from, |newline| from + newline + 1);
            let end = line_end(text, at);
            match boundary.next_if(|boundary| *boundary < end) {
                Some(_) => search.line(start..end, &boundaries),
                None => search.below((end + 1).min(text.len()), KeyState::default(), &text[start..at]),
            }
            from = end;
        }
        search
    }

    /// Finds the bodies on the line of a boundary, and those above and below it.
    fn line(&mut self, line: Range<usize>, boundaries: &memmem::Finder<'_>) {
        let text = &self.text[line.clone()];
        let bytes = text.as_bytes();
        let mut first_lines: Vec<Range<usize>> = Vec::new();
        let mut last_line = None;
        for at in boundaries.find_iter(bytes) {
            if let Some(begin) = labelled(&bytes[..at], BEGIN) {
                first_lines.push(begin..at + BOUNDARY.len());
            } else if first_lines.is_empty()
                && let Some(end) = labelled(&bytes[..at], END).filter(|end| Some(*end) != last_line)
            {
                self.inline_before_last(line.start, last_line.unwrap_or(0)..end);
                if last_line.is_none() {
                    self.above(line.start, &text[..end]);
                }
                last_line = Some(end);
            }
        }
        self.looked_at += bytes.len();
        let trimmed = text.trim_end().len();
        for (index, first) in first_lines.iter().enumerate() {
            let limit = first_lines.get(index + 1).map_or(trimmed.max(first.end), |next| next.start);
            let is_open = self.inline_after_first(line.start, first.end..limit.max(first.end));
            let is_evident = text[first.end..].trim_start_matches(['-', ' ']) == CONTINUED;
            if is_open && index + 1 == first_lines.len() {
                let lead = &text[..first_lines[0].start];
                let state = KeyState::after_first_line(is_evident);
                self.below((line.end + 1).min(self.text.len()), state, lead);
            }
        }
    }

    /// Finds the body of a key after its first line, on the same line; `rest` is relative to the start of the line.
    /// Returns true if the last line is not there.
    fn inline_after_first(&mut self, line_start: usize, rest: Range<usize>) -> bool {
        let text = &self.text[line_start + rest.start..line_start + rest.end];
        let body =
            text.trim_start_matches(['-', ' ']).trim_start_matches("BLOCK").trim_start_matches(['-', ' ']);
        let start = line_start + rest.end - body.len();
        let end = boundary_in(body.as_bytes(), END);
        self.looked_at += text.len();
        let (parts, certainty) = inline::body_after(&body[..end.unwrap_or(body.len())], end.is_some());
        for part in parts {
            self.hide(start + part.start..start + part.end, certainty);
        }
        end.is_none()
    }

    /// Finds the end of a one-line key whose beginning is cut off; it ends where `lead` does, within the line.
    fn inline_before_last(&mut self, line_start: usize, lead: Range<usize>) {
        let start = line_start + lead.start;
        self.looked_at += lead.len();
        if let Some(body) = inline::body_before(&self.text[start..line_start + lead.end]) {
            self.hide(start + body.start..start + body.end, Certainty::Certain);
        }
    }

    /// Finds the lines of a key below its first line, which end at the next boundary or after too many other lines.
    /// `lead` is the text before the first line.
    fn below(&mut self, mut start: usize, within: KeyState, lead: &'t str) {
        let mut lines = BodyLines::new(self.text, within, lead, true);
        let mut is_ended = false;
        self.end = None;
        loop {
            if start >= self.text.len() {
                self.end = Some(lines.state);
                break;
            }
            let end = line_end(self.text, start);
            let line = self.text[start..end].trim_end_matches('\r');
            self.looked_at += line.len();
            // The next key, or the last line of this one: searching from each line to the end would take quadratic
            // time.
            if let Some(is_end) = is_boundary(line) {
                is_ended = is_end;
                break;
            }
            if !lines.add(line, start) {
                break;
            }
            start = end + 1;
        }
        self.searched = start.min(self.text.len());
        let state = lines.hidden(is_ended, |range, certainty| self.hide(range, certainty));
        self.end = self.end.map(|_| state);
    }

    /// Finds the lines of a key above its last line, which has `lead` before it.
    fn above(&mut self, mut end: usize, lead: &'t str) {
        let mut lines = BodyLines::new(self.text, KeyState::default(), lead, false);
        while end > self.searched {
            let before = end - 1;
            let start = memchr::memrchr(b'\n', &self.text.as_bytes()[..before]).map_or(0, |at| at + 1);
            let line = self.text[start..before].trim_end_matches('\r');
            self.looked_at += line.len();
            if line.contains(DASHES[0]) || is_boundary(line).is_some() || !lines.add(line, start) {
                break;
            }
            end = start;
        }
        lines.hidden(true, |range, certainty| self.hide(range, certainty));
    }

    fn hide(&mut self, range: Range<usize>, certainty: Certainty) {
        let kind = match certainty {
            Certainty::Certain => KIND,
            Certainty::Possible => POSSIBLE_KIND,
        };
        self.hits.push(Span { range, kind: kind.into() });
    }
}

/// Checks whether a line begins or ends a key; true if it ends one.
fn is_boundary(line: &str) -> Option<bool> {
    if line.contains("---- ") || line.contains(DASHES[0]) {
        let has = |word| boundary_in(line.as_bytes(), word).is_some();
        if has(END) {
            return Some(true);
        }
        if has(BEGIN) {
            return Some(false);
        }
    }
    match line.contains("Private-") {
        true if line.contains(PUTTY_END) => Some(true),
        true if line.contains(PUTTY_BEGIN) => Some(false),
        _ => None,
    }
}

fn line_end(text: &str, from: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[from..]).map_or(text.len(), |at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_has_its_bytes_examined_often() {
        let of = |part: &str, count: usize| part.repeat(count);
        let texts: [&dyn Fn(usize) -> String; 22] = [
            &|n| of("A: -----BEGIN PRIVATE KEY\n", n) + &of("abcdabcdabcdabcd\n", n),
            &|n| of("A: -----BEGIN PRIVATE KEY\n\n", n),
            &|n| of("PRIVATE KEY ", n),
            &|n| of("-----BEGIN PRIVATE KEY", n),
            &|n| of("-----BEGIN PRIVATE KEY. ", n) + &of(" ", 20 * n),
            &|n| of("-----BEGIN PRIVATE KEY-----a1B2c3D4e5F6g7H8\"", n) + &of(" ", 20 * n),
            &|n| of("-----BEGIN PRIVATE KEY-----BLOCK-----", n) + "\"",
            &|n| of("-----BEGIN PRIVATE KEY ", n) + "-----END PRIVATE KEY",
            &|n| of("a1B2c3D4", 2 * n) + &of("-----END PRIVATE KEY", n),
            &|n| of("a", 20 * n) + "-----END " + &of("PRIVATE KEY ", n),
            &|n| of("abcd\n", n) + &of("-----END PRIVATE KEY-----\n", n),
            &|n| of("-----BEGIN PRIVATE KEY-----\nabcd\nabcd\n-----END PRIVATE KEY-----\n", n),
            &|n| of("1: -----BEGIN PRIVATE KEY-----\n2: MIIEc3D4e5F6g7H8\n", n),
            &|n| of("MIIE owIB\n- x\n", n) + &of("- -----END PRIVATE KEY-----\n- x\n", n),
            &|n| of("1: -----BEGIN PRIVATE KEY-----\n", n) + &of("2: a1B2c3D4 e5F6g7H8\n", n),
            &|n| of("-----BEGIN PRIVATE KEY-----", n) + &of("a1B2c3D4e5F6g7H8\\n", n),
            &|n| of("-----BEGIN PRIVATE KEY-----\" + a1B2c3D4e5F6g7H8 ", n),
            &|n| of("a1B2c3D4e5F6g7H8 ", n) + &of("-----END PRIVATE KEY-----", n),
            &|n| of("a1B2c3D4e5F6g7H8(", n) + "-----END PRIVATE KEY-----",
            &|n| of("Private-Lines: 2\na1B2c3D4e5F6g7H8\n", n),
            &|n| of("---- BEGIN SSH2 PRIVATE KEY ----\na1B2c3D4e5F6g7H8\n", n),
            &|n| of("- -----BEGIN PRIVATE KEY-----\n+a1B2c3D4e5F6g7H8\n-a1B2c3D4e5F6g7H8\n", n),
        ];
        for (index, text) in texts.iter().enumerate() {
            let text = text(2_000);
            let mut hits = Vec::new();
            let looked_at = Search::of(&text, None, &mut hits).looked_at;
            assert!(looked_at <= 4 * text.len(), "{index}: {looked_at} of {}", text.len());
            assert!(hits.len() <= 2 * 2_000 + 2, "{index}: {}", hits.len());
            // The control: most of them hold parts of keys.
            let is_key = !hits.is_empty();
            assert_eq!(is_key, ![1, 2, 3, 4, 6, 7, 9, 17, 18].contains(&index), "{index}");
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

    #[test]
    fn no_text_has_the_texts_in_it_searched_often() {
        let of = |unit: &str| unit.repeat(60_000 / unit.len());
        let wrapped = |text: &str| -> String {
            let lines = text.as_bytes().chunks(76).map(|line| str::from_utf8(line).unwrap_or_default());
            lines.map(|line| format!("{line}\n")).collect()
        };
        // The first line of a key, encoded once and twice in Base64.
        let (line, twice) =
            ("LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t", "VUZKSlZrRlVSU0JMUlZrZ1VGSkpWa0ZVUlNCTFJWa2dJRg==");
        for (index, text) in [
            wrapped(&of(line)),
            of(line),
            wrapped(&of(line)).replace('\n', "\\n"),
            wrapped(&of(&format!("{line}{}", twice.trim_end_matches('=')))),
            wrapped(&of("UFJJVkFURSBLRVBSSVZBVEUgS0VZQUklWQVRFIEtFW")),
            of("UFJJVkFURSBLRVUFJJVkFURSBLRVUFJJVkFURSBLRV\nUFJJ\n"),
            of("PRIVATE%20KEY"),
            of("PRIVATE%20KEY PRIVATE+KEY "),
            of("PRIVATE%2520KEYPRIVATE%20KEYPRIVATE+KEY"),
            of(&format!("PRIVATE%20KEY{line}PRIVATE+KEY{line}\n")),
            wrapped(&of(&format!("PRIVATE%20KEY{line}"))),
        ]
        .into_iter()
        .enumerate()
        {
            let searched = find_at(&text, Depth::default(), &mut Vec::new());
            assert!(searched <= 5 * text.len(), "{index}: {searched} of {}", text.len());
            // The control: nested texts were searched.
            assert!(searched > text.len() * 3 / 2, "{index}: {searched} of {}", text.len());
        }
        let plain = of("let value = compute(first, second);\n");
        assert_eq!(find_at(&plain, Depth::default(), &mut Vec::new()), plain.len());
    }
}
