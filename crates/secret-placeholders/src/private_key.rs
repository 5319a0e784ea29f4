//! The bodies of private keys in PEM form, whole or cut.

use std::ops::Range;

use memchr::memmem;

use crate::detector::Span;

/// The kind of the placeholders.
pub(crate) const KIND: &str = "private-key";

/// The end of a line that begins or ends a key, as the detector's rule has it.
pub(crate) const BOUNDARY: &str = "PRIVATE KEY";

/// The shortest line without a boundary beside it that may be part of a key.
const LEAST_BODY_BYTES: usize = 4;

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
    Search::of(text, hits);
}

/// Checks whether a text ends within the lines of a key, so that a line behind it may be one as well.
pub(crate) fn ends_within(text: &str) -> bool {
    Search::of(text, &mut Vec::new()).is_open
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

fn is_base64(byte: u8) -> bool {
    BASE64[usize::from(byte)]
}

/// The characters of Base64, as a table of all bytes: every line of a text is asked about, most of its bytes.
const BASE64: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        byte += 1;
    }
    table
};

/// A line of a body, with what source code puts around one: blanks, quotes, commas, comment signs, `+`, `+=`, `\n`, `\r`.
fn body_of_line(line: &str) -> Option<Range<usize>> {
    let bytes = line.as_bytes();
    let begins = |from: usize| bytes[from..].iter().position(|byte| is_base64(*byte)).map(|at| from + at);
    let mut body: Option<Range<usize>> = None;
    let mut start = begins(0)?;
    loop {
        let end =
            bytes[start..].iter().position(|byte| !is_base64(*byte)).map_or(bytes.len(), |at| start + at);
        if !is_sign(bytes, start..end) {
            match body {
                Some(_) => return None,
                None => body = Some(start..end),
            }
        }
        match begins(end) {
            Some(next) => start = next,
            None => return body,
        }
    }
}

/// Checks whether characters of Base64 are a sign of source code: an escaped line end, or an operator or the sign of a comment
/// that stands by itself.
fn is_sign(line: &[u8], run: Range<usize>) -> bool {
    let is_escape = run.len() == 1 && run.start > 0 && line[run.start - 1] == b'\\';
    match &line[run.clone()] {
        b"n" | b"r" => is_escape,
        // The last line of a key may end like that, but is longer.
        b"+" | b"+=" | b"=" | b"//" | b"///" | b"/" => true,
        _ => false,
    }
}

/// The lines that may stand between the first line and the body: `Proc-Type: 4,ENCRYPTED`.
fn is_header(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, _)| {
        let name = name.trim();
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

/// The search for keys in a text, from its beginning to its end.
struct Search<'t, 'h> {
    text: &'t str,
    hits: &'h mut Vec<Span>,
    /// The end of the lines that were searched from the first line of a key, which are not searched again from the last one.
    searched: usize,
    /// True if the text ends within the lines of a key.
    is_open: bool,
    /// The bytes that were looked at, each time counted: a text made for it must not have the same ones looked at often.
    looked_at: usize,
}

impl<'t, 'h> Search<'t, 'h> {
    /// Searches a text.
    fn of(text: &'t str, hits: &'h mut Vec<Span>) -> Search<'t, 'h> {
        let mut search = Search { text, hits, searched: 0, is_open: false, looked_at: 0 };
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
            self.below((line.end + 1).min(self.text.len()));
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

    /// Finds the lines of a key below its first line.
    ///
    /// A text that only mentions such a line may have a word alone on the lines below. Lines without the last line of a key behind them
    /// count if one of them is as long as that of a key, of which only the last is shorter.
    fn below(&mut self, start: usize) {
        let before = self.hits.len();
        let is_ended = self.lines_below(start);
        if !is_ended && !self.hits[before..].iter().any(|hit| hit.range.len() >= LEAST_INLINE_BYTES) {
            self.hits.truncate(before);
        }
    }

    /// Adds the lines below the first line of a key that look like its body. Returns true if they end at its last line.
    fn lines_below(&mut self, mut start: usize) -> bool {
        while start < self.text.len() {
            let end = line_end(self.text, start);
            let line = self.text[start..end].trim_end_matches('\r');
            self.looked_at += line.len();
            // The next key, or the last line of this one: a search from each line to the end would take the square of the time.
            if line.contains("-----") && (line.contains(BEGIN) || line.contains(END)) {
                self.searched = start;
                return line.contains(END);
            }
            match body_of_line(line) {
                Some(body) => self.hide(start + body.start..start + body.end),
                None if line.trim().is_empty() || is_header(line) => {}
                None => {
                    self.searched = start;
                    return false;
                }
            }
            start = end + 1;
        }
        self.searched = self.text.len();
        self.is_open = true;
        false
    }

    /// Finds the lines of a key above its last line.
    fn above(&mut self, mut end: usize) {
        while end > self.searched {
            let before = end - 1;
            let start = memchr::memrchr(b'\n', &self.text.as_bytes()[..before]).map_or(0, |at| at + 1);
            let line = self.text[start..before].trim_end_matches('\r');
            self.looked_at += line.len();
            if line.contains("-----") {
                break;
            }
            let Some(body) = body_of_line(line) else { break };
            self.hide(start + body.start..start + body.end);
            end = start;
        }
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
    use proptest::prelude::*;

    use super::*;

    /// The body of a line by its definition: the only run of Base64 that is not a sign.
    fn body_by_definition(line: &str) -> Option<Range<usize>> {
        let mut bodies = Vec::new();
        for (start, _) in line.char_indices() {
            let is_in = |at: usize| is_base64(line.as_bytes()[at]);
            if !is_in(start) || start > 0 && is_in(start - 1) {
                continue;
            }
            let run: String = line[start..]
                .chars()
                .take_while(|letter| u8::try_from(*letter).is_ok_and(is_base64))
                .collect();
            let is_escape = line[..start].ends_with('\\') && matches!(run.as_str(), "n" | "r");
            if !is_escape && !["+", "+=", "=", "//", "///", "/"].contains(&run.as_str()) {
                bodies.push(start..start + run.len());
            }
        }
        (bodies.len() == 1).then(|| bodies.remove(0))
    }

    #[test]
    fn no_text_has_its_bytes_looked_at_often() {
        let of = |part: &str, count: usize| part.repeat(count);
        let texts: [&dyn Fn(usize) -> String; 12] = [
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
        ];
        for (index, text) in texts.iter().enumerate() {
            let text = text(2_000);
            let mut hits = Vec::new();
            let looked_at = Search::of(&text, &mut hits).looked_at;
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

    proptest! {
        #[test]
        fn a_body_is_what_is_left_without_what_stands_around_it(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "\\n", "\\r", "\\", "n", "// ", "//", "+", " += ", " ", "\t", "\"", "',", "#", "MIIEow", "=", "é", "\u{2003}", "-", "A",
                ]),
                0..9,
            ),
        ) {
            let line = pieces.concat();
            prop_assert_eq!(body_of_line(&line), body_by_definition(&line));
        }
    }
}
