//! New lines of an edit by text that do not look like the file, where nothing in the edit says why.

use crate::text_match::{is_curly, is_quote};
use crate::{EditErrorKind, MatchRule, SearchText, Source, TextContent, TextMatch};

/// Refuses new lines that were probably changed on their way from the model.
///
/// # Errors
///
/// [`EditErrorKind::OtherIndentation`] and [`EditErrorKind::OtherQuotes`].
pub(crate) fn check(
    source: &Source<'_>,
    search: &SearchText,
    replacement: &str,
    passage: &TextMatch,
    contents: &[TextContent],
) -> Result<(), EditErrorKind> {
    let lines = || passage.lines.clone();
    if let Some((content_line, given, usual)) = other_indentation(source, search, replacement, contents) {
        return Err(EditErrorKind::OtherIndentation { content_line, given, usual, lines: lines() });
    }
    let is_evident = passage.rules.contains(&MatchRule::Quotes);
    match other_quotes(source, search, replacement, contents).filter(|_| !is_evident) {
        Some(content_line) => Err(EditErrorKind::OtherQuotes { content_line, lines: lines() }),
        None => Ok(()),
    }
}

/// Finds a new line with curly quotes in an edit that adds no straight ones, of a text that has no curly ones.
fn other_quotes(
    source: &Source<'_>,
    search: &SearchText,
    replacement: &str,
    contents: &[TextContent],
) -> Option<usize> {
    let new_lines = || contents.iter().flat_map(|content| content.content.iter());
    let is_doubtful = new_lines().any(|line| line.contains(is_curly))
        && !new_lines().any(|line| line.contains(is_quote))
        && !search.as_str().contains(is_curly);
    let has_curly = || {
        (1..=source.total_lines())
            .any(|number| source.line_text(number).is_some_and(|line| line.contains(is_curly)))
    };
    if !is_doubtful || has_curly() {
        return None;
    }
    replacement.lines().position(|line| line.contains(is_curly)).map(|index| index + 1)
}

/// The fewest lines with one kind of indentation that make it the usual one.
const USUAL_LINES: usize = 2;

/// Finds a new line that is indented with tabs, where all indented lines of the text are so with blanks, or the other way
/// round. The search text gave no evidence, since it would have been allowed for: the new lines may have been changed on their way.
///
/// Single blanks count as neither: continued comments begin with one in any file.
fn other_indentation(
    source: &Source<'_>,
    search: &SearchText,
    replacement: &str,
    contents: &[TextContent],
) -> Option<(usize, &'static str, &'static str)> {
    let kind = |line: &str| {
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        match indent.contains('\t') {
            _ if indent.len() == line.len() => None,
            true => Some(TABS),
            false => (indent.len() > 1).then_some(BLANKS),
        }
    };
    let is_new = |line: &str| !search.as_str().lines().any(|old| old == line);
    let new_lines = contents.iter().flat_map(|content| content.content.iter());
    // Most edits have no such line, and cost no look at the whole text.
    let given: Vec<&'static str> = new_lines.filter_map(kind).collect();
    let has = |wanted: &'static str| given.contains(&wanted);
    if !has(TABS) && !has(BLANKS) {
        return None;
    }
    let (mut tabs, mut blanks) = (0, 0);
    for number in 1..=source.total_lines() {
        match source.line_text(number).and_then(|line| kind(&line)) {
            Some(TABS) => tabs += 1,
            Some(_) => blanks += 1,
            None => {}
        }
        // Usually the first indented line is like the new ones.
        if (tabs > 0 || !has(TABS)) && (blanks > 0 || !has(BLANKS)) {
            return None;
        }
    }
    let (other, usual) = match (tabs, blanks) {
        (0, blanks) if blanks >= USUAL_LINES && has(TABS) => (TABS, BLANKS),
        (tabs, 0) if tabs >= USUAL_LINES && has(BLANKS) => (BLANKS, TABS),
        _ => return None,
    };
    let index = replacement.lines().position(|line| kind(line) == Some(other) && is_new(line))?;
    Some((index + 1, other, usual))
}

const TABS: &str = "tabs";
const BLANKS: &str = "blanks";
