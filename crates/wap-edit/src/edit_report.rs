//! The changed lines of an edit with their new numbers, and the usual symptom of a wrong number, for a model to check.

use text_edit::{Edited, ExcerptLimits, Hunk, LineMap, Shift, Source, excerpt};
use wap_core::ChangedLines;

/// The lines of context on both sides of changed ones.
const CONTEXT_LINES: usize = 2;

/// The most passages of one report.
const MOST_PASSAGES: usize = 3;

/// The bounds of one passage.
const PASSAGE: ExcerptLimits = ExcerptLimits { line_limit: 12, line_limit_chars: 160 };

/// The fewest non-blank characters of a line whose repetition is suspicious; closing brackets repeat in any code.
const TELLING_CHARACTERS: usize = 5;

/// Reports the lines that an edit changed; `None` if no line changed.
pub(crate) fn changed_lines(edited: &Edited) -> Option<ChangedLines> {
    let source = Source::parse(&edited.bytes).ok()?;
    let report = passages(&source, &edited.line_map)?;
    Some(ChangedLines { notes: repetition_notes(&source, edited.line_map.hunks()), ..report })
}

/// Reports the lines that a map from another version changes, without notes; `None` if it changes none.
pub(crate) fn passages(source: &Source<'_>, line_map: &LineMap) -> Option<ChangedLines> {
    let hunks = line_map.hunks();
    if hunks.is_empty() {
        return None;
    }
    let mut report = ChangedLines::default();
    let mut reported = 0;
    for hunk in hunks.iter().take(MOST_PASSAGES) {
        let (first, last) = new_lines(hunk);
        // Passages do not overlap: this one begins after the previous one.
        let from = first.saturating_sub(CONTEXT_LINES).max(reported + 1);
        let to = last.saturating_add(CONTEXT_LINES).min(source.total_lines());
        if from > to {
            continue;
        }
        let passage = excerpt(source, from..=to, 0, &PASSAGE);
        let Some((start, end)) = passage.lines.first().zip(passage.lines.last()) else { continue };
        if reported == 0 {
            report.first_line = start.line_number as u64;
        } else if start.line_number > reported + 1 {
            report.text.push_str("...\n");
        }
        report.text.push_str(&passage.to_string());
        if passage.omitted_lines > 0 {
            report.text.push_str(&format!("({} more lines)\n", passage.omitted_lines));
        }
        report.last_line = end.line_number as u64;
        reported = to;
    }
    if hunks.len() > MOST_PASSAGES {
        report.text.push_str(&format!("(and {} more passages)\n", hunks.len() - MOST_PASSAGES));
    }
    report.text.push_str(&moves(&line_map.shifts()));
    Some(report)
}

/// Returns the first and the last new line of a hunk, 1-based. A deletion leaves no line: the lines around it represent it.
fn new_lines(hunk: &Hunk) -> (usize, usize) {
    // For a deletion this is the empty range between the lines around it.
    (hunk.new.start + 1, hunk.new.end)
}

/// Renders how later lines moved.
fn moves(shifts: &[Shift]) -> String {
    let mut text = String::new();
    for shift in shifts.iter().take(MOST_PASSAGES) {
        let (from, lines) = (shift.from_line, shift.by.unsigned_abs());
        let unit = if lines == 1 { "line" } else { "lines" };
        match shift.by {
            0 => text.push_str(&format!("(old lines from {from} on keep their numbers)\n")),
            ..0 => text.push_str(&format!("(old lines from {from} on moved up by {lines} {unit})\n")),
            1.. => text.push_str(&format!("(old lines from {from} on moved down by {lines} {unit})\n")),
        }
    }
    text
}

/// Returns notes on new lines that repeat the line just before or after the replaced ones.
fn repetition_notes(source: &Source<'_>, hunks: &[Hunk]) -> Vec<String> {
    let line = |number: usize| source.line_text(number).filter(|text| is_telling(text));
    let repeats = |new: usize, other: usize| {
        // Line 0 is the top of the file: there is nothing.
        other > 0 && line(new).is_some_and(|text| line(other).is_some_and(|neighbour| neighbour == text))
    };
    let mut notes = Vec::new();
    for hunk in hunks.iter().filter(|hunk| !hunk.new.is_empty()).take(MOST_PASSAGES) {
        let (first, last) = (hunk.new.start + 1, hunk.new.end);
        for (new, other, side) in [(first, first - 1, "before"), (last, last + 1, "after")] {
            if repeats(new, other) {
                notes.push(format!(
                    "line {new} repeats line {other}, just {side} the edited lines: check that the line numbers were right"
                ));
            }
        }
    }
    notes
}

fn is_telling(text: &str) -> bool {
    text.chars().filter(|character| !character.is_whitespace()).count() >= TELLING_CHARACTERS
}
