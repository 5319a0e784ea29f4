//! Texts to replace that stood at several places when the client saw the file, or at another one.

use std::ops::RangeInclusive;

use text_edit::{
    ExcerptLimits, LineMap, MatchRule, NoMatch, Operation, SearchText, Source, excerpt, find_text,
    stands_around,
};
use wap_core::{FileVersion, ModifyFile, Reason, WapError};

use crate::error::CONTEXT_LINES;
use crate::file_edit::FileEdit;

/// The text that an operation looks for in the whole file, where it has to stand once, and the new one.
pub(crate) fn whole_file_search(operation: &Operation) -> Option<(&SearchText, &str)> {
    match operation {
        Operation::ReplaceText { search, replacement, expected: 1, within: None } => {
            Some((search, replacement))
        }
        _ => None,
    }
}

/// The version of the file that the client wrote an operation for.
pub(crate) fn shown_version(request: &ModifyFile, index: usize) -> Option<&FileVersion> {
    let version =
        request.seen_versions.as_ref().and_then(|versions| versions.by_operation.get(index)?.as_ref());
    request.expected_version.as_ref().or(version)
}

impl FileEdit<'_> {
    /// Refuses a text that stands once by now, if it is not certain that it is the one which the client saw: it stood at several
    /// places then, or it stood elsewhere, and what stands here differs from it by more than what stood there. Refuses one around which
    /// the new lines have been put since, too, even if these are blank.
    ///
    /// `map` leads from `earlier` to the present text.
    pub(crate) fn check_stood_once(
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
                    "when you saw the file the search text stood there {count} times (lines {}), and since others have \
                     changed it stands at line {line} alone: it is not certain that you mean this one; add lines around it \
                     that make it unique",
                    shown_at.join(", ")
                );
                Err(self.doubtful_text(&message, present.lines))
            }
            Ok(earlier_match) if earlier_match.is_another_than(&present.lines, &present.rules, map) => {
                let message = format!(
                    "the search text stood at line {} when you saw the file, and that has changed; line {line} is like it, \
                     but stood elsewhere: copy the lines that you mean from the file as it is now",
                    earlier_match.lines.start()
                );
                Err(self.doubtful_text(&message, present.lines))
            }
            Ok(earlier_match)
                if stands_around(self.current, search, replacement, &present.lines)
                    && !stands_around(earlier, search, replacement, &earlier_match.lines) =>
            {
                let message = format!(
                    "already applied, nothing done: the new text stands around line {line} since you saw the file"
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
