//! Private keys as JSON, and as objects and tables that programs print and store.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;
use regex::{Captures, Regex};

/// The field with the type of a key.
const TYPE: &str = "kty";

/// The name in quotes, which are escaped within a string, or unquoted with the type of a key.
const TYPE_FIELD: &str = r#"^kty\\*(?:["']|\s*[:=]>?\s*\\*["']?(?:RSA|EC|OKP|oct)\b)"#;

/// The maximum length of such a field.
const MOST_TYPE_BYTES: usize = 64;

/// The fields that are secret, with their names in quotes and without.
const SECRET_FIELDS: &str = r#"(?x)
    ["'](?:d|p|q|dp|dq|qi|k)\\*["']\s*[:=]>?\s*\\*["']([A-Za-z0-9_-]{16,})
    | (?:(?m:^)[+-]?|[^A-Za-z0-9_$.'"\\\n-])(?:d|p|q|dp|dq|qi|k)\s*[:=]>?\s*\\*["']?([A-Za-z0-9_-]{22,})"#;

/// The maximum number of bytes between the type of a key and its secret fields.
const MOST_BETWEEN: usize = 16 * 1_024;

/// Calls `hide` with the secret fields of such keys. The time is linear in the length of the text.
pub(super) fn find(text: &str, hide: impl FnMut(Range<usize>)) {
    let types = types(text);
    let (Some(first), Some(last)) = (types.first(), types.last()) else { return };
    let from = text.ceil_char_boundary(first.saturating_sub(MOST_BETWEEN));
    let end = text.floor_char_boundary((last + MOST_BETWEEN).min(text.len()));
    let values = values(text, from..end);
    let mut objects = Objects::new();
    // The values, each with its object.
    let mut placed: Vec<(Range<usize>, u32)> = Vec::with_capacity(values.len());
    let (mut next_types, mut next_values) = (types.iter().peekable(), values.into_iter().peekable());
    let braces = memchr::memchr2_iter(b'{', b'}', &text.as_bytes()[from..end]).map(|at| from + at);
    for brace in braces.map(Some).chain([None]) {
        let limit = brace.unwrap_or(end);
        while next_types.next_if(|at| **at < limit).is_some() {
            objects.is_key[objects.current as usize] = true;
        }
        while let Some(value) = next_values.next_if(|value| value.start < limit) {
            placed.push((value, objects.current));
        }
        if let Some(brace) = brace {
            objects.pass(text.as_bytes()[brace] == b'{');
        }
    }
    let is_of_key = objects.of_keys();
    let is_near = |at: usize| {
        let next = types.partition_point(|one| *one < at);
        let near = |one: Option<&usize>| one.is_some_and(|one| one.abs_diff(at) <= MOST_BETWEEN);
        near(types.get(next)) || near(next.checked_sub(1).and_then(|before| types.get(before)))
    };
    placed
        .into_iter()
        .filter(|(value, object)| is_of_key[*object as usize] && is_near(value.start))
        .map(|(value, _)| value)
        .for_each(hide);
}

/// The objects of a text, delimited by braces. Text outside of braces belongs to one object, up to an unmatched closing
/// brace: the beginning of the text may be cut off, and some forms have no braces.
///
/// A text may consist of braces only, so each takes just nine bytes.
struct Objects {
    /// For each object, true if it is a key, and its parent, which is the object itself if there is none.
    is_key: Vec<bool>,
    around: Vec<u32>,
    /// The ancestors of the current object.
    open: Vec<u32>,
    current: u32,
}

impl Objects {
    fn new() -> Objects {
        Objects { is_key: vec![false], around: vec![0], open: Vec::new(), current: 0 }
    }

    /// Processes the next brace.
    fn pass(&mut self, is_opening: bool) {
        if !is_opening && let Some(around) = self.open.pop() {
            self.current = around;
            return;
        }
        // No text has that many braces.
        let Ok(next) = u32::try_from(self.is_key.len()) else { return };
        if is_opening {
            self.open.push(self.current);
        }
        self.around.push(if is_opening { self.current } else { next });
        self.is_key.push(false);
        self.current = next;
    }

    /// Returns a flag for each object: true if it is a key or within one. A key with more than two primes has fields in
    /// nested objects.
    fn of_keys(self) -> Vec<bool> {
        let mut is_of_key = self.is_key;
        for (object, around) in self.around.into_iter().enumerate() {
            is_of_key[object] |= is_of_key[around as usize];
        }
        is_of_key
    }
}

/// Returns the positions of key types in a text.
fn types(text: &str) -> Vec<usize> {
    static FIELD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(TYPE_FIELD).expect("the expression is valid"));
    let is_type = |at: &usize| {
        let end = text.floor_char_boundary(at + MOST_TYPE_BYTES);
        let is_in_word = text[..*at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        !is_in_word && FIELD.is_match(&text[*at..end])
    };
    memmem::find_iter(text.as_bytes(), TYPE).filter(is_type).collect()
}

/// Returns the values of fields that would be secret in a key.
fn values(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    static SECRET: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(SECRET_FIELDS).expect("the expression is valid"));
    // An unquoted name may be followed by a word.
    let is_random = |value: &str| {
        let has = |is_of: fn(&u8) -> bool| value.as_bytes().iter().any(is_of);
        has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit)
    };
    let value = |field: Captures<'_>| {
        let value = field.get(1).or_else(|| field.get(2).filter(|value| is_random(value.as_str())))?;
        Some(part.start + value.start()..part.start + value.end())
    };
    SECRET.captures_iter(&text[part.clone()]).filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_takes_few_bytes() {
        let mut objects = Objects::new();
        for at in 0..1_000 {
            objects.pass(at % 3 != 0);
        }
        let bytes = objects.is_key.len() + 4 * (objects.around.len() + objects.open.len());
        assert!(objects.is_key.len() > 600 && bytes <= 9 * 1_001, "{bytes}");
    }

    #[test]
    fn an_object_in_a_key_belongs_to_it_and_one_after_it_does_not() {
        let mut objects = Objects::new();
        let mut pass = |c: char| {
            objects.pass(c == '{');
            objects.current as usize
        };
        let [key, inner, _, _, after, _, unopened] = ['{', '{', '}', '}', '{', '}', '}'].map(&mut pass);
        objects.is_key[key] = true;
        let of_keys = objects.of_keys();
        assert_eq!([key, inner, after, unopened].map(|object| of_keys[object]), [true, true, false, false]);
    }
}
