//! Splits source code into words.
//!
//! `parseHttpHeader` is found as itself and as `parse`, `http` and `header`; `read_file` as itself, `read` and
//! `file`. Words are folded to lower case and stemmed, so that *resolving* finds `resolve`; a name of several
//! parts is also kept whole.

use std::borrow::Cow;

/// The longest name in bytes; longer ones are data and left out.
const LONGEST_BYTES: usize = 80;

/// Calls `each` with every word of a text; a name of several parts comes first whole, then part by part.
#[cfg(test)]
pub(crate) fn each_word(text: &str, mut each: impl FnMut(&str)) {
    let mut folded = String::new();
    for name in names(text) {
        words_of_name(name, &mut folded, &mut each);
    }
}

/// Returns the names of a text: runs of letters, digits and underscores.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !is_name_byte(bytes[at]) {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && is_name_byte(bytes[at]) {
            at += 1;
        }
        // Every non-ASCII byte belongs to a name, so both ends are character boundaries.
        (start < at).then(|| &text[start..at])
    })
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Calls `each` with the words of a text; a name of several parts only part by part.
pub(crate) fn each_part_of_text(text: &str, mut each: impl FnMut(&str)) {
    let mut folded = String::new();
    for name in names(text) {
        each_part(name, |part| {
            fold(part, &mut folded);
            each(&stem(&folded));
        });
    }
}

/// Returns true if a stemmed word begins at a byte of a text.
///
/// Scans at most [`LONGEST_BYTES`] in each direction, so that a text without separators is not scanned to its end.
pub(crate) fn begins_at(text: &[u8], at: usize, word: &str) -> bool {
    let bounds_word = |byte: &u8| !is_name_byte(*byte);
    let before = &text[at.saturating_sub(LONGEST_BYTES)..at];
    // The cheap test comes first: within a name, a small letter begins a part only after an underscore.
    if text[at].is_ascii_lowercase() && before.last().is_some_and(|last| is_name_byte(*last) && *last != b'_')
    {
        return false;
    }
    let start =
        before.iter().rposition(bounds_word).map_or(at - before.len(), |last| at - before.len() + last + 1);
    let following = &text[at..text.len().min(at + LONGEST_BYTES)];
    let end = at + following.iter().position(bounds_word).unwrap_or(following.len());
    // Only valid UTF-8 was stored.
    let Ok(name) = std::str::from_utf8(&text[start..end]) else { return false };
    let bare = name.trim_matches('_');
    // An offset within the leading underscores is not in the name.
    let Some(at) = (at - start).checked_sub(name.len() - name.trim_start_matches('_').len()) else {
        return false;
    };
    let (mut is_there, mut folded, mut parts) = (false, String::new(), 0);
    each_part_at(bare, |begin, part| {
        parts += 1;
        if begin == at {
            fold(part, &mut folded);
            is_there = stem(&folded) == word;
        }
    });
    if !is_there && parts > 1 && at == 0 {
        fold(bare, &mut folded);
        is_there = folded == word;
    }
    is_there
}

/// Calls `each` with the words of one name.
pub(crate) fn words_of_name(name: &str, folded: &mut String, each: &mut impl FnMut(&str)) {
    let name = name.trim_matches('_');
    if name.is_empty() || name.len() > LONGEST_BYTES {
        return;
    }
    let mut parts = 0;
    each_part(name, |_| parts += 1);
    if parts > 1 {
        fold(name, folded);
        each(folded);
        each_part(name, |part| {
            fold(part, folded);
            each(&stem(folded));
        });
    } else {
        // Underscores around a single part do not count, nor do they in its stem.
        fold(name, folded);
        each(&stem(folded));
    }
}

fn fold(word: &str, folded: &mut String) {
    folded.clear();
    if word.is_ascii() {
        folded.push_str(word);
        folded.make_ascii_lowercase();
    } else {
        folded.extend(word.chars().flat_map(char::to_lowercase));
    }
}

/// Splits a name at underscores, before a capital after a small letter, before the last of several capitals, and
/// between letters and digits.
fn each_part(name: &str, mut each: impl FnMut(&str)) {
    each_part_at(name, |_, part| each(part));
}

/// Splits a name likewise, with the offset of each part.
fn each_part_at(name: &str, mut each: impl FnMut(usize, &str)) {
    let bytes = name.as_bytes();
    let mut start = 0;
    for at in 0..=bytes.len() {
        let is_end = at == bytes.len();
        let cuts = is_end || bytes[at] == b'_' || (at > start && begins_part(bytes, at));
        if cuts {
            if at > start {
                each(start, &name[start..at]);
            }
            start = if !is_end && bytes[at] == b'_' { at + 1 } else { at };
        }
    }
}

fn begins_part(bytes: &[u8], at: usize) -> bool {
    let (before, here) = (bytes[at - 1], bytes[at]);
    if !before.is_ascii() || !here.is_ascii() {
        return false;
    }
    let next_is_small = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    (here.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()))
        || (here.is_ascii_uppercase() && before.is_ascii_uppercase() && next_is_small)
        || (here.is_ascii_digit() && before.is_ascii_alphabetic() && at >= 3)
}

/// Strips the suffixes of an English word in small letters: plural endings, `-ing` and `-ed`, and a silent `e`.
///
/// It only has to map the forms of a word to the same stem; the stem itself is often not a word.
pub(crate) fn stem(word: &str) -> Cow<'_, str> {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    // Plural endings first: what remains may still end in `-ing` or `-ed`.
    let mut cut: Cow<'_, str> = if let Some(rest) = word.strip_suffix("ies").filter(|rest| rest.len() >= 2) {
        Cow::Owned(format!("{rest}y"))
    } else if let Some(rest) = word.strip_suffix("sses") {
        Cow::Owned(format!("{rest}ss"))
    } else if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        Cow::Borrowed(word)
    } else {
        Cow::Borrowed(word.strip_suffix('s').unwrap_or(word))
    };
    for ending in ["ing", "ed"] {
        let Some(rest) = cut.strip_suffix(ending) else { continue };
        if rest.len() >= 3 && rest.bytes().any(|byte| b"aeiouy".contains(&byte)) {
            let rest = undouble(rest);
            cut = Cow::Owned(rest.to_owned());
            break;
        }
    }
    if cut.len() >= 4 && cut.ends_with('e') {
        let shorter = cut[..cut.len() - 1].to_owned();
        cut = Cow::Owned(shorter);
    }
    // `carry` and `carried` meet in `carri`.
    if cut.len() >= 4 && cut.ends_with('y') {
        let shorter = format!("{}i", &cut[..cut.len() - 1]);
        cut = Cow::Owned(shorter);
    }
    cut
}

/// Removes a doubled final consonant: `runn` becomes `run`; `pass` and `fill` stay.
fn undouble(word: &str) -> &str {
    match word.as_bytes() {
        [.., before, last] if before == last && !b"lszaeiou".contains(last) => &word[..word.len() - 1],
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn names_are_split_into_the_whole_and_its_parts() {
        let cases: [(&str, &[&str]); 9] = [
            ("parseHttpHeader", &["parsehttpheader", "pars", "http", "header"]),
            ("read_file", &["read_file", "read", "file"]),
            ("HTTPServer", &["httpserver", "http", "server"]),
            ("__init__", &["init"]),
            ("utf8", &["utf8", "utf", "8"]),
            ("u8 i64", &["u8", "i64"]),
            ("a.b(c)", &["a", "b", "c"]),
            ("größe_maß", &["größe_maß", "größe", "maß"]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            let expected: Vec<String> = expected.iter().map(|word| stem_free(word)).collect();
            assert_eq!(words(text), expected, "{text}");
        }
    }

    fn stem_free(word: &str) -> String {
        match word {
            "file" => "fil".to_owned(),
            other => other.to_owned(),
        }
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        let groups: [&[&str]; 6] = [
            &["resolve", "resolves", "resolved", "resolving"],
            &["retry", "retries"],
            &["run", "runs", "running"],
            &["parse", "parsed", "parsing"],
            &["index", "indexing", "indexed"],
            &["class", "classes"],
        ];
        for group in groups {
            let stems: Vec<_> = group.iter().map(|word| stem(word)).collect();
            assert!(stems.iter().all(|one| *one == stems[0]), "{group:?}: {stems:?}");
        }
    }

    #[test]
    fn words_begin_only_at_their_own_offsets() {
        let cases = [
            ("fn read_file(x)", 3, "read", true),
            ("fn read_file(x)", 3, "read_file", true),
            ("fn read_file(x)", 8, "fil", true),
            ("fn read_file(x)", 8, "file", false),
            ("parseHttpErrors", 9, "error", true),
            ("parseHttpErrors", 0, "parsehttperrors", true),
            ("erroneous", 0, "err", false),
            ("terror", 1, "error", false),
            ("__init__", 2, "init", true),
            ("running", 0, "run", true),
            ("utf8", 3, "8", true),
        ];
        for (text, at, word, expected) in cases {
            assert_eq!(begins_at(text.as_bytes(), at, word), expected, "{word} at {at} of {text}");
        }
        let endless = "a".repeat(1_000);
        assert!(!begins_at(endless.as_bytes(), 500, "a"));
        assert!(!begins_at(b"\xff error", 1, "error"));
        assert!(begins_at(b"\xe9 error", 2, "error"));
    }

    #[test]
    fn an_overlong_name_has_no_words() {
        assert_eq!(words(&"a".repeat(LONGEST_BYTES + 1)), Vec::<String>::new());
    }
}
