//! Edits by line and by expression, applied to a file as the plan has it.

use change_journal::ContentHash;
use rel_path::RelPath;
use text_edit::{Numbering, Source};
use wap_core::{
    CancelFlag, CarriedLines, FileChanged, FileVersion, Limits, LineNumbers, LineShift, ModifyFile,
    ModifyFileResponse, ModifyOperation, Reason, RegexReplacements, WapError,
};

use crate::change::edit_request::{content_bytes, operation};
use crate::change::held_versions::{Edit, version};
use crate::change::meaning::{Known, Meaning, Meant};
use crate::change::plan::{Plan, PlannedStep, check_request_size, not_found, small};
use crate::change::prepared_edits::PreparedEdits;
use crate::change::present::Present;
use crate::errors::edit_error;

/// The most notes about regular expressions in one answer; the counts of all are in it.
const MOST_NOTES: usize = 20;

impl Plan<'_> {
    pub(super) fn modify(
        &mut self,
        modify: &ModifyFile,
        cancel: &CancelFlag,
    ) -> Result<PlannedStep, WapError> {
        modify.check_bounds()?;
        let size = modify.operations.iter().map(content_bytes).sum();
        check_request_size(size)?;
        if modify.operations.is_empty() {
            let text = "there are no operations: give at least one";
            return Err(WapError::new(Reason::InvalidField, text).with("field", "operations"));
        }
        let (path, _) = self.writable(&modify.path, false)?;
        let Some(before) = self.present_file(&path, &modify.path)? else {
            return Err(not_found(&path, &modify.path));
        };
        let (edited, carried) = self.edit(&path, &before, modify, cancel)?;
        let after = Present::file(edited.bytes, before.mode).with_attributes(before.attributes.clone());
        self.check_repositories(&path, Some(&before), Some(&after))?;
        self.make_room(Some(&before), Some(&after))?;
        let shifts = edited.line_map.shifts();
        let mut warnings = self.warnings(&path);
        if shifts.len() > Limits::MAX_SHIFTS {
            warnings.push(format!(
                "lines have moved in {} places, of which the first {} are listed: read the file again for line numbers",
                shifts.len(),
                Limits::MAX_SHIFTS
            ));
        }
        let replacements = replacements(modify, &edited.outcomes);
        warnings.extend(replacements.iter().filter_map(RegexReplacements::note).take(MOST_NOTES));
        let shifts = shifts
            .iter()
            .take(Limits::MAX_SHIFTS)
            .map(|shift| LineShift { from_line: shift.from_line as u64, by: shift.by as i64 });
        let changed = FileChanged::Modified(ModifyFileResponse {
            success: true,
            path: path.to_string(),
            version: Some(version(&after.hash)),
            previous_version: Some(version(&before.hash)),
            shifts: shifts.collect(),
            carried,
            replacements,
            lines_added: small(edited.outcomes.iter().map(|outcome| outcome.added_lines).sum()),
            lines_removed: small(edited.outcomes.iter().map(|outcome| outcome.removed_lines).sum()),
            warnings,
        });
        let edit = Edit { before: before.hash, after: after.hash, line_map: edited.line_map };
        Ok(self.step(path, Some(before), Some(after), changed, Some(edit)))
    }

    /// Applies the operations of a request to the file as the plan has it, carried over from the versions that their
    /// numbers may mean.
    fn edit(
        &mut self,
        path: &RelPath,
        before: &Present,
        modify: &ModifyFile,
        cancel: &CancelFlag,
    ) -> Result<(text_edit::Edited, Vec<CarriedLines>), WapError> {
        let current = Source::parse(&before.bytes).map_err(|error| {
            WapError::new(Reason::BinaryFile, format!("'{path}' cannot be edited by lines: {error}"))
        })?;
        let operations: Vec<_> = modify.operations.iter().map(operation).collect();
        let now = version(&before.hash);
        let meaning =
            Meaning { path, current: &current, now: now.clone(), request: modify, operations: &operations };
        // One operation alone is the first in its turn: its numbers mean the text before the call either way.
        let in_turn = modify.line_numbers == Some(LineNumbers::InTurn) && operations.len() > 1;
        let mut find = |expected: &FileVersion| self.known_version(path, before, &current, expected);
        let meant = if meaning.is_plain() {
            None
        } else if in_turn {
            let expected = modify.expected_version.as_ref().filter(|expected| **expected != now);
            if let Some(expected) = expected {
                return Err(moved_under_operations(path, expected, &current, &now));
            }
            meaning.check_in_turn(&mut find)?;
            None
        } else {
            Some(meaning.of_all(&mut find)?)
        };
        let alone = PreparedEdits::default();
        let prepared = self.prepared.unwrap_or(&alone);
        let numbering = if in_turn { Numbering::Sequential } else { Numbering::Original };
        let meant = meant.unwrap_or(Meant { operations, carried: Vec::new() });
        let edited = prepared.apply(&current, before.hash, &meant.operations, numbering, cancel);
        let edited = edited.map_err(|error| edit_error(&error, path, &current, &current, now))?;
        Ok((edited, meant.carried))
    }

    /// Finds a version that line numbers mean, and the way from it to the file as the plan has it.
    fn known_version(
        &mut self,
        path: &RelPath,
        before: &Present,
        current: &Source<'_>,
        expected: &FileVersion,
    ) -> Result<Known, WapError> {
        let gone = || version_gone(path, expected, current, &version(&before.hash));
        let hash: ContentHash = expected.0.parse().map_err(|_| gone())?;
        let bytes = self.held.bytes(&hash).ok_or_else(gone)?;
        Source::parse(&bytes).map_err(|_| gone())?;
        let file = self.files.get(path);
        let known = file.and_then(|file| file.followed_to(&hash, &before.hash, current));
        let planned = file.map_or(&[][..], |file| &file.edits);
        let found = || self.held.line_map(path, &hash, &before.hash, current, planned);
        let map = known.or_else(found).ok_or_else(gone)?;
        if let Some(file) = self.files.get_mut(path) {
            file.remember(Edit { before: hash, after: before.hash, line_map: map.clone() });
        }
        Ok(Known { bytes, map })
    }
}

fn version_gone(path: &RelPath, expected: &FileVersion, current: &Source<'_>, now: &FileVersion) -> WapError {
    let text = format!(
        "'{path}' has changed since the version that the line numbers mean, and that version is not held any more: \
         read the file again"
    );
    WapError::new(Reason::Conflict, text)
        .with("expectedVersion", expected.0.as_str())
        .with("currentVersion", now.0.as_str())
        .with("totalLines", current.total_lines() as u64)
}

/// Numbers that mean what earlier operations made of one text cannot be carried over to another text.
fn moved_under_operations(
    path: &RelPath,
    expected: &FileVersion,
    current: &Source<'_>,
    now: &FileVersion,
) -> WapError {
    let text = format!(
        "'{path}' has changed since its lines were shown, and the numbers of several operations that follow each other \
         cannot be carried over: read the file again"
    );
    WapError::new(Reason::Conflict, text)
        .with("expectedVersion", expected.0.as_str())
        .with("currentVersion", now.0.as_str())
        .with("totalLines", current.total_lines() as u64)
}

/// What the regular expressions of a request did.
fn replacements(modify: &ModifyFile, outcomes: &[text_edit::Outcome]) -> Vec<RegexReplacements> {
    let outcomes = modify.operations.iter().zip(outcomes).enumerate();
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
