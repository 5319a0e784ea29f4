//! Texts to replace that stood at several places when the client saw the file, or at another one.

use std::ops::RangeInclusive;

use text_edit::{
    ExcerptLimits, LineMap, Mapped, MappedRange, MatchRule, NoMatch, Operation, SearchText, Source,
    TextMatch, excerpt, find_text,
};
use wap_core::{FileVersion, ModifyFile, Reason, WapError};

use crate::error::CONTEXT_LINES;
use crate::file_edit::FileEdit;

/// The text that an operation looks for in the whole file, where it has to stand once.
pub(crate) fn whole_file_search(operation: &Operation) -> Option<&SearchText> {
    match operation {
        Operation::ReplaceText { search, expected: 1, within: None, .. } => Some(search),
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
    /// places then, or it stood elsewhere, and what stands here differs from it by more than what stood there.
    ///
    /// `map` leads from `earlier` to the present text.
    pub(crate) fn check_stood_once(
        &self,
        search: &SearchText,
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
            Ok(shown) if is_another(&shown, &present, map) => {
                let message = format!(
                    "the search text stood at line {} when you saw the file, and that has changed; line {line} is like it, \
                     but stood elsewhere: copy the lines that you mean from the file as it is now",
                    shown.lines.start()
                );
                Err(self.doubtful_text(&message, present.lines))
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

/// Checks whether a text that is found by now is another one than the text that stood in an earlier version: it differs from the
/// search text in another way, and does not stand where the earlier one did.
///
/// The same lines may have moved; lines that were indented anew stand in the place of those before.
fn is_another(shown: &TextMatch, present: &TextMatch, map: &LineMap) -> bool {
    if shown.rules == present.rules {
        return false;
    }
    let is_kept_elsewhere = |(then, now): (usize, usize)| match map.map(then) {
        Mapped::Kept(line) => line != now,
        Mapped::Changed => false,
    };
    let is_in_its_place = match map.map_range(shown.lines.clone()) {
        MappedRange::Kept(lines) => lines == present.lines,
        MappedRange::Interrupted { .. } => false,
        MappedRange::Changed { now } => {
            now.start < *present.lines.start()
                && *present.lines.end() <= now.end
                && !shown.lines.clone().zip(present.lines.clone()).any(is_kept_elsewhere)
        }
    };
    !is_in_its_place
}
