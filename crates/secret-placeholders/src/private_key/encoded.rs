//! Keys without a boundary: the bare encoding of a key, a whole key in PEM form that is encoded once more, and keys as JSON.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use super::inline::value_end;
use super::line_parts::{Class, Part, classify, differs_from_word, is_base64, runs};

/// The shortest value that is a key and not the mention of one.
const LEAST_VALUE_BYTES: usize = 32;

/// The lengths of a line of a key that is continued below.
const LINE_BYTES: std::ops::RangeInclusive<usize> = 40..=80;

/// The most bytes on each side of the type of a key in JSON that are searched for the braces around it.
const MOST_JSON_BYTES: usize = 16 * 1_024;

/// The first characters of keys in Base64. Those of certificates and public keys differ, since they have no version there.
const BEGINNINGS: &str = "^(?:\
    MII[A-Za-z0-9+/]{3}IBADANBgkqhkiG9w0BAQ[EFo]|\
    MII[A-Za-z0-9+/]{3}IBAAK[BC]|\
    MII[A-Za-z0-9+/]{5}Bg(?:kqhkiG9w0BBQ|oqhkiG9w0BDA)|\
    MHcCAQEE|MHQCAQEE|MIGkAgEBBD|MIHcAgEBBE|\
    MI[GH][A-Za-z0-9+/]AgEAMB[MA]GByqGSM49|\
    M[CEF][A-Za-z0-9+/]CAQ[AE]wBQYDK2V|\
    b3BlbnNzaC1rZXktdjEA)";

/// The most characters of them, and the most in front of what [`OF_KEYS`] has of them.
const BEGINNING_BYTES: usize = 40;
const MOST_BEFORE_SIGN: usize = 12;

/// The parts of these beginnings that other data has least often.
const OF_KEYS: [&str; 12] = [
    "IBADANBgkqhkiG9w0BAQ",
    "IBAAKB",
    "IBAAKC",
    "BgkqhkiG9w0BBQ",
    "BgoqhkiG9w0BDA",
    "MHcCAQEE",
    "MHQCAQEE",
    "AgEBBD",
    "AgEBBE",
    "GByqGSM49",
    "wBQYDK2V",
    "b3BlbnNzaC1rZXktdjEA",
];

/// `PRIVATE KEY` in Base64, in each of the three positions that it can have.
const OF_PEM: [&str; 3] = ["UFJJVkFURSBLRV", "BSSVZBVEUgS0VZ", "QUklWQVRFIEtFW"];

/// The beginning of a text in PEM form, in Base64.
const PEM_BEGINNING: &str = "LS0tLS1CRUdJTi";

/// The type of a key in JSON, also within a string.
const OF_JSON: [&str; 2] = ["\"kty\"", "\"kty\\\""];

/// The fields of such a key that are secret.
const SECRET_FIELDS: &str = r#""(?:d|p|q|dp|dq|qi|k)\\*"\s*:\s*\\*"([A-Za-z0-9_-]{16,})"#;

/// Calls `hide` with the parts of such keys. The time is linear in the length of the text.
pub(super) fn find(text: &str, hide: impl FnMut(Range<usize>)) {
    let mut search = Search { text, searched: 0, json_searched: 0, looked_at: 0, hide };
    search.all();
}

struct Search<'t, H> {
    text: &'t str,
    hide: H,
    /// The ends of the values, and of the keys in JSON, that need no further look.
    searched: usize,
    json_searched: usize,
    /// The bytes that were looked at around the signs.
    looked_at: usize,
}

impl<H: FnMut(Range<usize>)> Search<'_, H> {
    fn all(&mut self) {
        static SIGNS: LazyLock<AhoCorasick> = LazyLock::new(|| {
            let signs = OF_KEYS.iter().chain(&OF_PEM).chain(&OF_JSON);
            let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(signs);
            built.expect("signs are few and short")
        });
        for sign in SIGNS.find_iter(self.text) {
            let kind = sign.pattern().as_usize();
            if kind >= OF_KEYS.len() + OF_PEM.len() {
                self.json(sign.start());
            } else if sign.start() < self.searched {
            } else if kind >= OF_KEYS.len() {
                self.pem(sign.range());
            } else {
                self.key(sign.range());
            }
        }
    }

    /// Hides the value with a part of a beginning in it, if it has the rest of the beginning.
    fn key(&mut self, sign: Range<usize>) {
        static BEGINNING: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(BEGINNINGS).expect("the expression is valid"));
        let first = sign.start.saturating_sub(MOST_BEFORE_SIGN).max(self.searched);
        let begins = |at: &usize| {
            let end = self.text.floor_char_boundary(at + BEGINNING_BYTES);
            self.text.get(*at..end).is_some_and(|text| BEGINNING.is_match(text))
        };
        if let Some(start) = (first..=sign.start).find(begins) {
            self.value(start);
        }
    }

    /// Hides a value that has `PRIVATE KEY` in its encoding, if it is a key in PEM form or has one in it.
    fn pem(&mut self, sign: Range<usize>) {
        let bytes = self.text.as_bytes();
        let before =
            bytes[self.searched..sign.start].iter().rev().take_while(|byte| is_base64(**byte)).count();
        let behind = bytes[sign.start..].iter().take_while(|byte| is_base64(**byte)).count();
        let (start, end) = (sign.start - before, sign.start + behind);
        // An escaped line end may stand in front of it.
        let start = start + self.text[start..end].find(PEM_BEGINNING).unwrap_or(0);
        self.looked_at += end - start;
        let decoded = base64_bytes(&self.text[start..end]);
        let decoded = String::from_utf8_lossy(&decoded);
        let first_line = decoded.lines().next().unwrap_or_default();
        if super::is_first_line(first_line) || super::has_key(&decoded) {
            self.value(start);
        }
        self.searched = self.searched.max(end);
    }

    /// Hides the value that begins at `start`, and the lines below that continue it.
    fn value(&mut self, start: usize) {
        let end = value_end(self.text, start);
        self.looked_at += end - start;
        if end - start < LEAST_VALUE_BYTES {
            return;
        }
        (self.hide)(start..end);
        self.searched = end;
        if LINE_BYTES.contains(&(end - start)) && !is_complete(&self.text[start..end]) {
            self.below(start..end);
        }
    }

    /// Hides the lines below a line of a key that have a part of its length, and the last, which is shorter.
    fn below(&mut self, first: Range<usize>) {
        let line_end = |from: usize| {
            memchr::memchr(b'\n', &self.text.as_bytes()[from..])
                .map_or(self.text.len(), |length| from + length)
        };
        let mut start = line_end(first.end) + 1;
        while start < self.text.len() {
            let end = line_end(start);
            let line = &self.text[start..end];
            self.looked_at += line.len();
            let full = runs(line).find(|run| run.len() == first.len());
            // The last one is shorter, and not a word that stands alone.
            let is_last = |part: &Part| {
                let text = &line[part.range.clone()];
                matches!(part.class, Class::Plain | Class::Random)
                    && text.len().is_multiple_of(4)
                    && (text.ends_with('=') || differs_from_word(text))
            };
            let part =
                full.clone().or_else(|| classify(line).into_iter().find(is_last).map(|part| part.range));
            let Some(part) = part.filter(|part| part.len() <= first.len()) else { break };
            (self.hide)(start + part.start..start + part.end);
            self.searched = start + part.end;
            if full.is_none() {
                break;
            }
            start = end + 1;
        }
    }

    /// Hides the secret fields of a key in JSON whose type stands at `at`.
    fn json(&mut self, at: usize) {
        static SECRET: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(SECRET_FIELDS).expect("the expression is valid"));
        if at < self.json_searched {
            return;
        }
        let bytes = self.text.as_bytes();
        let first = at.saturating_sub(MOST_JSON_BYTES).max(self.json_searched);
        let start = memchr::memrchr(b'{', &bytes[first..at]).map_or(first, |brace| first + brace);
        let last = (at + MOST_JSON_BYTES).min(bytes.len());
        let end = memchr::memchr(b'}', &bytes[at..last]).map_or(last, |brace| at + brace);
        let (start, end) = (self.text.ceil_char_boundary(start), self.text.floor_char_boundary(end));
        self.looked_at += end - start;
        for field in SECRET.captures_iter(&self.text[start..end]) {
            if let Some(value) = field.get(1) {
                (self.hide)(start + value.start()..start + value.end());
            }
        }
        self.json_searched = end;
    }
}

/// Returns the bytes of characters of Base64, without those of an unfinished group of four.
pub(crate) fn base64_bytes(text: &str) -> Vec<u8> {
    let sextet = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let group = |group: &[u8]| {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 6 | u32::from(sextet(*byte)));
        [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]
    };
    text.as_bytes().chunks_exact(4).flat_map(group).collect()
}

/// Checks whether a value has all the bytes that the length at its beginning says, in DER.
fn is_complete(value: &str) -> bool {
    let beginning = base64_bytes(&value[..value.floor_char_boundary(8)]);
    let bytes = match beginning[..] {
        [0x30, length @ ..=0x7F, ..] => 2 + usize::from(length),
        [0x30, 0x81, length, ..] => 3 + usize::from(length),
        [0x30, 0x82, high, low, ..] => 4 + usize::from(u16::from_be_bytes([high, low])),
        _ => return false,
    };
    value.len() >= bytes.div_ceil(3) * 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_has_its_bytes_looked_at_often() {
        for unit in [
            "MHcCAQEE ",
            "MHcCAQEE",
            "MHcCAQEEaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
            "IBAAKCIBAAKC",
            "UFJJVkFURSBLRV",
            "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t\n",
            "{\"kty\":",
            "\"kty\"}{",
        ] {
            let text = unit.repeat(2_000);
            let mut search =
                Search { text: &text, searched: 0, json_searched: 0, looked_at: 0, hide: |_| {} };
            search.all();
            assert!(search.looked_at <= 3 * text.len(), "{unit}: {} of {}", search.looked_at, text.len());
        }
    }

    #[test]
    fn a_key_is_complete_with_its_length() {
        let (key, more) = ("MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp", "K+06/nwoy/HU++CXqI9EdVhC");
        assert!(is_complete(&format!("{key}{more}")));
        assert!(!is_complete(key));
        assert_eq!(base64_bytes("LS0tLS1CRUdJ"), b"-----BEGI");
    }
}
