//! No-break spaces at the start of new lines: rendered pages have them instead of plain spaces, and compilers do not accept them.

use crate::{SearchText, Source, TextContent};

/// The spaces with which rendered pages replace plain ones.
const NO_BREAK: [char; 2] = ['\u{a0}', '\u{202f}'];

/// Finds such a line in the replacement of a search text, and returns its 1-based number. Lines that the search text has are not
/// new.
pub(super) fn in_replacement(
    source: &Source<'_>,
    search: &SearchText,
    replacement: &str,
    contents: &[TextContent],
) -> Option<usize> {
    // Most edits have no such line, so that the text need not be scanned.
    let mut new_lines = contents.iter().flat_map(|content| content.content.iter());
    if !new_lines.any(begin) || are_in(source) {
        return None;
    }
    let is_new = |line: &str| !search.as_str().lines().any(|old| old == line);
    let index = replacement.lines().position(|line| begin(line) && is_new(line))?;
    Some(index + 1)
}

/// Checks whether a line of a text begins with no-break spaces.
pub(super) fn are_in(source: &Source<'_>) -> bool {
    (1..=source.total_lines()).any(|number| source.line_text(number).is_some_and(|line| begin(&line)))
}

/// Checks whether a line begins with no-break spaces, possibly after plain ones.
pub(super) fn begin(line: &str) -> bool {
    line.trim_start_matches([' ', '\t']).starts_with(NO_BREAK)
}
