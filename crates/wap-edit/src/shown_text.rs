//! Texts to replace that stood at several places when the client saw the file.

use text_edit::{ExcerptLimits, MatchRule, NoMatch, Operation, SearchText, Source, excerpt, find_text};
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
    /// Refuses a text that stands once by now, and stood at several places when the client saw the file: which of them was
    /// meant is unknown, and it may be one that has changed.
    pub(crate) fn check_stood_once(&self, search: &SearchText, earlier: &Source<'_>) -> Result<(), WapError> {
        let Ok(present) = find_text(self.current, search, &MatchRule::ALL, None) else { return Ok(()) };
        let Err(NoMatch::Occurs { count, line_numbers, .. }) =
            find_text(earlier, search, &MatchRule::ALL, None)
        else {
            return Ok(());
        };
        let (first, last) = (*present.lines.start(), *present.lines.end());
        let shown_at: Vec<String> = line_numbers.iter().map(usize::to_string).collect();
        let message = format!(
            "'{}': when you saw the file the search text stood there {count} times (lines {}), and since others have \
             changed it stands at line {first} alone: it is not certain that you mean this one; add lines around it that \
             make it unique",
            self.path,
            shown_at.join(", "),
        );
        let text = excerpt(self.current, present.lines, CONTEXT_LINES, &ExcerptLimits::default());
        let total = self.current.total_lines();
        Err(WapError::new(Reason::Conflict, message)
            .with("path", self.path)
            .with("currentVersion", self.version.0.as_str())
            .with("totalLines", total as u64)
            .with("currentText", text.to_string())
            .with("currentFirstLine", first.saturating_sub(CONTEXT_LINES).max(1) as u64)
            .with("currentLastLine", (last + CONTEXT_LINES).min(total) as u64))
    }
}
