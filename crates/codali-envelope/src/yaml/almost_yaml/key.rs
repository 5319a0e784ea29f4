//! Recognizes a key at the start of a line.

/// The longest key in bytes.
const LONGEST_KEY: usize = 64;

/// The fields of needs, in every accepted spelling.
const FIELDS: [&str; 42] = [
    "allowedPaths",
    "allowed_paths",
    "depth",
    "dirsOnly",
    "dirs_only",
    "docId",
    "doc_id",
    "endLine",
    "end_line",
    "file",
    "forceWeb",
    "force_web",
    "format",
    "goal",
    "head",
    "includeHidden",
    "include_hidden",
    "limit",
    "maxDepth",
    "maxNodes",
    "maxSteps",
    "maxToolCalls",
    "max_depth",
    "max_nodes",
    "max_steps",
    "max_tool_calls",
    "offset",
    "path",
    "paths",
    "pattern",
    "query",
    "readOnly",
    "read_only",
    "root",
    "sessionId",
    "session_id",
    "startLine",
    "start_line",
    "timeoutMs",
    "timeout_ms",
    "tools",
    "window",
];

/// Other keys after which models omit the space.
const OTHER_KEYS: [&str; 8] =
    ["type", "request_id", "requestId", "role", "needs", "context", "summary", "constraints"];

/// Returns true if a key is a field of needs only.
pub(crate) fn is_need_field(key: &str) -> bool {
    // The list is sorted.
    FIELDS.binary_search(&key).is_ok()
}

/// Returns true for a known key, which is recognized without a space after its colon or after a dash.
pub(crate) fn is_known(key: &str) -> bool {
    is_need_field(key) || OTHER_KEYS.contains(&key)
}

/// Returns true if a value follows the colon of its key directly, and YAML would find no other key in the line.
pub(crate) fn is_cramped(text: &str) -> bool {
    split_key(text).is_some_and(|(key, value)| {
        let tail = text.strip_prefix(key).and_then(|rest| rest.strip_prefix(':'));
        let is_other_key = value.ends_with(':') || value.contains(": ");
        !value.is_empty()
            && tail == Some(value)
            && (!is_other_key || value.starts_with(['"', '\'', '[', '{']))
    })
}

/// Splits a line into its key and the value after the colon, trimmed at the start; `None` if it has no key.
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
        // Not `path::to` and not `file://`, which are values.
        || (is_known(&text[..colon]) && !rest.starts_with([':', '/']))
}
