//! The bound of what placeholders add to an answer: a key of short lines would take many times the limit of the engine.

use std::ops::Range;

use crate::markers;

/// The most bytes that placeholders may add to a text.
const MOST_GROWTH_BYTES: usize = 1 << 20;

/// Returns how many bytes at the start of a masked text are within the bound, up to the end of a line; `None` if all are.
pub(super) fn start_within_growth(plain: &str, masked: &str) -> Option<usize> {
    let most = plain.len().saturating_add(MOST_GROWTH_BYTES);
    (masked.len() > most).then(|| lines_end(masked, most))
}

/// Returns the start and the end of masked output that are within the bound, with a line between them that says so; `None` if all of
/// it is.
pub(super) fn output_within_growth(plain: &str, masked: &str) -> Option<String> {
    let most = plain.len().saturating_add(MOST_GROWTH_BYTES);
    if masked.len() <= most {
        return None;
    }
    let start = &masked[..lines_end(masked, most / 2)];
    let end = &masked[lines_start(masked, masked.len() - most / 2)..];
    let omitted = masked.len() - start.len() - end.len();
    Some(format!("{start}\n… {omitted} bytes left out, since placeholders make the output too long …\n{end}"))
}

/// Returns where the whole lines of a masked text end that have at most some bytes; in the first line, in front of a placeholder that
/// would be cut.
fn lines_end(masked: &str, most_bytes: usize) -> usize {
    let end = masked.floor_char_boundary(most_bytes);
    if let Some(line) = masked[..end].rfind('\n') {
        return line + 1;
    }
    marker_over(masked, end).map_or(end, |range| range.start)
}

/// Returns where the whole lines of a masked text begin behind a byte; in the last line, behind a placeholder that would be cut.
fn lines_start(masked: &str, from: usize) -> usize {
    let start = masked.ceil_char_boundary(from);
    let line = masked[start..].find('\n').map(|line| start + line + 1);
    if let Some(line) = line.filter(|line| *line < masked.len()) {
        return line;
    }
    marker_over(masked, start).map_or(start, |range| range.end)
}

/// Returns the placeholder of which a byte is not the first.
fn marker_over(masked: &str, byte: usize) -> Option<Range<usize>> {
    let last = markers(masked).map(|(range, _)| range).take_while(|range| range.start < byte).last();
    last.filter(|range| range.end > byte)
}
