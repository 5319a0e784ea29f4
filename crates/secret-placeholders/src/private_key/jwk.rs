//! Private keys as JSON, and as the objects and tables that programs print and store of it.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;
use regex::{Captures, Regex};

/// The name of the field that says the type of a key.
const TYPE: &str = "kty";

/// The name as it stands in quotes, which are escaped within a string, or without quotes and with a type that a key has.
const TYPE_FIELD: &str = r#"^kty\\*(?:["']|\s*[:=]>?\s*\\*["']?(?:RSA|EC|OKP|oct)\b)"#;

/// The most bytes of that.
const MOST_TYPE_BYTES: usize = 64;

/// The fields that are secret, with their names in quotes and without.
const SECRET_FIELDS: &str = r#"(?x)
    ["'](?:d|p|q|dp|dq|qi|k)\\*["']\s*[:=]>?\s*\\*["']([A-Za-z0-9_-]{16,})
    | (?:(?m:^)[+-]?|[^A-Za-z0-9_$.'"\\\n-])(?:d|p|q|dp|dq|qi|k)\s*[:=]>?\s*\\*["']?([A-Za-z0-9_-]{22,})"#;

/// The most bytes between the type of a key and its secret fields.
const MOST_BETWEEN: usize = 16 * 1_024;

/// Calls `hide` with the secret fields of such keys. The time is linear in the length of the text.
pub(super) fn find(text: &str, hide: impl FnMut(Range<usize>)) {
    let types = types(text);
    let (Some(first), Some(last)) = (types.first(), types.last()) else { return };
    let from = text.ceil_char_boundary(first.saturating_sub(MOST_BETWEEN));
    let end = text.floor_char_boundary((last + MOST_BETWEEN).min(text.len()));
    let values = values(text, from..end);
    let mut objects = Objects { all: vec![Object::default()], open: Vec::new(), current: 0 };
    // What stands in an object, with the object.
    let mut placed: Vec<(Range<usize>, usize)> = Vec::with_capacity(values.len());
    let (mut next_types, mut next_values) = (types.iter().peekable(), values.into_iter().peekable());
    let braces = memchr::memchr2_iter(b'{', b'}', &text.as_bytes()[from..end]).map(|at| from + at);
    for brace in braces.map(Some).chain([None]) {
        let limit = brace.unwrap_or(end);
        while next_types.next_if(|at| **at < limit).is_some() {
            objects.all[objects.current].is_key = true;
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
        let behind = types.partition_point(|one| *one < at);
        let near = |one: Option<&usize>| one.is_some_and(|one| one.abs_diff(at) <= MOST_BETWEEN);
        near(types.get(behind)) || near(behind.checked_sub(1).and_then(|before| types.get(before)))
    };
    placed
        .into_iter()
        .filter(|(value, object)| is_of_key[*object] && is_near(value.start))
        .map(|(value, _)| value)
        .for_each(hide);
}

/// The objects of a text, by the braces around them. What stands in no braces is in one object up to a brace that closes none: the
/// beginning of the text may be cut off, and some forms have no braces.
struct Objects {
    all: Vec<Object>,
    /// The objects around the current one.
    open: Vec<usize>,
    current: usize,
}

#[derive(Clone, Copy, Default)]
struct Object {
    is_key: bool,
    around: Option<usize>,
}

impl Objects {
    /// Takes the next brace.
    fn pass(&mut self, is_opening: bool) {
        if !is_opening && let Some(around) = self.open.pop() {
            self.current = around;
            return;
        }
        let around = is_opening.then_some(self.current);
        self.open.extend(around);
        self.current = self.all.len();
        self.all.push(Object { is_key: false, around });
    }

    /// Returns which objects are keys or in one: a key with more than two primes has some of its fields in further objects.
    fn of_keys(&self) -> Vec<bool> {
        let mut is_of_key: Vec<bool> = Vec::with_capacity(self.all.len());
        for object in &self.all {
            is_of_key.push(object.is_key || object.around.is_some_and(|around| is_of_key[around]));
        }
        is_of_key
    }
}

/// Returns where the types of keys stand in a text.
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
    // Behind a name without quotes, a word may stand.
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
