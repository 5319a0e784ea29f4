//! Keys without a boundary: the bare encoding of a key, and a whole key in PEM form that is encoded once more.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use super::Depth;
use super::body_lines::PREFIXES;
use super::inline::value_end;
use super::line_parts::{Class, Part, classify, differs_from_word, is_base64, runs};

/// The shortest value that is a key rather than the mention of one.
const LEAST_VALUE_BYTES: usize = 32;

/// The lengths of a line of a key that is continued below.
const LINE_BYTES: std::ops::RangeInclusive<usize> = 40..=80;

/// The first characters of keys in Base64. Certificates and public keys differ, since they have no version there.
const BEGINNINGS: &str = "^(?:\
    MII[A-Za-z0-9+/]{3}IBADANBgkqhkiG9w0BAQ[EFo]|\
    MII[A-Za-z0-9+/]{3}IBAAK[BC]|\
    MII[A-Za-z0-9+/]{5}Bg(?:kqhkiG9w0BBQ|oqhkiG9w0BDA)|\
    MHcCAQEE|MHQCAQEE|MIGkAgEBBD|MIHcAgEBBE|\
    MI[GH][A-Za-z0-9+/]AgEAMB[MA]GByqGSM49|\
    M[CEF][A-Za-z0-9+/]CAQ[AE]wBQYDK2V|\
    b3BlbnNzaC1rZXktdjEA)";

/// The maximum length of such a beginning, and the maximum number of characters before its [`OF_KEYS`] part.
const BEGINNING_BYTES: usize = 40;
const MOST_BEFORE_MARKER: usize = 12;

/// The parts of these beginnings that are rarest in other data.
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

/// `PRIVATE KEY` in Base64, at each of its three possible offsets in a group of four characters.
pub(super) const OF_PEM: [(&str, usize); 3] =
    [("UFJJVkFURSBLRV", 0), ("BSSVZBVEUgS0VZ", 2), ("QUklWQVRFIEtFW", 3)];

/// The characters of a group, and the bytes that they encode.
pub(super) const GROUP_CHARACTERS: usize = 4;
pub(super) const GROUP_BYTES: usize = 3;

/// The beginning of a text in PEM form, in Base64.
const PEM_BEGINNING: &str = "LS0tLS1CRUdJTi";

/// Calls `hide` with the parts of such keys, and returns how many bytes of nested texts were searched. The time is
/// linear in its length.
pub(super) fn find(text: &str, depth: Depth, hide: impl FnMut(Range<usize>)) -> usize {
    let mut search = Search { text, depth, searched: 0, looked_at: 0, decoded: 0, hide };
    search.all();
    search.decoded
}

struct Search<'t, H> {
    text: &'t str,
    depth: Depth,
    hide: H,
    /// The end of the values that are done.
    searched: usize,
    /// The bytes examined around the markers.
    looked_at: usize,
    /// The bytes of the decoded texts that were searched.
    decoded: usize,
}

impl<H: FnMut(Range<usize>)> Search<'_, H> {
    fn all(&mut self) {
        static MARKERS: LazyLock<AhoCorasick> = LazyLock::new(|| {
            let markers = OF_KEYS.iter().chain(OF_PEM.iter().map(|(marker, _)| marker));
            let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(markers);
            built.expect("markers are few and short")
        });
        for marker in MARKERS.find_iter(self.text) {
            if marker.start() < self.searched {
                continue;
            }
            match marker.pattern().as_usize().checked_sub(OF_KEYS.len()) {
                None => self.key(marker.range()),
                Some(position) => self.pem(marker.range(), OF_PEM[position].1),
            }
        }
    }

    /// Hides a value with a characteristic part of a beginning, if the rest of the beginning is there.
    fn key(&mut self, marker: Range<usize>) {
        static BEGINNING: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(BEGINNINGS).expect("the expression is valid"));
        let first = marker.start.saturating_sub(MOST_BEFORE_MARKER).max(self.searched);
        let begins = |at: &usize| {
            let end = self.text.floor_char_boundary(at + BEGINNING_BYTES);
            self.text.get(*at..end).is_some_and(|text| BEGINNING.is_match(text))
        };
        if let Some(start) = (first..=marker.start).find(begins) {
            self.value(start);
        }
    }

    /// Hides a value with the encoded `PRIVATE KEY`, `in_group` characters after the start of a group of four, if it is
    /// or contains a key in PEM form.
    fn pem(&mut self, marker: Range<usize>, in_group: usize) {
        let Some(deeper) = self.depth.next() else { return };
        let bytes = self.text.as_bytes();
        let before =
            bytes[self.searched..marker.start].iter().rev().take_while(|byte| is_base64(**byte)).count();
        let after = bytes[marker.start..].iter().take_while(|byte| is_base64(**byte)).count();
        let (start, end) = (marker.start - before, marker.start + after);
        // An escaped line end may precede it.
        let beginning = self.text[start..end].find(PEM_BEGINNING).map(|at| start + at);
        self.looked_at += end - start;
        let groups = beginning.unwrap_or(start + before.saturating_sub(in_group) % GROUP_CHARACTERS);
        let decoded = base64_bytes(&self.text[groups..end]);
        let decoded = String::from_utf8_lossy(&decoded);
        let mut spans = Vec::new();
        self.decoded += super::find_at(&decoded, deeper, &mut spans);
        if !spans.is_empty() || super::is_first_line(decoded.lines().next().unwrap_or_default()) {
            self.value(beginning.unwrap_or(start));
        }
        self.searched = self.searched.max(end);
    }

    /// Hides the value from `start`, and the lines below that continue it.
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

    /// Hides the lines below a line of a key that have a part of the same length, and the last, shorter one.
    fn below(&mut self, first: Range<usize>) {
        let line_end = |from: usize| {
            memchr::memchr(b'\n', &self.text.as_bytes()[from..])
                .map_or(self.text.len(), |length| from + length)
        };
        let mut start = line_end(first.end) + 1;
        let mut characters = first.len();
        let mut has_prefix = prefix_at_end(&self.text[..first.start]).is_some();
        while start < self.text.len() {
            let end = line_end(start);
            let line = &self.text[start..end];
            self.looked_at += line.len();
            let without_prefix = |run: Range<usize>| {
                let prefix = PREFIXES.iter().find(|prefix| line[run.clone()].starts_with(**prefix));
                run.start + prefix.map_or(0, |prefix| prefix.len())..run.end
            };
            let is_full = |run: &Range<usize>| run.len() == first.len();
            let prefixed = || runs(line).map(without_prefix).find(is_full).inspect(|_| has_prefix = true);
            let full = runs(line).find(is_full).or_else(prefixed);
            // The last line is shorter, but not a single word. With it, all lines are whole groups.
            let of_key = |part: Part| {
                let range = if has_prefix { without_prefix(part.range) } else { part.range };
                let text = &line[range.clone()];
                let is_last = matches!(part.class, Class::Plain | Class::Random)
                    && (characters + text.len()).is_multiple_of(GROUP_CHARACTERS)
                    && (text.ends_with('=') || differs_from_word(text));
                is_last.then_some(range)
            };
            let part = full.clone().or_else(|| classify(line).into_iter().find_map(of_key));
            let Some(part) = part.filter(|part| part.len() <= first.len()) else { break };
            (self.hide)(start + part.start..start + part.end);
            self.searched = start + part.end;
            characters += part.len();
            if full.is_none() {
                break;
            }
            start = end + 1;
        }
    }
}

/// Returns the diff or comment prefix at the end of a text.
fn prefix_at_end(text: &str) -> Option<&'static str> {
    PREFIXES.into_iter().find(|marker| text.ends_with(marker))
}

/// Decodes Base64, ignoring an unfinished group of four.
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

/// Checks whether a value has all the bytes that its DER length announces.
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
    fn no_text_has_its_bytes_examined_often() {
        for unit in [
            "MHcCAQEE ",
            "MHcCAQEE",
            "MHcCAQEEaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
            "IBAAKCIBAAKC",
            "UFJJVkFURSBLRV",
            "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t\n",
        ] {
            let text = unit.repeat(2_000);
            let mut search = Search {
                text: &text,
                depth: Depth::default(),
                searched: 0,
                looked_at: 0,
                decoded: 0,
                hide: |_| {},
            };
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
