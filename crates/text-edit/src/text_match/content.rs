//! The lines that replace a match of whole lines.

use std::borrow::Cow;
use std::ops::Range;

use super::{MatchRule, SearchText, TextMatch, anchors, view_numbers};
use crate::{LineMap, Lines, Source};

/// Lines to be replaced, and the new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextContent {
    /// The lines to remove, as 0-based half-open indexes; empty for an insertion.
    pub lines: Range<usize>,
    /// The lines to add.
    pub content: Lines,
}

impl TextMatch {
    /// Returns the edits that replace a match of whole lines by `replacement`, in the order of the text; none if that changes
    /// nothing.
    ///
    /// Lines that the replacement has in common with the search text keep their bytes in the file. The others get the indentation
    /// and quotes of the match. `None` if a new line has less indentation than has to be removed, or an indentation that the file
    /// has both with tabs and with spaces; and for a match that may begin and end within lines, which only
    /// [`apply`](crate::apply) can replace.
    #[must_use]
    pub fn content(
        &self,
        source: &Source<'_>,
        search: &SearchText,
        replacement: &str,
    ) -> Option<Vec<TextContent>> {
        if self.is_within_lines || search.is_anchor && !anchors::are_fit(source, search, self, replacement) {
            return None;
        }
        let replacement = replacement.replace("\r\n", "\n");
        let passage = self.lines.start() - 1..*self.lines.end();
        // Without its line feed, the last line remains as a blank one.
        let is_blank = replacement.is_empty() && !search.is_whole_lines && !search.text.ends_with('\n');
        let mut replacement = if is_blank { vec![""] } else { whole_lines(&replacement) };
        let search = search.as_lines();
        let mut search_text = search.text;
        if self.rules.contains(&MatchRule::ViewNumbers) {
            let numbered: Vec<&str> = search_text.split('\n').collect();
            replacement = view_numbers::of_replacement(&numbered, &replacement, self.is_among_rows(source))?;
            search_text = view_numbers::without(&numbered)?;
        } else {
            // With it, a blank last line is a line.
            search_text.push('\n');
        }
        let new_text: String = replacement.iter().flat_map(|line| [line, "\n"]).collect();
        let (Ok(old), Ok(new)) = (Source::parse(search_text.as_bytes()), Source::parse(new_text.as_bytes()))
        else {
            return None;
        };
        let mut contents = Vec::new();
        for hunk in LineMap::between(&old, &new).hunks() {
            let mut lines = Vec::with_capacity(hunk.new.len());
            for line in &replacement[hunk.new.clone()] {
                lines.push(match self.present_line(source, &search_text, line) {
                    Some(present) => Cow::Owned(present),
                    None if self.form.is_ambiguous(line, source) => return None,
                    None => self.form.line(line)?,
                });
            }
            let lines_here = passage.start + hunk.old.start..passage.start + hunk.old.end;
            contents.push(TextContent { lines: lines_here, content: Lines::from_body(lines) });
        }
        Some(contents)
    }
}

impl TextMatch {
    /// Checks whether numbers that look like those of a view may be fields of the replacement's lines, so that
    /// [`content`](Self::content) returns `None`.
    pub(crate) fn has_uncertain_numbers(
        &self,
        source: &Source<'_>,
        search: &SearchText,
        replacement: &str,
    ) -> bool {
        let search = search.as_lines();
        self.rules.contains(&MatchRule::ViewNumbers)
            && view_numbers::of_replacement(
                &search.lines(),
                &whole_lines(replacement),
                self.is_among_rows(source),
            )
            .is_none()
    }

    /// Checks whether one of the lines of the match, or of those around it, begins with a number as in a view.
    fn is_among_rows(&self, source: &Source<'_>) -> bool {
        let first = self.lines.start().saturating_sub(1).max(1);
        let width = source.total_lines().to_string().len();
        (first..=self.lines.end() + 1)
            .any(|number| source.line_text(number).is_some_and(|line| view_numbers::is_row(&line, width)))
    }

    /// Returns the line of the file that a new line repeats from the search text, if they differ in trailing whitespace and all
    /// such lines of the file are the same. A comparison does not keep every repeated line.
    fn present_line(&self, source: &Source<'_>, search_text: &str, line: &str) -> Option<String> {
        // Blank lines are interchangeable: which of them a new one repeats is unknown.
        if !self.rules.contains(&MatchRule::TrailingBlanks) || line.trim().is_empty() {
            return None;
        }
        let same = search_text.lines().enumerate().filter(|(_, other)| *other == line);
        let mut present = same.filter_map(|(index, _)| source.line_text(self.lines.start() + index));
        let first = present.next()?;
        let bare = |text: &str| text.trim_end_matches([' ', '\t']).len();
        // `Form` handles another indentation.
        let is_trailing_only = first[..bare(&first)] == line[..bare(line)];
        (is_trailing_only && present.all(|other| other == first)).then(|| first.into_owned())
    }
}

/// Returns the lines of a replacement; the empty text has none.
fn whole_lines(text: &str) -> Vec<&str> {
    match text.strip_suffix('\n').unwrap_or(text) {
        "" if text.is_empty() => Vec::new(),
        lines => lines.split('\n').collect(),
    }
}
