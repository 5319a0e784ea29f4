//! The answer to a request that was carried out.

use text_edit::{Edited, Outcome, Source};
use wap_core::{
    FileVersion, Limits, LineShift, ModifyFile, ModifyFileResponse, ModifyOperation, RegexReplacements,
};

use crate::edit_report::changed_lines;
use crate::file_edit::EditedFile;
use crate::near_lines::near_lines;

/// The most notes about regular expressions in one answer; the counts of all are in it.
const MOST_NOTES: usize = 20;

/// The most patterns without a match whose near lines are searched for: each needs a pass over the text.
const MOST_SEARCHES: usize = 3;

impl EditedFile {
    /// Returns the answer for a file that was changed from version `previous` to `version`. `warnings` come before those
    /// of the edit.
    #[must_use]
    pub fn response(
        &self,
        path: String,
        request: &ModifyFile,
        previous: FileVersion,
        version: FileVersion,
        mut warnings: Vec<String>,
    ) -> ModifyFileResponse {
        let shifts = self.edited.line_map.shifts();
        if shifts.len() > Limits::MAX_SHIFTS {
            warnings.push(format!(
                "lines have moved in {} places, of which the first {} are listed: read the file again for line numbers",
                shifts.len(),
                Limits::MAX_SHIFTS
            ));
        }
        let replacements = replacements(request, &self.edited);
        warnings.extend(self.warnings.iter().take(MOST_NOTES).cloned());
        warnings.extend(text_notes(request, &self.edited).take(MOST_NOTES));
        warnings.extend(replacements.iter().filter_map(RegexReplacements::note).take(MOST_NOTES));
        let shifts = shifts
            .iter()
            .take(Limits::MAX_SHIFTS)
            .map(|shift| LineShift { from_line: shift.from_line as u64, by: shift.by as i64 });
        // The version identifies the content: with the same version, no line has changed.
        let is_same = previous == version;
        let sum = |lines: fn(&Outcome) -> usize| match is_same {
            true => 0,
            false => bounded(self.edited.outcomes.iter().map(lines).sum()),
        };
        ModifyFileResponse {
            success: true,
            path,
            version: Some(version),
            previous_version: Some(previous),
            shifts: shifts.collect(),
            carried: self.carried.clone(),
            replacements,
            lines_added: sum(|outcome| outcome.added_lines),
            lines_removed: sum(|outcome| outcome.removed_lines),
            changed: changed_lines(&self.edited),
            warnings,
        }
    }
}

/// Renders how search texts were matched, if not exactly; each with its operation if there are several.
fn text_notes<'e>(request: &ModifyFile, edited: &'e Edited) -> impl Iterator<Item = String> + 'e {
    let is_one = request.operations.len() == 1;
    edited.texts.iter().filter_map(move |text| {
        let note = text.note()?;
        Some(if is_one { note } else { format!("operation {}: {note}", text.operation_index + 1) })
    })
}

/// Returns the counts of the regular expressions among the operations of a request, and the lines that are similar to the first
/// patterns without a match.
fn replacements(request: &ModifyFile, edited: &Edited) -> Vec<RegexReplacements> {
    let mut replacements = Vec::new();
    let mut searches = 0;
    for (index, (operation, outcome)) in request.operations.iter().zip(&edited.outcomes).enumerate() {
        let ModifyOperation::RegexReplace { pattern, .. } = operation else { continue };
        // A pattern that matches but is not replaced needs no near lines.
        let searches_lines = outcome.matches == 0 && searches < MOST_SEARCHES;
        searches += usize::from(searches_lines);
        // Use the text after the edit: the model's next attempt will be on that one.
        let source = searches_lines.then(|| Source::parse(&edited.bytes).ok()).flatten();
        replacements.push(RegexReplacements {
            operation: index as u64 + 1,
            replaced: outcome.replacements as u64,
            matches: outcome.matches as u64,
            nearest: source.map(|source| near_lines(&source, pattern)).unwrap_or_default(),
        });
    }
    replacements
}

pub(crate) fn bounded(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}
