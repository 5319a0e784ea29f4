//! The piece of a file that a failure shows, as the engine's error carries it.

use serde_json::Value;
use wap_core::{FileVersion, LineSpan, WapError};

/// Numbered lines of the current text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The lines, each with its number.
    pub(super) text: String,
    /// Which lines of which version they are, if the engine says so.
    pub(super) shown: Option<(FileVersion, LineSpan)>,
}

impl Excerpt {
    /// Takes the excerpt out of an error; `None` if it has none.
    pub(super) fn of(error: &WapError) -> Option<Excerpt> {
        let text = text_detail(error, "currentText").filter(|text| !text.trim().is_empty())?;
        let number = |name| error.detail(name).and_then(Value::as_u64);
        let version = text_detail(error, "currentVersion").map(|version| FileVersion(version.to_owned()));
        let lines = number("currentFirstLine").zip(number("currentLastLine"));
        let shown = version.zip(lines.map(|(first, last)| LineSpan { first, last }));
        Some(Excerpt { text: text.trim_end_matches('\n').to_owned(), shown })
    }
}

/// Returns a detail that is a text.
pub(super) fn text_detail<'a>(error: &'a WapError, name: &str) -> Option<&'a str> {
    error.detail(name).and_then(Value::as_str)
}
