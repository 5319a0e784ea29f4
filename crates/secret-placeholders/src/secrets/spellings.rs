//! Other spellings of a value: a program that reads it from a file prints it without the escapes of the file.

/// The maximum number of other spellings of a value.
const MOST_SPELLINGS: usize = 8;

/// The longest value that has other spellings.
const MOST_BYTES: usize = 1_024;

/// Returns the values for which the text of a file may stand: without the escapes of JSON, code and settings, the
/// doubled quotes of YAML and SQL, the entities of XML and the percent signs of addresses, once or several times. The
/// lines of a value are values of their own.
pub(crate) fn decoded(value: &str) -> Vec<String> {
    if value.len() > MOST_BYTES || !value.contains(['\\', '%', '&', '\'', '"']) {
        return Vec::new();
    }
    let mut spellings = vec![value.to_owned()];
    let mut next = 0;
    while let Some(spelling) = spellings.get(next).cloned() {
        next += 1;
        let forms = [unescaped(&spelling), undoubled(&spelling), without_entities(&spelling)];
        let forms: Vec<String> = forms.into_iter().chain(unquoted(&spelling)).collect();
        for line in forms.iter().flat_map(|form| form.split(['\n', '\r'])) {
            if spellings.len() <= MOST_SPELLINGS
                && !line.is_empty()
                && !spellings.iter().any(|one| one == line)
            {
                spellings.push(line.to_owned());
            }
        }
    }
    spellings.remove(0);
    spellings
}

/// Resolves the escapes that begin with a backslash. One that stands for nothing is text.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(escape) = rest.chars().next() else {
            plain.push('\\');
            break;
        };
        let simple = match escape {
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'e' => Some('\u{1b}'),
            _ => None,
        };
        if let Some(character) = simple {
            plain.push(character);
            rest = &rest[1..];
        } else if let Some((character, length)) = numbered(rest) {
            plain.push(character);
            rest = &rest[length..];
        } else if escape.is_ascii_alphanumeric() {
            plain.push('\\');
        } else {
            plain.push(escape);
            rest = &rest[escape.len_utf8()..];
        }
    }
    plain.push_str(rest);
    plain
}

/// Returns the character of an escape with a number, without its backslash, and its length: `u0026`, `x26`, `046`.
fn numbered(escape: &str) -> Option<(char, usize)> {
    let code = |from: usize, digits: usize, radix: u32| {
        let digits = escape.get(from..from + digits)?;
        digits
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit())
            .then(|| u32::from_str_radix(digits, radix).ok())?
    };
    let (code, length) = match escape.as_bytes()[0] {
        b'u' if escape[1..].starts_with('{') => {
            let end = escape.find('}')?;
            (code(2, end.checked_sub(2)?, 16)?, end + 1)
        }
        b'u' => match code(1, 4, 16)? {
            // Two halves of a character.
            high @ 0xD800..=0xDBFF if escape[5..].starts_with("\\u") => {
                let low = code(7, 4, 16).filter(|low| (0xDC00..=0xDFFF).contains(low))?;
                (0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00), 11)
            }
            code => (code, 5),
        },
        b'U' => (code(1, 8, 16)?, 9),
        b'x' => (code(1, 2, 16)?, 3),
        b'0'..=b'3' => (code(0, 3, 8)?, 3),
        _ => return None,
    };
    Some((char::from_u32(code)?, length))
}

/// Resolves doubled quotes.
fn undoubled(text: &str) -> String {
    text.replace("''", "'").replace("\"\"", "\"")
}

/// Resolves the entities of XML.
fn without_entities(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let name = rest[1..].split_once(';').map_or("", |(name, _)| name);
        let number = || match name.strip_prefix('#')? {
            digits if digits.starts_with(['x', 'X']) => u32::from_str_radix(&digits[1..], 16).ok(),
            digits => digits.parse().ok(),
        };
        let character = match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => number().and_then(char::from_u32),
        };
        plain.push(character.unwrap_or('&'));
        rest = &rest[character.map_or(1, |_| name.len() + 2)..];
    }
    plain.push_str(rest);
    plain
}

/// Resolves the percent signs of addresses; `None` if the bytes are not text.
fn unquoted(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let code = digits.filter(|_| bytes[at] == b'%').and_then(|digits| str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                plain.push(byte);
                at += 3;
            }
            None => {
                plain.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(plain).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_value_is_decoded_as_programs_do() {
        for (value, plain) in [
            (r"a\u0026b", "a&b"),
            (r"a\u{26}b\x26c\046d\U00000026e", "a&b&c&d&e"),
            (r"a\ud83d\ude00b", "a😀b"),
            (r#"a\"b\/c\\d"#, r#"a"b/c\d"#),
            (r"a\:b", "a:b"),
            ("it''s", "it's"),
            ("a\"\"b", "a\"b"),
            ("a%40b%C3%A9", "a@bé"),
            ("a&amp;b&#38;c&#x26;d", "a&b&c&d"),
            (r"a\tb", "a\tb"),
        ] {
            assert_eq!(decoded(value).first().map(String::as_str), Some(plain), "{value}");
        }
    }

    #[test]
    fn a_value_that_was_encoded_several_times_has_all_spellings_between() {
        assert_eq!(decoded(r#"a\\\"b"#), [r#"a\"b"#, r#"a"b"#]);
        assert!(decoded(r"a%2540\u0026b").contains(&"a@&b".to_owned()));
        assert_eq!(decoded(r"abc\ndef\n"), ["abc", "def"]);
    }

    #[test]
    fn what_stands_for_nothing_stays() {
        for value in
            ["abc", r"a\d\q", r"a\u00é", r"a\ud83d", r"a\", "100%", "a%4", "a%ff", "a&b;&#x;", "a'b\"c"]
        {
            assert_eq!(decoded(value), [""; 0], "{value}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_few_and_shorter_spellings(value in r#"([\\%&'";ux04-9é#]|amp){0,40}"#) {
            let spellings = decoded(&value);
            prop_assert!(spellings.len() <= MOST_SPELLINGS);
            prop_assert!(spellings.iter().all(|one| one.len() < value.len()), "{:?}", spellings);
        }
    }
}
