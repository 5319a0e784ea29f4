//! Applies a request to the text of its file.

use std::sync::Arc;

use text_edit::{EditError, Edited, LineMap, Numbering, Operation, Source};
use wap_core::{CarriedLines, FileVersion, LineNumbers, ModifyFile, Reason, WapError};

use crate::error::edit_error;
use crate::meaning::Meaning;
use crate::view_numbers::ReadOperations;

/// A request to modify a file, and the text that the file holds.
#[derive(Clone, Debug)]
pub struct FileEdit<'a> {
    /// Canonical path, for error texts.
    pub path: &'a str,
    /// The text that the file holds.
    pub current: &'a Source<'a>,
    /// The version of `current`.
    pub version: FileVersion,
    /// The version before the run of the call, if only earlier changes of this run have changed the file since: another program
    /// did not add their lines. `None` also if this is unknown.
    pub before_run: Option<FileVersion>,
    /// The request, within the bounds of [`check_request`](crate::check_request).
    pub request: &'a ModifyFile,
}

/// An earlier version of a file, and the map from its lines to the present ones.
#[derive(Clone, Debug)]
pub struct KnownVersion {
    /// The content of the version; it parses as a [`Source`].
    pub bytes: Arc<[u8]>,
    /// From the lines of that version to those of the current text.
    pub map: LineMap,
}

/// A file after its edit.
#[derive(Clone, Debug)]
pub struct EditedFile {
    /// The new bytes of the file, and the map from its old lines to the new ones.
    pub edited: Edited,
    /// Operations whose numbers referred to lines that have other numbers now.
    pub carried: Vec<CarriedLines>,
    /// Repairs of the operations, for the caller.
    pub warnings: Vec<String>,
}

/// Looks up an earlier version of the file; `None` if it is no longer kept.
pub type FindVersion<'f> = dyn FnMut(&FileVersion) -> Option<KnownVersion> + 'f;

/// Applies operations to the current text.
pub type ApplyOperations<'f> = dyn FnMut(&[Operation], Numbering) -> Result<Edited, EditError> + 'f;

impl FileEdit<'_> {
    /// Applies all operations or none.
    ///
    /// `find` returns the earlier versions that line numbers may mean. `apply` applies operations to [`current`]
    /// (usually [`text_edit::apply`]), so that a caller can bound, cancel or reuse that work.
    ///
    /// # Errors
    ///
    /// [`Reason::Conflict`] if the numbers can mean different lines, or lines that have changed or are unknown; the
    /// error of [`edit_error`](crate::edit_error) for a refused edit.
    ///
    /// [`current`]: FileEdit::current
    pub fn apply(
        &self,
        find: &mut FindVersion<'_>,
        apply: &mut ApplyOperations<'_>,
    ) -> Result<EditedFile, WapError> {
        let ReadOperations { operations, mut warnings } = self.read_operations(find)?;
        self.check_diff_prefixes(find)?;
        warnings.extend(self.check_new_lines(&operations)?);
        let meaning = Meaning { edit: self, operations: &operations };
        // With a single operation, its numbers mean the text before the call either way.
        let in_turn = self.request.line_numbers == Some(LineNumbers::InTurn) && operations.len() > 1;
        let mut carried = Vec::new();
        let mut meant = None;
        // Most edits mean the present file and need no look-up of versions.
        if !meaning.is_plain() && in_turn {
            self.check_version_in_turn()?;
            meaning.check_in_turn(find)?;
        } else if !meaning.is_plain() {
            let of_all = meaning.of_all(find)?;
            carried = of_all.carried;
            meant = Some(of_all.operations);
        }
        let numbering = if in_turn { Numbering::Sequential } else { Numbering::Original };
        // The numbers now refer to the current text, so both texts of the refusal are the current one.
        let edited = apply(meant.as_deref().unwrap_or(&operations), numbering);
        let refused = |error| {
            edit_error(&self.labelled(error), self.path, self.current, self.current, self.version.clone())
        };
        Ok(EditedFile { edited: edited.map_err(refused)?, carried, warnings })
    }

    /// Omits the number of an operation from its refusal if it is the only one.
    pub(crate) fn labelled(&self, error: EditError) -> EditError {
        let is_only = self.request.operations.len() == 1;
        EditError { operation_index: error.operation_index.filter(|_| !is_only), ..error }
    }

    /// Refuses another version for operations that follow each other: numbers that refer to the result of earlier
    /// operations on one text cannot be mapped to another text.
    fn check_version_in_turn(&self) -> Result<(), WapError> {
        let expected = self.request.expected_version.as_ref();
        let Some(expected) = expected.filter(|expected| **expected != self.version) else { return Ok(()) };
        let text = format!(
            "'{}' has changed since its lines were shown, and the numbers of several operations that follow each other \
             cannot be carried over: read the file again",
            self.path
        );
        Err(self.version_error(text, expected))
    }

    /// Returns the refusal of numbers that mean a version that is no longer kept.
    pub(crate) fn version_gone(&self, expected: &FileVersion) -> WapError {
        let text = format!(
            "'{}' has changed since the version that the line numbers mean, and that version is no longer kept: \
             read the file again",
            self.path
        );
        self.version_error(text, expected)
    }

    fn version_error(&self, text: String, expected: &FileVersion) -> WapError {
        WapError::new(Reason::Conflict, text)
            .with("expectedVersion", expected.0.as_str())
            .with("currentVersion", self.version.0.as_str())
            .with("totalLines", self.current.total_lines() as u64)
    }
}
