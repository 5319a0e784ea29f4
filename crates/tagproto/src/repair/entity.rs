//! HTML entities: decoding them in a tag line, finding them in a body.

use std::borrow::Cow;

/// The named entities for characters that a tag line may hold.
const NAMED: &[(&str, char)] = &[
    ("quot", '"'),
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("apos", '\''),
    ("nbsp", '\u{a0}'),
    ("lbrack", '['),
    ("rbrack", ']'),
    ("lsqb", '['),
    ("rsqb", ']'),
    ("sol", '/'),
    ("bsol", '\\'),
    ("lowbar", '_'),
    ("equals", '='),
    ("period", '.'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("grave", '`'),
    ("ast", '*'),
    ("num", '#'),
];

/// The maximum length of a relevant entity in bytes, with `&` and `;`.
const LONGEST: usize = 12;

/// Decodes each entity once, from left to right; entities of control characters stay.
pub(crate) fn decoded(text: &str) -> Cow<'_, str> {
    let mut decoded = String::new();
    let mut from = 0;
    for (at, length, c) in entities(text) {
        decoded.push_str(&text[from..at]);
        decoded.push(c);
        from = at + length;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    decoded.push_str(&text[from..]);
    Cow::Owned(decoded)
}

/// Iterates over the entities of a text: offset, length in bytes, and decoded character.
pub(crate) fn entities(text: &str) -> impl Iterator<Item = (usize, usize, char)> {
    memchr::memchr_iter(b'&', text.as_bytes()).filter_map(|at| {
        let rest = &text[at + 1..];
        let semicolon = rest.bytes().take(LONGEST).position(|byte| byte == b';')?;
        // The length includes `&` and `;`.
        Some((at, semicolon + 2, character(rest.get(..semicolon)?)?))
    })
}

fn character(name: &str) -> Option<char> {
    let Some(number) = name.strip_prefix('#') else {
        return NAMED.iter().find(|(named, _)| *named == name).map(|(_, c)| *c);
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) if hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => u32::from_str_radix(hex, 16).ok()?,
        None if number.bytes().all(|byte| byte.is_ascii_digit()) => number.parse().ok()?,
        _ => return None,
    };
    // A decoded control character could end the line or hide text.
    char::from_u32(code).filter(|c| !c.is_control())
}
