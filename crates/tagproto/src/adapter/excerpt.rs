//! The excerpt of a file in a failure, from the engine's error.

use serde_json::Value;
use wap_core::{FileVersion, LineConflict, LineSpan, WapError, numbered_line};

/// Numbered lines of the current text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The lines, each with its number.
    pub(super) text: String,
    /// The version of the file.
    pub(super) version: FileVersion,
    /// The ranges of the lines; empty if the engine does not report them.
    pub(super) lines: Vec<LineSpan>,
}

impl Excerpt {
    /// Returns the excerpt in an error; `None` if it has none.
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
        // Without a version, recording the lines as shown would let a later edit refer to nothing.
        let lines = if version.0.is_empty() { Vec::new() } else { lines };
        Some(Excerpt { text, version, lines })
    }

    /// Returns the lines with spaces around the bar: `12 | text`.
    pub(super) fn spaced(&self) -> String {
        let spaced = |line: &str| match numbered_line(line) {
            Some((_, text)) => format!("{} | {text}", &line[..line.len() - text.len() - 1]),
            None => line.to_owned(),
        };
        self.text.split('\n').map(spaced).collect::<Vec<_>>().join("\n")
    }
}

/// Returns a detail that is a string.
pub(super) fn text_detail<'a>(error: &'a WapError, name: &str) -> Option<&'a str> {
    error.detail(name).and_then(Value::as_str)
}
