//! A key at the start of a line.

/// The longest key, in bytes.
const LONGEST_KEY: usize = 64;

/// Keys behind which models leave out the blank.
const CRAMPED_KEYS: [&str; 12] = [
    "type",
    "query",
    "path",
    "file",
    "root",
    "pattern",
    "limit",
    "doc_id",
    "window",
    "request_id",
    "role",
    "goal",
];

/// Splits a line into its key and what stands behind the colon, without the blanks in front; `None` if it has no key.
pub(crate) fn split_key(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = match text.chars().next()? {
        quote @ ('"' | '\'') => {
            let (key, rest) = text[1..].split_once(quote)?;
            let rest = rest.trim_start().strip_prefix(':')?;
            return (key.len() <= LONGEST_KEY).then_some((key, rest.trim_start()));
        }
        _ => {
            let colon = text.char_indices().find(|(at, one)| *one == ':' && ends_key(text, *at))?.0;
            (text[..colon].trim_end(), &text[colon + 1..])
        }
    };
    let is_key = !key.is_empty()
        && key.len() <= LONGEST_KEY
        && !key.contains(|one: char| one.is_whitespace() || "\"'`[]{},#*&!|>%@".contains(one));
    is_key.then(|| (key, rest.trim_start()))
}

fn ends_key(text: &str, colon: usize) -> bool {
    let rest = &text[colon + 1..];
    rest.is_empty()
        || rest.starts_with(char::is_whitespace)
        || (CRAMPED_KEYS.contains(&&text[..colon]) && !rest.starts_with([':', '/']))
}
