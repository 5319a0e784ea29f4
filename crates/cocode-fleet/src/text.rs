//! Texts within bounds.

/// Returns a text without what is beyond `limit_bytes`, cut between characters.
pub(crate) fn cut(text: &str, limit_bytes: usize) -> String {
    let end = (0..=limit_bytes.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text[..end].to_owned()
}

/// Returns an error with its causes, on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
