//! The parts of a line that may belong to a private key.
//!
//! One classification serves both the search for keys and the decision whether an excerpt has to be examined together
//! with its file, so that an excerpt shows no part that is hidden in the whole file.
//!
//! | class | for example | hidden before the last line of a key | hidden without it, also while a stream arrives |
//! | --- | --- | --- | --- |
//! | [`Plain`](Class::Plain): the line has nothing else | `MIIE…`, `"MIIE…\n" +` | yes; after other text if there is another part | if one has 16 characters or differs from a word, or there are four |
//! | [`Random`](Class::Random): at least 16 characters, no words | `12: MIIE…` | yes | if the first one begins like a key, or two lines have one of its length |
//! | [`Grouped`](Class::Grouped): groups with spaces between them | `MIIE owIB` | yes | from four lines on |
//! | [`Short`](Class::Short): 8 to 15 characters, no words | `12: a1B2c3D4` | if there is another part, or four of them | from four lines with one length on |
//! | [`Word`](Class::Word): as likely a word | `12: Geheimes` | if there is another part, and the word is not repeated | no |

use std::ops::Range;

/// The shortest part of a line with other text that counts as random.
pub(super) const LEAST_RUN_BYTES: usize = 16;

/// The shortest line that is distinguished from a word, and the shortest part of a line that counts next to others.
const LEAST_SHORT_BYTES: usize = 8;

/// The shortest word next to other text that may be the rest of a key.
const LEAST_WORD_BYTES: usize = 4;

/// The minimum length of a long name.
const LONG_NAME_BYTES: usize = 32;

/// The texts before hashes and data that is not a key.
const OTHER_DATA: [&str; 9] =
    ["sha512-", "sha384-", "sha256-", "sha1-", "SHA512:", "SHA256:", "SHA1:", "h1:", "base64,"];

/// The longest name of a public key type: `sk-ecdsa-sha2-nistp256@openssh.com`.
const MOST_NAME_BYTES: usize = 64;

/// The likelihood that a part of a line belongs to a key, judged by the line alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Plain,
    Random,
    Grouped,
    Short,
    Word,
}

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) class: Class,
    pub(super) range: Range<usize>,
}

/// Returns the parts of a line that may belong to a key. A plain part comes first, and again with its class next to
/// other text: after a line with other text, no line is certain to have none.
pub(super) fn classify(line: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let body = body_of_line(line);
    let has_body = body.is_some();
    parts.extend(body.map(|range| Part { class: Class::Plain, range }));
    if is_grouped(line) {
        let start = line.len() - line.trim_start().len();
        parts.push(Part { class: Class::Grouped, range: start..line.trim_end().len() });
    }
    for range in runs(line) {
        let run = &line[range.clone()];
        let class = match run.len() {
            LEAST_RUN_BYTES.. if is_other_data(line, &range) => continue,
            LEAST_RUN_BYTES.. if is_mixed(run) => Class::Random,
            LEAST_SHORT_BYTES.. if is_mixed(run) => Class::Short,
            LEAST_SHORT_BYTES.. if !is_name_or_number(run) => Class::Word,
            LEAST_WORD_BYTES.. if run.ends_with('=') || has_body => Class::Word,
            _ => continue,
        };
        parts.push(Part { class, range });
    }
    parts
}

/// Returns the runs of Base64 in a line, with their padding. Text after another `=` is a separate value.
pub(super) fn runs(line: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = line.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + bytes[from..].iter().position(|byte| is_base64(*byte))?;
        let length = bytes[start..].iter().position(|byte| !is_base64(*byte));
        let end = length.map_or(bytes.len(), |length| start + length);
        let padding = bytes[end..].iter().take_while(|byte| **byte == b'=').count();
        from = end + padding;
        let is_padding = padding <= 2 && !bytes.get(from).is_some_and(|byte| is_base64(*byte));
        Some(start..if is_padding { from } else { end })
    })
}

/// Checks whether a text consists of at least [`LEAST_RUN_BYTES`] random characters.
pub(super) fn is_random(run: &str) -> bool {
    run.len() >= LEAST_RUN_BYTES && is_mixed(run)
}

/// Checks whether a text begins like the encoding of a key: of a sequence in DER, of OpenSSH's format, or of a packet
/// of OpenPGP.
pub(super) fn begins_key(run: &str) -> bool {
    let bytes = run.as_bytes();
    matches!(bytes, [b'M', b'C'..=b'I', ..] | [b'l', b'A'..=b'R', ..] | [b'x', b'Q'..=b'Z' | b'a'..=b'f', ..])
        || run.starts_with("b3BlbnNz")
}

/// Checks for lower case, a number, or a hexadecimal number.
fn is_name_or_number(run: &str) -> bool {
    run.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'/')
        || run.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'/'))
}

/// Checks whether a run of Base64 has letters of both cases and is not mostly words, as names in source code and paths
/// are.
pub(super) fn is_mixed(run: &str) -> bool {
    let bytes = run.as_bytes();
    let has = |is: fn(&u8) -> bool| bytes.iter().any(is);
    if !has(u8::is_ascii_lowercase) || !has(u8::is_ascii_uppercase) {
        return false;
    }
    let (mut in_words, mut others, mut at) = (0, 0, 0);
    while at < bytes.len() {
        let upper = bytes[at..].iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let lower = bytes[at + upper..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        if upper + lower == 0 {
            others += usize::from(!bytes[at].is_ascii_digit());
            at += 1;
            continue;
        }
        // `PKCS`, `Spec`, `spec`: an abbreviation may precede a word.
        let is_word = lower >= 2;
        let abbreviation = upper - usize::from(is_word && upper > 0);
        in_words += if is_word { lower + upper - abbreviation } else { 0 };
        in_words += if (3..=6).contains(&abbreviation) { abbreviation } else { 0 };
        at += upper + lower;
    }
    // Nearly all characters of a long name are in words; in a short random text, many may be by chance.
    let least = if bytes.len() < LONG_NAME_BYTES { 75 } else { 90 };
    100 * in_words < least * (bytes.len() - others)
}

/// Checks whether a short line is unlike the words that may follow a mention of a key: `word`, `TypeScript`, `README`.
pub(super) fn differs_from_word(body: &str) -> bool {
    let bytes = body.as_bytes();
    let is_capital = |at: usize| bytes[at].is_ascii_uppercase();
    let starts_word = |at: usize| is_capital(at) && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    let is_camel = (0..bytes.len()).all(|at| bytes[at].is_ascii_lowercase() || starts_word(at));
    let has_lower = bytes.iter().any(u8::is_ascii_lowercase);
    bytes.len() >= LEAST_SHORT_BYTES && !is_camel && has_lower && bytes.iter().any(u8::is_ascii_uppercase)
}

/// Checks whether a line consists of Base64 in groups, and does not read like words.
fn is_grouped(line: &str) -> bool {
    let line = line.trim();
    let bytes = line.as_bytes();
    let is_group = |byte: &u8| is_base64(*byte) || matches!(byte, b' ' | b'\t' | b'=');
    let unlike_word = |pair: &[u8]| {
        pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase() || pair[0].is_ascii_digit()
    };
    bytes.iter().all(is_group)
        && bytes.windows(2).any(unlike_word)
        && line.split_ascii_whitespace().nth(1).is_some()
        && line.split_ascii_whitespace().all(|group| group.len() >= LEAST_WORD_BYTES || line.ends_with(group))
}

/// Checks for a hash, an embedded file, or a public key as `ssh` writes it: `ssh-rsa AAAA…`.
pub(super) fn is_other_data(line: &str, run: &Range<usize>) -> bool {
    let before = &line[..run.start];
    OTHER_DATA.iter().any(|prefix| before.ends_with(prefix))
        || line[run.clone()].starts_with("AAAA") && ends_with_key_name(before.trim_end())
}

/// Checks for the name of a public key type. A line may have many thousands of parts, so only as many bytes as a name
/// has are examined before each.
fn ends_with_key_name(text: &str) -> bool {
    let from = text.ceil_char_boundary(text.len().saturating_sub(MOST_NAME_BYTES));
    let start = text[from..].rfind([' ', '\t', '"', '\'', ':', '=']).map(|before| from + before + 1);
    // A longer word is not a name.
    let start = start.or((from == 0).then_some(0));
    start.is_some_and(|start| {
        let word = &text[start..];
        word.starts_with("ssh-") || word.starts_with("ecdsa-sha2-")
    })
}

/// Checks for a character of Base64, apart from the padding.
pub(super) fn is_base64(byte: u8) -> bool {
    BASE64[usize::from(byte)]
}

/// The characters of Base64, as a table of all bytes: most bytes of every line are checked.
const BASE64: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        byte += 1;
    }
    table
};

/// A line of a body with the surroundings of source code: spaces, quotes, commas, comment markers, `+`, `+=`, `\n`,
/// `\r`.
fn body_of_line(line: &str) -> Option<Range<usize>> {
    let mut bodies = runs(line).filter(|run| !is_punctuation(line.as_bytes(), run));
    let body = bodies.next()?;
    bodies.next().is_none().then_some(body)
}

/// Checks whether a run of Base64 is punctuation of source code: an escaped line end, or a separate operator or comment
/// marker.
pub(super) fn is_punctuation(line: &[u8], run: &Range<usize>) -> bool {
    let is_escape = run.len() == 1 && run.start > 0 && line[run.start - 1] == b'\\';
    match &line[run.clone()] {
        b"n" | b"r" => is_escape,
        // The last line of a key may end like this, but is longer.
        b"+" | b"+=" | b"//" | b"///" | b"/" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The body of a line by definition: the only run of Base64 that is not punctuation.
    fn body_by_definition(line: &str) -> Option<Range<usize>> {
        let mut bodies = Vec::new();
        for (start, _) in line.char_indices() {
            let is_in = |at: usize| is_base64(line.as_bytes()[at]);
            if !is_in(start) || start > 0 && is_in(start - 1) {
                continue;
            }
            let rest = &line[start..];
            let run =
                &rest[..rest.find(|letter| !u8::try_from(letter).is_ok_and(is_base64)).unwrap_or(rest.len())];
            let after = rest[run.len()..].trim_start_matches('=');
            let padding = rest.len() - run.len() - after.len();
            let is_padding = padding <= 2 && !after.bytes().next().is_some_and(is_base64);
            let run = &rest[..run.len() + if is_padding { padding } else { 0 }];
            let is_escape = line[..start].ends_with('\\') && matches!(run, "n" | "r");
            if !is_escape && !["+", "+=", "//", "///", "/"].contains(&run) {
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
            assert!(is_random(line) && begins_key(line), "{line}");
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

    #[test]
    fn each_part_of_a_line_has_one_class() {
        let random = "MIIEowIBAAKCAQEA6r98JamvX40MyOEa";
        let classes = |line: &str| -> Vec<(Class, String)> {
            classify(line).into_iter().map(|part| (part.class, line[part.range].to_owned())).collect()
        };
        let of = |class, text: &str| (class, text.to_owned());
        assert_eq!(classes(&format!("  {random}")), [of(Class::Plain, random), of(Class::Random, random)]);
        assert_eq!(classes(&format!("KEY={random}==")), [of(Class::Random, &format!("{random}=="))]);
        assert_eq!(classes(&format!("12: {random}")), [of(Class::Random, random)]);
        assert_eq!(classes("12: a1B2c3D4"), [of(Class::Short, "a1B2c3D4")]);
        assert_eq!(classes("12: Geheimes"), [of(Class::Word, "Geheimes")]);
        assert_eq!(classes("12: xQ=="), [of(Class::Word, "xQ==")]);
        assert_eq!(classes("MIIE owIB"), [of(Class::Grouped, "MIIE owIB")]);
        for line in [
            "",
            "}",
            " - ",
            "a b",
            "sha256 of 12",
            &format!("sha512-{random}"),
            &format!("ssh-rsa AAAA{random}"),
        ] {
            assert_eq!(classes(line), [], "{line}");
        }
    }

    #[test]
    fn no_more_than_a_name_is_examined_before_a_part() {
        let key = "AAAAa1B2c3D4e5F6g7H8";
        let is_public = |before: &str| {
            let line = format!("{before}{key}");
            is_other_data(&line, &(before.len()..line.len()))
        };
        for before in ["ssh-rsa ", "ecdsa-sha2-nistp256 ", "x: ssh-ed25519 ", "\u{e9}\"ssh-rsa "] {
            assert!(is_public(before), "{before}");
        }
        for before in ["", " ", "rsa ", "xssh-rsa ", &format!("ssh-{} ", "x".repeat(MOST_NAME_BYTES))] {
            assert!(!is_public(before), "{before}");
        }
    }

    proptest! {
        #[test]
        fn a_body_is_what_is_left_without_what_surrounds_it(
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
