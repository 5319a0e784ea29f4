//! Turns refused edits into answers.

use serde_json::Value;
use text_edit::{EditError, EditErrorKind, ExcerptLimits, NoMatch, Source, excerpt};
use wap_core::{FileVersion, Reason, WapError};

/// The number of lines that a refusal quotes on both sides of the lines in question.
pub(crate) const CONTEXT_LINES: usize = 3;

/// Turns a refused edit into an answer that quotes the text in question. `base` is the text that the request's line
/// numbers mean, `current` the text of the file, at `current_version`.
#[must_use]
pub fn edit_error(
    error: &EditError,
    path: &str,
    base: &Source<'_>,
    current: &Source<'_>,
    current_version: FileVersion,
) -> WapError {
    use EditErrorKind as Kind;
    let reason = match &error.kind {
        Kind::NoOperations => Reason::InvalidField,
        Kind::Binary(_) | Kind::Undecodable { .. } => Reason::BinaryFile,
        Kind::InvalidRange { .. } | Kind::InvalidPosition { .. } => Reason::InvalidRange,
        Kind::Conflict(_) | Kind::Stale(_) => Reason::Conflict,
        Kind::UnfitIndentation { .. }
        | Kind::UncertainNumbers { .. }
        | Kind::UndecodableMatch { .. }
        | Kind::OtherIndentation { .. }
        | Kind::OtherQuotes { .. }
        | Kind::NoBreakSpaces { .. }
        | Kind::AlreadyThere { .. } => Reason::Conflict,
        Kind::NoMatch(reason) if matches!(**reason, NoMatch::Empty) => Reason::InvalidField,
        Kind::NoMatch(_) => Reason::Conflict,
        Kind::Unencodable { .. } => Reason::InvalidField,
        Kind::BadFlag { .. }
        | Kind::InvalidRegex { .. }
        | Kind::UnsupportedRegex { .. }
        | Kind::PatternTooLong { .. }
        | Kind::RegexTooLarge { .. }
        | Kind::BadGroup { .. }
        | Kind::BackslashGroup { .. } => Reason::InvalidRegex,
        Kind::TooManyReferences { .. } => Reason::InvalidRegex,
        Kind::TooMuchWork { .. } | Kind::TooManyStretches { .. } => Reason::InvalidField,
        Kind::Cancelled => Reason::Cancelled,
        Kind::ResultTooLarge { .. } => Reason::RequestTooLarge,
    };
    let mut wap =
        WapError::new(reason, error.to_string()).with("path", path).with("currentVersion", current_version.0);
    if let Kind::InvalidRange { total_lines, .. } | Kind::InvalidPosition { total_lines, .. } = &error.kind {
        wap = wap.with("totalLines", *total_lines as u64);
    } else {
        wap = wap.with("totalLines", current.total_lines() as u64);
    }
    if let Some(lines) = error.kind.lines_in_question() {
        // A stale edit counts lines of the current text; the others count lines of the text that the numbers mean.
        let around = if matches!(error.kind, Kind::Stale(_)) { current } else { base };
        let first = lines.start().saturating_sub(CONTEXT_LINES).max(1);
        let last = (lines.end() + CONTEXT_LINES).min(around.total_lines());
        let text = excerpt(around, lines, CONTEXT_LINES, &ExcerptLimits::default());
        wap = wap.with("currentText", text.to_string());
        // Line numbers of another version would be wrong as numbers of the current text, so they are left out.
        if std::ptr::eq(around, current) || around.bytes() == current.bytes() {
            wap = wap.with("currentFirstLine", first as u64).with("currentLastLine", last as u64);
        }
    }
    if let Kind::NoMatch(reason) = &error.kind {
        match reason.as_ref() {
            NoMatch::Empty => wap = wap.with("field", "oldText"),
            NoMatch::NoAnchor { .. } => {}
            NoMatch::Occurs { count, line_numbers, .. } => {
                let lines: Vec<Value> = line_numbers.iter().map(|line| Value::from(*line)).collect();
                wap = wap.with("matches", *count as u64).with("matchLines", lines);
            }
            NoMatch::Absent { nearest, .. } => {
                let lines = nearest.as_ref().map(|nearest| [*nearest.lines.start(), *nearest.lines.end()]);
                wap = wap.with("matches", 0u64);
                if let Some(lines) = lines {
                    wap = wap.with("nearestLines", lines.map(Value::from).to_vec());
                }
            }
        }
    }
    if let Kind::Stale(stale) = &error.kind {
        wap = wap.with("expectedText", stale.expected.clone()).with("alreadyApplied", stale.already_applied);
        if let Some(moved) = &stale.moved_to {
            let hint = format!("the same lines are now at {}-{}", moved.start(), moved.end());
            let lines = vec![Value::from(*moved.start()), Value::from(*moved.end())];
            wap = wap.with("hint", hint).with("movedTo", lines);
        }
    }
    wap
}
