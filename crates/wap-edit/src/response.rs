//! The answer to a request that was carried out.

use text_edit::Outcome;
use wap_core::{
    FileVersion, Limits, LineShift, ModifyFile, ModifyFileResponse, ModifyOperation, RegexReplacements,
};

use crate::file_edit::EditedFile;

/// The most notes about regular expressions in one answer; the counts of all are in it.
const MOST_NOTES: usize = 20;

impl EditedFile {
    /// Returns the answer for a file that went from version `previous` to `version`. `warnings` stand before those of
    /// the edit.
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
        let replacements = replacements(request, &self.edited.outcomes);
        warnings.extend(replacements.iter().filter_map(RegexReplacements::note).take(MOST_NOTES));
        let shifts = shifts
            .iter()
            .take(Limits::MAX_SHIFTS)
            .map(|shift| LineShift { from_line: shift.from_line as u64, by: shift.by as i64 });
        let sum = |lines: fn(&Outcome) -> usize| self.edited.outcomes.iter().map(lines).sum();
        ModifyFileResponse {
            success: true,
            path,
            version: Some(version),
            previous_version: Some(previous),
            shifts: shifts.collect(),
            carried: self.carried.clone(),
            replacements,
            lines_added: bounded(sum(|outcome| outcome.added_lines)),
            lines_removed: bounded(sum(|outcome| outcome.removed_lines)),
            warnings,
        }
    }
}

/// Returns the counts of the regular expressions among the operations of a request.
fn replacements(request: &ModifyFile, outcomes: &[Outcome]) -> Vec<RegexReplacements> {
    let outcomes = request.operations.iter().zip(outcomes).enumerate();
    let of_expressions =
        outcomes.filter(|(_, (operation, _))| matches!(operation, ModifyOperation::RegexReplace { .. }));
    of_expressions
        .map(|(index, (_, outcome))| RegexReplacements {
            operation: index as u64 + 1,
            replaced: outcome.replacements as u64,
            matches: outcome.matches as u64,
        })
        .collect()
}

pub(crate) fn bounded(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}
