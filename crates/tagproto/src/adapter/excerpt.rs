//! The piece of a file that a failure shows, as the engine's error carries it.

use serde_json::Value;
use wap_core::{FileVersion, LineConflict, LineSpan, WapError};

/// Numbered lines of the current text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The lines, each with its number.
    pub(super) text: String,
    /// Which version they are of.
    pub(super) version: FileVersion,
    /// Which lines they are, as far as the engine says so.
    pub(super) lines: Vec<LineSpan>,
}

impl Excerpt {
    /// Takes the excerpt out of an error; `None` if it has none.
    pub(super) fn of(error: &WapError) -> Option<Excerpt> {
        let text = text_detail(error, "currentText").filter(|text| !text.trim().is_empty())?;
        let number = |name| error.detail(name).and_then(Value::as_u64);
        let text = text.trim_end_matches('\n').to_owned();
        let version = FileVersion(text_detail(error, "currentVersion").unwrap_or_default().to_owned());
        let lines = match LineConflict::of(error) {
            Some(conflict) => conflict.excerpts,
            None => {
                let lines = number("currentFirstLine").zip(number("currentLastLine"));
                lines.map(|(first, last)| LineSpan { first, last }).into_iter().collect()
            }
        };
        let lines = if version.0.is_empty() { Vec::new() } else { lines };
        Some(Excerpt { text, version, lines })
    }
}

/// Returns a detail that is a text.
pub(super) fn text_detail<'a>(error: &'a WapError, name: &str) -> Option<&'a str> {
    error.detail(name).and_then(Value::as_str)
}
