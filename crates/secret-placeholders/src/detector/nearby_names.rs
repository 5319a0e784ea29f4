//! Passwords that equal the name of a user or a database, as in development settings.

use std::sync::LazyLock;

use memchr::memmem;
use regex::Regex;

use super::Span;

/// The kind of such a password. As a project name it is common in code, so it is hidden only in its field.
pub(crate) const NAME_KIND: &str = "name-as-password";

/// The bytes around a password that are searched for the name, and the bytes before it that contain its own name.
const MOST_AROUND_BYTES: usize = 512;
const MOST_BEFORE_BYTES: usize = 48;

/// The longest password that may be a name.
const MOST_NAME_BYTES: usize = 40;

/// The text before the name of a user or a database.
const NAMED: &str =
    r#"(?i-u)(?:user|user_?name|account|login|owner|database|db|db_?name)\\?["']?\s*[:=]>?\s*\\?["']?$"#;

/// Gives passwords that equal a nearby name a separate kind.
pub(super) fn mark_names(text: &str, hits: &mut [Span]) {
    for hit in hits.iter_mut().filter(|hit| hit.range.len() <= MOST_NAME_BYTES) {
        let value = &text[hit.range.clone()];
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let is_user = || {
            let before = text[..hit.range.start].strip_suffix(':');
            before.and_then(|before| before.strip_suffix(value)).is_some_and(|before| before.ends_with("//"))
        };
        let is_field = hit.kind == "password-assignment";
        if value.bytes().all(is_of_name) && (is_user() || is_field && equals_nearby_name(text, hit, value)) {
            hit.kind = NAME_KIND.into();
        }
    }
}

/// Checks whether a name near a password has the same value.
fn equals_nearby_name(text: &str, hit: &Span, value: &str) -> bool {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| Regex::new(NAMED).expect("the expression is valid"));
    let begin = text.ceil_char_boundary(hit.range.start.saturating_sub(MOST_AROUND_BYTES));
    let end = text.floor_char_boundary(text.len().min(hit.range.end + MOST_AROUND_BYTES));
    let around = &text[begin..end];
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    memmem::find_iter(around.as_bytes(), value).any(|at| {
        let before = &around[around.ceil_char_boundary(at.saturating_sub(MOST_BEFORE_BYTES))..at];
        !is_part(around.as_bytes().get(at + value.len())) && PATTERN.is_match(before)
    })
}
