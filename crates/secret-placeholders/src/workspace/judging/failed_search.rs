//! A text that an edit searches for and that does not occur.

use text_edit::{EditError, EditErrorKind, NearestPassage, NoMatch};
use wap_core::{LineConflict, LineDoubt, WapError};

use crate::markers;

/// The maximum number of characters of a line that a refusal quotes.
const MOST_CHARACTERS: usize = 120;

/// The advice about a line with a placeholder.
const ADVICE: &str =
    "values of the file are hidden: in their place, write the placeholders that the file shows";

/// The search by which an edit has failed, without the searched text.
///
/// The model's text may be a guess of a value. Masked, it would reveal whether the guess was right: it would have the
/// placeholder of the value, so both sides of "is … and not …" would read the same. So a refusal quotes only the file.
#[derive(Debug, Default)]
pub(super) struct FailedSearch {
    is_absent: bool,
    /// The first line of the file that differs, with its number.
    line: Option<(usize, String)>,
}

impl FailedSearch {
    /// Removes the model's text from an error.
    pub(super) fn taken_from(&mut self, error: EditError) -> EditError {
        let EditErrorKind::NoMatch(reason) = error.kind else { return error };
        let reason = match *reason {
            NoMatch::Absent { nearest, new_text } => {
                self.is_absent = true;
                let nearest = nearest.map(|NearestPassage { lines, difference }| {
                    let present =
                        difference.and_then(|one| Some((lines.start() + one.line_index, one.present?)));
                    self.line = present;
                    NearestPassage { lines, difference: None }
                });
                NoMatch::Absent { nearest, new_text }
            }
            NoMatch::NoAnchor { after, .. } => {
                self.is_absent = true;
                NoMatch::NoAnchor { line: "…".to_owned(), after }
            }
            other => other,
        };
        EditError { kind: EditErrorKind::NoMatch(Box::new(reason)), ..error }
    }

    /// Adds to the error what the model can do. `view` returns a line as the model sees it.
    pub(super) fn explain(&self, error: WapError, view: &dyn Fn(&str) -> String) -> WapError {
        if !self.is_absent {
            return error;
        }
        let mut text = error.message().to_owned();
        if let Some((number, line)) = &self.line {
            text.push_str(&format!("; line {number} is `{}`", cut(&view(line))));
        }
        // Without a line like the text, any line of the file may be the intended one.
        if quotes_placeholder(&error).unwrap_or(true) {
            text.push_str(&format!("; {ADVICE}"));
        }
        with_text(&error, text)
    }
}

/// Adds the advice to the refusal of an edit whose stated line differs, if the actual line has placeholders.
pub(in crate::workspace) fn with_advice(error: WapError) -> WapError {
    let is_compared =
        LineConflict::of(&error).is_some_and(|conflict| conflict.doubt == LineDoubt::WasDiffers);
    match is_compared && quotes_placeholder(&error) == Some(true) {
        true => with_text(&error, format!("{}; {ADVICE}", error.message())),
        false => error,
    }
}

/// Checks whether a refusal quotes a line with a placeholder; `None` if it quotes none.
fn quotes_placeholder(error: &WapError) -> Option<bool> {
    let excerpt = error.detail("currentText").and_then(serde_json::Value::as_str)?;
    Some(markers(excerpt).next().is_some())
}

fn with_text(error: &WapError, text: String) -> WapError {
    let explained = WapError::new(error.reason(), text);
    error.details().fold(explained, |explained, (name, value)| explained.with(name, value.clone()))
}

/// Returns the beginning of a line, without a part of a placeholder.
fn cut(line: &str) -> String {
    let Some((mut end, _)) = line.char_indices().nth(MOST_CHARACTERS) else { return line.to_owned() };
    if let Some((range, _)) = markers(line).find(|(range, _)| range.contains(&end)) {
        end = range.start;
    }
    format!("{}…", &line[..end])
}
