//! The lines of a key's body, as they are printed, numbered and quoted.

use std::collections::HashMap;
use std::ops::Range;

/// The shortest line without a boundary beside it that may be part of a key.
pub(super) const LEAST_BODY_BYTES: usize = 4;

/// The least part of a line with other text in it that may be of a key.
const LEAST_RUN_BYTES: usize = 16;

/// The shortest line that differs from a word, and the shortest part of a line that counts where others do.
const LEAST_SHORT_BYTES: usize = 8;

/// The length from which on a name is a long one.
const LONG_NAME_BYTES: usize = 32;

/// The fewest short lines that are a key without a longer one among them.
const FEWEST_SHORT_LINES: usize = 4;

/// The most lines in a row without a part of a key among those of one. Text behind a mention of a first line is not searched further.
const MOST_OTHER_LINES: usize = 16;

/// The state of the lines below the first line of a key.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Within {
    /// True behind a line with other text.
    has_others: bool,
    /// The lines without a part of a key since the last one with one.
    others: usize,
}

/// Lines that may be the body of a key. Which of them are hidden depends on all of them.
#[derive(Debug)]
pub(super) struct BodyLines {
    pub(super) within: Within,
    /// The lines that are nothing else, in front of any other.
    plain: Vec<Range<usize>>,
    /// Random parts of lines with other text.
    random: Vec<Range<usize>>,
    /// Lines of groups with blanks between them.
    grouped: Vec<Range<usize>>,
    /// Short random parts.
    short: Vec<Range<usize>>,
    /// Parts that could be words as well, each with the start of its line.
    words: Vec<(usize, Range<usize>)>,
    /// True if a plain line differs from a word.
    has_body: bool,
}

impl BodyLines {
    pub(super) fn new(within: Within) -> BodyLines {
        BodyLines {
            within,
            plain: Vec::new(),
            random: Vec::new(),
            grouped: Vec::new(),
            short: Vec::new(),
            words: Vec::new(),
            has_body: false,
        }
    }

    /// Adds the next line, which begins at `start`. Returns false if there were too many others. `is_between` is true for a line that
    /// may stand between those of a key.
    pub(super) fn add(&mut self, line: &str, start: usize, is_between: bool) -> bool {
        let at = |range: Range<usize>| start + range.start..start + range.end;
        let body = if is_between { None } else { body_of_line(line) };
        if !self.within.has_others {
            match body {
                Some(body) => {
                    self.has_body |= is_body(&line[body.clone()]);
                    self.plain.push(at(body));
                    return true;
                }
                None if is_between => return true,
                None => self.within.has_others = true,
            }
        }
        let mut is_part = false;
        if is_grouped(line) {
            let trimmed = line.trim_start().len();
            self.grouped.push(at(line.len() - trimmed..line.trim_end().len()));
            is_part = true;
        }
        for run in runs(line) {
            let text = &line[run.clone()];
            match text.len() {
                LEAST_RUN_BYTES.. if is_public_key(line, &run) => {}
                LEAST_SHORT_BYTES.. if is_mixed(text) => {
                    is_part = true;
                    let is_long = text.len() >= LEAST_RUN_BYTES;
                    if is_long { &mut self.random } else { &mut self.short }.push(at(run));
                }
                LEAST_SHORT_BYTES.. if !is_name_or_number(text) => self.words.push((start, at(run))),
                LEAST_BODY_BYTES.. if text.ends_with('=') || body.is_some() => {
                    self.words.push((start, at(run)));
                }
                _ => {}
            }
        }
        self.within.others = if is_part { 0 } else { self.within.others + 1 };
        self.within.others <= MOST_OTHER_LINES
    }

    /// Calls `hide` with the parts that are hidden; `is_ended` is true if the last line of a key follows.
    ///
    /// A text that only mentions a first line may have a word alone on the lines below, and code.
    pub(super) fn hidden(self, text: &str, is_ended: bool, mut hide: impl FnMut(Range<usize>)) {
        let has_short = self.short.len() >= FEWEST_SHORT_LINES;
        let is_key = !self.random.is_empty() || !self.grouped.is_empty() || has_short;
        let is_long = self.plain.iter().any(|line| line.len() >= LEAST_RUN_BYTES);
        let is_plain_key = is_long || self.has_body || self.plain.len() >= FEWEST_SHORT_LINES;
        if is_plain_key || is_ended && (is_key || !self.within.has_others) {
            self.plain.into_iter().for_each(&mut hide);
        }
        self.random.into_iter().for_each(&mut hide);
        if is_ended || self.grouped.len() >= FEWEST_SHORT_LINES {
            self.grouped.into_iter().for_each(&mut hide);
        }
        if has_short || is_ended && (is_key || is_plain_key) {
            self.short.into_iter().for_each(&mut hide);
        }
        if is_ended && (is_key || is_plain_key) {
            // What several lines have is the name of a file, or of a program that prints them.
            let mut lines: HashMap<&str, (usize, bool)> = HashMap::new();
            for (start, word) in &self.words {
                let (first, is_repeated) = lines.entry(&text[word.clone()]).or_insert((*start, false));
                *is_repeated |= first != start;
            }
            let words = self.words.into_iter().map(|(_, word)| word);
            words.filter(|word| !lines[&text[word.clone()]].1).for_each(hide);
        }
    }
}

/// Returns the characters of Base64 in a line that stand together.
pub(super) fn runs(line: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = line.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + bytes[from..].iter().position(|byte| is_base64(*byte))?;
        let length = bytes[start..].iter().position(|byte| !is_base64(*byte));
        from = length.map_or(bytes.len(), |length| start + length);
        Some(start..from)
    })
}

/// Checks whether a text is one of random characters, at least [`LEAST_RUN_BYTES`] of them.
pub(super) fn is_random(run: &str) -> bool {
    run.len() >= LEAST_RUN_BYTES && is_mixed(run)
}

/// Checks for lower case, a number, or one in hexadecimal digits.
fn is_name_or_number(run: &str) -> bool {
    run.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'/')
        || run.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'/'))
}

/// Checks whether characters of Base64 have letters of both cases and are not mostly words: names in source code, paths.
fn is_mixed(run: &str) -> bool {
    let bytes = run.as_bytes();
    let has = |is: fn(&u8) -> bool| bytes.iter().any(is);
    if !has(u8::is_ascii_lowercase) || !has(u8::is_ascii_uppercase) {
        return false;
    }
    let (mut in_words, mut signs, mut at) = (0, 0, 0);
    while at < bytes.len() {
        let upper = bytes[at..].iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let lower = bytes[at + upper..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        if upper + lower == 0 {
            signs += usize::from(!bytes[at].is_ascii_digit());
            at += 1;
            continue;
        }
        // `PKCS`, `Spec`, `spec`: an abbreviation may stand in front of a word.
        let is_word = lower >= 2;
        let abbreviation = upper - usize::from(is_word && upper > 0);
        in_words += if is_word { lower + upper - abbreviation } else { 0 };
        in_words += if (3..=6).contains(&abbreviation) { abbreviation } else { 0 };
        at += upper + lower;
    }
    // Hardly a character of a long name is in no word; of a short random text, many may be in one.
    let least = if bytes.len() < LONG_NAME_BYTES { 75 } else { 90 };
    100 * in_words < least * (bytes.len() - signs)
}

/// Checks whether a short line differs from a word below a text that mentions a key: `word`, `TypeScript`, `README`.
fn is_body(body: &str) -> bool {
    let bytes = body.as_bytes();
    let is_capital = |at: usize| bytes[at].is_ascii_uppercase();
    let starts_word = |at: usize| is_capital(at) && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    let is_camel = (0..bytes.len()).all(|at| bytes[at].is_ascii_lowercase() || starts_word(at));
    let has_lower = bytes.iter().any(u8::is_ascii_lowercase);
    bytes.len() >= LEAST_SHORT_BYTES && !is_camel && has_lower && bytes.iter().any(u8::is_ascii_uppercase)
}

/// Checks whether a line has only characters of Base64 in groups, and reads unlike words.
pub(super) fn is_grouped(line: &str) -> bool {
    let line = line.trim();
    let bytes = line.as_bytes();
    let is_group = |byte: &u8| is_base64(*byte) || matches!(byte, b' ' | b'\t');
    let unlike_word = |pair: &[u8]| {
        pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase() || pair[0].is_ascii_digit()
    };
    bytes.iter().all(is_group)
        && bytes.windows(2).any(unlike_word)
        && line.split_ascii_whitespace().nth(1).is_some()
        && line.split_ascii_whitespace().all(|group| group.len() >= LEAST_BODY_BYTES || line.ends_with(group))
}

/// Checks for a public key as `ssh` writes it: `ssh-rsa AAAA…`.
fn is_public_key(line: &str, run: &Range<usize>) -> bool {
    line[run.clone()].starts_with("AAAA")
        && line[..run.start]
            .trim_end()
            .rsplit([' ', '\t', '"', '\'', ':', '='])
            .next()
            .is_some_and(|word| word.starts_with("ssh-") || word.starts_with("ecdsa-sha2-"))
}

pub(super) fn is_base64(byte: u8) -> bool {
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
pub(super) fn body_of_line(line: &str) -> Option<Range<usize>> {
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
    fn the_first_lines_of_usual_keys_are_random_and_names_are_not() {
        for line in [
            "MIIEvwIBADANBgkqhkiG9w0BAQEFAASCBKkwggSlAgEAAoIBAQDE3Bi3e3oz8Mjy",
            "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
            "MIIJQgIBADANBgkqhkiG9w0BAQEFAASCCSwwggkoAgEAAoICAQDCqmd2wzQv1Q8a",
            "MIIEowIBAAKCAQEA6r98JamvX40MyOEa5JYGr+65A4paT9rpORK1sPf2F7HyGVvA",
            "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2",
            "MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY6PuoAoGCCqGSM49",
            "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC",
            "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAABlwAAAAdzc2gtcn",
            "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW",
        ] {
            assert!(is_random(line), "{line}");
            assert!(is_grouped(&format!("{} {}", &line[..32], &line[32..])), "{line}");
        }
        for name in [
            "PKCS8EncodedKeySpec",
            "createRsaPrivateKeyFor",
            "fromPkcs8PemEncoded",
            "sha256WithRSAEncryption",
            "/usr/local/share/OurFiles2/KeyFile",
            "XMLHttpRequestFactory",
            "0123456789abcdef0123456789abcdef",
            "PRIVATEKEYHEADER",
        ] {
            assert!(!is_random(name), "{name}");
        }
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
