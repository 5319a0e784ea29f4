//! Texts within bounds.

/// Returns a text truncated to `limit_bytes`, between characters.
pub(crate) fn cut(text: &str, limit_bytes: usize) -> String {
    let end = (0..=limit_bytes.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text[..end].to_owned()
}

/// Returns an error with its causes, on one line. A cause that the text before it ends with is not repeated: the errors of the
/// client library print theirs.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("no server{0}")]
    struct Outer(&'static str, #[source] Error);

    #[test]
    fn a_cause_is_said_once() {
        let refused = || Error::other("refused");
        assert_eq!(chain(&Outer("", refused())), "no server: refused");
        assert_eq!(chain(&Outer(": refused", refused())), "no server: refused");
    }
}
