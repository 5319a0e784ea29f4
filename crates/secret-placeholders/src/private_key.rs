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

/// Adds the parts of private keys in a text, one span for each line.
///
/// A key that has lost its first or its last line is found by the other: its neighbouring lines count as long as they look
/// like the body of a key.
pub(crate) fn find(text: &str, hits: &mut Vec<Span>) {
    for at in memmem::find_iter(text.as_bytes(), BOUNDARY) {
        let line = line_around(text, at);
        let before = &text[line.start..at];
        if let Some(begin) = before.rfind("-----BEGIN ") {
            if is_label(&before[begin + 11..]) {
                body_after(text, at + BOUNDARY.len(), hits);
            }
        } else if let Some(end) = before.rfind("-----END ")
            && is_label(&before[end + 9..])
        {
            body_before(text, line.start, line.start + end, hits);
        }
    }
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

/// The words between `BEGIN` and `PRIVATE KEY`: `RSA `, `OPENSSH `, none.
fn is_label(text: &str) -> bool {
    text.len() <= 100
        && text.bytes().all(|byte| {
            byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'_')
        })
}

fn base64_bytes(text: &str) -> usize {
    text.bytes().filter(|byte| is_base64(*byte)).count()
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

fn body_after(text: &str, from: usize, hits: &mut Vec<Span>) {
    let from = from + text[from..].bytes().take_while(|byte| *byte == b'-' || *byte == b' ').count();
    // The whole key on one line, with escaped line ends: everything up to its last line is its body.
    let line_end = memchr::memchr(b'\n', &text.as_bytes()[from..]).map_or(text.len(), |at| from + at);
    let on_line = &text[from..line_end];
    let body_end = on_line.find("-----END").unwrap_or(on_line.trim_end().len());
    let rest = on_line[..body_end].trim_start_matches("BLOCK-----");
    let is_inline = base64_bytes(rest) >= LEAST_INLINE_BYTES;
    if is_inline {
        let start = from + body_end - rest.len();
        // Behind the quote there is code, unless the body itself is in a further literal.
        let quote = rest.find(['"', '\'', '`']).filter(|quote| {
            !on_line.contains("-----END") && base64_bytes(&rest[..*quote]) >= LEAST_INLINE_BYTES
        });
        hits.push(Span { range: start..start + quote.unwrap_or(rest.len()), kind: KIND.into() });
    }
    if on_line.contains("-----END") {
        return;
    }
    let mut start = (line_end + 1).min(text.len());
    while start < text.len() {
        let end = memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |at| start + at);
        let line = text[start..end].trim_end_matches('\r');
        match body_of_line(line) {
            Some(body) => hits.push(Span { range: start + body.start..start + body.end, kind: KIND.into() }),
            None if line.trim().is_empty() || is_header(line) => {}
            None => break,
        }
        start = end + 1;
    }
}

fn body_before(text: &str, line_start: usize, boundary: usize, hits: &mut Vec<Span>) {
    // The end of a one-line key whose beginning is cut off.
    let lead = text[line_start..boundary].trim_end_matches("\\n");
    let is_between = |character: char| character.is_whitespace() || matches!(character, '"' | '\'');
    let token = lead.rsplit(is_between).next().map_or(0, |word| lead.len() - word.len());
    if lead.len() - token >= LEAST_INLINE_BYTES {
        hits.push(Span { range: line_start + token..line_start + lead.len(), kind: KIND.into() });
    }
    let mut end = line_start;
    while end > 0 {
        let before = end - 1;
        let start = memchr::memrchr(b'\n', &text.as_bytes()[..before]).map_or(0, |at| at + 1);
        let line = text[start..before].trim_end_matches('\r');
        if line.contains("-----") {
            break;
        }
        let Some(body) = body_of_line(line) else { break };
        hits.push(Span { range: start + body.start..start + body.end, kind: KIND.into() });
        end = start;
    }
}

fn line_around(text: &str, at: usize) -> Range<usize> {
    let start = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |newline| at + newline);
    start..end
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
