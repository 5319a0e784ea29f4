//! The limit on growth by placeholders: a key of short lines would take many times the engine's limit.

use std::ops::Range;

use crate::markers;

/// The maximum number of bytes that placeholders may add to a text.
const MOST_GROWTH_BYTES: usize = 1 << 20;

/// Returns how many bytes at the start of a masked text are within the bound, up to the end of a line; `None` if all are.
pub(super) fn start_within_growth(plain: &str, masked: &str) -> Option<usize> {
    let most = plain.len().saturating_add(MOST_GROWTH_BYTES);
    (masked.len() > most).then(|| lines_end(masked, most))
}

/// Returns the start and the end of masked output that are within the bound, with a line about the gap between them;
/// `None` if all of it is.
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

/// Returns the end of the whole lines that fit in `most_bytes`; within the first line, before a placeholder that would
/// be cut.
fn lines_end(masked: &str, most_bytes: usize) -> usize {
    let end = masked.floor_char_boundary(most_bytes);
    if let Some(line) = masked[..end].rfind('\n') {
        return line + 1;
    }
    marker_over(masked, end).map_or(end, |range| range.start)
}

/// Returns the start of the whole lines after a byte; within the last line, after a placeholder that would be cut.
fn lines_start(masked: &str, from: usize) -> usize {
    let start = masked.ceil_char_boundary(from);
    let line = masked[start..].find('\n').map(|line| start + line + 1);
    if let Some(line) = line.filter(|line| *line < masked.len()) {
        return line;
    }
    marker_over(masked, start).map_or(start, |range| range.end)
}

/// Returns the placeholder that contains a byte other than as its first.
fn marker_over(masked: &str, byte: usize) -> Option<Range<usize>> {
    let last = markers(masked).map(|(range, _)| range).take_while(|range| range.start < byte).last();
    last.filter(|range| range.end > byte)
}
