//! Search texts that occurred more than once, or elsewhere, when the client saw the file.

use std::ops::RangeInclusive;

use text_edit::{
    ExcerptLimits, LineMap, MatchRule, NoMatch, Operation, SearchText, Source, excerpt, find_text,
    has_added_lines_around,
};
use wap_core::{FileVersion, ModifyFile, Reason, WapError};

use crate::error::CONTEXT_LINES;
use crate::file_edit::FileEdit;

/// Returns the text that an operation searches for in the whole file, where it has to occur once, and the new text.
pub(crate) fn whole_file_search(operation: &Operation) -> Option<(&SearchText, &str)> {
    match operation {
        Operation::ReplaceText { search, replacement, expected: 1, within: None } => {
            Some((search, replacement))
        }
        _ => None,
    }
}

/// Returns the version of the file for which the client wrote an operation.
pub(crate) fn shown_version(request: &ModifyFile, index: usize) -> Option<&FileVersion> {
    let version =
        request.seen_versions.as_ref().and_then(|versions| versions.by_operation.get(index)?.as_ref());
    request.expected_version.as_ref().or(version)
}

impl FileEdit<'_> {
    /// Refuses a text that now occurs once, if it is not certain that the client saw this occurrence: it occurred several times
    /// before, or it was elsewhere, and this match differs from it in another way than that one. Also refuses a text around which
    /// the new lines were added since, even if these are blank.
    ///
    /// `map` leads from `earlier` to the present text.
    pub(crate) fn check_occurred_once(
        &self,
        (search, replacement): (&SearchText, &str),
        earlier: &Source<'_>,
        map: &LineMap,
    ) -> Result<(), WapError> {
        let Ok(present) = find_text(self.current, search, &MatchRule::ALL, None) else { return Ok(()) };
        let line = *present.lines.start();
        match find_text(earlier, search, &MatchRule::ALL, None) {
            Err(NoMatch::Occurs { count, line_numbers, .. }) => {
                let shown_at: Vec<String> = line_numbers.iter().map(usize::to_string).collect();
                let message = format!(
                    "when you saw the file the search text occurred {count} times (lines {}), and since others have \
                     changed it occurs only at line {line}: it is not certain that you mean this one; add lines around it \
                     that make it unique",
                    shown_at.join(", ")
                );
                Err(self.doubtful_text(&message, present.lines))
            }
            Ok(earlier_match) if earlier_match.is_different_from(&present.lines, &present.rules, map) => {
                let message = format!(
                    "the search text was at line {} when you saw the file, and that has changed; line {line} is like it, \
                     but was elsewhere: copy the lines that you mean from the file as it is now",
                    earlier_match.lines.start()
                );
                Err(self.doubtful_text(&message, present.lines))
            }
            Ok(earlier_match)
                if has_added_lines_around(self.current, search, replacement, &present.lines)
                    && !has_added_lines_around(earlier, search, replacement, &earlier_match.lines) =>
            {
                let message = format!(
                    "already applied, nothing done: the new text is around line {line} since you saw the file"
                );
                Err(self.doubtful_text(&message, present.lines).with("alreadyApplied", true))
            }
            _ => Ok(()),
        }
    }

    fn doubtful_text(&self, message: &str, lines: RangeInclusive<usize>) -> WapError {
        let (first, last) = (*lines.start(), *lines.end());
        let text = excerpt(self.current, lines, CONTEXT_LINES, &ExcerptLimits::default());
        let total = self.current.total_lines();
        WapError::new(Reason::Conflict, format!("'{}': {message}", self.path))
            .with("path", self.path)
            .with("currentVersion", self.version.0.as_str())
            .with("totalLines", total as u64)
            .with("currentText", text.to_string())
            .with("currentFirstLine", first.saturating_sub(CONTEXT_LINES).max(1) as u64)
            .with("currentLastLine", (last + CONTEXT_LINES).min(total) as u64)
    }
}
