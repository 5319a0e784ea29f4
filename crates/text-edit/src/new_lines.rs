//! New lines that do not look like the file, without a reason in the edit.

mod no_break_spaces;

use std::ops::RangeInclusive;

use crate::text_match::{is_curly, is_quote};
use crate::{
    EditError, EditErrorKind, Lines, MatchRule, SearchText, Source, TextContent, TextMatch, TextOutcome,
};

/// Refuses new lines that were probably altered on the way from the model.
///
/// # Errors
///
/// [`EditErrorKind::NoBreakSpaces`], [`EditErrorKind::OtherIndentation`] and [`EditErrorKind::OtherQuotes`].
pub(crate) fn check(
    source: &Source<'_>,
    search: &SearchText,
    replacement: &str,
    passage: &TextMatch,
    contents: &[TextContent],
) -> Result<(), EditErrorKind> {
    let lines = || passage.lines.clone();
    if let Some(content_line) = no_break_spaces::in_replacement(source, search, replacement, contents) {
        return Err(EditErrorKind::NoBreakSpaces { content_line, lines: lines() });
    }
    if let Some((content_line, given, usual)) = other_indentation(source, search, replacement, contents) {
        return Err(EditErrorKind::OtherIndentation { content_line, given, usual, lines: lines() });
    }
    let is_evident = passage.rules.contains(&MatchRule::Quotes);
    match other_quotes(source, search, replacement, contents).filter(|_| !is_evident) {
        Some(content_line) => Err(EditErrorKind::OtherQuotes { content_line, lines: lines() }),
        None => Ok(()),
    }
}

/// Finds a new line with curly quotes in an edit that adds no straight ones, of a text without curly ones.
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

/// The fewest lines with one kind of indentation that make it usual.
const USUAL_LINES: usize = 2;

/// Finds a new line that is indented with tabs where all indented lines of the text use spaces, or the other way round. The
/// search text showed no such difference, or it would have been allowed for: the new lines may have been altered in transit.
///
/// Single spaces count as neither: continued comments begin with one in any file.
fn other_indentation(
    source: &Source<'_>,
    search: &SearchText,
    replacement: &str,
    contents: &[TextContent],
) -> Option<(usize, &'static str, &'static str)> {
    let is_new = |line: &str| !search.as_str().lines().any(|old| old == line);
    let new_lines = contents.iter().flat_map(|content| content.content.iter());
    let (other, usual) = other_kind(source, new_lines)?;
    let index = replacement.lines().position(|line| kind(line) == Some(other) && is_new(line))?;
    Some((index + 1, other, usual))
}

/// Returns the indentation of the new lines and that of the text, if one is tabs and the other spaces throughout.
fn other_kind<'l>(
    source: &Source<'_>,
    new_lines: impl Iterator<Item = &'l str>,
) -> Option<(&'static str, &'static str)> {
    // Most edits have no such line, so that the text need not be scanned.
    let given: Vec<&'static str> = new_lines.filter_map(kind).collect();
    let has = |wanted: &'static str| given.contains(&wanted);
    if !has(TABS) && !has(SPACES) {
        return None;
    }
    let (mut tabs, mut spaces) = (0, 0);
    for number in 1..=source.total_lines() {
        match source.line_text(number).and_then(|line| kind(&line)) {
            Some(TABS) => tabs += 1,
            Some(_) => spaces += 1,
            None => {}
        }
        // Usually the first indented line is like the new ones.
        if (tabs > 0 || !has(TABS)) && (spaces > 0 || !has(SPACES)) {
            return None;
        }
    }
    match (tabs, spaces) {
        (0, spaces) if spaces >= USUAL_LINES && has(TABS) => Some((TABS, SPACES)),
        (tabs, 0) if tabs >= USUAL_LINES && has(SPACES) => Some((SPACES, TABS)),
        _ => None,
    }
}

/// New lines that are indented with tabs in a text that is indented with spaces throughout, or the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherIndentation {
    /// The first such line.
    pub line: NewLine,
    /// The indentation of that line: tabs or spaces.
    pub given: &'static str,
    /// The indentation of the text.
    pub usual: &'static str,
}

/// A line of several contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewLine {
    /// The 0-based index of its content.
    pub content_index: usize,
    /// Its 1-based number there.
    pub line_number: usize,
}

impl OtherIndentation {
    /// Finds such lines in the contents of edits by line numbers. Nothing in these shows whether they are intended.
    #[must_use]
    pub fn of(source: &Source<'_>, contents: &[&Lines]) -> Option<OtherIndentation> {
        let (given, usual) = other_kind(source, contents.iter().flat_map(|content| content.iter()))?;
        let line = NewLine::first(contents, |line| kind(line) == Some(given))?;
        Some(OtherIndentation { line, given, usual })
    }
}

impl NewLine {
    /// Finds the first line that begins with no-break spaces, possibly after plain ones; `None` also if a line of the text does.
    ///
    /// # Example
    ///
    /// ```
    /// use text_edit::{Lines, NewLine, Source};
    ///
    /// let new = Lines::from_content("f {\n\u{a0} g()");
    /// let found = NewLine::with_no_break_spaces(&Source::parse(b"f {\n  g()\n}\n")?, &[&new]);
    /// assert_eq!(found, Some(NewLine { content_index: 0, line_number: 2 }));
    /// assert_eq!(NewLine::with_no_break_spaces(&Source::parse("\u{a0} g()\n".as_bytes())?, &[&new]), None);
    /// # Ok::<(), text_edit::BinaryError>(())
    /// ```
    #[must_use]
    pub fn with_no_break_spaces(source: &Source<'_>, contents: &[&Lines]) -> Option<NewLine> {
        NewLine::first(contents, no_break_spaces::begin).filter(|_| !no_break_spaces::are_in(source))
    }

    fn first(contents: &[&Lines], is_wanted: impl Fn(&str) -> bool) -> Option<NewLine> {
        contents.iter().enumerate().find_map(|(content_index, content)| {
            let line_index = content.iter().position(&is_wanted)?;
            Some(NewLine { content_index, line_number: line_index + 1 })
        })
    }
}

const TABS: &str = "tabs";
const SPACES: &str = "spaces";

/// Returns the kind of indentation of a line; `None` for a blank line and for a single space.
fn kind(line: &str) -> Option<&'static str> {
    let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    match indent.contains('\t') {
        _ if indent.len() == line.len() => None,
        true => Some(TABS),
        false => (indent.len() > 1).then_some(SPACES),
    }
}

/// The indentations of all text replacements of one request, which have the same author.
#[derive(Debug, Default)]
pub(crate) struct Indentations {
    /// The indentation of a search text whose match has the other kind.
    exchanged: Option<&'static str>,
    /// New lines whose search text has no indentation to compare.
    unproven: Vec<Unproven>,
}

#[derive(Debug)]
struct Unproven {
    operation_index: usize,
    content_line: usize,
    given: &'static str,
    lines: RangeInclusive<usize>,
}

impl Indentations {
    /// Records a text replacement.
    pub(crate) fn note(
        &mut self,
        operation_index: usize,
        search: &SearchText,
        replacement: &str,
        outcome: &TextOutcome,
    ) {
        let mut old = search.as_str().lines().filter_map(kind);
        if outcome.rules.contains(&MatchRule::TabsAndBlanks) {
            self.exchanged = self.exchanged.or_else(|| old.next());
            return;
        }
        let new = replacement.lines().enumerate().find_map(|(index, line)| Some((index + 1, kind(line)?)));
        if let (None, Some((content_line, given)), Some(lines)) = (old.next(), new, outcome.lines.first()) {
            let lines = lines.clone();
            self.unproven.push(Unproven { operation_index, content_line, given, lines });
        }
    }

    /// Refuses new lines with a kind of indentation that another replacement of the request shows to be wrong.
    ///
    /// # Errors
    ///
    /// [`EditErrorKind::OtherIndentation`].
    pub(crate) fn check(&self) -> Result<(), EditError> {
        let Some(exchanged) = self.exchanged else { return Ok(()) };
        let Some(unproven) = self.unproven.iter().find(|unproven| unproven.given == exchanged) else {
            return Ok(());
        };
        let Unproven { operation_index, content_line, given, ref lines } = *unproven;
        let usual = if given == TABS { SPACES } else { TABS };
        let kind = EditErrorKind::OtherIndentation { content_line, given, usual, lines: lines.clone() };
        Err(EditError::of(operation_index, kind))
    }
}
